"""What *Against others* shows: shipped results, or runs made now; how columns are read, one line per method."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from imrc import datasets
from imrc.baselines import method_title, parse_method, registry
from imrc.evaluation import SCENARIOS, RunResult, RunSettings
from imrc.evaluation.comparison import (
    SCORE_KINDS,
    ScoreKind,
    best_methods,
    comparison_latex,
    comparison_table,
    curve_table,
    default_reference,
    methods_with,
    score_table,
    title_of_method,
)
from imrc.evaluation.latex import settings_in_words
from imrc.paper import shipped
from imrc.plots import method_curves, method_differences
from imrc.report.against_others import comparison_summary, significance_note
from pages.shell import charts, controls, frame, running, state
from pages.shell.choice import Choice

_Place = st.delta_generator.DeltaGenerator
ERROR_TITLES: dict[ScoreKind, str] = {
    "average": "All tasks seen",
    "newest": "Newest task",
    "before": "Before learning",
    "own": "Each method's own",
    "released": "As released",
}
"""Errors a visitor can choose."""


def choices() -> list[str]:
    """Return all methods and profiles a visitor can choose, defaults first."""
    others = [f"{name}:{profile}" for name in registry for profile in registry[name].profiles if profile != "default"]
    return [*registry, *others]


def shipped_scores(choice: Choice) -> pd.DataFrame | None:
    """Return the scores that came with the program for the dataset chosen, if there are some."""
    if choice.dataset not in datasets.names() or datasets.status(choice.dataset).where != "built in":
        return None
    found = shipped.comparison(choice.dataset)
    return found if len(found) else None


def size_chosen(scores: pd.DataFrame, n: int, place: Any) -> int:  # noqa: ANN401 - a container
    """Let a visitor choose among the shipped n; at first the one nearest to that of the sidebar."""
    sizes = {size: str(size) for size in sorted(set(scores["n"]))}
    nearest = min(sizes, key=lambda size: abs(size - n))
    controls.start_anew(n, compare_n=nearest)
    told = "Initially the value closest to n in the sidebar. For any other n, use *Measure with these settings*."
    shown = {"index": list(sizes).index(nearest), "place": place}
    return int(controls.switch("Samples per task n", sizes, "compare_n", told, **shown))


def kind_chosen(settings: RunSettings, place: Any) -> ScoreKind:  # noqa: ANN401 - a container
    """Let a visitor choose the error; at first that of the scenario, where methods are compared by it."""
    first = own if (own := SCENARIOS[settings.scenario].kind) in ERROR_TITLES else "average"
    controls.start_anew(settings.scenario, compare_kind=first)
    told = "  \n".join(f"**{ERROR_TITLES[name]}**: {words}." for name, words in SCORE_KINDS.items())
    shown = {"index": list(ERROR_TITLES).index(first), "width": 200, "place": place}
    kind: ScoreKind = controls.menu("Error", ERROR_TITLES, "compare_kind", told, **shown)
    return kind


def measured_scores(choice: Choice, names: Sequence[str], kind: ScoreKind, head: _Place) -> pd.DataFrame:
    """Return the scores of IMRC and the named methods, run where they are not kept; `head` has who is ahead so far."""
    sequence, found = state.visit().sequence_for(choice), list[RunResult]()
    changes = running.comparison_changes(choice.settings, names)
    slot = head.empty()
    # With a bar, the time left and Stop; who stopped it is told so.
    for number, run in enumerate(running.as_one("run_compared", choice, changes), start=1):
        found += [run] if run is not None and run.n_tasks == len(sequence) else []
        if state.visit().job is None or not found:
            continue
        so_far, rules = score_table(found), len(methods_with(score_table(found[0]), kind))
        if known := methods_with(so_far, kind):
            ahead = comparison_summary(comparison_table(so_far, kind=kind), state.title_of(choice.dataset))
            left = sum(rules if one["methods"] == ("imrc",) else 1 for one in changes[number:])
            slot.markdown(f"# {len(known)} of {len(known) + left} methods so far\n{ahead}")
    slot.empty()
    if kind == "before" and len(sequence) < 2:
        st.warning("Testing a task before it is learnt takes at least two tasks.", icon=":material/info:")
        found = []
    if not found:
        st.stop()
    return score_table(found)


def reference_in(scores: pd.DataFrame, kind: ScoreKind) -> str:
    """Return the method that all others are tested against."""
    present = methods_with(scores, kind)
    chosen = st.session_state.get("compare_reference")
    return chosen if chosen in present else default_reference(present)


def columns(kind: ScoreKind) -> dict[str, Any]:
    """Return how the columns of the comparison are shown, with what they mean."""
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    error = text(help=f"{SCORE_KINDS[kind]}, ± one standard error of the mean over repetitions.")
    return {
        # Its width would be that of the first rows; on phones the error is beside it.
        "Method": text(width=None if frame.narrow() else 300),
        "Error": error,
        "Balanced error": error,
        "Paper": text(width=80, help="The mean ± standard deviation that the paper prints for this dataset and n."),
        "Rank": number(format="%.1f", help="Rank in each repetition, averaged; 1 is best."),
        "Against reference": text(help="Whether a paired test over repetitions finds a difference from the reference."),
        "p": text(help="p-value of that test, corrected for all comparisons by Holm's method."),
        "ms per task": number(format="%.1f", help="Processor time to learn one task; for IMRC, with all its rules."),
        "Numbers kept": number(
            format="localized",
            help="Parameters, memories, statistics and samples at the end. Unknown where b was lowered after a run.",
        ),
    }


def about(names: list[str], place: Any) -> None:  # noqa: ANN401 - a container
    """Say in one line what a method does, on demand."""
    titles = {name: method_title(name) for name in names if not name.startswith("imrc")}
    told = "One line about a method: what it does, where it wins, what it keeps."
    shown = {"index": None, "placeholder": "Choose a method", "width": 240, "place": place}
    name = controls.menu("What is …", titles, "compare_about", told, **shown)
    if name is not None:
        cls = registry[parse_method(name)[0]]
        st.markdown(f"**{cls.title}**: {cls.idea} *Wins with:* {cls.wins} *Keeps:* {cls.keeps}")


def experts(
    table: pd.DataFrame, scores: pd.DataFrame, kind: ScoreKind, choice: Choice, every: pd.DataFrame, *, measured: bool
) -> None:
    """Show the tests behind the comparison; of measured methods their curves, too; where each is from; `every` n."""
    if len(table) > 1:
        present = methods_with(scores, kind)
        if st.session_state.get("compare_reference", present[0]) not in present:
            del st.session_state["compare_reference"]
        titles = {name: title_of_method(name) for name in present}
        told = "The method that all others are compared with, repetition by repetition."
        shown = {"index": present.index(default_reference(present)), "width": 320}
        reference = controls.menu("Tested against", titles, "compare_reference", told, **shown)
        tested = comparison_table(scores, kind=kind, reference=reference)
        charts.show(method_differences, tested, name="method-differences")
        st.caption(significance_note(table, int(scores["repetition"].max())))
    if measured:
        _curves(table, kind, choice)
    rows = [("Method", "Source", "Where this implementation differs")]
    for method in dict.fromkeys(parse_method(name)[0] for name in table["method"] if not name.startswith("imrc")):
        cls = registry[method]
        needs = "needs to know which task a sample belongs to" if cls.keeps_old_rules else "one rule for every task"
        rows.append((f"{cls.title} ({needs})", cls.paper or "none", " ".join(cls.deviations) or "nowhere"))
    charts.rows(rows)
    if not measured:
        about = shipped.index()["against"]
        st.caption(f"{about['what']}. {shipped.measured_when('against')} Made by `{about['command']}`.")
    charts.csv(every, name=f"scores-{every['dataset'].iloc[0]}", label="Scores of all repetitions as CSV")
    told = "Mean ± one standard error; bold: lowest or not clearly higher. For the package booktabs."
    tasks = len(state.visit().sequence_for(choice)) if measured else datasets.entry(choice.dataset).opens_with
    settings = settings_in_words(choice.settings if measured else RunSettings(), tasks)
    name, made = f"imrc-{every['dataset'].iloc[0]}.tex", partial(comparison_latex, every, kind, settings)
    controls.save("Table for LaTeX", made, name, "text/x-tex", "compare_latex", help=told)


def _curves(table: pd.DataFrame, kind: ScoreKind, choice: Choice) -> None:
    """Draw the error of the best methods by step."""
    kinds: dict[ScoreKind, Literal["average", "newest", "before"]] = {"newest": "newest", "before": "before"}
    error = kinds.get(kind, "average")
    fair = best_methods(table)
    others = [name for name in fair if not name.startswith("imrc")]
    curves = curve_table(running.comparison_kept(state.visit().sequence(), choice.settings, others), kind=error)
    best = curves[curves["method"].isin(fair)]
    charts.show(method_curves, best, kind=error, name="method-curves")
