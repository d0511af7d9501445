"""One HTML file that says and shows what a run gave, and opens without a network."""

from __future__ import annotations

from imrc.report._write import to_html, write

__all__ = ["to_html", "write"]
