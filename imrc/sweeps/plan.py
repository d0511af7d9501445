"""What a sweep will do: its cells, what makes no sense and why, what is done; and the table of what it gave."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from imrc import datasets
from imrc._checks import InputError
from imrc.evaluation import SCENARIOS, Headline, RunSettings, largest_n
from imrc.evaluation.scenarios import ScenarioName
from imrc.evaluation.significance import with_error
from imrc.features import FeatureSpec
from imrc.sweeps.cell import Cell, code_version, is_file, sequence_of, uses
from imrc.sweeps.spec import FACTORS, SweepSpec
from imrc.sweeps.store import ResultStore
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

_RUN = ["dataset", "features", "n", "k", "b", "W", "preset", "method"]
_ERRORS = ("average", "newest", "lag", "before")
_MEANS = ["risk", "ess", "seconds"]


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep will do."""

    spec: SweepSpec
    cells: tuple[Cell, ...]  # each once; those of one sequence and representation one after another
    done: frozenset[str]  # keys of cells that are in the store already
    notes: tuple[
        str, ...
    ]  # one sentence for each kind of combination that was left out or merged, and on reading files

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
        read += sequence_of(name, None, 0, reading).info["warnings"] if is_file(name) else ()
        for k, seed in product(_tasks(spec, name, reading, notes), spec.seeds):
            sequence = sequence_of(name, k, seed, reading)
            for settings in _settings(spec, name, sequence, seed, notes):
                code = code_version(settings.methods[0])
                for repetition in range(spec.repetitions):
                    cell = Cell(name, len(sequence), sequence.fingerprint, settings, repetition, code, reading)
                    if cell.key in cells:
                        notes[_merged(settings)] += 1
                    else:
                        cells[cell.key] = cell
    said = tuple(f"{reason} ({count} cell{'s' * (count != 1)})." for reason, count in notes.items())
    if not cells:
        raise InputError(f"No combination of the sweep makes sense. {' '.join(said)}")
    done = frozenset() if store is None else frozenset(filter(store.__contains__, cells))
    return SweepPlan(spec, tuple(cells.values()), done, (*read, *said))


def _tasks(
    spec: SweepSpec, name: str, reading: tuple[tuple[str, object], ...], notes: Counter[str]
) -> Iterator[int | None]:
    if not spec.k:
        yield None
        return
    most = len(sequence_of(name, None, 0, reading)) if is_file(name) else datasets.entry(name).max_tasks
    for k in spec.k:
        if k <= most:
            yield k
        else:
            others = math.prod(len(getattr(spec, factor)) for factor in FACTORS if factor not in ("datasets", "k"))
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
            notes[f"Lowered: b = {wanted} to {b} for {tasks}, because no more tasks can be revised"] += inner
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
    said, method = "Run once: combinations that are the same", settings.methods[0]
    unused = [name for name in ("b", "W") if name not in uses(settings)]
    return said if method == "imrc" else f"{said}: {method} does not use {', '.join(unused)} or presets"


def summary_table(plan: SweepPlan, store: ResultStore) -> pd.DataFrame:
    """Return one row per run and rule of a plan, over the finished cells of its seeds and repetitions, in its order.

    Columns dataset, ..., method, rule; cells (how many are in); error_KIND and stderr_KIND of average, newest, lag and
    before (see `imrc.evaluation.HEADLINES`; over cells); means of risk, ess and seconds (of learning, per repetition).
    """
    import pandas as pd

    position = {cell.key: i for i, cell in enumerate(plan.cells)}
    frame = store.frame(key=list(position)).sort_values("key", key=lambda keys: keys.map(position), kind="stable")
    rows = []
    for run, cells in frame.groupby([*_RUN, "rule"], dropna=False, sort=False):
        headlines = {kind: Headline.of(cells[kind].to_numpy("float64")) for kind in _ERRORS}
        rows.append(
            dict(zip([*_RUN, "rule"], run, strict=True))
            | {"cells": len(cells)}
            | {f"error_{kind}": headline.mean for kind, headline in headlines.items()}
            | {f"stderr_{kind}": headline.stderr for kind, headline in headlines.items()}
            | dict(cells[_MEANS].mean())
        )
    errors = [f"{what}_{kind}" for kind in _ERRORS for what in ("error", "stderr")]
    return pd.DataFrame(rows, columns=[*_RUN, "rule", "cells", *errors, *_MEANS])


def summary_lines(table: pd.DataFrame, scenario: ScenarioName = "continual") -> tuple[str, list[dict[str, str]]]:
    """Return the summary as people read it: values that are the same in every line, and one line per run.

    A line holds single-task learning beside IMRC's main rule in the scenario, with the error it averages; columns that
    say nothing are left out.
    """
    if table.empty:
        return "No cell of this sweep is finished.", []
    # IMRC without a window uses all changes so far.
    table = table.assign(W=table["W"].astype(object).where(table["W"].notna() | (table["method"] != "imrc"), "all"))
    table["dataset"] = [Path(name).name for name in table["dataset"]]
    # A method that does not use b or W says nothing about the others.
    values = {column: list(table[column].dropna().unique()) for column in _RUN[:6]}
    # Where every task is within reach, the error after b more tasks is the one at the end.
    main, kind = SCENARIOS[scenario].main, SCENARIOS[scenario].kind.replace("end", "lag")
    lines = []
    for _, rules in table.fillna({"b": -1, "W": "–", "preset": ""}).groupby(_RUN, sort=False):
        own = rules["method"].iloc[0] == "imrc"
        row = rules[rules["rule"] == main].iloc[0] if own else rules.iloc[0]
        line = {name: "–" if row[name] == -1 else str(row[name]) for name in values if len(values[name]) > 1}
        line["method"] = f"imrc ({row['preset']})" if own else row["method"]
        line["cells"] = str(row["cells"])
        line["error"] = _shown(row, kind) if own or kind != "lag" else ""  # others' cells do not hold it
        line["single task"] = "".join(_shown(alone, kind) for _, alone in rules[rules["rule"] == "single"].iterrows())
        line["newest"] = _shown(row, "newest")
        line["ESS"] = f"{row['ess']:.1f}" if own else ""
        lines.append(line)
    said = [name for name in lines[0] if any(line[name] for line in lines)]
    same = ", ".join(f"{column} = {found[0]}" for column, found in values.items() if len(found) == 1)
    return same, [{name: line[name] for name in said} for line in lines]


def _shown(row: pd.Series, kind: str) -> str:
    return with_error(Headline(float(row[f"error_{kind}"]), math.nan, float(row[f"stderr_{kind}"])))
