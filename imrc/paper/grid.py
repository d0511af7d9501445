"""Runs that come with the package: the default on built-in data at every n, as counts of wrong answers.

``data/results/grid.zip`` has a table of bytes per sequence, by its fingerprint, a row per run less the row before: n,
W (0: all tasks), shares in percent and effective samples in tenths (high byte first, by b, at last of the next task),
and how many answers were wrong, see `_COUNTED`. A run with `REACH` backward steps holds those with fewer. Risks,
effective samples and calibration are not kept; whoever needs them runs it again.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imrc.baselines import registry
from imrc.core.learner import Learner
from imrc.core.settings import Window
from imrc.evaluation.columns import Arrays, arrays_of, columns_of
from imrc.evaluation.measures import KINDS, shares
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import with_references
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.splits import draw_task, held_out, repetition_seeds, task_seed
from imrc.features import VERSION as FEATURES
from imrc.paper.shipped import index, results_folder
from imrc.tasks import TaskSequence

REACH = 5
_COUNTED = (
    ("error", "single"), ("error", "forward_backward"), ("error", "pooled"),
    ("before", "single"), ("before", "imrc"), ("before", "pooled"),
)  # fmt: skip
_FIRST = 5 + 2 * (REACH + 2)
"""Bytes before the counts."""

MADE_BY = [Learner.version, registry["pooled"].version, FEATURES]
"""Versions of the code whose numbers are kept."""
Bytes = NDArray[np.uint8]


def settings_of(n: int, W: Window | None = None) -> RunSettings:
    """Return the settings of a run that is kept, the references beside it."""
    return with_references(RunSettings(n=n, b=REACH, W=W))


def row_of(result: RunResult) -> Bytes:
    """Return the bytes of a run with `settings_of`."""
    W, arrays, table = result.settings.W, arrays_of(result), result.ess_tables["forward_backward"]
    worth = [*(table.at_lag(b).mean() for b in range(REACH + 1)), result.before_ess["imrc"][:, 1:].mean()]
    kept = [result.settings.n, 0 if W is None else W, *(round(100.0 * share) for share in shares(result).values())]
    kept += [part for value in worth for part in divmod(round(10.0 * round(value, 1)), 256)]
    errors = [arrays[name].reshape(*result.before["imrc"].shape, -1) for name in _COUNTED]
    counts = [np.rint(np.nan_to_num(one) * result.test_samples[:, None]).ravel() for one in errors]
    return np.concatenate([kept, *counts]).astype(np.uint8)


def write(path: Path, rows: Mapping[str, Sequence[Bytes]]) -> None:
    """Write the rows of sequences, by fingerprint; neighbours should be alike."""
    tables = {name: np.diff(np.array(some), axis=0, prepend=np.uint8(0)) for name, some in rows.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        for name, values in {"made_by": np.array(MADE_BY), **tables}.items():
            np.save(content := io.BytesIO(), values)
            file.writestr(f"{name}.npy", content.getvalue())


@lru_cache(maxsize=1)
def fingerprints() -> frozenset[str]:
    """Return the tasks of which runs come with the package, none if they are of another version of the code."""
    with np.load(results_folder() / index()["grid"]["file"]) as file:
        return frozenset(file if file["made_by"].tolist() == MADE_BY else ())


@lru_cache(maxsize=16)
def _rows(fingerprint: str) -> Bytes:
    with np.load(results_folder() / index()["grid"]["file"]) as file:
        return np.cumsum(file[fingerprint], axis=0, dtype=np.uint8)


def _row(fingerprint: str, settings: RunSettings, tasks: int) -> Bytes | None:
    """Return the bytes of the run that holds one with these settings; None if none does."""
    if fingerprint not in fingerprints() or settings.b > REACH:
        return None
    held, rows, W = settings_of(settings.n, settings.W), _rows(fingerprint), settings.learner.W
    wide = {"b": REACH, "k": None, "repetitions": held.repetitions, "methods": held.methods}
    if settings.key(**wide) != held.key():
        return None
    # No more tasks can count than there are.
    found = rows[(rows[:, 0] == settings.n) & (rows[:, 1] == (0 if W == "all" or tasks <= W else W))]
    return found[0] if len(found) else None


def run(sequence: TaskSequence, settings: RunSettings) -> RunResult | None:
    """Return the run, with its references, that holds one with these settings, errors only; None if none does."""
    row, k = _row(sequence.fingerprint, settings, len(sequence)), len(sequence)
    if row is None:
        return None
    held, tested = settings_of(settings.n, settings.W), np.array([held_out(int(size)) for size in sequence.sizes])
    arrays, counts, many = _majority(sequence, held, tested), row[_FIRST:], held.repetitions
    for kind, rule in _COUNTED:
        lags = {"error pooled": k, "error forward_backward": REACH + 1}.get(f"{kind} {rule}", 1)
        here, counts = np.split(counts, [many * k * lags])
        values = here.reshape(many, k, lags) / tested[:, None]
        if kind == "before":
            values = np.where(np.arange(k) > 0, values[:, :, 0], np.nan)
        else:
            values[:, np.add.outer(np.arange(k), np.arange(lags)) >= k] = np.nan
        arrays[kind, rule] = values
    arrays["error", "forward"] = arrays["error", "forward_backward"][:, :, :1]
    named, mark = sequence.name, sequence.fingerprint
    return RunResult(settings=held, name=named, fingerprint=mark, labels=sequence.labels, **columns_of(arrays))


def _majority(sequence: TaskSequence, settings: RunSettings, tested: NDArray[np.int64]) -> Arrays:
    """Return the errors of the most frequent class, which need no learning, and what is the same in all runs."""
    k, wrong = len(sequence), []
    for seed in repetition_seeds(settings.seed, settings.repetitions):
        counts = np.empty((2, k, sequence.n_classes), dtype=np.int64)
        for task, y in enumerate(map(sequence.encoded, range(k))):
            draw = draw_task(y, settings.n, sequence.n_classes, task_seed(seed, task))
            counts[:, task] = [np.bincount(y[rows], minlength=counts.shape[2]) for rows in (draw.train, draw.test)]
        wrong.append(tested[:, None] - counts[1][:, np.cumsum(counts[0], axis=0).argmax(axis=1)])
    by_step, tasks = np.array(wrong) / tested[:, None], np.arange(k)
    later = np.add.outer(tasks, tasks)
    by_lag = np.where(later < k, by_step[:, tasks[:, None], np.minimum(later, k - 1)], np.nan)
    before = np.insert(by_step[:, tasks[1:], tasks[:-1]], 0, np.nan, axis=1)
    found = {("majority", ""): by_lag[:, :, :1], ("error", "majority"): by_lag, ("before", "majority"): before}
    return found | {("time_s", ""): np.full(k, np.nan), ("test_samples", ""): tested}


def accounts(result: RunResult) -> tuple[dict[str, float], float] | None:
    """Return the shares and effective samples of a run that is kept, in the digits shown; None if it is not."""
    row = _row(result.fingerprint, result.settings, result.n_tasks)
    if row is None or result.settings.repetitions != settings_of(1).repetitions:
        return None
    place = {"before": REACH + 1, "newest": 0}.get(result.scenario.kind, result.settings.reach(result.n_tasks))
    high, low = map(int, row[5 + 2 * place : 7 + 2 * place])
    return dict(zip(KINDS.values(), row[2:5] / 100.0, strict=True)), (256 * high + low) / 10.0
