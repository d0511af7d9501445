"""Errors of sequences of k consecutive tasks, wherever they begin: the paper's curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imrc._checks import check_int
from imrc._types import Floats
from imrc.evaluation.comparison import imrc_key
from imrc.evaluation.run import run_all
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Headline, half_width
from imrc.evaluation.splits import largest_n
from imrc.tasks import TaskSequence

LONGEST = 100
"""Tasks of the longest window."""
STARTS = 100
"""Windows of one length at most; of more, evenly spaced ones are learnt."""


def window_starts(tasks: int) -> NDArray[np.int64]:
    """Return the first tasks, from 0, of the windows that are learnt: all, or `STARTS` evenly spaced ones.

    >>> window_starts(4).tolist(), len(window_starts(1000))
    ([0, 1, 2, 3], 100)
    """
    return np.unique(np.linspace(0, tasks - 1, min(tasks, STARTS)).round().astype(np.int64))


def lengths_shown(longest: int) -> tuple[int, ...]:
    """Return the lengths k for which a curve has points: every k up to 10, then ever sparser ones.

    >>> lengths_shown(30)
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 20, 25, 30)
    """
    sparse = np.round(10.0 * 10.0 ** (0.1 * np.arange(1, 11))) if longest > 10 else np.empty(0)
    return tuple(sorted({*range(1, min(longest, 10) + 1), *(int(k) for k in sparse if k < longest), longest}))


def window_errors(sequence: TaskSequence, settings: RunSettings) -> tuple[dict[str, Floats], NDArray[np.int64]]:
    """Return errors of sequences of k consecutive tasks, each learnt from its own beginning, and how many of each k.

    The mean over steps of the mean over the tasks seen. One run from each first task gives it for every k, since what
    happens up to step k does not depend on later tasks. By rule, (repetitions, longest), means over windows.
    """
    sequence, settings = settings.fit_to(sequence), replace(settings, k=None)
    starts = window_starts(len(sequence))
    longest = min(len(sequence), LONGEST)
    lengths = np.minimum(longest, len(sequence) - starts)
    sums: dict[str, Floats] = {}
    for start, length in zip(starts, lengths, strict=True):
        part = replace(sequence, tasks=sequence.tasks[start : start + length])
        for rule, table in run_all(part, settings).error_tables.items():
            values = np.cumsum(table.by_step(), axis=1) / np.arange(1, length + 1)
            total = sums.setdefault(rule, np.zeros((len(values), longest)))
            total[:, :length] += values
    windows = (lengths[:, None] > np.arange(longest)).sum(axis=0)
    return {rule: total / windows for rule, total in sums.items()}, windows


def window_table(sequence: TaskSequence, settings: RunSettings, sizes: Sequence[int]) -> pd.DataFrame:
    """Return errors against the number of consecutive tasks k and n, averaged over windows, a row per n, k and rule.

    Sizes the tasks are too small for are left out; ValueError if all are. Columns dataset, n, k, method, rule, windows,
    error, stderr, half (of the 95 % interval), ratio (to single-task learning), ratio_stderr, ratio_half, repetitions.
    """
    rows, most = [], largest_n(sequence)
    check_int("n", min(sizes), 1, most)
    for n in sorted({n for n in sizes if n <= most}):
        errors, windows = window_errors(sequence, replace(settings, n=n))
        for rule, values in errors.items():
            ratios = values / np.where(errors["single"] > 0, errors["single"], np.nan)
            for k in lengths_shown(values.shape[1]):
                error, ratio = Headline.of(values[:, k - 1]), Headline.of(ratios[:, k - 1])
                means = error.mean, error.stderr, ratio.mean, ratio.stderr
                rows.append((n, k, imrc_key(settings.preset, rule), rule, int(windows[k - 1]), *means))
    names = ["n", "k", "method", "rule", "windows", "error", "stderr", "ratio", "ratio_stderr"]
    table = pd.DataFrame(rows, columns=names).assign(repetitions=settings.repetitions)
    table.insert(0, "dataset", sequence.name)
    halves = {f"{name}half": half_width(table[f"{name}stderr"], settings.repetitions) for name in ("", "ratio_")}
    return table.assign(**halves)
