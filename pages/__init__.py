"""The explorer: one folder per page, its script `page.py` beside its helpers, and what all pages share."""
