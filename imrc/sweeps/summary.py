"""Tables of a sweep's results: numbers for programs, and lines for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from imrc.evaluation import SCENARIOS, Headline
from imrc.evaluation.scenarios import ScenarioName
from imrc.evaluation.words import with_error
from imrc.sweeps.plan import SweepPlan
from imrc.sweeps.store import ResultStore

if TYPE_CHECKING:
    import pandas as pd

_RUN = ["dataset", "features", "n", "k", "b", "W", "preset", "method"]
_ERRORS = ("average", "newest", "lag", "before")
_MEANS = ["risk", "ess", "seconds"]


def summary_table(plan: SweepPlan, store: ResultStore) -> pd.DataFrame:
    """Return one row per run and rule of a plan, over the finished cells of its seeds and repetitions.

    Parameters
    ----------
    plan : SweepPlan
        Which cells, in which order.
    store : ResultStore
        Where finished ones are.

    Returns
    -------
    DataFrame
        Columns dataset, features, n, k, b, W, preset, method, rule; cells (how many seeds and repetitions are in);
        error_average, stderr_average and the same for newest, lag and before (see `imrc.evaluation.HEADLINES`; standard
        error over cells); risk, ess, seconds (of learning, per repetition). In the order of the plan.
    """
    import pandas as pd

    position = {cell.key: i for i, cell in enumerate(plan.cells)}
    frame = store.frame(key=list(position)).sort_values("key", key=lambda keys: keys.map(position), kind="stable")

    rows = []
    for run, cells in frame.groupby([*_RUN, "rule"], dropna=False, sort=False):
        row = dict(zip([*_RUN, "rule"], run, strict=True)) | {"cells": len(cells)} | dict(cells[_MEANS].mean())
        for kind in _ERRORS:
            headline = Headline.of(cells[kind].to_numpy(dtype=np.float64))
            row |= {f"error_{kind}": headline.mean, f"stderr_{kind}": headline.stderr}
        rows.append(row)
    errors = [f"{what}_{kind}" for kind in _ERRORS for what in ("error", "stderr")]
    return pd.DataFrame(rows, columns=[*_RUN, "rule", "cells", *errors, *_MEANS])


def summary_lines(table: pd.DataFrame, scenario: ScenarioName = "continual") -> tuple[str, list[dict[str, str]]]:
    """Return the summary as people read it: values that are the same in every line, and one line per run.

    A line holds single-task learning beside IMRC's main rule in the scenario, with the error it averages; columns that
    say nothing are left out.
    """
    import pandas as pd

    if table.empty:
        return "No cell of this sweep is finished.", []
    # IMRC without a window uses all changes so far.
    table = table.assign(W=table["W"].astype(object).where(table["W"].notna() | (table["method"] != "imrc"), "all"))
    # A method that does not use b or W says nothing about the others.
    values = {column: list(table[column].dropna().unique()) for column in _RUN[:6]}
    single = {tuple(map(str, row[_RUN])): row for _, row in table[table["rule"] == "single"].iterrows()}
    lines, main = [], SCENARIOS[scenario].main
    # Where every task is within reach, the error after b more tasks is the one at the end.
    kind = SCENARIOS[scenario].kind.replace("end", "lag")
    for _, row in table[(table["rule"] == main) | (table["method"] != "imrc")].iterrows():
        varied = {name: "–" if pd.isna(row[name]) else str(row[name]) for name in values if len(values[name]) > 1}
        alone = single.get(tuple(map(str, row[_RUN])))
        lines.append(
            varied
            | {
                "method": f"imrc ({row['preset']})" if row["method"] == "imrc" else row["method"],
                "cells": str(row["cells"]),
                # Cells of compared methods do not hold their error at the end.
                "error": "" if kind == "lag" and row["method"] != "imrc" else _shown(row, kind),
                "single task": "" if alone is None else _shown(alone, kind),
                "newest": _shown(row, "newest"),
                "ESS": "" if pd.isna(row["ess"]) else f"{row['ess']:.1f}",
            }
        )
    said = [name for name in lines[0] if any(line[name] for line in lines)]
    same = ", ".join(f"{column} = {found[0]}" for column, found in values.items() if len(found) == 1)
    return same, [{name: line[name] for name in said} for line in lines]


def _shown(row: pd.Series, kind: str) -> str:
    return with_error(Headline(float(row[f"error_{kind}"]), math.nan, float(row[f"stderr_{kind}"])))
