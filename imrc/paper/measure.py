"""The paper's tables measured again: errors, other W and b, running times, ours beside the printed values."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

import imrc
from imrc import datasets
from imrc._checks import InputError, check_choice, check_int
from imrc.baselines import PUBLISHED, REFERENCES, method_title, parse_method
from imrc.evaluation.compared import run_methods, tables_by_cell
from imrc.evaluation.comparison import SCORE_KINDS, ScoreKind, imrc_key, score_table
from imrc.evaluation.results import RunResult
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Headline
from imrc.evaluation.windows import growth_table, window_table
from imrc.features import FeatureSpec
from imrc.paper.printed import (
    datasets_with_settings,
    printed_characteristics,
    printed_datasets,
    printed_error_of,
    printed_errors,
    printed_seconds,
)
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["errors", "window", "backward", "time", "characteristics", "tasks", "growth"]
KINDS: dict[Kind, str] = {
    "errors": "classification error of every method",
    "window": "error of IMRC for W = 2, 4, 6 with b = 3",
    "backward": "error of IMRC for b = 1 to 5 with W = 2",
    "time": "running time per task of IMRC for b = 1 to 5, and of other methods",
    "characteristics": "classes, samples and tasks of the datasets",
    "tasks": "error of IMRC against k, the mean over all sequences of k consecutive tasks",
    "growth": "running time of IMRC against n and k, for b = 1 to 5",
}
WINDOWS = (2, 4, 6)
BACKWARD_STEPS = (1, 2, 3, 4, 5)
SIZES = (10, 50, 100, 150)
PRINTED_REPETITIONS = 50
TOLERANCE = 0.02
"""Printed values have two digits; differences up to this count as reproduced."""

GROUPS = {"all": (*PUBLISHED, *REFERENCES), "published": PUBLISHED, "references": REFERENCES}
"""Words that stand for several methods."""

Progress = Callable[[str, int, int], None]
"""Called with (what is running, steps done, steps in all)."""
Results = Callable[[RunSettings, Sequence[str], Progress], list[RunResult]]
"""Gives the runs of some methods on a sequence."""


@dataclass(frozen=True)
class TableRequest:
    """What to measure: which table, on which datasets, with which sizes n and methods; the rest is in the settings."""

    kind: Kind = "errors"
    names: tuple[str, ...] = ()
    sizes: tuple[int, ...] = (10,)
    methods: tuple[str, ...] = (imrc_key("paper"),)  # from `methods_named`
    error: ScoreKind = "released"
    k: int | None = None  # None: the dataset's
    settings: RunSettings = field(
        default_factory=lambda: RunSettings(preset="paper", features=FeatureSpec("paper"), repetitions=10)
    )

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, get_args(Kind))
        check_choice("error", self.error, SCORE_KINDS)
        for name in self.names:
            check_choice("datasets", name, datasets.names())
        for n in self.sizes:
            check_int("n", n, 1)


def methods_named(words: Sequence[str], presets: Sequence[str] = ("paper",)) -> tuple[str, ...]:
    """Return the methods that words stand for: IMRC with each preset first, then the others, each once.

    Words are "imrc", which is always there, "published" (the seven methods), "references", "all", or names of the
    registry with or without profile.

    >>> methods_named(["imrc"]), methods_named(["gem", "references"])[:3]
    (('imrc:paper',), ('imrc:paper', 'gem', 'majority'))
    """
    names = [imrc_key(preset) for preset in presets]
    for word in words:
        if word != "imrc":
            names += GROUPS.get(word, (word,))
    for name in names:
        if not name.startswith("imrc:"):
            parse_method(name)
    return tuple(dict.fromkeys(names))


def at_hand(names: Sequence[str] | None = None, kind: Kind = "errors") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which datasets can be loaded here and which cannot, of those named or of a table, in its order."""
    usual = datasets_with_settings() if kind in ("window", "backward") else printed_datasets()
    wanted = usual if names is None else tuple(dict.fromkeys(names))
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
    return f"Cannot be downloaded in the form that is needed; imrc datasets info {name} says what to do."


def _load(request: TableRequest, name: str) -> TaskSequence:
    return datasets.load(name, seed=request.settings.seed, **({} if request.k is None else {"tasks": request.k}))


def _variants(request: TableRequest, n: int) -> Iterator[tuple[str, RunSettings]]:
    """Yield setting and run of IMRC for the tables over W and b."""
    base = replace(request.settings, n=n)
    if request.kind == "window":
        for W in WINDOWS:
            yield f"W{W}", replace(base, W=W)
    else:
        for b in BACKWARD_STEPS:
            yield f"b{b}", replace(base, b=b)


class Runs:
    """Runs of tables measured one after the other; those with the same settings are done once."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, int, RunSettings, str], RunResult] = {}

    def of(
        self,
        sequence: TaskSequence,
        announce: Callable[[str], None],
        settings: RunSettings,
        methods: Sequence[str],
        progress: Progress,
    ) -> list[RunResult]:
        """Return the results of `run_methods`, of which only those not there yet are run."""
        place = (sequence.name, len(sequence), settings)
        new = [name for name in methods if (*place, name) not in self._results]
        results = run_methods(sequence, settings, new, progress=progress, announce=announce)
        self._results |= {(*place, name): result for name, result in zip(new, results, strict=True)}
        return [self._results[*place, name] for name in methods]


def measure(
    request: TableRequest,
    *,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
    runs: Runs | None = None,
) -> pd.DataFrame:
    """Measure a table of the paper, methods as on page *Against others*: a row per dataset, n and method or setting.

    `progress` is called with (what is running, steps done, steps in all), `announce` with a sentence when a method will
    probably take longer than a minute; `runs` hold what other tables have run, and get what this one runs. Columns:
    those of `comparison_table`, or setting, b, W; gap is ours minus printed, reproduced within 0.02 or two standard
    errors, seconds are of a processor and per task.
    """
    import pandas as pd

    progress, announce = progress or (lambda *_: None), announce or (lambda _: None)
    if request.kind == "characteristics":
        return _characteristics(request, progress)
    frames, runs = [], runs or Runs()
    cells = [(name, n) for name in request.names for n in request.sizes]
    sequence, loaded = None, ""
    for position, (name, n) in enumerate(cells, start=1):
        progress(f"[{position}/{len(cells)}] {name}: loading", 0, 1)
        if sequence is None or loaded != name:
            sequence, loaded = _load(request, name), name

        def show(title: str, step: int, total: int, where: str = f"[{position}/{len(cells)}] {name}, n = {n}") -> None:
            progress(f"{where}: {title}", step, total)

        def say(text: str, where: str = f"{name}, n = {n}") -> None:
            announce(f"{where}: {text}")

        if request.kind in ("tasks", "growth"):
            frames.append(_curve_rows(request, n, sequence, show))
            continue
        make = _error_rows if request.kind == "errors" else _setting_rows
        rows = make(request, name, n, partial(runs.of, sequence, say), show)
        frames.append(rows.assign(tasks=len(sequence)))
    if not frames:
        raise InputError("No dataset to measure: none of those asked for is on this computer.")
    table = pd.concat(frames, ignore_index=True)
    if request.kind in ("tasks", "growth"):
        return _with_facts(table, request)
    return _with_facts(_with_print(table, request.kind), request)


def _curve_rows(request: TableRequest, n: int, sequence: TaskSequence, progress: Progress) -> pd.DataFrame:
    import pandas as pd

    make = window_table if request.kind == "tasks" else growth_table
    presets = [name.partition(":")[2] for name in request.methods if name.startswith("imrc:")]
    settings = [replace(request.settings, preset=preset) for preset in presets]
    return pd.concat([make(sequence, own, [n], progress=progress).assign(preset=own.preset) for own in settings])


def _characteristics(request: TableRequest, progress: Progress) -> pd.DataFrame:
    """Return what the datasets hold as they are read here: one row each, printed values beside it."""
    import pandas as pd

    rows = []
    for position, name in enumerate(request.names, start=1):
        progress(f"[{position}/{len(request.names)}] {name}", 0, 1)
        sequence = _load(request, name)
        # The share of the rarest class within a task: the error of the best constant answer, for two classes.
        shares = sequence.class_counts() / sequence.sizes[:, None]
        said = printed_characteristics(name) if name in printed_datasets() else {}
        rows.append(
            {
                "dataset": name,
                "classes": sequence.n_classes,
                "samples": int(sequence.info.get("rows", sequence.sizes.sum())),
                "tasks": len(sequence),
                "columns": sequence.n_features,
                "task_samples": int(sequence.sizes.min()),
                "rarest_class": float(shares.min(axis=1).mean()),
                **{f"printed_{fact}": said.get(fact) for fact in ("classes", "samples", "tasks")},
            }
        )
    return _with_facts(pd.DataFrame(rows), request)


def _error_rows(request: TableRequest, name: str, n: int, results: Results, progress: Progress) -> pd.DataFrame:
    settings = replace(request.settings, n=n)
    scores = score_table(results(settings, request.methods, progress), plain=True).assign(dataset=name)
    return tables_by_cell(scores, kind=request.error).assign(setting="", b=settings.b, W=settings.learner.W)


def _setting_rows(request: TableRequest, name: str, n: int, results: Results, progress: Progress) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for method in request.methods:
        if method.startswith("imrc:"):
            for setting, settings in _variants(request, n):

                def show(title: str, step: int, total: int, setting: str = setting) -> None:
                    progress(f"{title}, {setting[0]} = {setting[1:]}", step, total)

                (result,) = results(settings, [method], show)
                rows.append(_setting_row(result, "forward_backward", "imrc", method, setting, request.error))
        elif request.kind == "time":
            settings = replace(request.settings, n=n)
            (result,) = results(settings, [method], progress)
            rows.append(_setting_row(result, method, method, method, "", request.error))
    return pd.DataFrame(rows).assign(dataset=name, n=n)


def _setting_row(
    result: RunResult, rule: str, timed: str, method: str, setting: str, error: ScoreKind
) -> dict[str, Any]:
    kinds = {kind: Headline.of(result.per_repetition(rule, kind)) for kind in ("average", "newest", "released")}
    own = "average" if error == "own" else error
    headline, settings = kinds[own], result.settings
    preset = method.partition(":")[2]
    return {
        "dataset": "",
        "n": 0,
        "method": method,
        "title": f"IMRC ({preset}), {setting[0]} = {setting[1:]}" if setting else method_title(method),
        "setting": setting,
        "b": settings.b,
        "W": settings.learner.W,
        "error": headline.mean,
        "std": headline.std,
        "stderr": headline.stderr,
        **{kind: value.mean for kind, value in kinds.items()},
        "seconds": float(result.method_time_s[timed].mean()),
        "repetitions": settings.repetitions,
    }


def _with_print(table: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    """Put the printed values beside ours; IMRC's stand beside its forward-and-backward rule, whatever the preset."""
    printed, spread, seconds = [], [], []
    for row in table.itertuples():
        key = "imrc" if row.method.startswith("imrc:") and row.method.count(":") == 1 else row.method
        if kind == "errors":
            mean, std = printed_errors(row.dataset, row.n).get(key, (math.nan, math.nan))
            timed = f"b{row.b}" if key == "imrc" else key
        else:
            mean, std = printed_error_of(row.dataset, row.n, row.setting), math.nan
            timed = row.setting or key
        printed.append(mean)
        spread.append(std)
        seconds.append(printed_seconds(row.dataset, row.n, timed))
    table = table.assign(printed=printed, printed_std=spread, printed_seconds=seconds)
    # A printed value has its own sampling noise and was rounded to two digits; rounding is left to the tolerance.
    noise = np.hypot(table["stderr"], table["printed_std"].fillna(0.0) / math.sqrt(PRINTED_REPETITIONS))
    gap = table["error"] - table["printed"]
    two = 2.0 * noise
    reproduced = (gap.abs() <= TOLERANCE) | (gap.abs() <= two)
    return table.assign(gap=gap, gap_two_stderr=two, reproduced=reproduced.where(gap.notna()))


def versions() -> str:
    """Return the versions that decide the numbers, in words."""
    import numba

    python = platform.python_version()
    return f"imrc {imrc.__version__}, Python {python}, numpy {np.__version__}, numba {numba.__version__}"


def _with_facts(table: pd.DataFrame, request: TableRequest) -> pd.DataFrame:
    return table.assign(
        kind=request.kind,
        error_kind=request.error,
        features=request.settings.features.kind,
        seed=request.settings.seed,
        versions=versions(),
        date=date.today().isoformat(),
    )
