"""What a card holds: numbers of reports at three n, and where the tasks come from."""

from __future__ import annotations

import datetime
import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import imrc
from imrc._folders import named_by
from imrc._types import Floats
from imrc.baselines import method_title
from imrc.datasets import DataError
from imrc.evaluation import evaluate, largest_n
from imrc.evaluation.scenarios import STRATEGY_TITLES
from imrc.evaluation.significance import mean_interval
from imrc.features import Representation
from imrc.report import Report, check
from imrc.report.worth import realised_samples
from imrc.tables.given import tasks_from
from imrc.tasks import TaskSequence
from imrc.wording import decimal, number, plain, unmarked

SIZES, REPETITIONS, MOST_TASKS = (10, 50, 100), 5, 20
COMPARED = ("logistic_seen", "forest", "condor")
"""Beside our strategies at the first n: logistic regression, a forest with the task's number, a published one."""
_SHOWN_ROWS = 40
NOT_AT_HAND = (DataError, FileNotFoundError)

STREAMS = "rialto", "movingsquares", "chess", "sea", "luxembourg"
TEMPORAL = {
    "pima": ("age, two years each", "Smith et al. 1988, OpenML 37", "public domain"),
    "liver": ("age, five years each", "Indian liver patients, UCI C5D02C", "CC BY 4.0"),
    "chess_games": ("twenty games each, by date", "Žliobaitė 2011", "none stated"),
    "istanbul": ("a month", "Istanbul stock exchange, UCI C54P4J", "CC BY 4.0"),
    "occupancy": ("a day", "room occupancy, UCI C5X01N", "CC BY 4.0"),
    "ames": ("year built, fifteen years each", "De Cock 2011, OpenML 41211", "public domain"),
    "hyperplane": ("generated, the rule rotates", "scikit-multiflow's generator", "BSD-3"),
}
"""Seven small sequences in the folder $IMRC_TEMPORAL: what a task is, source, licence."""


class Source(NamedTuple):
    """A sequence the atlas knows; `load` raises DataError or FileNotFoundError where it is not available."""

    name: str
    title: str
    cut: str  # what a task is
    source: str
    licence: str
    command: str
    load: Callable[[], TaskSequence]


def in_folder(variable: str, name: str) -> Path:
    """Return a file of the folder that an environment variable names."""
    folder = named_by(variable)
    file = Path(f"{name}.csv.gz") if folder is None else folder / f"{name}.csv.gz"
    if folder is None or not file.is_file():
        raise FileNotFoundError(f"{file}: set {variable} to the folder that holds it")
    return file


def stream(name: str) -> TaskSequence:
    """Return a stream of the folder $IMRC_STREAMS, cut into blocks of 300 rows."""
    content = in_folder("IMRC_STREAMS", name).read_bytes()
    label = gzip.decompress(content).split(b"\n", 1)[0].decode().strip().split(",")[-1]
    return tasks_from(content, target=label, every=300, name=name)


def temporal(name: str, min_samples: int | None = None) -> TaskSequence:
    """Return a sequence of the folder $IMRC_TEMPORAL, all of its tasks or those with enough rows."""
    options: dict[str, Any] = {} if min_samples is None else {"min_samples": min_samples}
    return tasks_from(in_folder("IMRC_TEMPORAL", name), "label", by="task", name=name, **options)


def sources() -> Iterator[Source]:
    """Yield the sequences of the atlas: the catalogue, five streams and seven small sequences."""
    for name in imrc.datasets.names():
        entry = imrc.datasets.entry(name)
        known = entry.group in ("built in", "synthetic")
        facts = None if known else imrc.datasets.facts(name)
        cut, source, licence = (
            ("", "made by imrc", "MIT") if facts is None else (facts.cut, facts.source, facts.licence)
        )
        tasks = min(MOST_TASKS, entry.tasks)
        load = partial(imrc.datasets.load, name, tasks=tasks)
        command = f"imrc check {name} -k {tasks}"
        yield Source(name, entry.title, cut or entry.summary, source, licence, command, load)
    for name in STREAMS:
        command = f"imrc check {name}.csv.gz --target LAST --every 300 -k {MOST_TASKS}"
        source = "vlosing/driftDatasets" if name in ("movingsquares", "chess") else "scikit-multiflow collections"
        yield Source(
            name, name.capitalize(), "blocks of 300 rows", source, "none stated", command, partial(stream, name)
        )
    for name, (cut, source, licence) in TEMPORAL.items():
        command = f"imrc check {name}.csv.gz --target label --by task --min-samples 15 -k {MOST_TASKS}"
        load = partial(temporal, name, 15)
        yield Source(name, name.replace("_", " ").capitalize(), cut, source, licence, command, load)


def _rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"title": row["title"]} | {name: round(float(row[name]), 4) for name in ("error", "low", "high")}


def _mean(name: str, values: Floats) -> dict[str, Any]:
    """Return a mean over repetitions with its interval, under the name for people."""
    error, low, high = mean_interval(values)
    title = STRATEGY_TITLES.get(name) or method_title(name)
    return _rounded({"title": title, "error": error, "low": low, "high": high})


def _at(report: Report) -> dict[str, Any]:
    """Return the numbers of one n: every strategy's error, the advice, and errors on next task."""
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


def picture(sequence: TaskSequence) -> list[list[list[int]]]:
    """Return rows of the first, middle and last task as x, y (0 to 99) and class, in a plane learnt from the first."""
    from sklearn.decomposition import PCA

    count, shown = len(sequence), []
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


def card(source: Source) -> dict[str, Any]:
    """Compute the card of a sequence; one of `NOT_AT_HAND` where it is not."""
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
        "name": source.name,
        "title": source.title,
        "cut": source.cut,
        "source": source.source,
        "licence": source.licence,
        "command": f"{source.command} -n {sizes[0]} --repetitions {REPETITIONS}",
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
        "picture": picture(sequence),
    }
    return dict(plain(found))


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
    """Tell a card in about thirty words, all of them from its numbers."""
    (few, first), (many, last) = next(iter(found["at"].items())), list(found["at"].items())[-1]
    best, tomorrow, rate = winner(first["errors"]), winner(first["tomorrow"]), found["change"]["rate"]
    told = f"{found['tasks']} tasks, {found['change']['title']}"
    told += f", at a rate of {number(rate[0])} a task." if rate and rate[0] else "."
    alone = "" if best["title"] == "Alone" else f", {decimal(first['errors']['single']['error'])} alone"
    told += f" With {few} labels each, the lowest error is {decimal(best['error'])}, {_small(best)}{alone}"
    told += "." if many == few else f"; with {many}, {_small(winner(last['errors']))}."
    return f"{told} On the next task it is {decimal(tomorrow['error'])}, {_small(tomorrow)}."


def _small(one: Mapping[str, Any]) -> str:
    title: str = one["title"]
    return title[0].lower() + title[1:] if title[1:2].islower() else title
