"""A sequence as if its tasks arrived now: what the alarm would have said, and what learning each task changed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imrc._checks import check_real
from imrc.evaluation import RunResult
from imrc.features import FeatureSpec
from imrc.tasks import TaskSequence
from imrc.watch._watcher import Watcher
from imrc.wording import decimal, number, p_text


def watch_story(
    sequence: TaskSequence, features: str | FeatureSpec = "automatic", seed: int = 0, run: RunResult | None = None
) -> pd.DataFrame:
    """Return what `imrc watch` says of each arriving task, with its errors before and after it was learnt.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks; all samples are watched.
    features : str or FeatureSpec
        Representation.
    seed : int
        Of the random splits.
    run : RunResult or None
        A run of IMRC on the same sequence, for the errors.

    Returns
    -------
    DataFrame
        One row per task from the second on: `task` (from 1), `label`, `p`, `evidence`, `change` (d² / σ² of this step
        less what noise adds), `unusual` (the second lamp), `before` and `after` (mean error of the rule of the
        predicted estimate and of the forward rule on the task's test samples; NaN without a run).

    Examples
    --------
    >>> import imrc
    >>> watch_story(imrc.datasets.load("identical", tasks=5))["task"].tolist()
    [2, 3, 4, 5]
    """
    arrivals = [vars(arrival) for arrival in Watcher(features=features, seed=seed).read(sequence)]
    table = pd.DataFrame(arrivals)[["task", "label", "p", "evidence", "change", "unusual"]]
    before = after = np.full(len(sequence), np.nan)
    if run is not None:
        unknown = np.full(len(sequence) - run.n_tasks, np.nan)
        before = np.append(run.before_of("forward").mean(axis=0), unknown)
        after = np.append(run.error_tables["forward"].newest().mean(axis=0), unknown)
    rows = table["task"].to_numpy() - 1
    return table.assign(before=before[rows], after=after[rows])


def first_alarm(story: pd.DataFrame, alpha: float = 0.05) -> int | None:
    """Return the task, from 1, at which the alarm of `watch_story` goes off; None if it does not."""
    check_real("alpha", alpha, 0.0, 1.0, low_open=True)
    reached = story[story["evidence"] >= 1.0 / alpha]["task"]
    return None if reached.empty else int(reached.iloc[0])


def arrival_sentences(story: pd.DataFrame, task: int, alpha: float = 0.05) -> list[str]:
    """State what is known when a task (from 1) has arrived: the alarm first, the last change, what learning it did."""
    seen = story[story["task"] <= task]
    row, alarm = seen.iloc[-1], first_alarm(seen, alpha)
    evidence = number(row["evidence"]) if row["evidence"] < 1e6 else "above a million"
    if alarm is None:
        said = [f"No alarm after {task} tasks: the evidence is {evidence}, an alarm needs {1.0 / alpha:g}."]
    else:
        since = f"task {alarm}" if alarm < task else "this task"
        said = [f"Alarm since {since}: the rows are no longer independent draws from one distribution."]
    if np.isfinite(row["p"]):
        lamp = " The second lamp is lit: the change is larger than usual." if row["unusual"] else ""
        said.append(f"Task {task} against all before it: {p_text(float(row['p']))}.{lamp}")
    else:
        said.append("The first task teaches the representation; the second has nothing to be compared with yet.")
    if np.isfinite(row["before"]) and np.isfinite(row["after"]):
        change = row["after"] - row["before"]
        verb = "left" if abs(change) < 5e-4 else "lowered" if change < 0 else "raised"
        start = "" if verb == "left" else f"from {decimal(row['before'])} "
        said.append(f"Learning it {verb} its error {start}{'at' if verb == 'left' else 'to'} {decimal(row['after'])}.")
    return said
