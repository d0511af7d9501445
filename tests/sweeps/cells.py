"""Cheap cells, and cells that misbehave in workers; importable there."""

import json
import os
import signal
from pathlib import Path

from imrc.evaluation import RunResult
from imrc.evaluation.columns import arrays_of
from imrc.sweeps import ResultStore, SweepSpec, plan_sweep, run_sweep
from imrc.sweeps.cell import Cell, Failure, Record


def small_spec(**changes) -> SweepSpec:
    """A sweep whose cells take some milliseconds."""
    values = {"datasets": ("identical",), "k": 4, "n": (5, 6), "presets": ("recommended", "paper"), "repetitions": 3}
    return SweepSpec(**{**values, **changes})


def serial(path: Path, spec: SweepSpec) -> ResultStore:
    """Run a sweep in this process from start to end."""
    store = ResultStore(path, create=True)
    plan = plan_sweep(spec, store)
    assert run_sweep(plan, store).ran == len(plan.cells)
    return store


def contents(store: ResultStore) -> dict[str, tuple[str, RunResult]]:
    """Every cell of a store: its key, its numbers and its arrays."""
    rows = store._execute("SELECT key, scores, content FROM cells")
    return {key: (scores, RunResult.from_bytes(content)) for key, scores, content in rows}


def assert_same_result(one: RunResult, other: RunResult) -> None:
    """Two results are equal bit for bit, apart from times."""
    for name in ("fingerprint", "name", "labels", "settings"):
        assert getattr(one, name) == getattr(other, name)
    found, expected = (
        {key: values.tobytes() for key, values in arrays_of(run).items() if "time_s" not in key[0]}
        for run in (one, other)
    )
    assert found == expected


def assert_same_stores(one: ResultStore, other: ResultStore) -> None:
    """Two stores hold the same cells with the same numbers, bit for bit, apart from times."""
    mine, theirs = contents(one), contents(other)
    assert set(mine) == set(theirs)
    for key, (scores, result) in mine.items():
        assert scores == theirs[key][0]
        assert_same_result(result, theirs[key][1])


def misbehaving(cell: Cell) -> Record | Failure:
    """End the worker at one cell, fail in a way a method may fail at another."""
    if (cell.settings.n, cell.settings.preset, cell.repetition) == (5, "paper", 0):
        os.kill(os.getpid(), signal.SIGKILL)
    return fails_at_n_6(cell)


def fails_at_n_6(cell: Cell) -> Record | Failure:
    """Fail in a way a method may fail."""
    if cell.settings.n == 6:
        return Failure("ValueError: no such luck", "Traceback ...")
    return trivial(cell)


def trivial(cell: Cell) -> Record | Failure:
    """Return something of the size of a result that follows from the key, without computing."""
    share = int(cell.key[:8], 16) / 2**32
    scores = dict.fromkeys(("average", "newest", "lag", "released"), share)
    rows = [{"rule": "majority", **scores, "before": None, "risk": None, "ess": None}]
    facts = {"scores": json.dumps(rows), "seconds": 0.0, "wall_s": 0.0, "state": 1.0, "versions": "{}"}
    return {**facts, "content": bytes.fromhex(cell.key) * 1250}
