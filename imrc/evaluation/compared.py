"""A whole comparison in one call, and its tables for several datasets: what ``imrc table`` and scripts build on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from imrc.baselines import method_title, parse_method
from imrc.evaluation.comparison import ScoreKind, comparison_table, imrc_key
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import iter_run
from imrc.evaluation.settings import RunSettings
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]
LONG_S = 60.0
"""A method is announced if all its tasks would take longer than this at the pace of the first."""


def run_methods(
    sequence: TaskSequence,
    settings: RunSettings,
    methods: Sequence[str],
    *,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> list[RunResult]:
    """Run methods one after another on the same draws and representation; `score_table` makes scores of the results.

    "imrc" (preset of the settings), "imrc:<preset>", and names of the registry, else ValueError. ``progress(title,
    step, total)`` is called after every step, `announce` with a sentence if a method will take over a minute.
    """
    jobs = [_job(settings, name) for name in methods]
    results = []
    for job in jobs:
        name = job.methods[0]
        title = f"IMRC ({job.preset})" if name == "imrc" else method_title(name)
        steps = []
        for step in iter_run(sequence, job):
            steps.append(step)
            seconds = step.time_s * step.total
            if announce is not None and step.number == 1 and seconds > LONG_S:
                announce(f"{title} takes about {max(1, round(seconds / 60))} min, {step.total} times its first task.")
            if progress is not None:
                progress(title, step.number, step.total)
        results.append(RunResult.from_steps(job, sequence, steps))
    return results


def _job(settings: RunSettings, name: str) -> RunSettings:
    method, _, preset = name.partition(":")
    if method == "imrc":
        return replace(settings, methods=("imrc",), preset=preset or settings.preset)
    parse_method(name)
    return replace(settings, methods=(name,))


def tables_by_cell(scores: pd.DataFrame, *, kind: ScoreKind = "average") -> pd.DataFrame:
    """Return `comparison_table` for every dataset and n, one below the other, against preset paper, else the best."""
    import pandas as pd

    frames = []
    for _, cell in scores.groupby(["dataset", "n"], sort=False):
        there = imrc_key("paper") if imrc_key("paper") in set(cell["method"]) else None
        table = comparison_table(cell, kind=kind, reference=there)
        table.insert(2, "repetitions", int(cell["repetition"].max()))
        frames.append(table)
    return pd.concat(frames, ignore_index=True)
