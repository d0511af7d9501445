"""What changed: which class and which column, in which direction, split into three kinds of change.

For every column the samples are described by class and task, ``x = class + task + class x task + noise``, as in an
analysis of variance with unequal counts. The three kinds are its parts: *label shift* is a change of the classes'
shares; *input shift* is the part by task that all classes have in common; *concept change* is the movement of one class
against the others. A change of the shares alone moves neither of the last two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from imrc._checks import InputError, check_int, check_real
from imrc._types import Floats
from imrc.diagnostics._change import cosine_waves
from imrc.features import make, output_names
from imrc.tasks import TaskSequence
from imrc.wording import feature_names_or_numbers

Kind = Literal["label", "input", "concept"]
KINDS: tuple[Kind, ...] = get_args(Kind)
KIND_TITLES: dict[Kind, str] = {"label": "label shift", "input": "input shift", "concept": "concept change"}

CONSTANT = 1e-10
"""Columns whose variance within tasks is below this share of their mean square have no noise to measure with."""
_Z = 1.96
_WAVES = 3
_KNOWN = 1e9
"""Degrees of freedom of a variance that is known."""


@dataclass(frozen=True, eq=False)
class Counted:
    """Sums over the samples of a sequence by task and class: all that the tests need."""

    n: Floats  # samples, (k, C)
    mean: Floats  # averages of the columns, (k, C, D); 0 where a class is absent
    variance: Floats  # of one sample within a task, (C, D), pooled over tasks
    kurtosis: Floats  # fourth moment over the squared variance, less 3, (D,), around the averages of the classes


@dataclass(frozen=True, eq=False)
class Changed:
    """What changed between the tasks of a sequence.

    Attributes
    ----------
    table : DataFrame
        One row per hypothesis, the largest changes that are more than noise first. `kind` ("label", "input",
        "concept"), `class`, `column` (empty for shares), `before` and `after` (averages over the first and the last
        third of the tasks; of a concept change the class less the others), `direction` ("rises", "falls", "to and
        fro"; "no clear change" where nothing was found), `change` (after less before, in standard deviations of a
        sample), `size` (standard deviation over tasks of what moves, noise removed, in the same unit), `share` (of all
        change that was found, in percent), `lag1` (autocorrelation at lag 1, which is also the partial one), `p`, `q`
        (Benjamini and Hochberg), `found` (whether q is at most `level`), and the positions `class_index` and
        `column_index` (-1: none).
    level : float
        Bound on the expected share of false discoveries among the rows found.
    k : int
        Tasks.
    labels, classes, columns : tuple of str
        Names of tasks, classes and columns.
    left_out : int
        Columns that are constant within tasks.
    counted : Counted
        Sums behind the table.
    """

    table: pd.DataFrame
    level: float
    k: int
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    columns: tuple[str, ...]
    left_out: int
    counted: Counted

    @property
    def found(self) -> dict[Kind, int]:
        """Rows found, by kind."""
        counts = self.table[self.table["found"]]["kind"].value_counts()
        return {kind: int(counts.get(kind, 0)) for kind in KINDS}

    def row_name(self, row: int) -> str:
        """Return the name of what a row of the table is about.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        str
        """
        of, column = self.table.loc[row, "class"], self.table.loc[row, "column"]
        kind = self.table.loc[row, "kind"]
        if kind == "label":
            return f"share of {of}"
        return str(column) if kind == "input" else f"{column}, {of} less the others"


def count_samples(sequence: TaskSequence, seed: int = 0) -> tuple[Counted, tuple[str, ...]]:
    """Return sums over all samples by task and class, and the names of the columns.

    Words become 0/1 columns and gaps are filled by what the first task teaches. Nothing is drawn for columns as they
    are.
    """
    numbers = make("identity", sequence, seed)
    k, C = len(sequence), sequence.n_classes
    n = sequence.class_counts().astype(np.float64)
    centre = numbers.transform(sequence[0].X).mean(axis=0)  # powers of large numbers would lose digits
    D = len(centre)
    mean = np.zeros((k, C, D))
    powers = np.zeros((4, C, D))
    for j, task in enumerate(sequence):
        X, y = numbers.transform(task.X) - centre, sequence.encoded(j)
        for c in np.flatnonzero(n[j]):
            of = X[y == c]
            mean[j, c] = of.mean(axis=0)
            for order in range(4):
                powers[order, c] += (of ** (order + 1)).sum(axis=0)
    counts = n.sum(axis=0)
    within = powers[1] - (n[:, :, None] * mean**2).sum(axis=0)
    freedom = counts - (n > 0).sum(axis=0)
    variance = np.maximum(within, 0.0) / np.maximum(freedom, 1.0)[:, None]
    # Where rounding is all there is.
    variance[variance <= CONSTANT * (powers[1] / np.maximum(counts, 1.0)[:, None])] = 0.0
    m1, m2, m3, m4 = powers / np.maximum(counts, 1.0)[:, None]
    square = m2 - m1**2
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    share = (counts / counts.sum())[:, None]
    spread = (share * square).sum(axis=0)
    steady = (variance == 0).all(axis=0)
    spread[steady] = np.inf
    kurtosis = (share * fourth).sum(axis=0) / spread**2 - 3.0
    mean += np.where(n[:, :, None] > 0, centre, 0.0)
    columns = feature_names_or_numbers(output_names(numbers, sequence), D)
    return Counted(n, mean, variance, np.maximum(kurtosis, 0.0)), columns


def _p_values(
    whole: tuple[Floats, float], slow: tuple[Floats, float] | None, within: float, kurtosis: Floats, n: float
) -> Floats:
    """Return p-values of sums of squares over the tasks, each with its degrees of freedom: of all, and of slow waves.

    The smaller of the two, doubled: any movement counts, and a slow one is seen where noise of each task would hide it.
    The sums are chi-squared for normal samples, F with an estimated variance. Heavy tails and rare ones among zeros
    spread them more: scale and degrees of freedom are those with the same mean and variance.
    """
    from scipy import stats

    found = []
    for (statistic, freedom), samples in ((whole, n), *([(slow, n * (whole[1] + 1.0))] if slow else [])):
        wider = 1.0 + kurtosis / (2.0 * samples)
        found.append(stats.f.sf(statistic / freedom, freedom / wider, max(within, 1.0)))
    return np.asarray(np.minimum(len(found) * np.min(found, axis=0), 1.0))


def _waves(k: int) -> Floats:
    """Return the slowest waves over the tasks, one per column."""
    return cosine_waves(k, min(_WAVES, (k - 1) // 2))


def _slow(values: Floats, weights: Floats) -> tuple[Floats, float] | None:
    """Return how much of the weighted sum of squares around the mean the slow waves explain, and how many there are."""
    waves = _waves(len(values))
    if not waves.size:
        return None
    total = np.maximum(weights.sum(axis=0), 1e-300)
    explained = np.zeros(values.shape[1])
    # Weights that are the same for all columns are one system; others are few.
    shared = weights.shape[1] == 1
    for i in range(1) if shared else range(values.shape[1]):
        w = weights[:, i]
        centred = waves - w @ waves / total[i]
        of = values if shared else values[:, i : i + 1]
        side = centred.T @ (w[:, None] * of)
        part = (side * np.linalg.lstsq(centred.T @ (w[:, None] * centred), side, rcond=None)[0]).sum(axis=0)
        explained[slice(None) if shared else slice(i, i + 1)] = part
    return explained, float(waves.shape[1])


@dataclass(frozen=True, eq=False)
class _Moves:
    """A quantity over the tasks, one column per hypothesis: values, their variances, and what tests them."""

    values: Floats
    errors: Floats
    p: Floats
    unit: Floats
    size: Floats


def _size(statistic: Floats, freedom: float, n: float) -> Floats:
    """Return the standard deviation over tasks in standard deviations of a sample, noise removed."""
    return np.asarray(np.sqrt(np.maximum(statistic / freedom - 1.0, 0.0) / n))


def _label(counted: Counted) -> _Moves:
    n = counted.n.sum(axis=1)
    share = counted.n.sum(axis=0) / n.sum()
    values = counted.n / n[:, None]
    variance = np.maximum(share * (1.0 - share), 1e-12)
    statistic = (n[:, None] * (values - share) ** 2 / variance).sum(axis=0)
    kurtosis = np.maximum((1.0 - 6.0 * variance) / variance, 0.0)
    harmonic, freedom = float(len(n) / (1.0 / n).sum()), len(n) - 1.0
    explained = _slow(values, n[:, None])
    slow = None if explained is None else (explained[0] / variance, explained[1])
    p = _p_values((statistic, freedom), slow, _KNOWN, kurtosis, harmonic)
    return _Moves(values, variance / n[:, None], p, np.sqrt(variance), _size(statistic, freedom, harmonic))


def _input(counted: Counted) -> _Moves:
    """Movement that all classes share: effects of the tasks beside those of the classes, least squares."""
    n, mean = counted.n, counted.mean
    tasks, classes = n.sum(axis=1), n.sum(axis=0)
    by_task = (n[:, :, None] * mean).sum(axis=1)
    by_class = (n[:, :, None] * mean).sum(axis=0)
    # The tasks' effects are eliminated; what is left is a system of the size of the classes.
    left = np.diag(classes) - n.T @ (n / tasks[:, None])
    right = by_class - n.T @ (by_task / tasks[:, None])
    effects = np.linalg.pinv(left, hermitian=True) @ right
    values = (by_task - n @ effects) / tasks[:, None]
    explained = (values * by_task).sum(axis=0) + (effects * by_class).sum(axis=0)
    between = explained - (by_class**2 / np.maximum(classes, 1.0)[:, None]).sum(axis=0)
    freedom = len(tasks) + np.linalg.matrix_rank(left, hermitian=True) - float((classes > 0).sum())
    variance = (classes[:, None] * counted.variance).sum(axis=0) / classes.sum()
    usable = np.where(variance > 0, variance, np.inf)
    statistic = np.maximum(between, 0.0) / usable
    harmonic = float(len(tasks) / (1.0 / tasks).sum())
    within = float(classes.sum() - (n > 0).sum())
    if freedom <= 0:  # every task has classes of its own: nothing is common to two of them
        nothing = np.zeros(mean.shape[2])
        return _Moves(values, usable / tasks[:, None], nothing + 1.0, np.sqrt(variance), nothing)
    p = _p_values((statistic, freedom), _slow_input(counted, by_class, usable), within, counted.kurtosis, harmonic)
    # What the classes are on average, so that the values are those of the column.
    values = values + classes @ effects / classes.sum()
    return _Moves(values, variance / tasks[:, None], p, np.sqrt(variance), _size(statistic, freedom, harmonic))


def _slow_input(counted: Counted, by_class: Floats, variance: Floats) -> tuple[Floats, float] | None:
    """Return what slow waves explain beside the means of the classes, in units of the variance; least squares."""
    n, k = counted.n, len(counted.n)
    waves = _waves(k)
    if not waves.size:
        return None
    classes = np.maximum(n.sum(axis=0), 1.0)
    by_wave = waves.T @ (n[:, :, None] * counted.mean).sum(axis=1)
    across = waves.T @ n
    left = waves.T @ (n.sum(axis=1)[:, None] * waves) - across / classes @ across.T
    right = by_wave - across / classes @ by_class
    return (right * np.linalg.lstsq(left, right, rcond=None)[0]).sum(axis=0) / variance, float(waves.shape[1])


def _concept(counted: Counted, c: int) -> _Moves:
    """Movement of a class against the others, each class measured from its own mean."""
    n, mean = counted.n, counted.mean
    classes = n.sum(axis=0)
    overall = (n[:, :, None] * mean).sum(axis=0) / np.maximum(classes, 1.0)[:, None]
    rest = np.arange(n.shape[1]) != c
    others = n[:, rest].sum(axis=1)
    usable = (n[:, c] > 0) & (others > 0)
    k, D = len(n), mean.shape[2]
    values, errors = np.full((k, D), np.nan), np.full((k, D), np.nan)
    of = n[usable][:, rest, None]
    moved = (of * (mean[usable][:, rest] - overall[rest])).sum(axis=1) / others[usable, None]
    values[usable] = mean[usable, c] - overall[c] - moved
    noise = (of * counted.variance[rest]).sum(axis=1) / others[usable, None] ** 2
    errors[usable] = counted.variance[c] / n[usable, c, None] + noise
    variance = (classes[:, None] * counted.variance).sum(axis=0) / classes.sum()
    nothing = np.zeros(D)
    if usable.sum() < 2:
        return _Moves(values, errors, nothing + 1.0, np.sqrt(variance), nothing)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(errors[usable] > 0, 1.0 / errors[usable], 0.0)
        centre = (weights * values[usable]).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
    statistic = (weights * (values[usable] - centre) ** 2).sum(axis=0)
    freedom = float(usable.sum()) - 1.0
    harmonic = float(usable.sum() / (1.0 / n[usable, c] + 1.0 / others[usable]).sum())
    within = float(n[usable].sum() - (n[usable] > 0).sum())
    p = _p_values((statistic, freedom), _slow(values[usable], weights), within, counted.kurtosis, harmonic)
    # In the end as a difference: the mean of the class less the mean of the others.
    apart = overall[c] - (classes[rest] @ overall[rest]) / max(float(classes[rest].sum()), 1.0)
    return _Moves(values + apart, errors, p, np.sqrt(variance), _size(statistic, freedom, harmonic))


def moves(counted: Counted, kind: Kind, c: int = 0) -> tuple[Floats, Floats]:
    """Return what a kind of change is measured by, over the tasks, with standard errors; NaN where a class is absent.

    "label": shares of the classes, (k, C). "input": averages of the columns at the same mix of classes in all tasks,
    (k, D). "concept": averages of class c less those of the others.
    """
    made = _label(counted) if kind == "label" else _input(counted) if kind == "input" else _concept(counted, c)
    return made.values, np.sqrt(made.errors)


def _rows(made: _Moves, share: float, kind: Kind, c: int, count: int) -> pd.DataFrame:
    """Return the rows of the hypotheses of one kind; `share` weighs their sizes against those of the others."""
    third = max(1, len(made.values) // 3)

    def averaged(part: slice) -> tuple[Floats, Floats]:
        values, errors = made.values[part], made.errors[part]
        there = np.isfinite(values).sum(axis=0)
        with np.errstate(invalid="ignore"):
            return np.nansum(values, axis=0) / there, np.nansum(errors, axis=0) / there**2

    before, noise_before = averaged(slice(third))
    after, noise_after = averaged(slice(-third, None))
    with np.errstate(invalid="ignore", divide="ignore"):
        change = np.where(made.unit > 0, (after - before) / made.unit, 0.0)
        clear = np.abs(after - before) > _Z * np.sqrt(noise_before + noise_after)
        clear &= np.abs(change) >= made.size  # less than its spread is not where it goes
        there = np.isfinite(made.values).sum(axis=0)
        filled = np.nan_to_num(made.values - np.nansum(made.values, axis=0) / there)
        lag1 = (filled[1:] * filled[:-1]).sum(axis=0) / np.maximum((filled**2).sum(axis=0), 1e-300)
    direction = np.where(clear, np.where(after > before, "rises", "falls"), "to and fro")
    index = np.arange(count)
    return pd.DataFrame(
        {
            "kind": kind,
            "class_index": index if kind == "label" else c,
            "column_index": -1 if kind == "label" else index,
            "before": before[:count],
            "after": after[:count],
            "direction": direction[:count],
            "change": change[:count],
            "size": made.size[:count],
            "energy": share * made.size[:count] ** 2,
            "lag1": lag1[:count],
            "p": made.p[:count],
        }
    )


def what_changed(sequence: TaskSequence, *, level: float = 0.05, seed: int = 0) -> Changed:
    """Rank what changed between tasks: shares of classes, columns in all classes, columns in one class.

    Every row of the table is a hypothesis of its own, tested on all samples with the variance within tasks, heavy tails
    taken into account; q-values are those of Benjamini and Hochberg over all rows. Two classes have one share and one
    concept change per column, since the other is its mirror image.

    Parameters
    ----------
    sequence : TaskSequence
        At least two tasks.
    level : float
        Bound on the expected share of false discoveries among the rows found, between 0 and 1.
    seed : int
        For `imrc.features.make`.

    Returns
    -------
    Changed

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
    if len(sequence) < 2:
        raise InputError(f"What changed between tasks needs at least 2 of them; got {len(sequence)}.")
    counted, columns = count_samples(sequence, seed)
    C, D = counted.n.shape[1], len(columns)
    total = counted.n.sum(axis=0) / counted.n.sum()
    parts = []
    if C > 1:
        label = _label(counted)
        parts.append(_rows(label, 1.0 if C == 2 else 1.0 - 1.0 / C, "label", -1, 1 if C == 2 else C))
    moving = _input(counted)
    parts.append(_rows(moving, 1.0, "input", -1, D))
    for c in range(1 if C == 2 else 0, C if C > 1 else 0):
        # So that those of all classes together add up to the movement around the common one.
        weight = total[c] * (1.0 - total[c]) * (1.0 if C == 2 else 1.0 - total[c])
        parts.append(_rows(_concept(counted, c), weight, "concept", c, D))
    table = pd.concat(parts, ignore_index=True)
    constant = np.flatnonzero(moving.unit == 0)
    table = table[~table["column_index"].isin(constant)].copy()
    table["q"] = multipletests(table["p"], level, method="fdr_bh")[1] if len(table) else table["p"]
    table["found"] = table["q"] <= level
    energy = table["energy"].where(table["found"], 0.0)
    table["share"] = 100.0 * energy / energy.sum() if energy.sum() > 0 else 0.0
    # Of what was found the largest first; of the rest what comes nearest.
    table["rank"] = table["energy"].where(table["found"], 0.0)
    table = table.sort_values(["found", "rank", "p"], ascending=[False, False, True], ignore_index=True)
    table["direction"] = table["direction"].where(table["found"], "no clear change")
    names = np.array([*sequence.class_names, "all"], dtype=object)
    table["class"] = names[table["class_index"]]
    table["column"] = np.array([*columns, ""], dtype=object)[table["column_index"]]
    order = ["kind", "class", "column", "before", "after", "direction", "change", "size", "share", "lag1", "p", "q"]
    return Changed(
        table[[*order, "found", "class_index", "column_index"]],
        level,
        len(sequence),
        sequence.labels,
        sequence.class_names,
        columns,
        len(constant),
        counted,
    )
