"""The contents of a card: numbers from reports at three n, and where the tasks come from."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import imrc
from imrc._folders import named_by
from imrc._types import Floats, Ints
from imrc.baselines import method_title
from imrc.datasets import DataError
from imrc.evaluation import evaluate, largest_n
from imrc.evaluation.settings import STRATEGY_TITLES
from imrc.evaluation.significance import mean_interval
from imrc.features import Representation
from imrc.plots.tasks import brightened, image_side
from imrc.report import Report, check
from imrc.report.worth import realised_samples
from imrc.tables.given import tasks_from
from imrc.tasks import TaskSequence
from imrc.wording import decimal, number, plain, unmarked

SIZES, REPETITIONS, MOST_TASKS = (10, 50, 100), 5, 20
COMPARED = ("logistic_seen", "forest", "condor")
"""Compared with our strategies at the first n: logistic regression, a forest given task numbers, a published one."""
_SHOWN_ROWS = 40
NOT_AT_HAND = (DataError, FileNotFoundError)

_DRIFT, _MULTIFLOW = "vlosing/driftDatasets", "ogozuacik/concept-drift-datasets-scikit-multiflow"
STREAMS = {
    "rialto": ("class", "ZSKPP/feature-drift"),
    "movingsquares": ("label", _DRIFT),
    "chess": ("label", _DRIFT),
    "sea": ("class", _MULTIFLOW),
    "luxembourg": ("target", _MULTIFLOW),
}
"""Files in the folder $IMRC_STREAMS, with the column to predict and the repository they come from."""
TEMPORAL = {
    "pima": ("age, two years each", "Smith et al. 1988, OpenML 37", "public domain"),
    "liver": ("age, five years each", "Indian liver patients, UCI C5D02C", "CC BY 4.0"),
    "chess_games": ("twenty games each, by date", "Žliobaitė 2011", "none stated"),
    "istanbul": ("a month", "Istanbul stock exchange, UCI C54P4J", "CC BY 4.0"),
    "occupancy": ("a day", "room occupancy, UCI C5X01N", "CC BY 4.0"),
    "ames": ("year built, fifteen years each", "De Cock 2011, OpenML 41211", "public domain"),
    "hyperplane": ("generated, the rule rotates", "scikit-multiflow's generator", "BSD-3"),
}
"""Seven small sequences in the folder $IMRC_TEMPORAL, with what a task is, the source and the licence."""


class Source(NamedTuple):
    """A sequence the atlas knows: facts about it, and a function that loads it or raises one of `NOT_AT_HAND`."""

    facts: dict[str, str]  # name, title, cut (what a task is), source, licence, command
    load: Callable[[], TaskSequence]


def of_file(variable: str, name: str, target: str, **cut: Any) -> TaskSequence:  # noqa: ANN401 - of `tasks_from`
    """Return the tasks of a file in the folder that an environment variable names."""
    folder = named_by(variable)
    if folder is None or not (folder / f"{name}.csv.gz").is_file():
        raise FileNotFoundError(f"{name}.csv.gz: set {variable} to the folder that contains it")
    return tasks_from(folder / f"{name}.csv.gz", target, name=name, **cut)


def sources() -> Iterator[Source]:
    """Yield the sequences of the atlas: the catalogue, five streams and seven small sequences."""
    columns = ("name", "title", "cut", "source", "licence", "command")
    for name in imrc.datasets.names():
        entry = imrc.datasets.entry(name)
        told, tasks = (entry.summary, "made by imrc", "MIT"), min(MOST_TASKS, entry.tasks)
        if entry.group not in ("built in", "synthetic"):
            facts = imrc.datasets.facts(name)
            told = facts.cut, facts.source, facts.licence
        row = name, entry.title, *told, f"imrc check {name}"
        yield Source(dict(zip(columns, row, strict=True)), partial(imrc.datasets.load, name, tasks=tasks))
    files: list[tuple[str, str, str, dict[str, Any], tuple[str, str, str]]] = []
    for name, (label, source) in STREAMS.items():
        files.append(("IMRC_STREAMS", name, label, {"every": 300}, ("blocks of 300 rows", source, "none stated")))
    for name, told in TEMPORAL.items():
        files.append(("IMRC_TEMPORAL", name, "label", {"by": "task", "min_samples": 15}, told))
    for variable, name, label, cut, told in files:
        options = " ".join(f"--{option.replace('_', '-')} {value}" for option, value in cut.items())
        command = f"imrc check {name}.csv.gz --target {label} {options}"
        row = name, name.replace("_", " ").capitalize(), *told, command
        yield Source(dict(zip(columns, row, strict=True)), partial(of_file, variable, name, label, **cut))


def _rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"title": row["title"]} | {name: round(float(row[name]), 4) for name in ("error", "low", "high")}


def _mean(name: str, values: Floats) -> dict[str, Any]:
    """Return a mean over repetitions with its interval and its displayed name."""
    error, low, high = mean_interval(values)
    title = STRATEGY_TITLES.get(name) or method_title(name)
    return _rounded({"title": title, "error": error, "low": low, "high": high})


def _at(report: Report) -> dict[str, Any]:
    """Return the numbers of one n: every strategy's error, the advice, and errors on the next task."""
    assert report.references is not None  # noqa: S101 - `check` has them
    known, references = report.run.before, report.references.before
    before = {"majority": references["majority"], "single": known["single"], "pooled": references["pooled"]}
    return {
        "measure": report.decision.measure,
        "errors": {row["strategy"]: _rounded(row) for row in report.errors.to_dict("records")},
        "advised": report.advice.advised,
        "sentence": unmarked(report.decision.sentence),
        "tomorrow": {name: _tomorrow(name, values) for name, values in {**before, "forward": known["imrc"]}.items()},
    }


def _tomorrow(name: str, before: Floats) -> dict[str, Any]:
    """Return the error on tasks before they are learnt, over all but the first."""
    return _mean(name, before[:, 1:].mean(axis=1))


def picture(sequence: TaskSequence, licence: str) -> list[str] | list[list[list[int]]]:
    """Return rows of the first, middle and last task, as images or as x, y and class.

    Two images of each of two classes form one PNG address, if the licence lets anybody copy them. Points, from 0 to
    99, are in the first task's plane.
    """
    from sklearn.decomposition import PCA

    count, shown = len(sequence), []
    if (side := image_side(sequence.feature_names)) is not None and "non-commercial" not in licence:
        return [_images(sequence[j].X, sequence.encoded(j), side) for j in (0, count // 2, count - 1)]
    learnt = Representation.of("standardised", sequence).learn(sequence[0].X)
    plane = PCA(2, random_state=0) if learnt.transform(sequence[0].X[:1]).shape[1] > 1 else None
    for place, j in enumerate((0, count // 2, count - 1)):
        rows = np.random.default_rng(j).permutation(len(sequence[j]))[:_SHOWN_ROWS]
        X, y = learnt.transform(sequence[j].X[rows]), sequence.encoded(j)[rows]
        if plane is not None and place == 0:
            plane.fit(X)
        shown.append((np.column_stack([X, y]) if plane is None else plane.transform(X), y))
    low, high = np.quantile(np.concatenate([X for X, _ in shown]), [0.02, 0.98], axis=0)
    scaled = [np.clip(99 * (X - low) / np.maximum(high - low, 1e-9), 0, 99).round().astype(int) for X, _ in shown]
    return [np.column_stack([X, y]).tolist() for X, (_, y) in zip(scaled, shown, strict=True)]


def _images(X: Floats, y: Ints, side: int) -> str:
    """Return four images, with images of a class side by side."""
    import plotly.express as px

    rows = [np.resize(np.flatnonzero(y == c), 2) for c in range(2)]
    tiles = [[np.pad(image.reshape(side, side), 1) for image in brightened(X[own])] for own in rows]
    return str(px.imshow(255.0 * np.block(tiles), zmin=0, zmax=255, binary_string=True).data[0].source)


def card(source: Source) -> dict[str, Any]:
    """Compute the card of a sequence; raise one of `NOT_AT_HAND` if its data are missing."""
    sequence = source.load()
    sequence = sequence.head(min(MOST_TASKS, len(sequence)))
    most = largest_n(sequence)
    sizes = [n for n in SIZES if n <= most] or [most]
    reports, at = {}, {}
    for n in sizes:
        reports[n] = check(sequence, n=n, repetitions=REPETITIONS, progress=False)
        at[str(n)] = _at(reports[n])
    compared, few = evaluate(sequence, n=sizes[0], repetitions=REPETITIONS, methods=COMPARED), at[str(sizes[0])]
    few["errors"] |= {name: _mean(name, compared.judged(name)) for name in COMPARED}
    few["tomorrow"] |= {name: _tomorrow(name, compared.before[name]) for name in COMPARED}
    first = replace(reports[sizes[0]], curve=tuple(one.run for one in reports.values()))
    found: dict[str, Any] = {
        "tasks": len(sequence),
        "rows": [int(min(sequence.sizes)), int(max(sequence.sizes))],
        "features": sequence.n_features,
        "classes": sequence.n_classes,
        "hash": sequence.fingerprint[:16],
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "version": imrc.__version__,
        "change": _change(first),
        "realised": _realised(first),
        "at": at,
        "picture": picture(sequence, source.facts["licence"]),
    }
    return source.facts | dict(plain(found))


def _change(report: Report) -> dict[str, Any]:
    diagnosis = report.diagnosis
    assert diagnosis is not None  # noqa: S101 - `check` diagnoses
    rate = None if diagnosis.change is None else [round(float(one), 5) for one in diagnosis.ratio_at(1)]
    return {
        "verdict": diagnosis.verdict.name,
        "title": diagnosis.verdict.title,
        "sentence": unmarked(report.meaning),
        "rate": rate,
    }


def _realised(report: Report) -> dict[str, Any] | None:
    """Return how many samples a task was worth with forward and backward learning, counted in errors."""
    if len(report.curve) < 2:
        return None
    one = realised_samples(report.curve, report.n)[-1]
    return {"value": one.value, "low": one.low, "high": one.high, "promised": one.promised.mean, "n": report.n}


def winner(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the entry with the lowest error."""
    best: Mapping[str, Any] = min(found.values(), key=lambda one: one["error"])
    return best


def story(found: Mapping[str, Any]) -> str:
    """Summarise a card in about thirty words, all derived from its numbers."""
    (few, first), (many, last) = next(iter(found["at"].items())), list(found["at"].items())[-1]
    best, tomorrow, rate = winner(first["errors"]), winner(first["tomorrow"]), found["change"]["rate"]
    told = f"{found['tasks']} tasks. Verdict: {found['change']['title']}"
    told += f", at a rate of {number(rate[0])} per task." if rate and rate[0] else "."
    alone = "" if best["title"] == "Alone" else f"; alone {decimal(first['errors']['single']['error'])}"
    lowest = f"the lowest {first['measure']} ({decimal(best['error'])}{alone})"
    told += f" With {few} labels per task, {_small(best)} has {lowest}"
    then = winner(last["errors"])
    also = "as well" if then["title"] == best["title"] else f"{_small(then)} does"
    told += "." if many == few else f", and with {many} {also}."
    return f"{told} On the next task, the lowest error is {decimal(tomorrow['error'])} ({_small(tomorrow)})."


def _small(one: Mapping[str, Any]) -> str:
    title: str = one["title"]
    return title[0].lower() + title[1:] if title[1:2].islower() else title
