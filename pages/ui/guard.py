"""What every answer of the server says about itself, and which requests it does not answer at all."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import OrderedDict
from pathlib import Path
from urllib.parse import urlsplit

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.ui import documentation

HOSTS = "IMRC_HOSTS"
"""Environment variable that `imrc app` sets: names the server answers to, with commas; empty: every name."""

_UPLOAD = re.compile(r"(?P<before>.*/_stcore/upload_file/)(?P<session>[^/]+)/(?P<file>[^/]+)")
_UPLOADS = 2
"""Files kept of one visitor: the one they have, and the one that comes in its place."""
_SESSIONS = 10_000

_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - names in a request, nothing listens there


def _inline_scripts() -> list[str]:
    """Return the checksums, as a policy names them, of the scripts that stand in Streamlit's page and in our own."""
    pages = [Path(streamlit.__file__).with_name("static") / "index.html", *documentation.with_inline_scripts()]
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


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(_message: Message) -> None:
    pass


class Guard:
    """Middleware: refuses requests under other names and from pages of other hosts, adds `HEADERS`, bounds uploads.

    A page of another host can point a name of its own to this machine and then read whatever a server here answers
    under that name. A server that knows its names does not answer. And Streamlit, asked to connect by a page of another
    host, would look up its own address at a service outside before it says no.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        names = os.environ.get(HOSTS, "").split(",")
        self._uploads: OrderedDict[str, list[str]] = OrderedDict()
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

        if scope["type"] == "http" and scope["method"] == "PUT" and (upload := _UPLOAD.fullmatch(scope["path"])):
            await self._drop_older(upload, scope)

        said = _FRAMED if scope["path"].endswith(f"/{documentation.ARTICLE}") else HEADERS

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(said)
            await send(message)

        await self._app(scope, receive, with_headers)

    async def _drop_older(self, upload: re.Match[str], scope: Scope) -> None:
        """Let go of what a visitor sent before the last file: a page shows one, and Streamlit would keep them all."""
        session = upload["session"]
        sent = self._uploads.setdefault(session, [])
        self._uploads.move_to_end(session)
        if len(self._uploads) > _SESSIONS:
            self._uploads.popitem(last=False)
        sent.append(upload["file"])
        while len(sent) > _UPLOADS:
            path = f"{upload['before']}{session}/{sent.pop(0)}"
            # With the visitor's own headers: it is they who may delete it, if they may send another.
            removal = {**scope, "method": "DELETE", "path": path, "raw_path": path.encode()}
            await self._app(removal, _nothing, _ignore)

    @staticmethod
    async def _refuse(why: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()  # the request to connect
            await send({"type": "websocket.close", "code": 1008, "reason": why[:100]})
            return
        await PlainTextResponse(why, status_code=421, headers=HEADERS)(scope, receive, send)
