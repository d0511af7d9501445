"""How long a visitor waits: real server, headless Chromium, warm server, default dataset.

Run: python tests/benchmarks/page_times.py                      (prints seconds; needs Chromium)
     python tests/benchmarks/page_times.py --against FOLDER     (ratios to another checkout, visits alternating)

Each number is the median over five visits with seeds nobody asked for before, so nothing comes from the store; the
last line repeats a setting, which does. Seconds include drawing in the browser. On a busy machine only ratios mean
something, and the processor seconds of the server, which depend on the load least.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.app.conftest import CHROMIUM_FLAGS, chromium_path, running_server, server_process
from tests.benchmarks.visitors import processor_s

VISITS = 5
HEATMAPS = ".js-plotly-plot .heatmaplayer .hm"


def settled(page: Page) -> None:
    """Wait until the last element of Explore is there and the server is idle."""
    expect(page.locator(HEATMAPS)).to_have_count(3, timeout=60_000)
    expect(page.get_by_text("Numbers behind the charts")).to_be_visible(timeout=60_000)
    # The frame says itself whether the script is running; a page that only looks finished does not count.
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)


def visit(page: Page, url: str) -> float:
    """Seconds from the address to the finished page."""
    started = time.perf_counter()
    page.goto(url)
    settled(page)
    return time.perf_counter() - started


def change(page: Page, label: str, value: int) -> float:
    """Seconds from Run to the finished page after one number was changed."""
    page.get_by_role("spinbutton", name=label).fill(str(value))
    page.get_by_role("spinbutton", name=label).press("Tab")
    started = time.perf_counter()
    page.get_by_role("button", name="Run", exact=False).first.click()
    name = label.split()[-1]
    page.wait_for_function(f"() => new URL(location).searchParams.get('{name}') === '{value}'", timeout=60_000)
    settled(page)
    return time.perf_counter() - started


def compare(other: Path, visits: int) -> None:
    """Print medians here and in another checkout, and their ratio; visits to the two alternate."""
    waited, worked = defaultdict(list), defaultdict(list)
    with (
        server_process() as here,
        server_process(folder=other) as there,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        for seed in range(300, 301 + visits):
            for place, (url, process) in enumerate((there, here)):
                page = browser.new_page(viewport={"width": 1440, "height": 1000})
                for what, act in {
                    "first page": lambda page=page, url=url, seed=seed: visit(page, f"{url}/?seed={seed}"),
                    "change of n": lambda page=page: change(page, "Samples n", 11),
                    "change of b": lambda page=page: change(page, "Backward b", 2),
                    "repeated setting": lambda page=page: change(page, "Backward b", 3),
                }.items():
                    before = processor_s(process.pid)
                    waited[what, place].append(act())
                    worked[what, place].append(processor_s(process.pid) - before)
                page.close()
        browser.close()
    print(f"median of {visits} visits, there, here, ratio here / there; load {Path('/proc/loadavg').read_text()[:5]}")
    for name, times in (("seconds", waited), ("processor seconds of the server", worked)):
        for what in dict.fromkeys(what for what, _ in times):
            # The first visit warms the server up.
            there_s, here_s = (statistics.median(times[what, place][1:]) for place in (0, 1))
            print(f"{what}, {name}: {there_s:.2f}, {here_s:.2f}, {here_s / there_s:.2f}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--visits", type=int, default=VISITS)
    options = parser.parse_args()
    if options.against is not None:
        compare(options.against, options.visits)
        return
    with running_server() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        print(f"first visit of a started server: {visit(page, url):.2f}")
        first = [visit(browser.new_page(), f"{url}/?seed={seed}") for seed in range(100, 100 + VISITS)]
        print(f"first page, warm server: {statistics.median(first):.2f} (wanted < 2.5)")
        for label, values in {
            "Samples n": (11, 20),
            "Tasks k": (19, 25),
            "Backward b": (2, 5),
            "Window W": (3, 4),
        }.items():
            times = []
            for seed in range(200, 200 + VISITS):
                visit(page, f"{url}/?seed={seed}&preset=paper" if label == "Window W" else f"{url}/?seed={seed}")
                times += [change(page, label, value) for value in values]
            print(f"change of {label}: {statistics.median(times):.2f} (wanted < 1)")
        times = [change(page, "Backward b", value) for value in (1, 2, 1, 2, 1, 2)][2:]
        print(f"repeated setting: {statistics.median(times):.2f} (wanted < 0.3)")
        browser.close()


if __name__ == "__main__":
    main()
