"""How long a visitor waits, as a multiple of the floor: a Streamlit page with eight small charts and nothing else.

Run: python tests/benchmarks/page_times.py                      (ratios to the floor page; needs Chromium)
     python tests/benchmarks/page_times.py --against FOLDER     (ratios to another checkout)

Visits to both alternate, in one browser on one machine. Each number is the median over the visits, with seeds nobody
asked for before, so nothing comes from the store; the last line repeats a setting, which does. Seconds include drawing
in the browser. On a busy machine only ratios mean something, and the processor seconds of the server, which depend on
the load least.
"""

import argparse
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.app.conftest import CHROMIUM_FLAGS, chromium_path, server_process
from tests.benchmarks.visitors import processor_s

VISITS = 5
FLOOR = ("-m", "streamlit", "run", "tests/benchmarks/floor_page.py", "--server.headless", "true")
DRAWN = ".js-plotly-plot .main-svg"


def settled(page: Page) -> None:
    """Wait until the charts are drawn and the server is idle."""
    expect(page.locator(DRAWN).first).to_be_visible(timeout=60_000)
    # The frame says itself whether the script is running; a page that only looks finished does not count.
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')]"
        ".every(one => one.querySelector('.main-svg'))",
        timeout=60_000,
    )


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
    with server_process() as here, server_process(folder=other) as there, sync_playwright() as playwright:
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


def against_floor(visits: int) -> None:
    """Print how many times the floor each step of a visit takes."""
    waited = defaultdict(list)
    with server_process(*FLOOR) as (floor, _), server_process() as (ours, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        for seed in range(300, 301 + visits):
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            waited["floor, first page"].append(visit(page, floor))
            field = page.get_by_role("spinbutton", name="Samples n")
            field.fill(str(seed))
            started = time.perf_counter()
            field.press("Tab")
            expect(page.get_by_text(f"n = {seed}: finished.")).to_be_visible(timeout=60_000)
            settled(page)
            waited["floor, change"].append(time.perf_counter() - started)
            page.close()
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            started = time.perf_counter()
            page.goto(f"{ours}/?seed={seed}")
            expect(page.get_by_role("heading", name="What to do")).to_be_visible(timeout=60_000)
            waited["decision"].append(time.perf_counter() - started)
            settled(page)
            waited["first page"].append(time.perf_counter() - started)
            waited["change of n"].append(change(page, "Samples n", 11))
            waited["change of b"].append(change(page, "Backward b", 2))
            started = time.perf_counter()
            page.get_by_role("link", name="Why it helps").first.click()
            expect(page.get_by_text("How many times its own samples is a task worth?")).to_be_visible(timeout=60_000)
            settled(page)
            waited["another page"].append(time.perf_counter() - started)
            page.get_by_role("link", name="Result").first.click()
            expect(page.get_by_role("heading", name="What to do")).to_be_visible(timeout=60_000)
            settled(page)
            waited["repeated setting"].append(change(page, "Backward b", 3))
            page.close()
        browser.close()
    print(f"medians of {visits} visits; load {Path('/proc/loadavg').read_text()[:5]}")
    # The first visit warms the servers up.
    middle = {what: statistics.median(times[1:]) for what, times in waited.items()}
    for what, wanted in {
        "decision": "0.7 of the first page of the floor",
        "first page": "1.35 of it",
        "change of n": "its change and 1.5 times the computation",
        "change of b": "its change and 1.5 times the computation",
        "another page": "1.3 of its change",
        "repeated setting": "1.2 of its change",
    }.items():
        floor_s = middle["floor, first page" if what in ("decision", "first page") else "floor, change"]
        ratio = middle[what] / floor_s
        print(f"{what}: {middle[what]:.2f} s, {ratio:.2f} of the floor ({floor_s:.2f} s); wanted {wanted}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--visits", type=int, default=VISITS)
    options = parser.parse_args()
    if options.against is None:
        against_floor(options.visits)
    else:
        compare(options.against, options.visits)


if __name__ == "__main__":
    main()
