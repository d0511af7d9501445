"""The documentation, served beside the app: the site where it was built, else its first page alone."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_SITE, _ARTICLE = _DOCS / "_build" / "html", _DOCS / "article"
_FOLDER, _START = (_SITE, "") if (_SITE / "index.html").is_file() else (_ARTICLE, "article.html")

LINK = f"[Documentation](documentation/{_START})"
"""A link in Markdown, from any page of the app, whatever address it is reached by."""


def routes() -> list[BaseRoute]:
    """Return what answers below /documentation."""
    return [Mount("/documentation", StaticFiles(directory=_FOLDER, html=True))]


def with_inline_scripts() -> list[Path]:
    """Return pages whose scripts stand in them; those of all other pages are among these."""
    return [page for page in (_FOLDER / "index.html", _FOLDER / "article.html") if page.is_file()]
