"""What every answer of the server says about itself, and which requests it does not answer at all."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.ui import documentation, streamlit_private, uploads

HOSTS = "IMRC_HOSTS"
"""Environment variable that `imrc app` sets: names the server answers to, with commas; empty: every name."""

_UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<session>[^/]+)/[^/]+")
_MOST_BYTES = (st.get_option("server.maxUploadSize") << 20) + 10_000
"""Of one file, with what is around it in a request."""
_LEFT_S = st.get_option("server.disconnectedSessionTTL") + 5.0
"""After so many seconds nobody whose connection ended comes back to the same page."""

_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - names in a request, nothing listens there


def _inline_scripts() -> list[str]:
    """Return the checksums, as a policy names them, of the scripts that stand in Streamlit's page and in our own."""
    pages = [Path(st.__file__).with_name("static") / "index.html", *documentation.with_inline_scripts()]
    found = [
        script
        for page in pages
        for script in re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    ]
    return [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in found]


# Scripts come from this server only. Streamlit compiles parts of its charts and unpacks tables in WebAssembly, and sets
# styles in place. Nothing may be fetched from, sent to or framed by another host, whatever a page should ask for.
HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'self'",
            " ".join(("script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval' blob:", *_inline_scripts())),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self' data: blob:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}
# The page *Learn* shows the article in a frame; no other page may be framed, and none by another host.
_FRAMED = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace(
        "frame-ancestors 'none'", "frame-ancestors 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}


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


async def _without_file(receive: Receive, boundary: str) -> Receive:
    """Take in a file to its end, keeping nothing, and return a request with an empty one of the kind `NO_ROOM`."""
    while (await receive()).get("more_body"):
        pass
    head = f'Content-Disposition: form-data; name="file"; filename="-"\r\nContent-Type: {uploads.NO_ROOM}'
    body = f"--{boundary}\r\n{head}\r\n\r\n\r\n--{boundary}--\r\n".encode()

    async def instead() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return instead


class Guard:
    """Middleware: refuses requests under other names and from pages of other hosts, adds `HEADERS`, bounds uploads.

    A page of another host can point a name of its own to this machine and then read whatever a server here answers
    under that name. A server that knows its names does not answer. And Streamlit, asked to connect by a page of another
    host, would look up its own address at a service outside before it says no.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        names = os.environ.get(HOSTS, "").split(",")
        self._coming: Counter[str] = Counter()  # bytes on their way, by session
        self._names = {name.strip().lower() for name in names} - {""}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = _name(headers.get("host", ""))
        if self._names and host not in self._names:
            await self._refuse(
                f"This server does not answer to the name {host[:100]!r}. Whoever runs it can start it with "
                "imrc app --allow-host NAME.\n",
                scope, receive, send,
            )  # fmt: skip
            return
        origin = headers.get("origin")
        if scope["type"] == "websocket" and origin and _name(origin) not in (host, *_LOCAL):
            await self._refuse("This page belongs to another host.\n", scope, receive, send)
            return

        said = _FRAMED if scope["path"].endswith(f"/{documentation.ARTICLE}") else HEADERS

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(said)
            await send(message)

        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            asyncio.get_running_loop().call_later(_LEFT_S, streamlit_private.forget_who_left)
        elif scope["method"] == "PUT" and (upload := _UPLOAD.fullmatch(scope["path"])):
            await self._take(upload["session"], scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    async def _take(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a file in, or, where there is no room for it, one in its place that says so."""
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        size = int(length) if length.isdecimal() else _MOST_BYTES
        boundary = re.search(r'boundary="?([^";]+)', headers.get("content-type", ""))
        waiting = Counter(streamlit_private.waiting_bytes()) + self._coming
        room = min(uploads.BYTES - uploads.open_bytes() - waiting.total(), uploads.BYTES // 2 - waiting[session])
        if room < size <= _MOST_BYTES and boundary is not None:  # Streamlit itself refuses what is larger
            receive, size = await _without_file(receive, boundary[1]), 0
        self._coming[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming[session] -= size
            self._coming += Counter()  # without those that are 0

    @staticmethod
    async def _refuse(why: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()  # the request to connect
            await send({"type": "websocket.close", "code": 1008, "reason": why[:100]})
            return
        await PlainTextResponse(why, status_code=421, headers=HEADERS)(scope, receive, send)
