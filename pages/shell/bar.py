"""The line under the navigation: what is shown, its result or how far it is, and the run pinned beside it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from imrc.datasets import DataError
from imrc.evaluation import RunResult
from imrc.evaluation.comparison import run_difference
from imrc.evaluation.significance import Interval, with_error
from imrc.wording import RULES, decimal
from pages.shell import data, running, screen, state
from pages.shell.choice import Choice
from pages.shell.words import plain

_HEIGHT_PX = 44
"""Two lines of small text, or a bar of progress with its Stop: what is below does not move."""


def _what(choice: Choice) -> str:
    return f"**{plain(data.title_of(choice.dataset))}** · {choice.in_words()}"


def _errors(result: RunResult) -> str:
    headlines = result.headline()
    shown = (f"{RULES[rule].lower()} **{with_error(headlines[rule])}**" for rule in _shown(result))
    return f"{result.measure()}: {' · '.join(shown)}"


def _shown(result: RunResult) -> tuple[str, str]:
    return ("single", result.scenario.main)


def _kept(choice: Choice) -> RunResult | None:
    try:
        return running.stored_result(choice)
    except DataError:
        return None


def show() -> None:
    """Draw the line; the result comes in when the page has it, or at once where it is kept."""
    visit = state.visit()
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    height = "content" if screen.narrow() else _HEIGHT_PX
    place = row.container(horizontal=True, vertical_alignment="center", height=height, border=False)
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

    fill(_kept(visit.choice))
    visit.show_result = fill
    pinned = visit.pinned is not None
    row.button(
        "Unpin" if pinned else "Pin",
        key="pin",
        type="tertiary",
        icon=":material/keep_off:" if pinned else ":material/keep:",
        on_click=visit.pin,
        args=(None if pinned else visit.choice,),
        help="Takes the pinned run away."
        if pinned
        else "Keeps this run in sight while you change settings, to compare the two. It is part of the link.",
    )


def pinned() -> None:
    """Draw the pinned run beside the present one; computed where it is not kept, so the page comes first."""
    visit = state.visit()
    now = _kept(visit.choice)
    if visit.pinned is None or now is None:
        return
    if visit.pinned == visit.choice:
        st.caption(":material/keep: This run is pinned. Change a setting to compare.")
        return
    before = running.result_of(visit.pinned)
    if before is None:
        return
    differences = [(rule, run_difference(now, before, rule)) for rule in _shown(now)]
    told = " · ".join(f"{RULES[rule].lower()} {_difference(one)}" for rule, one in differences if one is not None)
    if not told:
        told = "the runs have other tasks, other draws or another scenario, so their errors cannot be compared"
    st.markdown(f":small[Pinned: {_what(visit.pinned)} · {_errors(before)}]  \n:small[Now minus pinned: {told}]")


def _difference(difference: Interval) -> str:
    shown = decimal(difference.mean)
    if np.isfinite(difference.low):
        certain = "more than noise" if difference.clear else "may be noise"
        shown += f" (95 % interval {decimal(difference.low)} to {decimal(difference.high)}, {certain})"
    return shown.replace("-", "−")
