"""Requests: the page, what every answer says about itself, what is refused, files that arrive, the documentation."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from pages.registry import PageEntry
from pages.shell import frame, keeping, streamlit_private

HOSTS = "IMRC_HOSTS"
"""Environment variable that `imrc app` sets: names the server answers to, with commas; empty: every name."""
NO_ROOM = "application/x-no-room"
"""Kind of a file that stands for one there was no room for."""
_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - names in a request, nothing listens there
_UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/[^/]+")
_MOST_BYTES = (st.get_option("server.maxUploadSize") << 20) + 10_000
"""Of one file, with what is around it in a request."""
_LEFT_S = st.get_option("server.disconnectedSessionTTL") + 5.0
"""After so many seconds nobody whose connection ended comes back to the same page."""

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_ARTICLE_FILE = _DOCS / "article" / "article.html"
_FIRST_PAGE = _DOCS / "_build" / "html" / "index.html"
_SITE = _FIRST_PAGE if _FIRST_PAGE.is_file() else _ARTICLE_FILE
"""The documentation where it was built, else its article alone. The article is not taken from it: it may be older."""
ARTICLE = "documentation/article.html"
"""Address of the article, from any page of the app."""
LINK = f"[Documentation]({'documentation/' if _SITE is _FIRST_PAGE else ARTICLE})"
"""A link in Markdown, from any page of the app, whatever address it is reached by."""

# Streamlit's page, with the address of the server, which it would find by trying, and with our style from the first
# moment on, so that nothing moves when it comes; last, because of equals the last counts.
_WHERE = '<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.baseURI).href }</script>'
_PAGE = (Path(st.__file__).with_name("static") / "index.html").read_text("utf-8")
_PAGE = _PAGE.replace("</title>", f"</title>{_WHERE}", 1).replace("</body>", f"{frame.STYLE}</body>", 1)


def _answers(page: PageEntry) -> Iterator[Route]:
    """Yield what answers at the address of a page, and at earlier ones and its name, which people type."""
    text = _PAGE if page.roomy else _PAGE.replace("</body>", f"{frame.PLACE_OF_SIDEBAR}</body>", 1)
    address = "" if page.default else page.url_path
    yield Route(f"/{address}", lambda _: HTMLResponse(text, headers={"Cache-Control": "no-cache"}))
    for name in {page.earlier, page.url_path} - {address, ""}:
        yield Route(f"/{name}", lambda request: RedirectResponse(f"./{address}?{request.url.query}".rstrip("?")))


def routes(pages: Iterable[PageEntry]) -> list[BaseRoute]:
    """Return what answers at the addresses of pages and below /documentation; Streamlit answers everywhere else."""
    article = Route(f"/{ARTICLE}", lambda _: FileResponse(_ARTICLE_FILE))
    documentation = Mount("/documentation", StaticFiles(directory=_SITE.parent, html=True))
    return [article, documentation, *chain.from_iterable(map(_answers, pages))]


def _inline_scripts() -> str:
    """Return the checksums, as a policy names them, of the scripts inside the page and the documentation."""
    # All pages of the documentation have those of its first one, but for the atlas.
    files = _ARTICLE_FILE, _SITE, *_SITE.parent.glob("atlas.html")
    texts = _PAGE, *(file.read_text("utf-8") for file in files)
    found = {script for text in texts for script in re.findall(r"(?s)<script>(.*?)</script>", text)}
    sums = sorted(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in found)
    return " ".join(f"'sha256-{one}'" for one in sums)


# Scripts come from this server only. Streamlit compiles parts of its charts and unpacks tables in WebAssembly, and sets
# styles in place. Nothing may be fetched from, sent to or framed by another host, whatever a page should ask for.
_POLICY = f"""default-src 'self'; script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval' blob: {_inline_scripts()};
style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:;
worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors """.replace("\n", " ")
_HEADERS = {
    "Content-Security-Policy": f"{_POLICY}'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}
# The page *Learn* shows the article in a frame; no other page may be framed, and none by another host.
_FRAMED = _HEADERS | {"Content-Security-Policy": f"{_POLICY}'self'", "X-Frame-Options": "SAMEORIGIN"}


def _name(address: str) -> str:
    """Return the name in a Host or Origin header.

    >>> _name("Example.org:8501"), _name("http://[::1]:8501"), _name("no good]"), _name("a:80.b")
    ('example.org', '::1', '', '')
    """
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        return (parts.hostname or "").rstrip(".") if parts.port != 0 else ""  # a wrong port is a ValueError
    except ValueError:
        return ""


class Guard:
    """Middleware: refuses requests under other names and from pages of other hosts, adds headers, bounds uploads.

    A page of another host could point a name of its own to this machine and read what is answered under that name.
    Streamlit, asked to connect by such a page, would look up its own address outside before it says no.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._coming = 0  # bytes on their way
        self._names = {name.strip().lower() for name in os.environ.get(HOSTS, "").split(",")} - {""}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connects = scope["type"] == "websocket"
        if why := self._refused(Headers(scope=scope), connects=connects):
            refusal = WebSocketClose(1008, why[:100]) if connects else PlainTextResponse(why, 421, _HEADERS)
            await refusal(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                article = scope["path"].endswith(f"/{ARTICLE}")
                MutableHeaders(scope=message).update(_FRAMED if article else _HEADERS)
            await send(message)

        if not connects and scope["method"] == "PUT" and (upload := _UPLOAD.fullmatch(scope["path"])):
            await self._take(upload[1], scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)
        if connects:
            asyncio.get_running_loop().call_later(_LEFT_S, streamlit_private.forget_who_left)

    def _refused(self, headers: Headers, *, connects: bool) -> str:
        """Return why a request is not answered, nothing if it is."""
        host, origin = _name(headers.get("host", "")), headers.get("origin")
        if self._names and host not in self._names:
            answer = f"This server does not answer to the name {host[:100]!r}."
            return f"{answer} Whoever runs it can start it with imrc app --allow-host NAME.\n"
        foreign = connects and origin and _name(origin) not in (host, *_LOCAL)
        return "This request comes from a page on another host.\n" if foreign else ""

    async def _take(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a file in, or, where there is no room for it, an empty one in its place that says so."""
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        size = int(length) if length.isdecimal() else _MOST_BYTES
        boundary = re.search(r'boundary="?([^";]+)', headers.get("content-type", ""))
        # A file needs room for its bytes, for the table they become, and for the tasks into which that is cut.
        visit = streamlit_private.visit_of(session)
        held = keeping.open_bytes(but=[] if visit is None else visit.open_files())
        room = (keeping.FILE_BYTES - held) // 3 - streamlit_private.waiting_bytes() - self._coming
        if room < size <= _MOST_BYTES and boundary is not None:  # Streamlit itself refuses what is larger
            while (await receive()).get("more_body"):
                pass  # taken in to its end, and nothing kept
            head = f'Content-Disposition: form-data; name="file"; filename="-"\r\nContent-Type: {NO_ROOM}'
            empty, size = f"--{boundary[1]}\r\n{head}\r\n\r\n\r\n--{boundary[1]}--\r\n".encode(), 0

            async def receive() -> Message:
                return {"type": "http.request", "body": empty, "more_body": False}

        elif visit is not None and size > keeping.FILE_BYTES // 10:
            visit.forget_file()  # what is open goes first, because there may be no room for both
        self._coming += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming -= size
