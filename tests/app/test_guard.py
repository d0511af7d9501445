"""Nothing leaves the server or the page, and nobody enters under another name or from another host's page."""

import asyncio
import http.server
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from email.message import Message
from urllib.parse import urlsplit

import pandas as pd
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.shell import guard
from pages.shell.charts import csv_text
from tests.app.conftest import ROOT, server_process
from tests.app.visitor import visiting
from tests.benchmarks.visitors import memory_mb


def get(url: str, host: str | None = None) -> tuple[int, Message, str]:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


def joined(url: str, **headers: str) -> bool:
    """Return whether the server lets a page connect."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    try:
        with connect(address, subprotocols=["streamlit"], additional_headers=headers, open_timeout=20) as _:
            return True
    except InvalidStatus:
        return False


def test_every_answer_says_what_a_page_may_do(server):
    for path in ("/", "/_stcore/health", "/nothing-here"):
        _, headers, _ = get(server + path)
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        policy = headers["content-security-policy"]
        for rule in ("default-src 'self'", "frame-ancestors 'none'", "object-src 'none'", "connect-src 'self'"):
            assert rule in policy
        assert "http" not in policy  # no other host
        assert "*" not in policy


def test_only_the_article_may_be_framed_and_only_by_this_server(server):
    _, headers, _ = get(server + "/documentation/article.html")
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"]
)
def test_a_server_for_this_machine_answers_under_its_names_only(server, host):
    port = urlsplit(server).port
    for good in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
        assert get(server, good)[0] == 200
    status, _, text = get(server, host)
    assert status == 421
    assert "--allow-host" in text


def test_a_page_of_another_host_may_not_connect(server):
    name = urlsplit(server).netloc
    assert joined(server, Origin=f"http://{name}")
    assert joined(server)  # not a browser
    for origin in (
        "http://evil.example",
        "https://evil.example:443",
        "null",
        "http://[",
        f"http://{name}.evil.example",
    ):
        assert not joined(server, Origin=origin), origin


def answer_of(scope: dict, names: str, monkeypatch) -> list[dict]:
    """Return what the guard before an application that agrees to everything sends."""
    monkeypatch.setenv(guard.HOSTS, names)
    sent = []

    async def agree(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        return {"type": f"{scope['type']}.connect"}

    async def send(message):
        sent.append(message)

    # In a thread of its own: the browser of other tests has a loop in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, guard.Guard(agree)(scope, receive, send)).result()
    return sent


@pytest.mark.parametrize(("names", "host", "status"), [
    ("explorer.example.org", b"explorer.example.org", 200),
    ("explorer.example.org", b"EXPLORER.example.org:8501", 200),
    ("explorer.example.org", b"localhost", 421),
    ("explorer.example.org", b"", 421),
    ("explorer.example.org", b"x]", 421),
    ("", b"anything.example", 200),
])  # fmt: skip
def test_names_that_are_allowed(monkeypatch, names, host, status):
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", host)]}
    assert answer_of(scope, names, monkeypatch)[0]["status"] == status
    assert answer_of({"type": "lifespan"}, names, monkeypatch)[0]["status"] == 200  # what is no request passes


@pytest.mark.first
@pytest.mark.timeout(180)
def test_a_flood_of_files_leaves_room_for_others_and_is_gone_a_minute_after_its_visitors(compiled):
    with server_process() as (url, process), visiting(url, "your-data") as other:
        with visiting(url, dataset="identical", k=3, n=4, repetitions=1) as first:
            first.see()  # waits until the solver is loaded, as it is at every start
        other.see()
        before, large = memory_mb(process.pid), bytes(40 << 20)
        with ExitStack() as stack:
            flood = [stack.enter_context(visiting(url, "your-data")) for _ in range(6)]
            for visitor in flood:
                visitor.see()
            # One visitor alone does not take all there is.
            assert [flood[0].upload(number, large) for number in range(3)] == [204] * 3
            other.upload(0, b"x,y\n1,2\n" * 20)
            other.see()
            assert "has no room for your file" not in other.alerts
            with ThreadPoolExecutor(16) as pool:
                sent = [pool.submit(visitor.upload, 3 + i, large) for visitor in flood for i in range(2)]
            assert {one.result() for one in sent} == {204}
            assert memory_mb(process.pid) - before < 350  # 12 files of 40 MB are 480
            other.upload(1, b"x,y\n1,2\n" * 4_000_000)
            other.see()
            assert "has no room for your file" in other.alerts
        deadline = time.monotonic() + 60
        while memory_mb(process.pid) - before > 80 or "has no room for your file" in other.alerts:
            assert time.monotonic() < deadline
            time.sleep(2)
            if memory_mb(process.pid) - before < 80:  # as large as was refused above, and read in no time
                other.upload(2, b"x,y\n" + (b"1,2" + b" " * 1020 + b"\n") * 32_000)
                other.see()


@contextmanager
def recorder():
    """Stand between a program and everything outside, and write down what it asks for."""
    asked = []

    class Record(http.server.BaseHTTPRequestHandler):
        def _note(self):
            asked.append(f"{self.command} {self.path}")
            self.send_error(502)

        do_GET = do_POST = do_CONNECT = do_HEAD = _note

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Record) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield asked, f"http://127.0.0.1:{proxy.server_port}"
        proxy.shutdown()


@pytest.mark.timeout(120)
def test_a_server_for_everybody_asks_nobody_and_says_who_can_reach_it(monkeypatch, compiled):
    with recorder() as (asked, proxy):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, proxy)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        seen = subprocess.run(
            [sys.executable, "-c", "import requests; requests.get('http://example.org')"], check=True, timeout=60
        )
        assert seen.returncode == 0
        assert asked == ["GET http://example.org/"]  # the recorder sees what such a server would ask for
        asked.clear()
        monkeypatch.setattr(urllib.request, "getproxies", dict)
        start = ("-m", "imrc.cli", "app", "--no-browser", "--address", "0.0.0.0")
        with server_process(*start) as (url, process):
            assert not joined(url, Origin="http://evil.example")  # which would be looked up too
            assert get(url, "anything.example")[0] == 200
            process.terminate()
            said = process.stdout.read().decode()
        assert asked == []
        assert "without a password" in said
        assert "docs/deploy.md" in said
        assert (ROOT / "docs" / "deploy.md").is_file()


def test_no_text_of_a_file_is_a_formula_in_a_table_that_is_saved():
    frame = pd.DataFrame(
        {
            "=task": ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "May", "-3"],
            "value": [-1.5, 2.0, -3.0, 0.0, 1.0, 2.0, 3.0],
            "label": pd.Categorical(["-a", "b", "b", "b", "b", "b", "b"]),
        }
    )
    lines = csv_text(frame).splitlines()
    assert lines[0] == "'=task,value,label"
    assert lines[1] == "'=1+1,-1.5,'-a"
    assert [line.split(",")[0] for line in lines[2:]] == ["'+x", "'-x", "'@SUM(A1)", "'\t=1", "May", "-3"]
    plain = pd.DataFrame({"task": ["a"], "n": [1], "none": [None], "error": [0.1]})
    assert csv_text(plain) == plain.to_csv(index=False)
