"""The plan of a sweep: its cells, what makes no sense and why, and what is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from imrc import datasets
from imrc._checks import InputError
from imrc.evaluation import RunSettings, largest_n
from imrc.features import FeatureSpec
from imrc.sweeps.cell import Cell, code_version, sequence_of, uses
from imrc.sweeps.spec import FACTORS, SweepSpec
from imrc.sweeps.store import ResultStore
from imrc.tasks import TaskSequence


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep will do."""

    spec: SweepSpec
    cells: tuple[Cell, ...]  # each once; those of one sequence and representation one after another
    done: frozenset[str]  # keys of cells that are in the store already
    notes: tuple[str, ...]  # one sentence for each kind of combination that was left out or merged

    @property
    def waiting(self) -> tuple[Cell, ...]:
        """Cells that are not done."""
        return tuple(cell for cell in self.cells if cell.key not in self.done)

    def in_words(self) -> str:
        """Return the plan as text: size, what is done, what was left out."""
        counts = [(len(getattr(self.spec, name)), name) for name in FACTORS]
        counts.append((self.spec.repetitions, "repetitions"))
        words = {"features": "representations"}
        shown = " × ".join(f"{count} {words.get(name, name)}" for count, name in counts if count > 1)
        size = f"{len(self.cells)} cells, {len(self.done)} stored already, {len(self.waiting)} to run"
        return "\n".join([f"Plan: {shown or '1 combination'}: {size}.", *(f"  {note}" for note in self.notes)])


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
    notes: Counter[str] = Counter()
    for name in spec.datasets:
        if progress is not None:
            progress(name)
        for k, seed in product(_tasks(spec, name, notes), spec.seeds):
            sequence = sequence_of(name, k, seed)
            for settings in _settings(spec, name, sequence, seed, notes):
                code = code_version(settings.methods[0])
                for repetition in range(spec.repetitions):
                    cell = Cell(name, len(sequence), sequence.fingerprint, settings, repetition, code)
                    if cell.key in cells:
                        notes[_merged(settings)] += 1
                    else:
                        cells[cell.key] = cell
    said = tuple(f"{reason} ({count} cell{'s' * (count != 1)})." for reason, count in notes.items())
    if not cells:
        raise InputError(f"No combination of the sweep makes sense. {' '.join(said)}")
    done = frozenset() if store is None else frozenset(store.finished(cells))
    return SweepPlan(spec, tuple(cells.values()), done, said)


def _tasks(spec: SweepSpec, name: str, notes: Counter[str]) -> Iterator[int | None]:
    most = datasets.entry(name).max_tasks
    if not spec.k:
        yield None
    for k in spec.k:
        if k <= most:
            yield k
        else:
            others = prod(len(getattr(spec, factor)) for factor in FACTORS if factor not in ("datasets", "k"))
            reason = f"Left out: k = {k} for {name}, which has at most {most} tasks"
            notes[reason] += others * spec.repetitions


def _settings(
    spec: SweepSpec, name: str, sequence: TaskSequence, seed: int, notes: Counter[str]
) -> Iterator[RunSettings]:
    limit, tasks = largest_n(sequence), f"{name} with {len(sequence)} tasks"
    inner = len(spec.W) * len(spec.presets) * len(spec.methods) * spec.repetitions
    for features, n, wanted in product(spec.features, spec.n, spec.b):
        if n > limit:
            reason = f"n = {n} for {tasks}, whose smallest task gives {max(limit, 0)} training samples"
            notes[f"Left out: {reason}"] += inner
            continue
        b = min(wanted, len(sequence) - 1)
        if b < wanted:
            notes[f"Lowered: b = {wanted} to {b} for {tasks}: no more can be learnt again"] += inner
        for method, preset, W in product(spec.methods, spec.presets, spec.W):
            own = method == "imrc"
            if own and preset == "paper" and W == "all":
                notes["Left out: W = all with preset paper, which averages a number of changes"] += spec.repetitions
                continue
            yield RunSettings(
                n=n,
                b=b,
                W=W if own else None,
                preset=preset,
                features=FeatureSpec.parse(features),
                repetitions=spec.repetitions,
                seed=seed,
                methods=(method,),
                scenario=spec.scenario,
            ).computed


def _merged(settings: RunSettings) -> str:
    method = settings.methods[0]
    if method == "imrc":
        return "Run once: combinations that are the same"
    unused = [name for name in ("b", "W") if name not in uses(settings)]
    return f"Run once: combinations that are the same: {method} does not use {', '.join(unused)} or presets"
