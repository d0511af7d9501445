"""The plan of a sweep: its cells, what makes no sense and why, what is done, and how long the rest takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from imrc import datasets
from imrc._checks import InputError
from imrc.baselines import parse_method, registry
from imrc.evaluation import RunSettings, largest_n
from imrc.features import FeatureSpec, make
from imrc.sweeps.cell import Cell, sequence_of, uses
from imrc.sweeps.spec import SweepSpec
from imrc.sweeps.store import ResultStore
from imrc.sweeps.version import code_version
from imrc.tasks import TaskSequence
from imrc.wording import duration

_FIRST_CELL_S = 0.004
"""Seconds a cell takes besides learning and testing."""


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep will do.

    Attributes
    ----------
    spec : SweepSpec
        What was asked for.
    cells : tuple of Cell
        Every cell, once; those of one sequence and representation one after another.
    done : frozenset of str
        Keys of cells that are in the store already.
    notes : tuple of str
        One sentence for each kind of combination that was left out or merged.
    """

    spec: SweepSpec
    cells: tuple[Cell, ...]
    done: frozenset[str]
    notes: tuple[str, ...]

    @property
    def waiting(self) -> tuple[Cell, ...]:
        """Cells that are not done."""
        return tuple(cell for cell in self.cells if cell.key not in self.done)

    def seconds(self, jobs: int = 1) -> float:
        """Return about how long the waiting cells take with so many workers, right within a factor of about three."""
        waiting = [cell.seconds for cell in self.waiting]
        return max(sum(waiting) / jobs, max(waiting, default=0.0))

    def in_words(self, jobs: int = 1) -> str:
        """Return the plan as text: size, what is done, what was left out."""
        spec = self.spec
        factors = [
            (len(spec.datasets), "dataset"),
            (len(spec.features), "representation"),
            *((len(getattr(spec, name)), name) for name in ("n", "k", "b", "W")),
            (len(spec.presets), "preset"),
            (len(spec.methods), "method"),
            (len(spec.seeds), "seed"),
            (spec.repetitions, "repetition"),
        ]
        shown = [f"{count} {name if len(name) == 1 else name + 's'}" for count, name in factors if count > 1] or [
            "1 combination"
        ]
        left = len(self.cells) - len(self.done)
        lines = [
            f"Plan: {' × '.join(shown)}: {len(self.cells)} cells, {len(self.done)} stored already, {left} to run"
            + (f", about {duration(self.seconds(jobs))} with {jobs} worker{'s' * (jobs > 1)}." if left else ".")
        ]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


class _Notes:
    """Reasons with the number of cells they concern, in the order in which they were first met."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, reason: str, cells: int) -> None:
        self._counts[reason] += cells

    def sentences(self) -> tuple[str, ...]:
        return tuple(f"{reason} ({count} cell{'s' * (count != 1)})." for reason, count in self._counts.items())


def make_plan(
    spec: SweepSpec, store: ResultStore | None = None, *, progress: Callable[[str], None] | None = None
) -> SweepPlan:
    """Work out the cells of a sweep; every dataset is loaded for it, nothing is run.

    Parameters
    ----------
    spec : SweepSpec
        What it is over.
    store : ResultStore, optional
        Where finished cells are looked up.
    progress : callable, optional
        Called with the name of each dataset before it is loaded.

    Returns
    -------
    SweepPlan

    Raises
    ------
    NotAvailableError
        If a dataset is not on this computer; the message says how to get it.
    ValueError
        If no combination makes sense.
    """
    cells: dict[str, Cell] = {}
    notes = _Notes()
    measured: dict[tuple[object, ...], float] = {}
    for name in spec.datasets:
        if progress is not None:
            progress(name)
        for k, seed in product(_tasks(spec, name, notes), spec.seeds):
            sequence = sequence_of(name, k, seed)
            limit = largest_n(sequence)
            for settings in _settings(spec, name, sequence, limit, seed, notes):
                first = _cell(name, sequence, settings, 0)
                if first.key in cells:
                    notes.add(_merged(settings), spec.repetitions)
                    continue
                place = (name, len(sequence), settings.features, replace(settings, seed=0))
                if place not in measured:
                    stored = None if store is None else store.seconds_like(first)
                    measured[place] = estimate(settings, sequence) if stored is None else stored
                for repetition in range(spec.repetitions):
                    cell = _cell(name, sequence, settings, repetition, measured[place])
                    cells[cell.key] = cell
    if not cells:
        reasons = " ".join(notes.sentences())
        raise InputError(f"No combination of the sweep makes sense. {reasons}")
    done = frozenset() if store is None else frozenset(store.finished(cells))
    return SweepPlan(spec, tuple(cells.values()), done, notes.sentences())


def _cell(name: str, sequence: TaskSequence, settings: RunSettings, repetition: int, seconds: float = 0.0) -> Cell:
    method = settings.methods[0]
    return Cell(name, len(sequence), sequence.fingerprint, settings, repetition, code_version(method), seconds)


def _per_task_count(spec: SweepSpec) -> int:
    """Cells for one dataset and k."""
    count = spec.repetitions * len(spec.seeds)
    for name in ("features", "n", "b", "W", "presets", "methods"):
        count *= len(getattr(spec, name))
    return count


def _tasks(spec: SweepSpec, name: str, notes: _Notes) -> Iterator[int | None]:
    entry = datasets.entry(name)
    if not spec.k:
        yield None
    for k in spec.k:
        if k <= entry.max_tasks:
            yield k
        else:
            notes.add(f"Left out: k = {k} for {name}, which has at most {entry.max_tasks} tasks", _per_task_count(spec))


def _settings(
    spec: SweepSpec, name: str, sequence: TaskSequence, limit: int, seed: int, notes: _Notes
) -> Iterator[RunSettings]:
    inner = len(spec.W) * len(spec.presets) * len(spec.methods) * spec.repetitions
    for features, n in product(spec.features, spec.n):
        if n > limit:
            notes.add(
                f"Left out: n = {n} for {name} with {len(sequence)} tasks, whose smallest task gives {max(limit, 0)} "
                "training samples",
                inner * len(spec.b),
            )
            continue
        for wanted in spec.b:
            b = min(wanted, len(sequence) - 1)
            if b < wanted:
                notes.add(
                    f"Lowered: b = {wanted} to {b} for {name} with {len(sequence)} tasks: no more can be learnt again",
                    inner,
                )
            for method, preset, W in product(spec.methods, spec.presets, spec.W):
                if method == "imrc" and W == "all" and preset == "paper":
                    notes.add("Left out: W = all with preset paper, which averages a number of changes", inner)
                    continue
                yield RunSettings(
                    n=n,
                    b=b,
                    W=W if method == "imrc" else None,
                    preset=preset,
                    features=FeatureSpec.parse(features),
                    repetitions=spec.repetitions,
                    seed=seed,
                    methods=(method,),
                )


def _merged(settings: RunSettings) -> str:
    method = settings.methods[0]
    if method == "imrc":
        return "Run once: combinations that are the same"
    unused = [name for name in ("b", "W") if name not in uses(settings)]
    return f"Run once: combinations that are the same: {method} does not use {', '.join(unused)} or presets"


def estimate(settings: RunSettings, sequence: TaskSequence) -> float:
    """Return about how many seconds one repetition takes on one core, from sizes alone.

    Parameters
    ----------
    settings : RunSettings
        With one method.
    sequence : TaskSequence
        The tasks.
    """
    method = settings.methods[0]
    width = make(settings.features, sequence, settings.seed).n_outputs
    tasks, classes = len(sequence), sequence.n_classes
    # Measured on rotated digits, Power Supply, Spam and German; every solved problem (single, forward, b backward)
    # takes a fixed part and one in proportion to the size of its classifier.
    if method == "imrc":
        rules = 2 + min(settings.b, tasks - 1)
        learning = tasks * rules * (2e-4 + 9e-7 * classes * (width + 1) * (1 + settings.n / 200))
        return _FIRST_CELL_S + learning
    name, profile = parse_method(method)
    cls = registry[name]
    n = int(sequence.sizes.mean()) if cls.uses_pool else settings.n
    return _FIRST_CELL_S + cls.expected_seconds(cls.profiles[profile], tasks, n, width, classes)
