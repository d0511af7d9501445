"""The plan of a sweep: cells, why some are left out, which are finished; and the table of results."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imrc import datasets
from imrc._checks import InputError, check_choice, check_names
from imrc.baselines import registry
from imrc.core.presets import DEFAULT, own_features
from imrc.core.settings import SETTINGS, Window
from imrc.evaluation import SCENARIOS, RunSettings, largest_n
from imrc.evaluation.settings import SCENARIO_NAMES, ScenarioName
from imrc.sweeps.cell import Cell, code_version, is_file, sequence_of, uses
from imrc.sweeps.store import RUN, ResultStore
from imrc.tables.given import OPTIONS
from imrc.tasks import TaskSequence
from imrc.wording import with_spread

if TYPE_CHECKING:
    import pandas as pd

FILE_OPTIONS = ("target", "by", "every", "period", *OPTIONS)
"""How files are cut into tasks, as in `imrc.tasks_from`."""


def _dataset(value: object, name: str) -> str:
    path = Path(value).expanduser() if isinstance(value, str) else Path()
    if path.suffix and not path.is_file():
        raise InputError(f"{name} is not a file on this computer: {value!r}.")
    return str(path) if path.is_file() else check_choice(name, value, datasets.names())


def _method(value: object, name: str) -> str:
    method, _, profile = str(value).partition(":")
    profiles = {"imrc": ("default",)} | {known: tuple(cls.profiles) for known, cls in registry.items()}
    check_choice(name, method, profiles)
    profile = check_choice(f"{name} profile", profile or "default", profiles[method])
    return method if profile == "default" else f"{method}:{profile}"


_CHECKS: dict[str, Callable[[object, str], Any]] = {
    "datasets": _dataset,
    **{name: SETTINGS[name].check for name in ("features", "n", "k", "b")},
    "W": lambda value, name: None if value is None else SETTINGS["W"].check(value, name),
    "presets": SETTINGS["preset"].check,
    "methods": _method,
    "seeds": SETTINGS["seed"].check,
}
FACTORS = tuple(_CHECKS)
"""What a sweep is over, besides repetitions."""


def _seeds(given: object) -> list[object]:
    """Return the seeds of one entry: "a:b" is a, a + 1, ..., b - 1."""
    if not isinstance(given, str):
        return [given]
    match = re.fullmatch(r"\s*(\d+)\s*:\s*(\d+)\s*", given)
    if match is None:
        return [int(given) if given.strip().isdecimal() else given]
    low, high = int(match[1]), int(match[2])
    if not low < high <= low + 100_000:
        raise InputError(f"seeds: {given!r} must increase, by at most 100000 (the last number is not included).")
    return [*range(low, high)]


@dataclass(frozen=True)
class SweepSpec:
    """Values a sweep is over; every combination that makes sense is run.

    A value that is not possible is refused by its key and position in the list.

    >>> SweepSpec(datasets="identical", n=[5, 10], seeds="0:3").seeds
    (0, 1, 2)
    """

    datasets: tuple[str, ...]  # names for `imrc.datasets.load`, or paths of files
    features: tuple[str, ...] = (own_features(DEFAULT).kind,)
    n: tuple[int, ...] = (SETTINGS["n"].default,)  # samples per task
    k: tuple[int, ...] = ()  # tasks; none: each dataset's own number
    b: tuple[int, ...] = (SETTINGS["b"].default,)
    W: tuple[Window | None, ...] = (None,)  # windows of the change estimate; None is each preset's own
    presets: tuple[str, ...] = (DEFAULT,)
    methods: tuple[str, ...] = ("imrc",)  # with a profile after a colon if not the default one
    seeds: tuple[int, ...] = (SETTINGS["seed"].default,)
    repetitions: int = SETTINGS["repetitions"].default  # splits and draws per seed
    scenario: ScenarioName = "continual"  # only "multi_task" has cells of its own
    reading: Mapping[str, Any] = field(default_factory=dict)  # how all files are cut, by `FILE_OPTIONS`

    def __post_init__(self) -> None:
        check_choice("scenario", self.scenario, SCENARIO_NAMES)
        for key, check in _CHECKS.items():
            given = getattr(self, key)
            values = list(given) if isinstance(given, list | tuple) else [given]
            if key == "seeds":
                values = [seed for one in values for seed in _seeds(one)]
            if not values and key != "k":
                raise InputError(f"{key} is empty. Give at least one value.")
            where = [f"{key}, value {i} of {len(values)}," for i in range(1, len(values) + 1)]
            named = zip(where if len(values) > 1 else [key], values, strict=False)
            object.__setattr__(self, key, tuple(dict.fromkeys(check(value, name) for name, value in named)))
        SETTINGS["repetitions"].check(self.repetitions)
        check_names("reading", self.reading, FILE_OPTIONS, "key")
        if self.reading and not any(map(is_file, self.datasets)):
            raise InputError(f"{next(iter(self.reading))} is for your own files. Datasets are already cut into tasks.")

    @classmethod
    def from_values(cls, values: Mapping[str, Any], where: str = "the sweep") -> SweepSpec:
        """Return the specification of plain values, one or a list per attribute; messages name `where`."""
        check_names(where, values, [one.name for one in fields(cls)], "key")
        if "datasets" not in values:
            how = "Name at least one with --datasets, or in the file of --file (imrc datasets lists them)."
            raise InputError(f"{where}: 'datasets' is missing. {how}")
        try:
            return cls(**values)
        except InputError as error:
            raise type(error)(f"{where}: {error}") from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the values of a TOML file; ValueError explains why it cannot be read."""
    path = Path(path).expanduser()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise InputError(f"{path.name} is not a TOML file in UTF-8: {error}.") from None


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
        """Return the plan as text: its size, finished cells, and what is left out."""
        counts = {name: len(getattr(self.spec, name)) for name in FACTORS} | {"repetitions": self.spec.repetitions}
        words = {"features": "representations"}
        shown = " × ".join(f"{count} {words.get(name, name)}" for name, count in counts.items() if count > 1)
        size = f"{len(self.cells)} cells, {len(self.done)} stored already, {len(self.waiting)} to run"
        return "\n".join([f"Plan: {shown or '1 combination'}: {size}.", *(f"  {note}" for note in self.notes)])


def plan_sweep(
    spec: SweepSpec, store: ResultStore | None = None, *, progress: Callable[[str], None] = lambda _: None
) -> SweepPlan:
    """Return the cells of a sweep (ValueError: there are none), and which of them the store has; nothing is run.

    `progress` is called with the name of each dataset before it is loaded (NotAvailableError).
    """
    cells: dict[str, Cell] = {}
    notes: Counter[str] = Counter()
    read: list[str] = []
    inner: dict[str, tuple[Any, ...]] = {"features": spec.features, "n": spec.n, "b": spec.b}
    inner |= {"methods": spec.methods, "preset": spec.presets, "W": spec.W}
    for name in spec.datasets:
        progress(name)
        reading = tuple(spec.reading.items()) if is_file(name) else ()
        whole = sequence_of(name, None, 0, reading) if is_file(name) else None
        read += [] if whole is None else whole.info["warnings"]
        most = datasets.entry(name).max_tasks if whole is None else len(whole)
        for k, seed, *values in product(spec.k or (None,), spec.seeds, *inner.values()):
            if k is not None and k > most:
                notes[f"Left out: k = {k} for {name}, which has at most {most} tasks"] += spec.repetitions
                continue
            sequence = sequence_of(name, k, seed, reading)
            settings, note = _settings(spec, name, sequence, {"seed": seed, **dict(zip(inner, values, strict=True))})
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
        raise InputError(f"No combination of the sweep is possible. {' '.join(said)}")
    done = frozenset() if store is None else frozenset(filter(store.__contains__, cells))
    return SweepPlan(spec, tuple(cells.values()), done, (*read, *said))


def _settings(
    spec: SweepSpec, name: str, sequence: TaskSequence, values: dict[str, Any]
) -> tuple[RunSettings | None, str]:
    """Return the settings of a combination, none if it makes no sense, and what there is to say of it."""
    limit, most, tasks = largest_n(sequence), len(sequence) - 1, f"{name} with {len(sequence)} tasks"
    n, b, own = values["n"], values["b"], values["methods"] == "imrc"
    if n > limit:
        return None, f"Left out: n = {n} for {tasks}, whose smallest task leaves {max(limit, 0)} training samples"
    if own and values["preset"] == "paper" and values["W"] == "all":
        return None, "Left out: W = all with preset paper, which averages a fixed number of changes"
    note = f"Lowered: b = {b} to {most} for {tasks}, because no more tasks can be revised" if b > most else ""
    held = {"repetitions": spec.repetitions, "scenario": spec.scenario, "W": values["W"] if own else None}
    return RunSettings(**{**values, "b": min(b, most), "methods": (values["methods"],), **held}).computed, note


def _merged(settings: RunSettings) -> str:
    said, method = "Run once: combinations that are the same", settings.methods[0]
    unused = ", ".join(name for name in ("b", "W") if name not in uses(settings))
    return said if method == "imrc" else f"{said}: {method} does not use {unused} or presets"


def summary_table(plan: SweepPlan, store: ResultStore) -> pd.DataFrame:
    """Return one row per run and rule of a plan, over the finished cells of its seeds and repetitions, in its order.

    Columns dataset, ..., method, rule; cells (their number); error_KIND and stderr_KIND (over cells, of the kinds in
    `imrc.evaluation.HEADLINES`); means of risk, ess and seconds (of learning, per repetition).
    """
    position = {cell.key: i for i, cell in enumerate(plan.cells)}
    frame = store.frame(key=list(position)).sort_values("key", key=lambda keys: keys.map(position), kind="stable")
    runs = frame.groupby([*RUN, "rule"], dropna=False, sort=False)
    table = runs[[*_ERRORS]].agg(["mean", "sem"])
    table.columns = [f"{'error' if what == 'mean' else 'stderr'}_{kind}" for kind, what in table.columns]
    table.insert(0, "cells", runs.size())
    return table.join(runs[["risk", "ess", "seconds"]].mean()).reset_index()


def summary_lines(table: pd.DataFrame, scenario: ScenarioName = "continual") -> tuple[str, list[dict[str, str]]]:
    """Return the summary as people read it: what is the same in every line, and a line per run without empty columns.

    A line shows single-task learning beside IMRC's main rule in the scenario, with the error it averages.
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
        error, spread = f"error_{kind}", f"stderr_{kind}"
        # Cells of other methods lack the error after b more tasks.
        line["error"] = with_spread(row[error], row[spread]) if ours or kind != "lag" else ""
        line["alone"] = with_spread(*by_rule.loc["single", [error, spread]]) if "single" in by_rule.index else ""
        line["newest"] = with_spread(row["error_newest"], row["stderr_newest"])
        line["ESS"] = f"{row['ess']:.1f}" if ours else ""
        lines.append(line)
    said = [name for name in lines[0] if any(line[name] for line in lines)]
    same = ", ".join(f"{column} = {found[0]}" for column, found in values.items() if len(found) == 1)
    return same, [{name: line[name] for name in said} for line in lines]
