"""Learn: the article."""
