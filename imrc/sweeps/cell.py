"""A cell: one repetition of one method on one sequence with one set of values; its key, and how it is run."""

from __future__ import annotations

import hashlib
import json
import platform
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

import imrc
from imrc import datasets
from imrc.baselines import method_class
from imrc.core.learner import Learner
from imrc.evaluation import RunResult, RunSettings, effective_samples
from imrc.evaluation.run import run_all, single_thread
from imrc.evaluation.settings import HeadlineKind
from imrc.features import VERSION as FEATURES
from imrc.features import WITH_FREQUENCIES, FeatureSpec
from imrc.solvers import warm_up
from imrc.tables.given import tasks_from
from imrc.tasks import TaskSequence
from imrc.wording import plain, versions

ERRORS: tuple[HeadlineKind, ...] = ("average", "newest", "lag", "released", "before")
"""Errors that are kept of a cell."""
PACKAGES = ("imrc", "numpy", "scipy", "numba", "scikit-learn")
"""Their versions decide the numbers."""
_lock = threading.Lock()
# Compiled, or loaded, before the first cell of a process is timed.
_compiled = cache(warm_up)


def code_version(method: str) -> str:
    """Return which code makes a method's numbers: release, and the versions that every change of numbers raises."""
    cls = Learner if method == "imrc" else method_class(method)
    return f"{imrc.__version__}/{FEATURES}/{cls.version}"


def method_of(settings: RunSettings) -> str:
    """Return the one method of the settings; raise ValueError if there are several."""
    if len(settings.methods) != 1:
        raise ValueError(f"A cell is one method, not {len(settings.methods)}.")
    return settings.methods[0].removesuffix(":default")


def uses(settings: RunSettings) -> dict[str, Any]:
    """Return what a method's numbers depend on besides data, n, representation and seed.

    For IMRC, all that its preset resolves to, without W where all changes count; for others, what they share with it.
    """
    method = method_of(settings)
    if method != "imrc":
        return {name: getattr(settings, name) for name in method_class(method).shared_settings}
    unsaid = (("W", "all"), ("preset", settings.learner.preset))
    values = {name: value for name, value in asdict(settings.learner).items() if (name, value) not in unsaid}
    if settings.computed.scenario != "continual":
        # Then every task is within reach.
        values |= {"b": None, "scenario": settings.scenario}
    return values


def _numbers(features: FeatureSpec) -> dict[str, float]:
    """Return the numbers that a representation of this kind depends on."""
    numbers = {"frequencies": features.frequencies} if features.kind in WITH_FREQUENCIES else {}
    return numbers | ({"sigma2": features.sigma2} if features.kind == "rff" else {})


def cell_key(fingerprint: str, settings: RunSettings, repetition: int, code: str | None = None) -> str:
    """Return the SHA-256 of all that the numbers of a cell depend on: data, settings a method uses, repetition, code.

    The fingerprint is that of the sequence cut to its k tasks.
    """
    method = method_of(settings)
    identity = {
        "data": fingerprint,
        "method": method,
        "code": code_version(method) if code is None else code,
        "n": settings.n,
        # Of cells it is None, their data being cut already; with another k the fingerprint is of more tasks than run.
        "k": settings.k,
        "seed": settings.seed,
        "repetition": repetition,
        "features": {"kind": settings.features.kind, **_numbers(settings.features)},
        "uses": uses(settings),
    }
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Cell:
    """One piece of a sweep. A worker with other code, or other data under the name, reports it as failed."""

    dataset: str  # or the path of a file
    tasks: int
    fingerprint: str  # of the sequence
    settings: RunSettings  # one method, its k None
    repetition: int  # from 0
    code: str
    reading: tuple[tuple[str, Any], ...] = ()  # how a file is cut into tasks: options of `imrc.tasks_from`

    @cached_property
    def key(self) -> str:
        """Content hash (see `cell_key`)."""
        return cell_key(self.fingerprint, self.settings, self.repetition, self.code)

    @property
    def title(self) -> str:
        """Name for progress and messages."""
        s, method = self.settings, method_of(self.settings)
        name = f"imrc:{s.preset}" if method == "imrc" else method
        return f"{self.dataset}, {name}, n = {s.n}, seed {s.seed}, repetition {self.repetition + 1}"


Record = dict[str, Any]
"""What a finished cell leaves, as a store keeps it: scores of each rule, processor seconds of learning, seconds of
everything (loading included), numbers kept at the end, versions, and the arrays as `RunResult.to_bytes` writes them."""


@dataclass(frozen=True)
class Failure:
    """A cell that could not be finished, and why."""

    message: str  # kind and text of the error
    details: str = ""  # its traceback


# A worker meets cells in the order of the plan: the few things used last are kept, nothing is loaded for every cell.
@lru_cache(maxsize=4)
def sequence_of(dataset: str, tasks: int | None, seed: int, reading: tuple[tuple[str, Any], ...] = ()) -> TaskSequence:
    """Return the first k tasks of a dataset (cut anew where it is made so), or of a file."""
    entry = None if is_file(dataset) else datasets.entry(dataset)
    if seed and not (entry and entry.seeded):
        return sequence_of(dataset, tasks, 0, reading)
    if tasks is not None and not (entry and entry.cuts_anew):
        return sequence_of(dataset, None, seed, reading).head(tasks)
    if entry is None:
        return tasks_from(dataset, **dict(reading))
    return datasets.load(dataset, seed=seed, **({} if tasks is None else {"tasks": tasks}))


def is_file(dataset: str) -> bool:
    """Return whether a name is the path of a file."""
    return dataset not in datasets.names()


def _scores(result: RunResult) -> list[dict[str, Any]]:
    rows = []
    for rule in result.error_tables:
        row: dict[str, Any] = {kind: float(result.per_repetition(rule, kind)[0]) for kind in ERRORS}
        row["risk"] = result.risk_tables[rule].average()[0] if rule in result.risk_tables else None
        row["ess"] = effective_samples(result, rule).mean if rule in result.ess_tables else None
        rows.append({"rule": rule, **plain(row)})
    return rows


def run_cell(cell: Cell) -> Record | Failure:
    """Run a cell in this process; what goes wrong is returned, not raised."""
    try:
        return _run(cell)
    except Exception as error:  # a cell's own fault must not end the others
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc())


def _run(cell: Cell) -> Record:
    method, here = method_of(cell.settings), platform.node()
    if code_version(method) != cell.code:
        raise RuntimeError(f"The worker on {here} has another version of the code of {method}. Install the same one.")
    started = time.perf_counter()
    with single_thread():
        with _lock:
            sequence = sequence_of(cell.dataset, cell.tasks, cell.settings.seed, cell.reading)
            if sequence.fingerprint != cell.fingerprint:
                raise RuntimeError(f"{cell.dataset} on {here} differs from the data where the sweep was started.")
            if method == "imrc":
                _compiled()
        result = run_all(sequence, cell.settings, only=(cell.repetition,), threads=1)
    (name,) = cell.settings.methods
    return {
        "scores": json.dumps(_scores(result)),
        "seconds": float(np.sum(result.method_time_s[name])),
        "wall_s": time.perf_counter() - started,
        "state": float(result.state_sizes[name][0, -1]),
        "versions": versions(PACKAGES),
        "content": result.to_bytes(),
    }
