"""One pass over the samples of a sequence: sample averages, and the few rows needed to describe the noise.

The mapped samples of a long sequence may not fit into memory, so tasks are mapped, summed and released one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imrc._types import Floats, Ints
from imrc.core.moments import sample_moments
from imrc.diagnostics._reduction import Moments, Reduced, Transform, mapped
from imrc.diagnostics._rows import RowNotes, RowReader
from imrc.tasks import TaskSequence

PAIRS = 4000
CHUNK = 500


@dataclass(frozen=True, eq=False)
class Reading:
    """Result of one pass over the samples."""

    moments: Moments  # sample averages and their mean squared errors
    n_classes: int  # number of classes C
    sizes: Ints  # samples per task
    first: Ints  # first samples of random pairs from different tasks, numbered over all tasks
    second: Ints  # second samples
    wanted: Ints  # sorted numbers of the samples in some pair
    picked: Floats  # their mapped rows, shape (wanted, D + 1)
    picked_classes: Ints  # their classes
    rows: list[Floats] | None  # mapped rows of all tasks, kept only where they are few enough for the exact test
    is_bounded: bool  # whether all features lie in [-1, 1]
    of_rows: RowNotes  # what the averages do not show


def _draw_pairs(sizes: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw pairs of samples from different tasks; those of tasks with one sample have no residual and are left out."""
    task_of = np.repeat(np.arange(len(sizes)), sizes)
    if len(sizes) < 2:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    first = generator.integers(task_of.size, size=PAIRS)
    second = generator.integers(task_of.size, size=PAIRS)
    same = task_of[first] == task_of[second]
    while same.any():
        second[same] = generator.integers(task_of.size, size=int(same.sum()))
        same = task_of[first] == task_of[second]
    usable = (sizes[task_of[first]] > 1) & (sizes[task_of[second]] > 1)
    return first[usable], second[usable]


def read_sequence(
    sequence: TaskSequence, transform: Transform, generator: np.random.Generator, keep: float = 0.0
) -> Reading:
    """Map every task once and keep what is needed; all rows if samples times components is at most `keep`."""
    sizes = sequence.sizes
    first, second = _draw_pairs(sizes, generator)
    wanted = np.unique(np.concatenate([first, second]))
    picked: list[Floats] = []
    classes: list[Ints] = []
    averages: list[tuple[Floats, Floats]] = []
    rows: list[Floats] | None = []
    is_bounded, start, reader = True, 0, RowReader()
    for j, X1 in enumerate(mapped(sequence, transform)):
        y = sequence.encoded(j)
        averages.append(sample_moments(X1, y, sequence.n_classes))
        inside = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + len(X1))] - start
        picked.append(X1[inside])
        classes.append(y[inside])
        reader.read(X1, y)
        is_bounded &= bool(np.abs(X1).max() <= 1.0 + 1e-9)
        start += len(X1)
        if rows is not None:
            few = float(sizes.sum()) * sequence.n_classes * X1.shape[1] <= keep
            rows = [*rows, X1] if few else None
    tau, s = (np.stack(parts) for parts in zip(*averages, strict=True))
    return Reading(
        moments=Moments(tau, s, sizes),
        n_classes=sequence.n_classes,
        sizes=sizes,
        first=first,
        second=second,
        wanted=wanted,
        picked=np.concatenate(picked),
        picked_classes=np.concatenate(classes),
        rows=rows,
        is_bounded=is_bounded,
        of_rows=reader.result(),
    )


def noise_components(reading: Reading, reduced: Reduced) -> float:
    """Effective number of independent components of the sampling noise, in [1, m].

    Residuals of two samples of different tasks have a squared inner product of m^2 / m_noise on average.
    """
    if len(reading.first) == 0:
        return 1.0
    task_of = np.repeat(np.arange(len(reading.sizes)), reading.sizes)
    width = reading.picked.shape[1]
    kept = reduced.kept
    root = np.sqrt(np.where(kept, reduced.variance, 1.0))

    def residuals(index: Ints) -> Floats:
        task, place = task_of[index], np.searchsorted(reading.wanted, index)
        out = -reading.moments.tau[task]
        for c in range(reading.n_classes):
            inside = reading.picked_classes[place] == c
            out[inside, c * width : (c + 1) * width] += reading.picked[place[inside]]
        scale = np.sqrt(reading.sizes[task] / (reading.sizes[task] - 1.0))
        return np.asarray((out / root)[:, kept] * scale[:, None])

    squared = [
        (residuals(reading.first[a : a + CHUNK]) * residuals(reading.second[a : a + CHUNK])).sum(axis=1) ** 2
        for a in range(0, len(reading.first), CHUNK)
    ]
    mean = float(np.concatenate(squared).mean())
    m = reduced.m
    return float(np.clip(m * m / mean if mean > 0 else m, 1.0, m))
