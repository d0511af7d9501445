"""How soon the article answers a drag: 100 moves in each scene, on a processor slowed down by Chromium.

    python -m tests.benchmarks.lesson_drags [--slower 4] [--moves 100]

A move is a pointer event of a sample, a curve or a slider that is dragged. Its time runs from the event to the task
that follows the next frame, which is when the frame has been painted. Prints median, 95 % and the slowest, in
milliseconds, and how many frames a second were drawn meanwhile.

What else the machine does counts: compare with the line *an empty page*. The last two columns are of a second visit,
not slowed: frames a second, and the main thread's milliseconds below which 95 % of a drag's frames stay, times what
the processor would be slowed. A move waits up to 17 ms for the next frame: up to 33 leave it within 50.
"""

import argparse
import os
import shutil

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from tests.app.conftest import CHROMIUM_FLAGS, ROOT

ARTICLE = ROOT / "docs" / "article" / "article.html"
EMPTY = "data:text/html,<p style='height:90vh'>an empty page</p>"
# Where the pointer takes hold, scene by scene; the last ones are sliders that move everything in their scene.
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
  window.frames_drawn = 0;
  const channel = new MessageChannel(), began = [];
  channel.port1.onmessage = () => window.times.push(performance.now() - began.shift());
  addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    requestAnimationFrame(() => { began.push(event.timeStamp); channel.port2.postMessage(0); });
  }, true);
  const count = () => { window.frames_drawn += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""
COUNTED = "[performance.now(), window.frames_drawn]"
FRAME = "ProxyMain::BeginMainFrame"  # input, scripts, layout and paint of one frame


def visit(page: Page, place: str) -> tuple[float, float]:
    """Open the article with its guesses made; return where to take hold."""
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
    return at


def drag(page: Page, at: tuple[float, float], moves: int) -> tuple[np.ndarray, float]:
    """Drag to and fro; return the milliseconds of every move, and frames a second."""
    page.mouse.move(*at)
    page.mouse.down()
    began, before = page.evaluate(COUNTED)
    for move in range(1, moves + 1):
        swing = 40 * np.sin(move / 8)
        page.mouse.move(at[0] + swing, at[1] + swing / 2)
    ended, after = page.evaluate(COUNTED)
    page.mouse.up()
    page.wait_for_timeout(200)
    return np.array(page.evaluate("window.times")), 1000 * (after - before) / (ended - began)


class Frames:
    """Processor milliseconds of the main thread for each frame, between entering and leaving."""

    def __init__(self, browser: Browser, page: Page) -> None:
        self.page, self.session, self.events, self.complete = page, browser.new_browser_cdp_session(), [], False
        self.session.on("Tracing.dataCollected", lambda data: self.events.extend(data["value"]))
        self.session.on("Tracing.tracingComplete", lambda _: setattr(self, "complete", True))

    def __enter__(self) -> "Frames":
        config = {"includedCategories": ["cc"]}
        self.session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
        return self

    def __exit__(self, *_: object) -> None:
        self.session.send("Tracing.end")
        while not self.complete:
            self.page.wait_for_timeout(20)
        self.session.detach()

    def longest(self, many: int) -> np.ndarray:
        """Return the `many` longest: frames in which nothing moved would make the others look shorter."""
        lasted = [event["tdur"] / 1000 for event in self.events if event["name"] == FRAME and "tdur" in event]
        return np.sort(lasted)[-many:]


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
        print(f"processor slowed {options.slower:g} times, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print("| dragged | median | 95 % | slowest | frames/s | frames/s, not slowed | processor, 95 % |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, place in {"an empty page": "", **PLACES}.items():
            at = visit(page, place)
            session.send("Emulation.setCPUThrottlingRate", {"rate": options.slower})
            times, slow = drag(page, at, options.moves)
            session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
            at = visit(page, place)
            with Frames(browser, page) as frames:
                _, full = drag(page, at, options.moves)
            processor = options.slower * np.percentile(frames.longest(options.moves), 95)
            low, high, worst = np.percentile(times, [50, 95, 100])
            print(
                f"| {name} | {low:.0f} | {high:.0f} | {worst:.0f} | {slow:.0f} | {full:.0f} | {processor:.0f} |",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
