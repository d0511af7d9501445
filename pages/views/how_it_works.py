"""Learn: the article, filling the page; `scene` in the address opens one of its scenes."""

from pages.ui import article

article.show()
