"""A fresh app for each test, and a real server with a browser."""

import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from imrc.evaluation.settings import STRATEGY_TITLES
from imrc.tables.read import read_bytes
from imrc.wording import RULES
from pages.shell import running
from tests.conftest import ROOT

CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
CHROMIUM_FLAGS += ["--disable-background-networking", "--disable-component-update"]

IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
STILL = """async () => {
  const parts = '[data-testid=stMain], h1, .js-plotly-plot, .main-svg, iframe';
  const places = () => JSON.stringify([...document.querySelectorAll(parts)].map(one => one.getBoundingClientRect()));
  for (let last = '', since = performance.now(); performance.now() - since < 300; last = places()) {
    if (places() !== last || !document.querySelector('[data-test-script-state=notRunning]')) since = performance.now();
    await new Promise(done => setTimeout(done, 50));
  }
}"""


def settle(page) -> None:
    """Wait until nothing moves: a resized page draws charts anew frames later, and a narrow one asks for others."""
    page.wait_for_selector(IDLE)
    page.evaluate(STILL)


@pytest.fixture(scope="session", autouse=True)
def _as_quick_as_a_server() -> Iterator[None]:
    """AppTest searches all packages for components, compiles scripts at each run, and asks all the time for its end."""
    found, scripts = manifest_scanner.scan_component_manifests(), ScriptCache()
    ask, name = local_script_runner.require_widgets_deltas, "require_widgets_deltas"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: found)
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: scripts)
        patch.setattr(local_script_runner, name, lambda run, most: (run._script_thread.join(most), ask(run, 0.1)))
        yield


@pytest.fixture
def nothing_kept() -> Iterator[None]:
    """A server that has computed nothing yet, and leaves nothing: for tests of computing, waiting and keeping."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


class Page(AppTest):
    """The app; every run of its script, by whatever control, must end without an exception on the page."""

    def _run(self, *how, **more) -> AppTest:
        super()._run(*how, **more)
        assert not self.exception, (self.query_params, self.exception[0].value)
        return self


@pytest.fixture
def app(request, compiled) -> Callable[..., AppTest]:
    """Return a function that opens the app, with query parameters as keywords; earlier tests have left what they ran.

    A test that replaces something begins with nothing and leaves nothing; others ask for `nothing_kept`.
    """
    if "monkeypatch" in request.fixturenames:
        request.getfixturevalue("nothing_kept")
    monkeypatch = request.getfixturevalue("monkeypatch")
    # What a process of its own adds to reading a file is for tests that put it back, and for those of a real server.
    monkeypatch.setattr("imrc.tables.read_apart", read_bytes)
    # Which run waits for a button must not depend on what else this machine does.
    monkeypatch.setattr(running, "AT_ONCE_S", 600.0)

    def open_app(**query: str) -> AppTest:
        test = Page(str(ROOT / "app.py"), default_timeout=180)
        for name, value in query.items():
            test.query_params[name] = value
        return test.run()

    return open_app


@contextmanager
def server_process(
    *start: str, python: str | Path = sys.executable, folder: Path = ROOT
) -> Iterator[tuple[str, subprocess.Popen]]:
    """Start the real server on a free local port; stop it at the end. `start`: how, instead of ``imrc app``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = start or ("-m", "imrc.cli", "app", "--no-browser")
    command = [str(python), *start, "--port" if "imrc.cli" in start else "--server.port", str(port)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                    break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(f"The server ended: {process.stdout.read().decode()}") from None
                time.sleep(0.1)
        yield url, process
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


@contextmanager
def running_server(*start: str) -> Iterator[str]:
    """Like `server_process`; gives the address only."""
    with server_process(*start) as (url, _):
        yield url


@pytest.fixture(scope="session")
def server(compiled, tmp_path_factory) -> Iterator[str]:
    """Address of the one server of all processes of tests: the first that asks starts it, and stops it as the last."""
    folder = tmp_path_factory.getbasetemp()
    address = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "server"
    with ExitStack() as stack:
        turn, users = (stack.enter_context(address.with_suffix(end).open("w")) for end in (".turn", ".users"))
        fcntl.flock(turn, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        if mine := not address.exists():
            address.write_text(stack.enter_context(running_server()))
        fcntl.flock(turn, fcntl.LOCK_UN)
        yield address.read_text()
        fcntl.flock(users, fcntl.LOCK_UN)
        if mine:  # waits for the others; who comes meanwhile starts another
            fcntl.flock(turn, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_EX)
            address.unlink()


def chromium_path() -> str | None:
    """Return a Chromium or Chrome on this machine; the one without windows takes a third of the time of the others."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if path := shutil.which(name):
            return path
    return None


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium. Where CI says so a missing one is a failure; elsewhere the tests are skipped with a reason."""
    path = chromium_path()
    if path is None:
        message = "no Chromium or Chrome found: install one to run the browser tests"
        if os.environ.get("CI") or os.environ.get("IMRC_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import expect, sync_playwright

    # Others may compute on this machine.
    expect.set_options(timeout=180_000)
    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield instance
        instance.close()


class Tab:
    """The tab that tests use one after the other: in a new one all scripts of the page are compiled again."""

    def __init__(self, browser) -> None:
        self.browser, self.page, self.heard = browser, None, []

    def take(self):
        """Return the page, which notes what listens to it."""
        page = self.page = self.page or self.browser.new_page()
        listen = page.on
        page.on = lambda event, act: self.heard.append((event, act)) or listen(event, act)
        return page

    def give_back(self) -> None:
        """Leave nothing of what a test did in it."""
        page, self.page = self.page, None
        del page.on
        while self.heard:
            page.remove_listener(*self.heard.pop())
        try:
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
            page.goto("about:blank")
            page.context.clear_cookies()
            page.context.clear_permissions()
            assert page.evaluate("history.length") < 30, "of fifty steps the first is forgotten"
            self.page = page
        except Exception:  # nothing more can be done with it: the next test gets another
            page.context.close()


@pytest.fixture(scope="session")
def tab(browser) -> Tab:
    return Tab(browser)


@pytest.fixture
def new_page(browser, tab) -> Iterator[Callable]:
    """Return a function that opens a page of a size, with the browser's options as keywords; closed at the end.

    The first one is in the tab of earlier tests, unless options ask for another kind of browser.
    """
    opened = []

    def open_page(width: int = 1440, height: int = 1000, *, offline: bool = False, **options: object):
        scheme = options.pop("color_scheme", "light")
        motion = options.pop("reduced_motion", "reduce")  # what moves is drawn sixty times a second
        page = browser.new_page(**options) if opened or options else tab.take()
        opened.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        page.context.set_offline(offline)
        page.set_default_timeout(180_000)
        return page

    yield open_page
    for page in opened:
        if page is tab.page:
            tab.give_back()
        else:
            page.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what drives a browser: it takes longer, and Playwright's own clean-up warns of things that are not ours."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
            for warning in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}"))


def texts(test: AppTest) -> str:
    """Return everything a page says in words."""
    parts = [
        element.value
        for kind in ("markdown", "caption", "warning", "info", "success", "error")
        for element in getattr(test, kind)
    ]
    return re.sub(r"\s+", " ", " ".join(str(part) for part in parts))


def metrics(test: AppTest) -> dict[str, str]:
    """Return the cards of a page, and the errors of the decision as if they were cards: label and value."""
    found = {metric.label: metric.value for metric in test.metric}
    return found | decided(
        [*(chart.proto.alt for chart in test.get("plotly_chart")), *(one.proto.help for one in test.caption)]
    )


def decided(told: Iterable[str]) -> dict[str, str]:
    """Return the errors in the picture of the decision by the names of the rules, from what charts say in words."""
    mark = " of each strategy with its "
    line = next((text.partition(mark)[2].partition(". ")[0].removesuffix(".") for text in told if mark in text), "")
    names = {STRATEGY_TITLES[rule]: f"Error, {RULES[rule].lower()}" for rule in RULES}
    errors = re.findall(r"(?:: |, )(.+?) ((?:\d*\.\d+|\d+)(?:\s±\s\.\d+)?)(?=,|$)", line)
    return {names.get(title, title): value for title, value in errors}


def link(test: AppTest) -> dict[str, str]:
    """Return the query parameters; AppTest keeps what was typed as lists and what the app wrote as strings."""
    return {name: value[0] if isinstance(value, list) else value for name, value in test.query_params.items()}


def set_value(test: AppTest, name: str, value: object) -> None:
    """Give a control of the sidebar a value, without a run of the script."""
    groups = {"preset": test.radio}
    kind = groups.get(name) or (test.selectbox if isinstance(value, str) else test.number_input)
    kind(key=name).set_value(value)
