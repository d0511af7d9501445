"""Sequences in which one thing changes, or nothing, and whether it is found: for tests."""

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_digits

import imrc
from imrc.diagnostics import what_changed
from imrc.tasks import sequence_from_blocks

TASKS, SAMPLES, COLUMNS = 20, 20, 50


def simulated(kind: str, seed: int, size: float = 1.0, columns: int = COLUMNS) -> imrc.TaskSequence:
    """Return two classes with one change in the middle: of nothing, a column, one class or the shares."""
    generator = np.random.default_rng([seed, 4])
    late = np.repeat(np.arange(TASKS) >= TASKS // 2, SAMPLES)
    share = np.where(late & (kind == "label"), 0.5 + 0.4 * size, 0.5)
    y = (generator.random(len(late)) < share).astype(np.int64)
    X = generator.standard_normal((len(late), columns)) + y[:, None]
    column = int(generator.integers(columns))
    moved = {"input": 1.0, "concept": y - 0.5}.get(kind, 0.0)
    X[:, column] += size * late * moved
    return sequence_from_blocks(X, y, SAMPLES, name=f"{kind}, {column}")


def stationary(correlation: float, tasks: int, samples: int, seed: int) -> imrc.TaskSequence:
    """Return a stationary series in blocks: each column AR(1), classes by coin."""
    generator = np.random.default_rng([seed, 7])
    X = generator.standard_normal((tasks * samples, 5))
    for i in range(1, len(X)):
        X[i] = correlation * X[i - 1] + np.sqrt(1.0 - correlation**2) * X[i]
    return sequence_from_blocks(X, generator.integers(2, size=len(X)), samples)


def unchanging(kind: str, classes: int, samples: int, seed: int) -> imrc.TaskSequence:
    """Return exchangeable samples of several classes: normal noise, 0/1 of a rate, or digits in random order."""
    generator = np.random.default_rng([seed, 6])
    if kind == "digits":
        X, y = load_digits(return_X_y=True)
        drawn = generator.permutation(len(y))[: TASKS * samples]
        return sequence_from_blocks(X[drawn], y[drawn], samples)
    y = generator.integers(classes, size=TASKS * samples)
    shape = (len(y), COLUMNS)
    if kind == "normal":
        return sequence_from_blocks(generator.standard_normal(shape) + y[:, None], y, samples)
    # Some words are frequent in a class, most are not.
    rates = float(kind) * generator.standard_exponential((classes, COLUMNS))
    return sequence_from_blocks(1.0 * (generator.random(shape) < rates[y]), y, samples)


def ranked_first(kind: str, seed: int) -> bool:
    """Return whether the column that was moved comes first."""
    sequence = simulated(kind, seed)
    return what_changed(sequence).table["column_index"][0] == int(sequence.name.split(", ")[1])


def false_discovery(sequence: imrc.TaskSequence) -> float:
    """Return the share of false discoveries: all are, so it is 1 or 0."""
    return float(any(what_changed(sequence).found.values()))


def shuffled(sequence: imrc.TaskSequence, seed: int, most: int = 20) -> imrc.TaskSequence:
    """Return samples of a real sequence in random order over its first tasks: nothing changes, nothing is normal."""
    head = sequence.head(most)
    X = np.concatenate([task.X for task in head])
    y = np.concatenate([task.y for task in head])
    order = np.random.default_rng([seed, 5]).permutation(len(y))
    ends = np.cumsum(head.sizes)[:-1]
    parts = zip(np.split(X[order], ends), np.split(y[order], ends), head, strict=True)
    return replace(head, tasks=tuple(replace(task, X=rows, y=labels) for rows, labels, task in parts))


def told_apart(kind: str, seed: int) -> bool:
    """Return whether the largest change found is of the kind that was simulated."""
    table = what_changed(simulated(kind, seed, 2.0 if kind == "concept" else 1.0)).table
    return bool(table["found"][0]) and table["kind"][0] == kind
