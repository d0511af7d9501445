"""Why it helps: effective samples, promised and realised."""
