"""How soon the article answers a drag: 100 moves in each scene, on a processor slowed down by Chromium.

    python -m tests.benchmarks.lesson_drags [--slower 4] [--moves 100]

A move is a pointer event of a sample, a curve or a slider that is dragged. Its time runs from the event to the task
that follows the next frame, which is when the frame has been painted. Prints median, 95 % and the slowest, in
milliseconds. What else the machine does counts in these: compare with the line *an empty page*. The last column depends
on it less: processor milliseconds of the page's main thread per move, not slowed.
"""

import argparse
import os
import shutil

import numpy as np
from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.app.conftest import CHROMIUM_FLAGS, ROOT

ARTICLE = ROOT / "docs" / "article" / "article.html"
EMPTY = "data:text/html,<p style='height:90vh'>an empty page</p>"
# Where the pointer takes hold, scene by scene; the last two are sliders that move everything in their scene.
PLACES = {
    "turn, digit": "#turn canvas",
    "average, sample": "#average .handle >> nth=3",
    "neighbours, sample": "#neighbours .handle >> nth=3",
    "rule, sample": "#rule .handle >> nth=3",
    "gain, size of a change": "#gain .handle >> nth=0",
    "repair, sample": "#repair .handle >> nth=3",
    "rule, slider of ρ": "#rule input[name=rho]",
    "trust, slider of ρ": "#trust input[name=rho]",
    "gain, slider of n": "#gain input[name=n]",
    "failure, slider of ρ": "#failure input[name=rho]",
    "yours, slider of n": "#yours input[name=labels]",
}
MEASURE = """() => {
  window.times = [];
  const channel = new MessageChannel(), began = [];
  channel.port1.onmessage = () => window.times.push(performance.now() - began.shift());
  addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    requestAnimationFrame(() => { began.push(event.timeStamp); channel.port2.postMessage(0); });
  }, true);
}"""


def drag(page: Page, at: tuple[float, float], moves: int) -> np.ndarray:
    """Drag to and fro; return the milliseconds of every move."""
    page.evaluate("window.times.length = 0")
    page.mouse.move(*at)
    page.mouse.down()
    for move in range(1, moves + 1):
        swing = 40 * np.sin(move / 8)
        page.mouse.move(at[0] + swing, at[1] + swing / 2)
    page.mouse.up()
    page.wait_for_timeout(200)
    return np.array(page.evaluate("window.times"))


def work(session: CDPSession) -> float:
    """Return the processor seconds of the main thread so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def main() -> None:
    """Print one line per place."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--slower", type=float, default=4.0)
    parser.add_argument("--moves", type=int, default=100)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        print(f"processor slowed {options.slower:g} times, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print("| dragged | median | 95 % | slowest | processor |\n| --- | ---: | ---: | ---: | ---: |")
        for name, place in {"an empty page": "", **PLACES}.items():
            page.goto(ARTICLE.as_uri() if place else EMPTY)
            at = (200.0, 400.0)
            if place:
                for guess in page.locator(".guess").all():
                    guess.locator("button").first.click()
                held = page.locator(place)
                held.evaluate("one => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
                box = held.bounding_box()
                at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.evaluate(MEASURE)
            session.send("Emulation.setCPUThrottlingRate", {"rate": options.slower})
            times = drag(page, at, options.moves)
            session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
            before = work(session)
            drag(page, at, options.moves)
            each = 1000 * (work(session) - before) / options.moves
            low, high, worst = np.percentile(times, [50, 95, 100])
            print(f"| {name} | {low:.0f} | {high:.0f} | {worst:.0f} | {each:.1f} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
