"""Watch, on the page *Is it evolving?*: tasks arrive one after the other, with an alarm that can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pandas as pd
import streamlit as st

import imrc
from imrc.evaluation import RunResult
from imrc.plots.watching import watch_chart
from imrc.watch import arrival_sentences, watch_story
from pages.ui import charts, controls, links, player
from pages.ui.choice import Choice
from pages.ui.keeping import Store, shared
from pages.ui.running import current_result

_TASK = "watch_task"
_ALPHAS = [0.01, 0.05, 0.1]
_EXPLAINED = """
Each task is compared with all samples before it, in random splits: without a change its p-value is any number from 0 to
1. A bet on small ones pays 1 on average; begun anew at every task, all bets together are the *evidence*. If all rows
are independent draws from one distribution it ever reaches 1 / α with probability α at most, however long one watches
(Ville's inequality). Rows that follow each other and are alike set it off without a change. *More than usual* is
calibrated by simulation only. An alarm says that something changes, not that it matters: slow drift, for which forward
learning is made, sets it off too.

The same on the command line, also for a file that grows: `imrc watch`.
"""

_kept: Callable[[], Store[tuple[Hashable, ...], pd.DataFrame]] = shared("watching")


def watch(choice: Choice, sequence: imrc.TaskSequence) -> None:
    """Offer to watch the tasks arrive; nothing is computed until somebody asks for it."""
    st.markdown("### Would an alarm have gone off?")
    if len(sequence) < 3:
        st.info("Watching needs at least 3 tasks.", icon=":material/info:")
        return
    if not controls.toggle(
        "Watch", "watch", "Tasks arrive one after the other: what an alarm says of each, and what learning it changes."
    ):
        return
    run = current_result(scenario="continual")  # an alarm hears tasks as they arrive, whatever is averaged
    if run is not None:
        _played(choice, sequence, run)


@st.fragment
def _played(choice: Choice, sequence: imrc.TaskSequence, run: RunResult) -> None:
    features, seed, last = choice.settings.features.diagnosed, choice.settings.seed, len(sequence)
    key = (sequence.fingerprint, features, seed, run.settings, run.n_tasks)
    with st.spinner("Watching the tasks …"):
        story = _kept().get_or_make(key, lambda: watch_story(sequence, features, seed, run))
    links.start_anew((sequence.fingerprint, last), watch_task=last)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    newest = row.slider(
        "Newest task", 2, last, last, key=_TASK, bind="query-params", help="The task that has just arrived.", width=260
    )
    with row.container(width="content"):
        player.show(newest, last, _TASK, first=2)
    alpha = row.radio(
        "False alarms at most",
        _ALPHAS,
        index=1,
        horizontal=True,
        key="watch_alpha",
        bind="query-params",
        format_func=lambda value: f"{100 * value:g} %",
        help="The probability that the alarm ever goes off without a change, however long one watches.",
        width="content",
    )
    said = arrival_sentences(story, newest, alpha)
    st.markdown(f"**{said[0]}** " + " ".join(said[1:]))
    charts.show(
        watch_chart,
        story,
        newest,
        alpha,
        name="watch-chart",
        alt=f"Evidence, size of each change, and errors before and after learning, up to task {newest}. {said[0]}",
    )
    with st.expander("How the alarm works", icon=":material/science:"):
        st.markdown(_EXPLAINED)
        charts.csv(story, name="watch")
