"""The documentation of a clone in which the site is not built: a list of its pages, each as plain text."""

from __future__ import annotations

import html
import os.path
import re
from collections.abc import Iterator
from pathlib import Path

from starlette.responses import FileResponse, HTMLResponse
from starlette.routing import Route

DOCS = Path(__file__).resolve().parents[2] / "docs"
IS_THERE = (DOCS / "index.md").is_file()  # not in an installed archive
_INDEX = """<!doctype html><html lang="en"><meta charset="utf-8"><title>imrc: documentation</title>
<meta name="viewport" content="width=device-width"><style>:root {{ color-scheme: light dark }}
body {{ max-width: 45rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 sans-serif }}</style>
<h1>Documentation</h1><p><a href="article.html">What neighbours know</a> explains the idea in eight interactive scenes.
The other pages open as plain text here, because this copy of imrc has no built documentation. To build it, run
these commands in the repository and start the app again:</p>
<pre>pip install -e ".[docs]"\npython -m sphinx -W docs docs/_build/html</pre><ul>{pages}</ul></html>"""


def _pages(name: str = "index") -> Iterator[tuple[str, str]]:
    """Yield name and title of each page with a text of its own, in the order of the tables of contents."""
    file = DOCS / f"{name}.md"
    source = file.read_text(encoding="utf-8") if file.is_file() else ""
    *_, contents = ["", *re.findall(r"^```\{toctree\}\n(.*?)^```", source, re.MULTILINE | re.DOTALL)]
    if source.startswith("# ") and not contents:
        yield name, source[2:].partition("\n")[0]
    for child in re.findall(r"^[^:\n].*", contents, re.MULTILINE):
        yield from _pages(os.path.normpath(os.path.join(os.path.dirname(name), child)))


def index() -> HTMLResponse:
    """Return a page that lists the others and says how to build the site."""
    items = "".join(f'<li><a href="{name}.md">{html.escape(title)}</a></li>' for name, title in _pages())
    return HTMLResponse(_INDEX.format(pages=items))


def text(name: str) -> FileResponse | HTMLResponse:
    """Return the text of a page."""
    if name not in dict(_pages()):
        return HTMLResponse("There is no such page.", 404)
    return FileResponse(DOCS / f"{name}.md", media_type="text/plain")


ROUTES = [
    Route("/documentation/", lambda _: index()),
    Route("/documentation/{name:path}.md", lambda request: text(request.path_params["name"])),
]
