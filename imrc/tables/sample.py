"""A made-up sample table, and a guess at which columns of a table are label and task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from imrc._checks import check_int
from imrc.tables.cut import MAX_CLASSES, suggested_period
from imrc.tables.table import Period, Table
from imrc.tasks import MAX_TASKS

_LABEL_WORDS = (
    *("label", "class", "target", "y", "outcome", "category", "fault", "default", "result", "state", "status", "churn"),
    *("response", "diagnosis", "survived", "species", "failure", "fraud", "spam", "klasse", "zielvariable"),
)
_FEW = 10
"""A last column with at most this many different words or whole numbers is taken as the label."""
_TASK_WORDS = ("task", "batch", "block", "week", "month", "year", "day", "date", "time", "period", "season", "session")


@cache  # a page shows its first rows again and again
def sample_csv(rows: int = 2400, seed: int = 0) -> bytes:
    """Return a CSV with dates, a category, numbers, missing values and two classes that drift from week to week.

    It holds 60 made-up pump readings a week. The settings at which a pump fails drift over the weeks.
    """
    generator = np.random.default_rng([seed, 6])
    week = np.arange(check_int("rows", rows, 1)) // 60
    date = np.datetime64("2023-01-02") + (week * 7 + np.arange(rows) % 60 * 7 // 60).astype("timedelta64[D]")
    weeks = int(week[-1]) + 1
    drift = np.cumsum(generator.normal(0.0, 0.25, (weeks, 4)), axis=0)
    fails = generator.random(rows) < 0.4
    direction = np.array([1.0, -0.6, 0.8, -0.4])
    # Both classes drift together; the boundary between them turns slowly.
    turn = np.cumsum(generator.normal(0.0, 0.15, (weeks, 4)), axis=0)
    values = drift[week] + (fails[:, None] - 0.4) * (direction + turn[week]) + generator.normal(0.0, 0.9, (rows, 4))
    values = np.array([60.0, 4.0, 1.2, 30.0]) + values * np.array([5.0, 0.5, 0.3, 4.0])
    text = np.char.mod("%.2f", values)
    text[generator.random(rows) < 0.03, 2] = ""
    pump = generator.choice(["A", "B", "C"], rows)
    state = np.where(fails, "fault", "normal")
    lines = ["date,pump,temperature,pressure,vibration,flow,state"]
    lines += [",".join([str(date[i]), pump[i], *text[i], state[i]]) for i in range(rows)]
    return ("\n".join(lines) + "\n").encode()


@dataclass(frozen=True)
class Suggestion:
    """A guess at the roles of columns, for a person to confirm; `period` is for dates, `block` if there is no task."""

    label: str | None
    task: str | None
    period: Period
    block: int


def suggest(table: Table) -> Suggestion:
    """Guess which columns are label and task.

    The label is a column with 2 to 50 different values and a telling name, else the last column if it has at most
    10 different words or whole numbers, else the only such column of words; None if in doubt.
    The task is a date, or a column with a telling name and repeated values.
    """
    possible = [c for c in table.columns if c.kind in ("number", "category") and 2 <= c.distinct <= MAX_CLASSES]
    named = [c for c in possible if c.name.lower() in _LABEL_WORDS]
    few = [c for c in possible if c.distinct <= _FEW and (np.round(c.values) == c.values)[c.present].all()]  # or codes
    last, words = few[-1:] if few[-1:] == [*table.columns[-1:]] else [], [c for c in few if c.kind == "category"]
    label = next((group[-1].name for group in (named, last, words[:1] if len(words) == 1 else []) if group), None)
    dates = [c for c in table.columns if c.kind == "date" and c.distinct >= 2]
    most = min(MAX_TASKS, table.n_rows // 4)
    told = [c for c in table.columns if c.name.lower() in _TASK_WORDS and c.name != label and 2 <= c.distinct <= most]
    task = next(iter([*dates, *told]), None)
    period: Period = suggested_period(task) if task is not None and task.kind == "date" else "value"
    block = max(2, min(max(table.n_rows // 20, 10), 300, table.n_rows // 2))
    return Suggestion(label, task.name if task else None, period, block)
