"""What a sweep will do: its cells, what makes no sense and why, what is done; and the table of what it gave."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imrc import datasets
from imrc._checks import InputError
from imrc.core.settings import Window
from imrc.evaluation import SCENARIOS, Headline, RunSettings, largest_n
from imrc.evaluation.settings import ScenarioName
from imrc.evaluation.significance import with_error
from imrc.features import FeatureSpec
from imrc.sweeps.cell import Cell, code_version, is_file, sequence_of, uses
from imrc.sweeps.spec import FACTORS, SweepSpec
from imrc.sweeps.store import RUN, ResultStore
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

_ERRORS = ("average", "newest", "lag", "before")


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep will do."""

    spec: SweepSpec
    cells: tuple[Cell, ...]  # each once; those of one sequence and representation one after another
    done: frozenset[str]  # keys of cells that are in the store already
    notes: tuple[str, ...]  # a sentence for each kind of combination left out or merged, and on reading files

    @property
    def waiting(self) -> tuple[Cell, ...]:
        """Cells that are not done."""
        return tuple(cell for cell in self.cells if cell.key not in self.done)

    def in_words(self) -> str:
        """Return the plan as text: size, what is done, what was left out."""
        counts = {name: len(getattr(self.spec, name)) for name in FACTORS} | {"repetitions": self.spec.repetitions}
        words = {"features": "representations"}
        shown = " × ".join(f"{count} {words.get(name, name)}" for name, count in counts.items() if count > 1)
        size = f"{len(self.cells)} cells, {len(self.done)} stored already, {len(self.waiting)} to run"
        return "\n".join([f"Plan: {shown or '1 combination'}: {size}.", *(f"  {note}" for note in self.notes)])


def plan_sweep(
    spec: SweepSpec, store: ResultStore | None = None, *, progress: Callable[[str], None] | None = None
) -> SweepPlan:
    """Return the cells of a sweep; each dataset is loaded for it (NotAvailableError if it is not here), nothing is run.

    Finished cells are looked up in the store; `progress` is called with the name of each dataset before it is loaded.
    ValueError if no combination makes sense.
    """
    cells: dict[str, Cell] = {}
    notes: Counter[str] = Counter()
    read: list[str] = []
    for name in spec.datasets:
        if progress is not None:
            progress(name)
        reading = tuple(spec.reading.items()) if is_file(name) else ()
        whole = sequence_of(name, None, 0, reading) if is_file(name) else None
        read += [] if whole is None else whole.info["warnings"]
        most = datasets.entry(name).max_tasks if whole is None else len(whole)
        inner: list[tuple[Any, ...]] = [spec.features, spec.n, spec.b, spec.methods, spec.presets, spec.W]
        for k, seed, *values in product(spec.k or (None,), spec.seeds, *inner):
            if k is not None and k > most:
                notes[f"Left out: k = {k} for {name}, which has at most {most} tasks"] += spec.repetitions
                continue
            sequence = sequence_of(name, k, seed, reading)
            settings, note = _settings(spec, f"{name} with {len(sequence)} tasks", sequence, seed, *values)
            if note:
                notes[note] += spec.repetitions
            if settings is None:
                continue
            code = code_version(settings.methods[0])
            for repetition in range(spec.repetitions):
                cell = Cell(name, len(sequence), sequence.fingerprint, settings, repetition, code, reading)
                if cells.setdefault(cell.key, cell) is not cell:
                    notes[_merged(settings)] += 1
    said = tuple(f"{reason} ({count} cell{'s' * (count != 1)})." for reason, count in notes.items())
    if not cells:
        raise InputError(f"No combination of the sweep makes sense. {' '.join(said)}")
    done = frozenset() if store is None else frozenset(filter(store.__contains__, cells))
    return SweepPlan(spec, tuple(cells.values()), done, (*read, *said))


def _settings(
    spec: SweepSpec,
    tasks: str,
    sequence: TaskSequence,
    seed: int,
    features: str,
    n: int,
    b: int,
    method: str,
    preset: str,
    W: Window | None,
) -> tuple[RunSettings | None, str]:
    """Return the settings of a combination, none if it makes no sense, and what there is to say of it."""
    limit, most, own = largest_n(sequence), len(sequence) - 1, method == "imrc"
    if n > limit:
        return None, f"Left out: n = {n} for {tasks}, whose smallest task gives {max(limit, 0)} training samples"
    if own and preset == "paper" and W == "all":
        return None, "Left out: W = all with preset paper, which averages a fixed number of changes"
    note = f"Lowered: b = {b} to {most} for {tasks}, because no more tasks can be revised" if b > most else ""
    settings = RunSettings(
        n=n,
        b=min(b, most),
        W=W if own else None,
        preset=preset,
        features=FeatureSpec.parse(features),
        repetitions=spec.repetitions,
        seed=seed,
        methods=(method,),
        scenario=spec.scenario,
    )
    return settings.computed, note


def _merged(settings: RunSettings) -> str:
    said, method = "Run once: combinations that are the same", settings.methods[0]
    unused = [name for name in ("b", "W") if name not in uses(settings)]
    return said if method == "imrc" else f"{said}: {method} does not use {', '.join(unused)} or presets"


def summary_table(plan: SweepPlan, store: ResultStore) -> pd.DataFrame:
    """Return one row per run and rule of a plan, over the finished cells of its seeds and repetitions, in its order.

    Columns dataset, ..., method, rule; cells (how many are in); error_KIND and stderr_KIND of average, newest, lag and
    before (see `imrc.evaluation.HEADLINES`; over cells); means of risk, ess and seconds (of learning, per repetition).
    """
    position = {cell.key: i for i, cell in enumerate(plan.cells)}
    frame = store.frame(key=list(position)).sort_values("key", key=lambda keys: keys.map(position), kind="stable")
    runs = frame.groupby([*RUN, "rule"], dropna=False, sort=False)
    table = runs[[*_ERRORS]].agg(["mean", "sem"])
    table.columns = [f"{'error' if what == 'mean' else 'stderr'}_{kind}" for kind, what in table.columns]
    table.insert(0, "cells", runs.size())
    return table.join(runs[["risk", "ess", "seconds"]].mean()).reset_index()


def summary_lines(table: pd.DataFrame, scenario: ScenarioName = "continual") -> tuple[str, list[dict[str, str]]]:
    """Return the summary as people read it: values that are the same in every line, and one line per run.

    A line holds single-task learning beside IMRC's main rule in the scenario, with the error it averages; columns that
    say nothing are left out.
    """
    if table.empty:
        return "No cell of this sweep is finished.", []
    # IMRC without a window uses all changes so far; a method that does not use b or W says nothing about the others.
    own = table["method"] == "imrc"
    table = table.assign(W=table["W"].astype(object).where(table["W"].notna() | ~own, "all"))
    table["dataset"] = [Path(name).name for name in table["dataset"]]
    values = {column: list(table[column].dropna().unique()) for column in RUN[:6]}
    table = table.fillna({"b": -1, "W": "–", "preset": ""}).astype({"b": object}).replace({"b": {-1: "–"}})
    # Where every task is within reach, the error after b more tasks is the one at the end.
    main, kind = SCENARIOS[scenario].main, SCENARIOS[scenario].kind.replace("end", "lag")
    lines = []
    for _, rules in table.groupby([*RUN], sort=False):
        by_rule = rules.set_index("rule")
        row = by_rule.loc[main] if main in by_rule.index else by_rule.iloc[0]
        ours = row["method"] == "imrc"
        line = {name: str(row[name]) for name in values if len(values[name]) > 1}
        line["method"] = f"imrc ({row['preset']})" if ours else row["method"]
        line["cells"] = str(row["cells"])
        line["error"] = _shown(row, kind) if ours or kind != "lag" else ""  # others' cells do not hold it
        line["single task"] = _shown(by_rule.loc["single"], kind) if "single" in by_rule.index else ""
        line["newest"] = _shown(row, "newest")
        line["ESS"] = f"{row['ess']:.1f}" if ours else ""
        lines.append(line)
    said = [name for name in lines[0] if any(line[name] for line in lines)]
    same = ", ".join(f"{column} = {found[0]}" for column, found in values.items() if len(found) == 1)
    return same, [{name: line[name] for name in said} for line in lines]


def _shown(row: pd.Series, kind: str) -> str:
    return with_error(Headline(float(row[f"error_{kind}"]), math.nan, float(row[f"stderr_{kind}"])))
