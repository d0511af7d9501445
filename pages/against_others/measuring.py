"""Running the methods of *Against others*, one after the other, each kept in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pandas as pd
import streamlit as st

from imrc.evaluation import RunResult, largest_n
from imrc.evaluation.comparison import (
    ScoreKind,
    comparison_table,
    curve_table,
    sample_size_table,
    sample_sizes,
    score_table,
)
from imrc.report.sentences import comparison_summary
from pages.shell import running, state
from pages.shell.choice import Choice

CurveKind = Literal["average", "newest", "before"]
_Place = st.delta_generator.DeltaGenerator


def _runs(
    choice: Choice, names: Sequence[str], head: st.delta_generator.DeltaGenerator | None = None
) -> list[RunResult]:
    """Return the runs of IMRC and the named methods that came to their end; who is ahead so far is in `head`."""
    sequence, found = state.visit().sequence_for(choice), []
    jobs, changes = running.comparison_jobs(choice.settings, names), running.comparison_changes(choice.settings, names)
    missing = len(running.comparison_there(sequence, jobs)) < len(jobs)
    slot = st.empty() if head is None else head.empty()
    for number, change in enumerate(changes, start=1):
        run = running.result_of(choice, **change)  # with a bar, the time left and Stop; who stopped it is told so
        found += [run] if run is not None and run.n_tasks == len(sequence) else []
        if head is not None and missing and found:
            ahead = comparison_summary(comparison_table(score_table(found)), sequence.name)
            slot.markdown(f"# {number} of {len(changes)} methods so far\n{ahead}")
    slot.empty()
    return found


def scores_of(choice: Choice, names: Sequence[str], kind: ScoreKind, head: _Place) -> pd.DataFrame:
    """Return the scores of IMRC and the named methods, which are run where they are not kept."""
    results = _runs(choice, names, head)
    if kind == "before" and state.visit().sequence().labels[1:] == ():
        st.warning("It takes two tasks to test one before it is learnt.", icon=":material/info:")
        results = []
    if not results:
        st.stop()
    return score_table(results)


def _named(names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.startswith("imrc")]


def curves(choice: Choice, names: Sequence[str], kind: CurveKind) -> list[pd.DataFrame]:
    """Return errors of methods that were run, by step and against the number of tasks."""
    results = running.comparison_there(
        state.visit().sequence(), running.comparison_jobs(choice.settings, _named(names))
    )
    tables = [curve_table(results, kind=kind), curve_table(results, by="k", kind=kind)]
    return [table[table["method"].isin(names)] for table in tables]


def by_size(choice: Choice, names: Sequence[str], kind: CurveKind) -> pd.DataFrame:
    """Return errors of methods at several n; those that are missing are run."""
    settings, runs = choice.settings, []
    for n in sample_sizes(largest_n(state.visit().sequence()), settings.n):
        runs += _runs(replace(choice, settings=replace(settings, n=n)), _named(names))
    table = sample_size_table(score_table(runs), kind=kind)
    return table[table["method"].isin(names)]
