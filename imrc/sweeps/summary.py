"""Tables of a sweep's results: numbers for programs, and lines for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from imrc.evaluation import Headline
from imrc.evaluation.words import with_error
from imrc.sweeps.plan import SweepPlan
from imrc.sweeps.store import ResultStore

if TYPE_CHECKING:
    import pandas as pd

_RUN = ["dataset", "features", "n", "k", "b", "W", "preset", "method"]
_ERRORS = ("average", "newest", "lag")


def summary_table(plan: SweepPlan, store: ResultStore) -> pd.DataFrame:
    """Return one row per run and rule of a plan, over the finished cells of its seeds and repetitions.

    Returns
    -------
    DataFrame
        Columns dataset, features, n, k, b, W, preset, method, rule; cells (how many seeds and repetitions are in);
        error_average, stderr_average and the same for newest and lag (see `imrc.evaluation.HEADLINES`; standard error
        over cells); risk, ess, seconds (of learning, per repetition). In the order of the plan.
    """
    import pandas as pd

    position = {cell.key: i for i, cell in enumerate(plan.cells)}
    frame = store.frame(dataset=list(plan.spec.datasets))
    frame = frame[frame["key"].isin(position)].copy()
    frame["position"] = frame["key"].map(position)
    rows = []
    for values, group in frame.groupby([*_RUN, "rule"], dropna=False, sort=False):
        row = dict(zip([*_RUN, "rule"], values, strict=True))
        row["position"], row["cells"] = group["position"].min(), len(group)
        for kind in _ERRORS:
            headline = Headline.of(group[kind].to_numpy(dtype=np.float64))
            row[f"error_{kind}"], row[f"stderr_{kind}"] = headline.mean, headline.stderr
        for name in ("risk", "ess", "seconds"):
            row[name] = group[name].mean()
        rows.append(row)
    columns = [*_RUN, "rule", "cells", *(f"{what}_{kind}" for kind in _ERRORS for what in ("error", "stderr"))]
    columns += ["risk", "ess", "seconds"]
    if not rows:
        return pd.DataFrame(columns=columns)
    table = pd.DataFrame(rows).sort_values("position", kind="stable")
    return table[columns].reset_index(drop=True)


def _method(row: pd.Series) -> str:
    return f"imrc ({row['preset']})" if row["method"] == "imrc" else str(row["method"])


def summary_in_words(table: pd.DataFrame) -> str:
    """Return the summary as people read it: one line per run, single-task learning beside IMRC's main rule.

    Values that are the same in every line stand above the table.
    """
    if table.empty:
        return "No cell of this sweep is finished."
    # A method that does not use b or W says nothing about the others.
    values = {column: list(table[column].dropna().unique()) for column in ("dataset", "features", "n", "k", "b", "W")}
    wide = [column for column in values if len(values[column]) > 1]
    lines = []
    for _, row in table[table["rule"].isin(["forward_backward"]) | (table["method"] != "imrc")].iterrows():
        alike = (table[_RUN].fillna("").astype(str) == row[_RUN].fillna("").astype(str)).all(axis=1)
        single = table[alike & (table["rule"] == "single")]
        line = {column: "–" if _missing(row[column]) else str(row[column]) for column in wide}
        line["method"] = _method(row)
        line["cells"] = str(row["cells"])
        line["error"] = _shown(row)
        line["single task"] = "" if single.empty else _shown(single.iloc[0])
        line["newest"] = _shown(row, "newest")
        line["ESS"] = "" if _missing(row["ess"]) else f"{row['ess']:.1f}"
        lines.append(line)
    shown = [name for name in lines[0] if any(line[name] for line in lines)]
    width = {name: max(len(name), *(len(line[name]) for line in lines)) for name in shown}
    left = {"dataset", "features", "method"}

    def text(values: dict[str, str]) -> str:
        cells = [values[name].ljust(width[name]) if name in left else values[name].rjust(width[name]) for name in shown]
        return "  ".join(cells).rstrip()

    head = ", ".join(f"{column} = {found[0]}" for column, found in values.items() if len(found) == 1)
    return "\n".join([*([head] if head else []), text({name: name for name in shown}), *map(text, lines)])


def _missing(value: object) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _shown(row: pd.Series, kind: str = "average") -> str:
    stderr = float(row[f"stderr_{kind}"])
    return with_error(Headline(float(row[f"error_{kind}"]), math.nan, stderr))
