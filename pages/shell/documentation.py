"""The documentation, served beside the app: the site where it was built, else its first page alone, the article."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_SITE, _ARTICLE = _DOCS / "_build" / "html", _DOCS / "article" / "article.html"
_IS_BUILT = (_SITE / "index.html").is_file()

ARTICLE = "documentation/article.html"
"""Address of the article, from any page of the app. It is not taken from the site, which may be older."""
LINK = f"[Documentation]({'documentation/' if _IS_BUILT else ARTICLE})"
"""A link in Markdown, from any page of the app, whatever address it is reached by."""


def _article(_request: Request) -> FileResponse:
    return FileResponse(_ARTICLE)


def routes() -> list[BaseRoute]:
    """Return what answers below /documentation."""
    folder = _SITE if _IS_BUILT else _ARTICLE.parent
    return [Route(f"/{ARTICLE}", _article), Mount("/documentation", StaticFiles(directory=folder, html=True))]


def with_inline_scripts() -> list[Path]:
    """Return pages with scripts in them; those of all other pages are among these."""
    return [_ARTICLE, *([_SITE / "index.html"] if _IS_BUILT else [])]
