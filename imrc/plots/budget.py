"""Error against samples per task and against the number of tasks."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from imrc.evaluation import RunResult
from imrc.evaluation.comparison import IMRC_RULES, curve_table, imrc_key
from imrc.plots._axes import whole_numbers
from imrc.plots._panels import Traces, axis, band_key, panels
from imrc.plots.curves import add_curves, limits
from imrc.plots.tables import step_table
from imrc.wording import capital


def _against_k(result: RunResult) -> pd.DataFrame:
    """Return the error of each rule of the scenario against the number of tasks."""
    if result.scenario.kind != "average":
        table = step_table(result)
        return table[table["rule"].isin(result.rules)]
    rule_of = {imrc_key(result.settings.preset, rule): rule for rule in IMRC_RULES}
    by_k = curve_table([result], by="k")
    return by_k.assign(rule=by_k["method"].map(rule_of))


def budget_chart(by_n: pd.DataFrame, result: RunResult) -> go.Figure:
    """Return two panels: error against n, of `budget_table`, and error of a run that ends after k tasks."""
    by_k = _against_k(result)
    # Learnt all at once, fewer tasks would be another run: its first tasks are shown.
    number = "First k tasks of all" if result.settings.scenario == "multi_task" else "Number of tasks"
    ticks = sorted(by_n["x"].unique())
    rules, traces = by_n["rule"].unique(), Traces()
    for panel, part in enumerate((by_n, by_k), start=1):
        add_curves(traces, part, rules, panel)
    return panels(
        [*traces, *band_key(by_n)],
        (f"{capital(result.measure())}, samples of each task", f"{number}, n = {result.settings.n}"),
        [
            axis("samples n per task", type="log", tickvals=ticks, ticktext=[str(n) for n in ticks]),
            axis("tasks k", **whole_numbers(result.n_tasks, 8)),
        ],
        [axis(**limits(pd.concat([by_n, by_k])))] * 2,
        gap=0.06,
        share_y=True,
        title="What would more labels or more tasks bring?",
        height=420,
    )
