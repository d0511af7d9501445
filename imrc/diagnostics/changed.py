"""What changed: which class and which column, in which direction, split into three kinds of change.

Every column is described by class and task, ``x = class + task + class x task + noise``, as in an analysis of variance
with unequal counts. *Label shift* is a change of the classes' shares. *Input shift* is the part by task that all
classes have in common. *Concept change* is the movement of one class relative to the others. A change of the shares
alone affects neither of the last two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imrc._checks import InputError, check_int, check_real
from imrc._types import Floats, Ints
from imrc.diagnostics.evidence import cosine_waves
from imrc.diagnostics.samples import CONSTANT, RowNotes, read_rows
from imrc.features import make, output_names
from imrc.tasks import TaskSequence, checked_tasks
from imrc.wording import feature_names_or_numbers

_Number = Floats | float
Shift = Literal["label", "input", "concept"]
SHIFTS: dict[Shift, str] = {"label": "label shift", "input": "input shift", "concept": "concept change"}
"""Titles of the three kinds of change."""

_Z = 1.96
_WAVES = 3
_PERMUTATIONS = 59
_KNOWN = 1e9  # Degrees of freedom of a known variance.


@dataclass(frozen=True, eq=False)
class Counted:
    """Moments of the samples of a sequence by task and class, from which all tests are computed."""

    n: Floats  # samples, (k, C)
    mean: Floats  # averages of the columns, (k, C, D); 0 where a class is absent
    variance: Floats  # of one sample within a task, (C, D), pooled over tasks
    kurtosis: Floats  # around the averages of the classes: fourth moment over the squared variance, less 3, (C, D)


@dataclass(frozen=True, eq=False)
class Changed:
    """What changed between the tasks of a sequence."""

    table: pd.DataFrame
    """One row per hypothesis, sorted by the size of the changes found.

    `kind` ("label", "input", "concept"), `class`, `column` (empty for shares), `before` and `after` (averages over the
    first and the last third of the tasks; for a concept change, the class less the others), `direction` ("rises",
    "falls", "to and fro" or "no clear change"), `change` (after less before, in standard deviations of a sample),
    `size` (standard deviation over tasks without noise, in the same unit), `share` (of all change found, in percent),
    `p`, `q` (Benjamini and Hochberg), `found` (whether q is at most `level`), and the positions `class_index` and
    `column_index` (-1 if there is none).
    """
    level: float  #: Bound on the expected share of false discoveries among the rows found.
    k: int  #: Tasks.
    labels: tuple[str, ...]  #: Names of the tasks.
    classes: tuple[str, ...]  #: Names of the classes.
    columns: tuple[str, ...]  #: Names of the columns.
    left_out: int  #: Number of columns that are constant within tasks.
    note: str  #: A warning if successive rows are correlated, otherwise empty.
    counted: Counted  #: Moments behind the table.

    @property
    def found(self) -> dict[Shift, int]:
        """Number of rows found, by kind."""
        counts = self.table[self.table["found"]]["kind"].value_counts()
        return {kind: int(counts.get(kind, 0)) for kind in SHIFTS}

    def row_name(self, row: int) -> str:
        """Return the name of the quantity in a row of the table, from 0."""
        kind, of, column = self.table.loc[row, ["kind", "class", "column"]]
        if kind == "label":
            return f"share of {of}"
        return str(column) if kind == "input" else f"{column}, {of} less the others"


@dataclass(frozen=True, eq=False)
class Samples:
    """All samples of a sequence, sorted by class."""

    X: Floats  # columns, centred, (N, D)
    task: Ints
    y: Ints  # classes, ascending
    n: Floats  # samples, (k, C)
    centre: Floats  # what is added to every row, (D,)
    square: Floats  # sums of squares by class, (C, D)
    kurtosis: Floats  # as in `Counted`
    of_rows: RowNotes

    def counted(self, generator: np.random.Generator | None = None) -> Counted:
        """Return the moments; with a generator, after samples of each class have been exchanged between tasks."""
        from imrc.solvers.logistic import group_sums

        task, C = self.task, self.n.shape[1]
        if generator is not None:
            ends = np.searchsorted(self.y, np.arange(1, C))
            task = np.concatenate([generator.permutation(part) for part in np.split(task, ends)])
        there = self.n[:, :, None] > 0
        sums = group_sums(self.X, task * C + self.y, self.n.size).reshape(*self.n.shape, -1)
        mean = sums / np.maximum(self.n, 1.0)[:, :, None]
        within = self.square - (sums * mean).sum(axis=0)
        within[within <= CONSTANT * self.square] = 0.0  # only rounding
        freedom = self.n.sum(axis=0) - (self.n > 0).sum(axis=0)
        variance = within / np.maximum(freedom, 1.0)[:, None]
        return Counted(self.n, mean + np.where(there, self.centre, 0.0), variance, self.kurtosis)


def read_samples(sequence: TaskSequence, seed: int = 0) -> tuple[Samples, tuple[str, ...]]:
    """Return all samples and names of columns. Words become 0/1 columns, and gaps are filled as in the first task."""
    numbers = make("identity", sequence, seed)
    X = np.concatenate([numbers.transform(task.X) for task in sequence])
    y = np.concatenate([sequence.encoded(j) for j in range(len(sequence))])
    spread, ends = X.std(axis=0), np.cumsum(sequence.sizes)[:-1]
    spread[spread == 0] = np.inf
    of_rows = read_rows((rows / spread, of) for rows, of in zip(np.split(X, ends), np.split(y, ends), strict=True))
    order = np.argsort(y, kind="stable")
    task, y = np.repeat(np.arange(len(sequence)), sequence.sizes)[order], y[order]
    centre = X[: len(sequence[0])].mean(axis=0)  # because powers of large numbers lose digits
    X = X[order]
    X -= centre
    C, D = sequence.n_classes, X.shape[1]
    square, kurtosis = np.zeros((C, D)), np.zeros((C, D))
    for c in np.unique(y):
        of = X[y == c]
        square[c] = (of**2).sum(axis=0)
        moved = (of - of.mean(axis=0)) ** 2
        spread = moved.mean(axis=0)
        fourth = (moved**2).mean(axis=0)
        kurtosis[c] = np.maximum(fourth / np.where(spread > 0, spread, np.inf) ** 2 - 3.0, 0.0)
    columns = feature_names_or_numbers(output_names(numbers, sequence), D)
    n = sequence.class_counts().astype(np.float64)
    return Samples(X, task, y, n, centre, square, kurtosis, of_rows), columns


def _waves(k: int) -> Floats:
    """Return the slowest waves over the tasks, one per column, none for fewer than 3 tasks."""
    return cosine_waves(k, min(_WAVES, (k - 1) // 2))


def _slow(values: Floats, weights: Floats) -> Floats:
    """Return the weighted sum of squares around the mean that the slow waves explain."""
    waves = _waves(len(values))
    k, count = waves.shape
    if not count:
        return np.zeros(values.shape[1])
    total = np.maximum(weights.sum(axis=0), 1e-300)
    level = waves.T @ weights
    side = waves.T @ (weights * values) - level * (weights * values).sum(axis=0) / total
    pairs = (waves[:, :, None] * waves[:, None, :]).reshape(k, count * count)
    left = (weights.T @ pairs).reshape(-1, count, count) - np.einsum("ui,vi->iuv", level, level / total)
    # Columns with fewer tasks than waves determine none of them.
    left += (1e-9 * np.trace(left, axis1=1, axis2=2)[:, None, None] + 1e-300) * np.eye(count)
    return np.asarray((side * np.linalg.solve(left, side.T[:, :, None])[:, :, 0].T).sum(axis=0))


class _Moves(NamedTuple):
    """A quantity over the tasks, one column per hypothesis."""

    values: Floats
    errors: Floats  # variances of the values
    unit: Floats  # standard deviation of a sample
    p: Floats
    size: Floats  # standard deviation over tasks in that unit, noise removed


def _tested(
    k: int, whole: Floats, slow: Floats, freedom: _Number, within: _Number, excess: Floats, n: _Number
) -> tuple[Floats, Floats]:
    """Return p-values, twice the smaller of those for all movement and for slow waves, and the size of the movement.

    `whole` and `slow` are the two sums of squares over the tasks, F for normal samples with a variance that has
    `within` degrees of freedom. `excess`, the kurtosis of the average of one task's `n` samples, spreads them more, so
    scale and degrees of freedom match mean and variance.
    """
    from scipy.special import fdtrc

    waves = _waves(k).shape[1]
    p = fdtrc(freedom / (1.0 + excess / 2.0), within, whole / freedom)
    if waves:
        wider = 1.0 + excess / (2.0 * (freedom + 1.0))
        p = np.minimum(2.0 * np.minimum(p, fdtrc(waves / wider, within, slow / waves)), 1.0)
    return np.asarray(p), np.sqrt(np.maximum(whole / freedom - 1.0, 0.0) / n)


def _label(counted: Counted) -> _Moves:
    """Movement of the classes' shares."""
    n = counted.n.sum(axis=1)
    share = counted.n.sum(axis=0) / n.sum()
    values = counted.n / n[:, None]
    variance = np.maximum(share * (1.0 - share), 1e-12)
    statistic = (n[:, None] * (values - share) ** 2 / variance).sum(axis=0)
    kurtosis = np.maximum((1.0 - 6.0 * variance) / variance, 0.0)
    harmonic = float(len(n) / (1.0 / n).sum())
    slow = _slow(values, n[:, None]) / variance
    tested = _tested(len(n), statistic, slow, len(n) - 1.0, _KNOWN, kurtosis / harmonic, harmonic)
    return _Moves(values, variance / n[:, None], np.sqrt(variance), *tested)


def _input(counted: Counted) -> _Moves:
    """Movement that all classes share, the effects of tasks beside those of classes by least squares."""
    n, mean = counted.n, counted.mean
    tasks, classes = n.sum(axis=1), n.sum(axis=0)
    by_task, by_class = ((n[:, :, None] * mean).sum(axis=axis) for axis in (1, 0))
    # After eliminating the effects of tasks, one equation per class is left.
    left = np.diag(classes) - n.T @ (n / tasks[:, None])
    right = by_class - n.T @ (by_task / tasks[:, None])
    effects = np.linalg.pinv(left, hermitian=True) @ right
    values = (by_task - n @ effects) / tasks[:, None]
    explained = (values * by_task).sum(axis=0) + (effects * by_class).sum(axis=0)
    between = explained - (by_class**2 / np.maximum(classes, 1.0)[:, None]).sum(axis=0)
    freedom = len(tasks) + np.linalg.matrix_rank(left, hermitian=True) - float((classes > 0).sum())
    variance = (classes[:, None] * counted.variance).sum(axis=0) / classes.sum()
    usable = np.where(variance > 0, variance, np.inf)
    if freedom <= 0:  # no two tasks have a class in common
        nothing = np.zeros(mean.shape[2])
        return _Moves(values, usable / tasks[:, None], np.sqrt(variance), nothing + 1.0, nothing)
    fourth = (classes[:, None] * (counted.kurtosis + 3.0) * counted.variance**2).sum(axis=0) / classes.sum()
    kurtosis = np.maximum(fourth / usable**2 - 3.0, 0.0)
    harmonic = float(len(tasks) / (1.0 / tasks).sum())
    # The part that slow waves explain beside the means of the classes, by least squares.
    waves, some = _waves(len(n)), np.maximum(classes, 1.0)
    across = waves.T @ n
    beside = waves.T @ by_task - across / some @ by_class
    of_waves = waves.T @ (tasks[:, None] * waves) - across / some @ across.T
    slow = (beside * np.linalg.lstsq(of_waves, beside, rcond=None)[0]).sum(axis=0) / usable
    # Add the average of the classes, so that the values are in the unit of the column.
    values = values + classes @ effects / classes.sum()
    within, whole = float(classes.sum() - (n > 0).sum()), np.maximum(between, 0.0) / usable
    tested = _tested(len(n), whole, slow, freedom, within, kurtosis / harmonic, harmonic)
    return _Moves(values, variance / tasks[:, None], np.sqrt(variance), *tested)


def _concept(counted: Counted) -> _Moves:
    """Movement of each class relative to the others, from the mean of each class, with columns by class."""
    count, mean, variance = counted.n[:, :, None], counted.mean, counted.variance
    k, C, D = mean.shape
    classes = count.sum(axis=0)
    overall = (count * mean).sum(axis=0) / np.maximum(classes, 1.0)
    others = count.sum(axis=1, keepdims=True) - count
    usable = (count > 0) & (others > 0)
    n, others = np.where(usable, count, np.nan), np.where(usable, others, np.nan)

    def rest(part: Floats) -> Floats:
        return np.asarray(part.sum(axis=-2, keepdims=True) - part)

    values = mean - overall - rest(count * (mean - overall)) / others
    errors = variance / n + rest(count * variance) / others**2
    weights = np.where(errors > 0, 1.0 / np.where(errors > 0, errors, 1.0), 0.0)
    # Fourth cumulants of the compared averages.
    fourth = counted.kurtosis * variance**2
    fourth = (fourth / n**3 + rest(count * fourth) / others**4) * weights**2
    tasks = usable.sum(axis=0)
    excess = np.nansum(fourth, axis=0) / np.maximum(tasks, 1)
    moved = np.where(usable, values, 0.0)
    centre = (weights * moved).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
    statistic = (weights * (moved - centre) ** 2).sum(axis=0)
    within = np.nansum(n, axis=0) - tasks
    slow = _slow(moved.reshape(k, -1), weights.reshape(k, -1)).reshape(C, D)
    slow = np.where(tasks > 2 * _waves(k).shape[1], slow, 0.0)
    harmonic = np.maximum(tasks, 1) / np.maximum(np.nansum(1.0 / n + 1.0 / others, axis=0), 1e-300)
    # Values become the mean of the class less the mean of the others.
    values = values + overall - rest(classes * overall) / np.maximum(rest(classes), 1.0)
    unit = np.tile(np.sqrt((classes * variance).sum(axis=0) / classes.sum()), C)
    freedom, known = np.maximum(tasks - 1.0, 1.0), np.maximum(within, 1.0)
    p, size = _tested(k, statistic, slow, freedom, known, excess, harmonic)
    # The noise is unknown if each task has only one sample of the class.
    p, size = np.where((tasks > 1) & (within > 0), p, 1.0), np.where(tasks > 1, size, 0.0)
    return _Moves(values.reshape(k, C * D), errors.reshape(k, C * D), unit, p.ravel(), size.ravel())


def moves(counted: Counted, kind: Shift, c: int = 0) -> tuple[Floats, Floats]:
    """Return the values that a kind of change moves, over the tasks, and standard errors (NaN without the class).

    "label": (k, C). "input": (k, D) at the same mix of classes in all tasks. "concept": class c less the others.
    """
    made = {"label": _label, "input": _input, "concept": _concept}[kind](counted)
    D = counted.mean.shape[2]
    of = slice(c * D, (c + 1) * D) if kind == "concept" else slice(None)
    return made.values[:, of], np.sqrt(made.errors[:, of])


def _rows(made: _Moves, kind: Shift, classes: Ints, columns: Ints, share: Floats) -> pd.DataFrame:
    """Return the rows of the hypotheses of one kind, with weights `share` for their sizes."""
    values, third = made.values, max(1, len(made.values) // 3)

    def averaged(part: slice) -> tuple[Floats, Floats]:
        count = np.isfinite(values[part]).sum(axis=0)
        return np.nansum(values[part], axis=0) / count, np.nansum(made.errors[part], axis=0) / count**2

    with np.errstate(invalid="ignore", divide="ignore"):
        before, noise_before = averaged(slice(third))
        after, noise_after = averaged(slice(-third, None))
        change = np.where(made.unit > 0, (after - before) / made.unit, 0.0)
        clear = np.abs(after - before) > _Z * np.sqrt(noise_before + noise_after)
        clear &= np.abs(change) >= made.size
    table = pd.DataFrame({"kind": kind, "class_index": classes, "column_index": columns})
    direction = np.where(clear, np.where(after > before, "rises", "falls"), "to and fro")
    found = {"before": before, "after": after, "direction": direction, "change": change, "size": made.size}
    return table.assign(**found, energy=share * made.size**2, p=made.p)


def _among_permuted(p: Floats, samples: Samples, tested: NDArray[np.bool_], seed: int) -> Floats:
    """Return the share of p-values at most as large among these and those after exchanging samples of each class."""
    generator = np.random.default_rng([seed, 1])
    permuted = (samples.counted(generator) for _ in range(_PERMUTATIONS))
    chance = np.sort([p[tested], *(np.append(_input(of).p, _concept(of).p)[tested] for of in permuted)], axis=None)
    return np.asarray(np.searchsorted(chance, p, side="right") / max(len(chance), 1))


def what_changed(sequence: TaskSequence, *, level: float = 0.05, seed: int = 0) -> Changed:
    """Return what changed between tasks, ranked: shares of classes, columns in all classes, columns in one class.

    Every row of the table is a separate hypothesis, tested on all samples against the variance within tasks, with
    allowance for heavy tails. For columns, these p-values are compared with those of all columns after samples of each
    class have been exchanged between tasks at random. q-values are those of Benjamini and Hochberg over all rows. With
    two classes there is one share and one concept change per column, because the other is its mirror image. Rows must
    be independent. Otherwise, `note` warns you.

    Parameters
    ----------
    sequence : TaskSequence
        At least two tasks.
    level : float
        Bound on the expected share of false discoveries among the rows found, between 0 and 1.
    seed : int
        For `imrc.features.make`.

    Raises
    ------
    ValueError
        If there are fewer than two tasks.

    Examples
    --------
    >>> from imrc.tasks import sequence_from_blocks
    >>> generator = np.random.default_rng(0)
    >>> X = generator.standard_normal((400, 3))
    >>> X[200:, 1] += 1.0
    >>> result = what_changed(sequence_from_blocks(X, generator.integers(2, size=400), 50))
    >>> result.found
    {'label': 0, 'input': 1, 'concept': 0}
    >>> result.table.loc[0, ["kind", "column", "direction"]].tolist()
    ['input', 'feature 2', 'rises']
    """
    from statsmodels.stats.multitest import multipletests

    check_real("level", level, 0.0, 1.0, low_open=True)
    check_int("seed", seed, 0)
    if len(checked_tasks("imrc.diagnostics.what_changed", sequence)) < 2:
        raise InputError(f"What changed between tasks needs at least 2 of them; got {len(sequence)}.")
    samples, columns = read_samples(sequence, seed)
    counted = samples.counted()
    C, D = counted.n.shape[1], len(columns)
    total = counted.n.sum(axis=0) / counted.n.sum()
    # With these weights, the rows of all classes add up to the movement around the common one.
    weight = total * (1.0 - total) * (1.0 if C == 2 else 1.0 - total)
    label, moving, concept = _label(counted), _input(counted), _concept(counted)
    of_class, of_column = np.arange(C), np.arange(D)
    parts = [
        _rows(label, "label", of_class, np.full(C, -1), np.full(C, 1.0 if C == 2 else 1.0 - 1.0 / C)),
        _rows(moving, "input", np.full(D, -1), of_column, np.ones(D)),
        _rows(concept, "concept", of_class.repeat(D), np.tile(of_column, C), weight.repeat(D)),
    ]
    table = pd.concat(parts, ignore_index=True)
    constant = np.flatnonzero(moving.unit == 0)
    kept = ~table["column_index"].isin(constant)
    if C == 2:
        kept &= table["class_index"] != table["kind"].map({"label": 1, "input": C, "concept": 0})
    elif C == 1:
        kept &= table["kind"] == "input"
    of_columns = np.append(moving.p, concept.p)
    table["p"] = np.append(label.p, _among_permuted(of_columns, samples, kept[C:].to_numpy(), seed))
    table = table[kept].copy()
    table["q"] = multipletests(table["p"], level, method="fdr_bh")[1] if len(table) else table["p"]
    table["found"] = table["q"] <= level
    table["energy"] = table["energy"].where(table["found"], 0.0)
    energy = table["energy"].sum()
    table["share"] = 100.0 * table["energy"] / energy if energy > 0 else 0.0
    # Changes found come first, sorted by size, then the others by p-value.
    table = table.sort_values(["found", "energy", "p"], ascending=[False, False, True], ignore_index=True)
    table["direction"] = table["direction"].where(table["found"], "no clear change")
    table["class"] = np.array([*sequence.class_names, "all"], dtype=object)[table["class_index"]]
    table["column"] = np.array([*columns, ""], dtype=object)[table["column_index"]]
    shown = ["kind", "class", "column", "before", "after", "direction", "change", "size", "share", "p", "q"]
    table = table[[*shown, "found", "class_index", "column_index"]]
    note, left_out = samples.of_rows.dependence, len(constant)
    names = sequence.labels, sequence.class_names, columns
    return Changed(table, level, len(sequence), *names, left_out, note, counted)
