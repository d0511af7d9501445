"""The paper's figures on page *The paper*: with our results for its data, and for any data and settings on request."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import imrc
from imrc import datasets
from imrc.diagnostics import PartialAutocorrelation, words
from imrc.evaluation import RunSettings, largest_n
from imrc.evaluation.comparison import curve_table
from imrc.evaluation.limits import RunNeeds
from imrc.evaluation.uncertainty import component_names, uncertainty_sets
from imrc.evaluation.windows import (
    LONGEST,
    STARTS,
    TIMED_STEPS,
    growth_table,
    window_starts,
    window_table,
)
from imrc.paper import cells, shipped
from imrc.plots import running_time_curves, sample_and_task_curves
from imrc.plots.diagnostics import pacf_panels
from imrc.plots.ess import PAIRS, ess_curve_table, ess_curves
from imrc.plots.paper_curves import growth_curves, uncertainty_boxes, window_curves
from imrc.plots.runs import run_heatmaps
from pages.ui import assessing, charts, controls, data, queue, running, state
from pages.ui.choice import OWN, PRESET_TITLES, loss_in_words
from pages.ui.keeping import Store, shared
from pages.ui.paper import made_by
from pages.ui.words import plain

FIGURES = {
    "curves": "Error against n and k",
    "heatmaps": "Heatmaps",
    "sets": "Uncertainty sets",
    "ess": "Effective sample size",
    "pacf": "Partial autocorrelations",
    "time": "Running time",
}
_SIZES = (5, 10, 20, 50, 100, 150)
_WANTED = "paper_measure"
_SHOWN_EVERY_S = 0.2


def figures() -> None:
    """Draw one of the paper's figures, of the data shipped or of what the visitor has chosen."""
    figure = controls.switch("Figure", FIGURES, "paper_figure", "Which of the paper's figures.")
    if figure == "ess":
        _ess()
        return
    mine = figure == "sets"
    if not mine:
        title = plain(data.title_of(state.visit().choice.dataset))
        of = {"paper": "The paper's data", "mine": f"Yours: {title}"}
        mine = (
            controls.switch(
                "Of",
                of,
                "paper_of",
                "Results that come with this program; or the dataset and settings chosen on the other pages, "
                "measured when you ask for it.",
            )
            == "mine"
        )
    if not mine:
        {"curves": _curves, "heatmaps": _heatmaps, "pacf": _pacf, "time": _time}[figure]()
        return
    _chosen()
    {"curves": _my_curves, "heatmaps": _my_heatmaps, "sets": _my_sets, "pacf": _my_pacf, "time": _my_time}[figure]()


def _chosen() -> None:
    """Say what the figure is of."""
    choice = state.visit().choice
    settings = choice.settings
    st.caption(
        f"{plain(data.title_of(choice.dataset))}, k = {choice.k}, b = {settings.b}, preset "
        f"*{PRESET_TITLES[choice.preset]}{loss_in_words(settings)}*, {settings.repetitions} repetitions, "
        f"seed {settings.seed}. Change them in the sidebar of page *Result*."
    )


def _chosen_run() -> str:
    return st.selectbox(
        "Run",
        shipped.run_names(),
        format_func=lambda name: shipped.index()[name]["what"],
        key="paper_run",
        bind="query-params",
        help="The sequence that was learnt, and how.",
        width=420,
    )


def _curves() -> None:
    name = _chosen_run()
    result = shipped.run(name)
    charts.show(
        sample_and_task_curves,
        cells.sample_size_curve(result.name),
        curve_table([result], by="k"),
        name="paper-curves",
        alt=f"{shipped.index()[name]['what']}: error of single-task, forward and forward and backward learning against "
        "n (left) and against the number of tasks (right).",
    )
    st.caption(
        "The paper shows the same for Yearbook and DomainNet, not measured here. Left: all n measured, with "
        "the number of tasks of the dataset; right: the sequence that begins with the first task and ends after k."
    )
    made_by(name)
    table = shipped.table("tasks")
    of_run = table[table["dataset"] == result.name]
    if len(of_run):
        _window_chart(of_run, "paper-windows")
        made_by("tasks", f"imrc table --kind tasks --datasets {result.name} --n 10 100 --repetitions 3")


def _window_chart(table: pd.DataFrame, name: str) -> None:
    raw = controls.toggle("The error itself", f"{name}-raw", "Instead of the ratio.")
    last = table[(table["k"] == table["k"].max()) & (table["rule"] == "forward_backward")]
    ratios = ", ".join(f"{row.ratio:.2f} at n = {row.n}" for row in last.itertuples())
    charts.show(
        window_curves,
        table,
        raw=raw,
        name=name,
        alt="Error of forward, and forward and backward learning, divided by that of single-task learning, against "
        f"the number of consecutive tasks. For the most tasks: {ratios}.",
    )
    st.caption(
        f"Mean over all sequences of k consecutive tasks, each learnt from its own beginning; of more than {STARTS}, "
        f"evenly spaced ones, of at most {LONGEST} tasks. Few sequences are as long as the longest, so the right ends "
        "are rough."
    )
    charts.csv(table, name=name)


def _heatmaps() -> None:
    name = _chosen_run()
    result = shipped.run(name)
    charts.show(
        run_heatmaps,
        result,
        triangle=True,
        name="paper-heatmaps",
        alt=f"{shipped.index()[name]['what']}: error of each task at each step for the three rules.",
    )
    st.caption(
        "Backward learning changes the rules of earlier tasks, so its errors fall along a row; single-task and "
        "forward rules stay as they were learnt. The paper shows this for Yearbook."
    )
    made_by(name)


def _my_heatmaps() -> None:
    result = running.result_of(state.visit().choice)
    if result is None:
        return
    charts.show(
        run_heatmaps,
        result,
        triangle=True,
        name="paper-my-heatmaps",
        alt=f"{plain(result.name)}: error of each task at each step for the three rules.",
    )
    st.caption("The same run as on page *Result*; of more than 100 tasks every q-th is shown.")


def _ess() -> None:
    charts.show(
        ess_curves,
        ess_curve_table(PAIRS),
        name="paper-ess",
        alt="Effective sample size over n against n d² for the paper's pairs of j and k.",
    )
    st.caption("The closed forms of Theorems 2 and 4; page *Why it helps* draws them for any j and k.")
    st.code(
        f"from imrc.plots.ess import ess_curve_table, ess_curves\ness_curves(ess_curve_table({list(PAIRS)})).show()",
        language="python",
    )


def _pacf() -> None:
    table = shipped.table("lags")
    panels = {
        datasets.entry(str(name)).title: PartialAutocorrelation(
            part["lag"].to_numpy(),
            np.empty((len(part), 0)),
            *(part[column].to_numpy() for column in ("pacf", "pacf_std", "pacf_low", "pacf_high")),
        )
        for name, part in table.groupby("sequence", sort=False)
    }
    _lags(panels, "paper-pacf")
    made_by("lags")


def _my_pacf() -> None:
    choice = state.visit().choice
    found = assessing.assessment(choice).pacf
    if found is None:
        st.info("Partial autocorrelations need at least 4 tasks.", icon=":material/info:")
        return
    _lags({plain(data.title_of(choice.dataset)): found}, "paper-my-pacf")


def _lags(panels: dict[str, PartialAutocorrelation], name: str) -> None:
    """Draw partial autocorrelations up to a lag, and say what they show."""
    most = max(len(pacf.lags) for pacf in panels.values())
    shown = most
    if most > 2:
        shown = st.slider(
            "Lags",
            1,
            most,
            most,
            key=f"{name}-lags",
            bind="query-params",
            help="At most 20, and fewer than half of the tasks: beyond, the estimates are noise.",
            width=420,
        )
    cut = {title: _up_to(pacf, shown) for title, pacf in panels.items()}
    charts.show(
        pacf_panels,
        cut,
        name=name,
        alt="Partial autocorrelation of the mean vectors by lag, averaged over components, for " + ", ".join(cut) + ".",
    )
    st.caption("  \n".join(words.pacf_sentence(title, pacf) for title, pacf in cut.items()))


def _up_to(pacf: PartialAutocorrelation, lag: int) -> PartialAutocorrelation:
    low, high = (None if band is None else band[:lag] for band in (pacf.low, pacf.high))
    return PartialAutocorrelation(pacf.lags[:lag], pacf.values[:lag], pacf.mean[:lag], pacf.std[:lag], low, high)


def _time() -> None:
    charts.show(
        running_time_curves,
        shipped.table("growth"),
        name="paper-growth",
        alt="Milliseconds per task against samples per task, number of tasks and backward steps.",
    )
    st.caption("Linear in b, independent of the number of tasks, and growing slowly with n.")
    made_by("growth")


_tables: Callable[[], Store[tuple[object, ...], pd.DataFrame]] = shared("paper tables")


def _want(key: tuple[object, ...] | None) -> None:
    st.session_state[_WANTED] = key


def _measured(
    kind: str,
    make: Callable[..., pd.DataFrame],
    sequence: imrc.TaskSequence,
    runs: Sequence[RunSettings],
    sizes: Sequence[int],
    times: float,
) -> pd.DataFrame | None:
    """Return a table for the visitor's own choice: one that is there, or measured after a click, with progress.

    `runs` are what is run for each n, for the estimate of time and memory; the first is handed on. It takes so many
    `times` as long as those.
    """
    settings = runs[0]
    key = (kind, sequence.fingerprint, settings, tuple(sizes))
    found = _tables().get(key)
    if found is not None:
        return found
    each = [queue.run_needs(sequence, replace(run, n=n)) for n in sizes for run in runs]
    needs = RunNeeds(max(each, key=lambda one: one.bytes).parts, times * sum(one.seconds for one in each))
    if queue.limits().refuses(needs):
        st.error(
            f"**Too large for this server**: {needs.in_words()}; at most {queue.limits().most_in_words()} are allowed. "
            "Fewer tasks, repetitions or values of n make it smaller.",
            icon=":material/block:",
        )
        return None
    slot = st.empty()
    if st.session_state.get(_WANTED) != key:
        with slot.container():
            st.info(f"Not measured yet. It needs {needs.in_words()}.", icon=":material/hourglass_empty:")
            st.button("Measure", icon=":material/play_arrow:", key="measure", on_click=_want, args=(key,))
        return None
    running.ensure_compiled()
    with slot.container():
        bar = running.stoppable("measure-stop", _want, None)
    shown = time.monotonic()

    def show(what: str, done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > _SHOWN_EVERY_S:
            shown = time.monotonic()
            bar.progress(done / total, text=f"{what}: {done:,} of {total:,} tasks")

    with queue.turn(sequence, replace(settings, n=max(sizes))):
        table = make(sequence, settings, sizes, progress=show)
    slot.empty()
    return _tables().put(key, table)


def _sizes(sequence: imrc.TaskSequence, key: str) -> list[int]:
    most = largest_n(sequence)
    offered = [n for n in dict.fromkeys((*_SIZES, state.visit().choice.settings.n)) if n <= most]
    usual = [n for n in (10, 100) if n in offered] or offered[-1:]
    return sorted(
        st.multiselect(
            "Samples per task n",
            sorted(offered),
            default=usual,
            key=key,
            bind="query-params",
            help=f"One line style each. The smallest task has {most:,} samples to learn from.",
            width=420,
        )
    )


def _repeat(kind: str, settings: RunSettings, sizes: Sequence[int], **more: Any) -> None:  # noqa: ANN401
    """Show the command that gives the same numbers, where there is one."""
    choice = state.visit().choice
    if choice.dataset == OWN or settings.overrides:  # the command has the values of presets only
        return
    command = [
        "imrc",
        "table",
        "--kind",
        kind,
        "--datasets",
        choice.dataset,
        "-n",
        *map(str, sizes),
        "-k",
        str(choice.k),
    ]
    command += ["-W", str(settings.learner.W), "--preset", settings.preset, "--features", settings.features.kind]
    command += ["--seed", str(settings.seed)]
    for name, value in more.items():
        command += [f"-{name}" if len(name) == 1 else f"--{name}", str(value)]
    st.code(shlex.join(command), language="bash", wrap_lines=True)


def _plain_settings() -> RunSettings:
    return replace(state.visit().choice.settings, methods=("imrc",), scenario="continual", k=None)


def _my_curves() -> None:
    sequence, settings = state.visit().sequence(), _plain_settings()
    sizes = _sizes(sequence, "paper_my_n")
    if not sizes:
        st.info("Choose at least one n.", icon=":material/info:")
        return
    starts = window_starts(len(sequence))
    tasks = np.minimum(LONGEST, len(sequence) - starts).sum()
    table = _measured("tasks", window_table, sequence, [settings], sizes, tasks / len(sequence))
    if table is None:
        return
    _window_chart(table, "paper-my-windows")
    _repeat("tasks", settings, sizes, b=settings.b, repetitions=settings.repetitions)


def _my_time() -> None:
    sequence, settings = state.visit().sequence(), replace(_plain_settings(), repetitions=1, b=1)
    sizes = _sizes(sequence, "paper_my_time_n")
    if not sizes or len(sequence) < 2:
        st.info("Choose at least one n, and at least two tasks.", icon=":material/info:")
        return
    steps = [b for b in TIMED_STEPS if b < len(sequence)]
    table = _measured("growth", growth_table, sequence, [replace(settings, b=b) for b in steps], sizes, 1.0)
    if table is None:
        return
    longest = table[table["k"] == table["k"].max()]
    said = "; ".join(
        f"n = {n}: " + ", ".join(f"{row.seconds:.2g} s at b = {row.b}" for row in part.itertuples())
        for n, part in longest.groupby("n")
    )
    charts.show(
        growth_curves,
        table,
        name="paper-my-growth",
        alt=f"Seconds of learning k tasks for 1 to 5 backward steps. All tasks, {said}.",
    )
    st.caption("Processor time of one repetition, all three rules together, on this machine and whatever else it does.")
    charts.csv(table, name="paper-my-growth")
    _repeat("growth", settings, sizes)


def _my_sets() -> None:
    visit = state.visit()
    sequence, settings = visit.sequence(), _plain_settings()
    names = component_names(sequence)
    if len(names) < 2:
        st.info("The picture needs at least two columns.", icon=":material/info:")
        return
    task, label, first, second = st.columns([1, 1, 2, 2])
    j = task.number_input("Task", 1, len(sequence), max(1, len(sequence) // 2), key="paper_sets_task")
    c = label.selectbox("Class", range(sequence.n_classes), format_func=sequence.class_names.__getitem__)
    middle = len(names) // 2
    x = first.selectbox("Horizontal", range(len(names)), middle, format_func=names.__getitem__, key="paper_sets_x")
    y = second.selectbox("Vertical", range(len(names)), middle - 1, format_func=names.__getitem__, key="paper_sets_y")
    running.ensure_compiled()
    table = uncertainty_sets(sequence, settings, int(j) - 1, (int(x), int(y)), int(c))
    boxes = table[table["set"] != "truth"]
    areas = (4 * boxes["x_half"] * boxes["y_half"]).tolist()
    charts.show(
        uncertainty_boxes,
        table,
        (names[x], names[y]),
        sequence.class_names[c],
        name="paper-sets",
        alt=f"Three boxes around the mean of task {j}: areas {', '.join(f'{area:.2g}' for area in areas)}.",
    )
    st.caption(
        "A box is an uncertainty set, τ ± √s, in two components: grey from the task's own samples, orange with "
        "preceding tasks, green with the b tasks after it too. The cross is the average of all samples of the task, "
        "the thin line those of all tasks. Recursions of preset *paper* on standardised columns. A smaller box knows "
        "more; whether the cross lies in it is up to chance and to how well the change between tasks is known."
    )
    st.code(
        "from imrc.evaluation import RunSettings\nfrom imrc.evaluation.uncertainty import uncertainty_sets\n"
        f"settings = RunSettings(n={settings.n}, b={settings.b}, seed={settings.seed})\n"
        f"uncertainty_sets(sequence, settings, task={int(j) - 1}, features=({x}, {y}), label={c})",
        language="python",
    )
