"""The paper's tables measured again: errors, other W and b, running times, ours beside the printed values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

import numpy as np
import pandas as pd

from imrc import datasets
from imrc._checks import check_choice
from imrc._types import Progress
from imrc.baselines import PUBLISHED, SIMPLE, method_title, parse_method
from imrc.evaluation.columns import StepResult
from imrc.evaluation.comparison import ScoreKind, comparison_table, imrc_key, score_column, score_table
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import run_all
from imrc.evaluation.settings import RunSettings
from imrc.paper import printed
from imrc.sweeps.cell import PACKAGES
from imrc.tasks import TaskSequence
from imrc.wording import versions

TableKind = Literal["errors", "window", "backward", "time", "characteristics"]
TABLES: dict[TableKind, str] = {
    "errors": "classification error of every method",
    "window": "error of IMRC for W = 2, 4, 6 with b = 3",
    "backward": "error of IMRC for b = 1 to 5 with W = 2",
    "time": "running time per task of IMRC for b = 1 to 5, and of other methods",
    "characteristics": "classes, samples and tasks of the datasets",
}
WINDOWS = (2, 4, 6)
BACKWARD_STEPS = (1, 2, 3, 4, 5)
SIZES = (10, 50, 100, 150)
PRINTED_REPETITIONS = 50
TOLERANCE = 0.02
"""Printed values have two digits; differences up to this count as reproduced."""

LONG_S = 60.0
"""A method is announced if all its tasks would take longer than this at the pace of the first."""
GROUPS = {"all": (*PUBLISHED, *SIMPLE), "published": PUBLISHED, "simple": SIMPLE}
"""Words that stand for several methods."""


@dataclass(frozen=True)
class TableRequest:
    """What to measure: which table, on which datasets, with which sizes n and methods; the rest is in the settings."""

    kind: TableKind
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    methods: tuple[str, ...]  # from `methods_named`
    error: ScoreKind
    k: int | None  # None means the dataset's
    settings: RunSettings


def methods_named(words: Sequence[str], presets: Sequence[str]) -> tuple[str, ...]:
    """Return the methods that words stand for: IMRC with each preset first, then the others, each once.

    Words are "imrc", which is always there, "published" (the seven methods), "simple", "all", or names of the
    registry with or without profile.
    """
    names = [imrc_key(preset) for preset in presets]
    for word in words:
        if word != "imrc":
            names += GROUPS.get(word, (word,))
    for name in names:
        if not name.startswith("imrc:"):
            parse_method(name)
    return tuple(dict.fromkeys(names))


def at_hand(names: Sequence[str] | None, kind: TableKind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which datasets can be loaded here and which cannot, of those named or of a table, in its order."""
    usual = printed.with_settings() if kind in ("window", "backward") else printed.datasets()
    known = datasets.names()
    wanted = usual if names is None else tuple(dict.fromkeys(check_choice("datasets", one, known) for one in names))
    here = tuple(name for name in wanted if datasets.status(name).loadable)
    return here, tuple(name for name in wanted if name not in here)


def how_to_get(name: str) -> str:
    """Return in one sentence how a dataset that is missing comes to this computer.

    >>> how_to_get("clear").startswith("Cannot be downloaded")
    True
    """
    status = datasets.status(name)
    if status.downloadable:
        size = f" ({datasets.size_in_words(status.size_bytes)})" if status.size_bytes else ""
        return f"imrc datasets fetch {name}{size}"
    return f"Cannot be downloaded in the form that is needed; imrc datasets info {name} explains what to do."


class Runs:
    """Runs of tables measured one after the other; those with the same settings are done once."""

    def __init__(self, progress: Progress, announce: Callable[[str], None]) -> None:
        self.progress, self._announce = progress, announce
        self._results: dict[tuple[str, int, RunSettings], RunResult] = {}

    def of(self, where: str, sequence: TaskSequence, settings: RunSettings, name: str, varied: str) -> RunResult:
        """Return the result of one of `methods_named`, and announce it if it will take over a minute."""
        method, _, preset = name.partition(":")
        title = f"IMRC ({preset})" if method == "imrc" else method_title(name)
        own = {"preset": preset} if method == "imrc" else {"methods": (name,)}
        job = replace(settings, **own)
        place = sequence.name, len(sequence), job

        def show(step: StepResult) -> None:
            seconds = step.time_s * step.total
            if step.number == 1 and seconds > LONG_S:
                takes = f"{title} will take about {max(1, round(seconds / 60))} min, judging by its first task."
                self._announce(f"{where.partition('] ')[2]}: {takes}")
            self.progress(f"{where}: {title}{varied}", step.number, step.total)

        if place not in self._results:
            self._results[place] = run_all(sequence, job, show=show)
        return self._results[place]


def measure(request: TableRequest, runs: Runs) -> pd.DataFrame:
    """Measure a table of the paper, methods as on page *Against others*: a row per dataset, n and method or setting.

    `runs` hold what other tables have run, and get what this one runs. Columns: those of `comparison_table`, of the
    repetitions (errors), setting, b, W; gap is ours minus printed, reproduced within 0.02 or two standard errors,
    seconds are of a processor and per task.
    """
    sizes = request.sizes if request.kind != "characteristics" else (0,)
    cells = [(name, n) for name in request.names for n in sizes]
    frames, sequence, loaded = [], None, ""
    for position, (name, n) in enumerate(cells, start=1):
        where = f"[{position}/{len(cells)}] {name}"
        runs.progress(f"{where}: loading" if n else where, 0, 1)
        if sequence is None or loaded != name:
            tasks = {} if request.k is None else {"tasks": request.k}
            sequence, loaded = datasets.load(name, seed=request.settings.seed, **tasks), name
        if request.kind == "characteristics":
            frames.append(pd.DataFrame([_characteristics(name, sequence)]))
            continue
        for setting, own, methods in _variants(request, replace(request.settings, n=n)):
            said = f", {setting[0]} = {setting[1:]}" if setting else ""
            found = [runs.of(f"{where}, n = {n}", sequence, own, method, said) for method in methods]
            scores = score_table(found, plain=True)
            if setting:
                scores = scores[scores["method"].isin(methods)]
            scores = scores.assign(dataset=name, title=scores["title"] + said)
            against = next((key for key in scores["method"] if key == imrc_key("paper")), None)
            rows = comparison_table(scores, kind=request.error, reference=against)
            errors = score_column(scores, request.error).groupby(scores["method"]).agg(list)
            rows = rows.assign(errors=errors[rows["method"]].to_list(), tasks=len(sequence), setting=setting)
            frames.append(rows.assign(b=own.b, W=own.learner.W, repetitions=own.repetitions))
    table = pd.concat(frames, ignore_index=True)
    about: dict[str, object] = {"kind": request.kind, "error_kind": request.error}
    about |= {"features": request.settings.features.kind, "seed": request.settings.seed}
    about |= {"versions": versions(PACKAGES), "date": date.today().isoformat()}
    return (table if request.kind == "characteristics" else _with_print(table)).assign(**about)


def _variants(request: TableRequest, settings: RunSettings) -> Iterator[tuple[str, RunSettings, Sequence[str]]]:
    """Give what is run for a cell: a word for what is varied, the settings, and the methods."""
    own = [name for name in request.methods if name.startswith("imrc:")]
    if request.kind == "window":
        yield from ((f"W{W}", replace(settings, W=W), own) for W in WINDOWS)
    if request.kind in ("backward", "time"):
        yield from ((f"b{b}", replace(settings, b=b), own) for b in BACKWARD_STEPS)
    others = [name for name in request.methods if request.kind == "errors" or name not in own]
    if others and request.kind in ("errors", "time"):
        yield "", settings, others


def _characteristics(name: str, sequence: TaskSequence) -> dict[str, Any]:
    """Return counts of a dataset as it is read here, beside the printed ones."""
    # The share of the rarest class within a task: the error of the best constant answer, for two classes.
    shares = sequence.class_counts() / sequence.sizes[:, None]
    said = printed.characteristics(name)
    return {
        "dataset": name,
        "classes": sequence.n_classes,
        "samples": int(sequence.info.get("rows", sequence.sizes.sum())),
        "tasks": len(sequence),
        "columns": sequence.n_features,
        "task_samples": int(sequence.sizes.min()),
        "rarest_class": float(shares.min(axis=1).mean()),
        **{f"printed_{fact}": said.get(fact) for fact in ("classes", "samples", "tasks")},
    }


def _with_print(table: pd.DataFrame) -> pd.DataFrame:
    """Put the printed values beside ours."""
    theirs, seconds = [], []
    for row in table.itertuples():
        of_setting = printed.of("error", row.dataset, row.n, row.setting), math.nan
        theirs.append(of_setting if row.setting else printed.error(row.dataset, row.n, row.method))
        own = printed.name_of(row.method) == "imrc"
        seconds.append(printed.of("seconds", row.dataset, row.n, row.setting or (f"b{row.b}" if own else row.method)))
    mean, spread = np.array(theirs).T
    gap, two, reproduced = beside_print(table["error"], table["stderr"], mean, spread)
    table = table.assign(printed=mean, printed_std=spread, printed_seconds=seconds)
    return table.assign(gap=gap, gap_two_stderr=two, reproduced=reproduced.where(gap.notna()))


def beside_print(error: Any, stderr: Any, printed: Any, printed_std: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
    """Return ours minus printed, two standard errors of it, and whether it is reproduced; numbers or columns.

    A printed value has its own sampling noise and was rounded to two digits; rounding is left to the tolerance.
    """
    gap = error - printed
    two = 2.0 * np.hypot(stderr, np.nan_to_num(printed_std) / math.sqrt(PRINTED_REPETITIONS))
    return gap, two, abs(gap) <= np.fmax(TOLERANCE, two)
