"""The frame of every page: width of the window, line of the run, failures."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from imrc.evaluation import RunResult
from imrc.evaluation.comparison import run_difference
from imrc.evaluation.significance import with_error
from imrc.plots.fitting import PHONE_PX
from imrc.report.against_others import interval_words
from imrc.wording import RULES
from pages.shell import controls, running, state
from pages.shell.choice import Choice, plain

_SCRIPT = Path(__file__).with_name("frame.js").read_text(encoding="utf-8")


def narrow() -> bool:
    """Return whether the page is as narrow as a phone: as its browser reported, or, before that, said who it is."""
    reported = st.session_state.get("screen")
    if reported is not None and reported.get("narrow") is not None:
        return bool(reported["narrow"])
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def watch() -> None:
    """Let the browser report when its width is another than assumed, and show a page that was chosen."""
    report = st.components.v2.component("page_width", js=_SCRIPT)
    data = {"narrow": narrow(), "px": PHONE_PX, "page": state.visit().page}
    report(key="screen", data=data, on_narrow_change=lambda: None)


SIDEBAR_PX = 320
# On a phone Streamlit's button for the sidebar, which holds the list of pages too, has no words. The buttons of a chart
# are beside its heading, not on its data. The keyboard comes to the page before the settings, to the help of a field
# from that field (Shift+Tab), and to nothing that only scrolls. What waits for its content has the height it will have.
STYLE = f"""<style>
.js-plotly-plot, [data-testid=stElementContainer]:has(.js-plotly-plot) {{ overflow: visible !important }}
.js-plotly-plot .modebar-container {{ top: -2.2rem !important }}
[data-testid=stAppViewContainer] {{ reading-flow: source-order }}
[data-testid=stSidebar] {{ reading-order: 1 }}
[data-testid=stWidgetLabel] button[aria-label^=Help] {{ visibility: hidden }}
[data-testid=stWidgetLabel] button[aria-label^=Help] svg,
:focus-within > [data-testid=stWidgetLabel] button[aria-label^=Help] {{ visibility: visible }}
[data-testid=stHeaderActionElements] {{ display: none }}
[data-testid=stMain] [data-testid=stMarkdown] h1 {{ padding: 0 0 0.6rem }}
[data-testid=stMain] h2:not([class*=headline] *) {{ font-size: 1.1rem; font-weight: 600; padding: 0.5rem 0 0.5rem }}
[data-testid=stMain] :is([class*=headline], .st-key-landing_title, .st-key-to_do) :is(h1, h2, h3) {{ padding: 0 }}
.stMainBlockContainer.stMainBlockContainer {{ max-width: none }}
.st-key-run_line.st-key-run_line {{ overflow: visible; flex-wrap: nowrap }}
.st-key-run_line > * {{ flex: 0 1 auto; min-width: 0 }}
.st-key-run_line > :has([data-testid=stProgress]) {{ flex: 0 0 19rem }}
.st-key-landing_title.st-key-landing_title {{ min-height: 2.5rem }}
.st-key-landing.st-key-landing {{ min-height: 25.2rem }}
.st-key-lower_headline.st-key-lower_headline {{ min-height: 3.4rem; strong {{ font-weight: inherit }} }}
.st-key-headline.st-key-headline {{ min-height: 4.2rem }}
.st-key-to_do.st-key-to_do {{ min-height: 4.4rem; padding: 0.9rem 0 0.6rem }}
.st-key-own_upload.st-key-own_upload {{ min-height: 6rem }}
[class*=st-key-head_][class*=st-key-head_] {{ min-height: 10rem }}
:is([class*=st-key-paper_], .st-key-evolving_picture, .st-key-ess_picture, .st-key-compare_n).element-container {{
  min-height: 4.25rem
}}
.stTabs [data-testid=stElementContainer] {{ min-height: 13.25rem }}
@media (min-width: 769px) and (max-height: 820px) {{
  .stMainBlockContainer [data-testid=stVerticalBlock] {{ gap: 0.6rem }}
  .st-key-landing.st-key-landing {{ min-height: 22rem }}
  .st-key-to_do.st-key-to_do {{ min-height: 3rem; padding-top: 0.6rem }}
}}
@media (max-width: 1200px) {{
  .st-key-closer [data-testid=stHorizontalBlock].stHorizontalBlock {{ flex-direction: column }}
  .st-key-closer [data-testid=stColumn].stColumn {{ flex: none; width: 100% }}
}}
@media (max-width: {PHONE_PX}px) {{
  .st-key-run_line.st-key-run_line {{ flex-wrap: wrap }}
  .st-key-landing_title.st-key-landing_title {{ min-height: 5.5rem }}
  .st-key-landing.st-key-landing {{ min-height: 46rem }}
  .st-key-lower_headline.st-key-lower_headline {{ min-height: 8rem }}
  .st-key-headline.st-key-headline {{ min-height: 12.5rem }}
  .st-key-to_do.st-key-to_do {{ min-height: 11.25rem }}
  [data-testid=stMain] .st-key-to_do.st-key-to_do :is(h2, h3) {{ padding: 0 0 0.75rem }}
  .st-key-own_upload.st-key-own_upload {{ min-height: 9.3rem }}
  [class*=st-key-head_][class*=st-key-head_] {{ min-height: 25rem }}
  :is(.st-key-paper_part, .st-key-paper_method, .st-key-paper_error).element-container {{ min-width: 100% }}
  .st-key-paper_part.element-container {{ min-height: 6.6rem }}
  .st-key-could_do.st-key-could_do {{ min-height: 16rem }}
  [data-testid=stExpandSidebarButton] {{ width: auto }}
  [data-testid=stExpandSidebarButton]::after {{ content: "Pages and settings"; padding-left: 0.5rem }}
}}
</style>"""
PLACE_OF_SIDEBAR = f"""<style>@media (min-width: 769px) {{
  [data-testid=stAppViewContainer]:not(:has([data-testid=stSidebar])) {{ padding-left: {SIDEBAR_PX}px }}
}}</style>"""


def _start_over() -> None:
    """Forget everything of this visit; the next run starts from the defaults."""
    st.session_state.clear()
    st.query_params.clear()


def show_failure(error: Exception) -> bool:
    """Show what failed, with ways on, and tell the server that it need not show it."""
    # Only kind and moment: the text of an error can name files of this machine. The server's log has it in full.
    st.error(
        "**Something went wrong here, and it is not your fault.** Nobody else is affected, and your settings are kept. "
        "Try once more, or start over with the default settings (an uploaded file has to be chosen again). "
        "If it happens again, please report it with the address of this page and this line: "
        f"`{type(error).__name__}, {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC`.",
        icon=":material/sentiment_dissatisfied:",
    )
    left, right = st.columns(2)
    controls.button("Try again", "refresh", "crash_again", place=left, width="stretch")
    again = {"on_click": _start_over, "width": "stretch"}
    controls.button("Start over", "restart_alt", "crash_start_over", place=right, **again)
    return True


_HEIGHT_PX = 44
"""Two lines of small text, or a bar of progress with its Stop: what is below does not move."""
_PIN = "Keeps this run in view while you change settings, so that you can compare. It becomes part of the link."


def _what(choice: Choice) -> str:
    return f"**{plain(state.title_of(choice.dataset))}** · {choice.in_words()}"


def _errors(result: RunResult) -> str:
    errors = result.headline()
    told = (f"{RULES[rule].lower()} **{with_error(errors[rule])}**" for rule in ("single", result.scenario.main))
    return f"{result.measure()}: {' · '.join(told)}"


def show_line() -> None:
    """Draw the line; the result comes in when the page has it, or at once where it is kept."""
    visit = state.visit()
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    height = "content" if narrow() else _HEIGHT_PX
    place = row.container(horizontal=True, vertical_alignment="center", height=height, border=False, key="run_line")
    words, visit.line = place.empty(), place.empty()

    def fill(result: RunResult | None) -> None:
        text = _what(visit.choice)
        if result is not None:
            if result.n_tasks < visit.choice.k:
                text += f" · **stopped after {result.n_tasks} of {visit.choice.k} tasks**"
            if result.settings.repetitions < visit.choice.settings.repetitions:
                text += f" · **{result.settings.repetitions} of {visit.choice.settings.repetitions} repetitions**"
            text += f" · {_errors(result)}"
        words.markdown(f":small[{text}]", width="content")

    fill(running.kept_result(visit.choice))
    visit.show_result = fill
    pinned = visit.pinned is not None
    label, icon, told = ("Unpin", "keep_off", "Removes the pinned run.") if pinned else ("Pin", "keep", _PIN)
    then = {"on_click": visit.pin, "args": (None if pinned else visit.choice,)}
    controls.button(label, icon, "pin", told, place=row, type="tertiary", **then)


def show_pinned() -> None:
    """Draw the pinned run beside the present one; computed where it is not kept, so the page comes first."""
    visit = state.visit()
    now = running.kept_result(visit.choice)
    if visit.pinned is None or now is None:
        return
    if visit.pinned == visit.choice:
        st.caption(":material/keep: This run is pinned. Change a setting to compare.")
        return
    before = running.result_of(visit.pinned, whole=False)
    if before is None:
        return
    told = "the runs differ in tasks, draws or scenario, so their errors cannot be compared"
    differences = {rule: run_difference(now, before, rule) for rule in ("single", now.scenario.main)}
    if given := {RULES[rule].lower(): one for rule, one in differences.items() if one is not None}:
        certain = {True: "more than noise", False: "may be noise"}
        told = " · ".join(f"{rule} {interval_words(one)}, {certain[one.clear]}" for rule, one in given.items())
        told += " (95 % intervals)"
    st.markdown(
        f":small[Pinned: {_what(visit.pinned)} · {_errors(before)}]  \n:small[Change since the pinned run: {told}]"
    )
