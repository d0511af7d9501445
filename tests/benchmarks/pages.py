"""How long visitors wait, beside a minimal page of Streamlit with eight charts, and how far the layout moves."""

import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pandas as pd
from playwright.sync_api import sync_playwright

from tests.app.conftest import CHROMIUM_FLAGS, running_server
from tests.benchmarks.common import parser, write

FLOOR = """import plotly.graph_objects as go
import streamlit as st
n = st.sidebar.number_input("Samples n", 1, 500, 10)
st.title(f"With {n} samples")
for row in range(4):
    for column, place in enumerate(st.columns(2)):
        figure = go.Figure(go.Scatter(y=[n * column, row, n], name="n"), layout={"height": 200})
        place.plotly_chart(figure, key=f"chart{row}{column}")
"""
WATCH = """() => {
  const old = window.watched, state = window.watched = {shift: 0}, start = performance.now();
  old?.layout.disconnect();
  state.layout = new PerformanceObserver((list) => list.getEntries().forEach((one) => { state.shift += one.value; }));
  state.layout.observe({type: "layout-shift"});
  const heading = () => document.querySelector('[data-testid="stMain"] h1'), first = heading()?.textContent;
  const runs = () => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== "notRunning";
  const seconds = () => (performance.now() - (old ? start : 0)) / 1000;
  let ran = false;
  const look = () => {
    ran = ran || runs() || (heading() && heading().textContent !== first);
    if (ran && heading() && !heading().closest('[data-stale="true"]')) state.sentence ??= seconds();
    if (state.sentence && !runs() && !document.querySelector('[data-testid="stMain"] [data-stale="true"]'))
      state.complete = seconds();
    else requestAnimationFrame(look);
  };
  look();
}"""
BUDGETS = pd.DataFrame(
    {
        "sentence, budget": ["× .6", "", "+ .5 s", "+ .5 s", "+ 1 s", "+ .5 s", "+ .5 s", ""],
        "complete, budget": [1.2, None, 2.0, 2.0, None, 2.0, 2.0, 1.3],
    },
    index=["first page, known", "first page, new seed", "n", "b", "W", "n as before", "k", "another page"],
)


def waited(page) -> dict[str, float]:
    """Return what was watched, at its end."""
    page.wait_for_function("window.watched?.complete", timeout=120_000)
    return page.evaluate("({sentence: watched.sentence, complete: watched.complete, shift: watched.shift})")


def opened(context, url: str) -> tuple[object, dict[str, float]]:
    """Open a page whose files the browser has; return what it took, from the request on."""
    page = context.new_page()
    page.add_init_script(f"document.addEventListener('DOMContentLoaded', {WATCH});")
    page.goto(url)
    return page, waited(page)


def changed(page, act) -> dict[str, float]:
    """Return what a change takes."""
    page.bring_to_front()  # what is behind draws no frames
    page.evaluate(WATCH)
    act()
    return waited(page)


def typed(page, label: str, value: int) -> dict[str, float]:
    """Return what it takes to type a number into a field."""
    box = page.get_by_role("spinbutton", name=label)
    box.fill(str(value))
    return changed(page, lambda: box.press("Enter"))


def one_round(browser, app: str, floor: str, dataset: str, number: int) -> list[dict[str, object]]:
    """Do everything once, in the order of `BUDGETS`, and the floor before."""
    with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        page, first = opened(context, floor)
        rerun = typed(page, "Samples n", 12 + number)
        page, known = opened(context, f"{app}/?dataset={dataset}")
        new = opened(context, f"{app}/?dataset={dataset}&seed={1000 + number}")[1]
        values = {"Samples n": 12 + number, "Backward b": 2 - number % 2, "Window W": 3 + number}
        found = [known, new, *(typed(page, *value) for value in values.items()), typed(page, "Samples n", 10)]
        found.append(typed(page, "Tasks k", 19 - number))  # last: these tasks do not come with the app
        found.append(changed(page, page.get_by_role("link", name="Why it helps").first.click))
    below = [first] * 2 + [rerun] * (len(found) - 2)
    return [
        {"what": what, **row, "floor": under["complete"], "its heading": under["sentence"]}
        | {"ratio": row["complete"] / under["complete"]}
        for what, row, under in zip(BUDGETS.index, found, below, strict=True)
    ]


def main() -> None:
    """Measure, and print medians beside the budgets."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--dataset", default="rotated_digits")
    given = options.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "floor.py").write_text(FLOOR)
        start = ("-m", "streamlit", "run", str(folder / "floor.py"), "--server.headless", "true")
        floor, app = stack.enter_context(running_server(*start)), stack.enter_context(running_server())
        play = stack.enter_context(sync_playwright())
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        one_round(browser, app, floor, given.dataset, 9)  # compiles
        rounds = [one_round(browser, app, floor, given.dataset, number) for number in range(given.rounds)]
    middle = pd.concat(map(pd.DataFrame, rounds)).groupby("what", sort=False).median().round(3)
    write(middle.join(BUDGETS).reset_index(), "pages.csv")


if __name__ == "__main__":
    main()
