"""The atlas: one card per sequence of tasks, from what `imrc.check` reports at three n, and one page of all cards."""

from __future__ import annotations

import datetime
import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import resources
from string import Template
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
from imrc.wording import capital, decimal, number, plain, unmarked

SIZES, REPETITIONS, MOST_TASKS = (10, 50, 100), 5, 20
COMPARED = ("logistic_seen", "forest", "condor")
"""Compared with our strategies at the first n: logistic regression, a forest given task numbers, a published one."""
_SHOWN_ROWS = 40
NOT_AT_HAND = (DataError, FileNotFoundError)
Card = Mapping[str, Any]
_COLOURS = 10

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
    files: dict[str, tuple[str, str, dict[str, Any], tuple[str, str, str]]] = {
        name: ("IMRC_STREAMS", label, {"every": 300}, ("blocks of 300 rows", source, "none stated"))
        for name, (label, source) in STREAMS.items()
    }
    cut_by = {"by": "task", "min_samples": 15}
    files |= {name: ("IMRC_TEMPORAL", "label", cut_by, told) for name, told in TEMPORAL.items()}
    for name, (variable, label, cut, told) in files.items():
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
    run, references = report.run, report.references
    ahead = {"majority": references, "single": run, "pooled": references, "forward": run}
    return {
        "measure": report.decision.measure,
        "errors": {row["strategy"]: _rounded(row) for row in report.errors.to_dict("records")},
        "advised": report.advice.advised,
        "sentence": unmarked(report.decision.sentence),
        "tomorrow": {name: _mean(name, one.per_repetition(name, "before")) for name, one in ahead.items()},
    }


def picture(sequence: TaskSequence, licence: str) -> list[str] | list[list[list[int]]]:
    """Return rows of the first, middle and last task as x, y (0 to 99, in the first task's plane) and class.

    If the licence lets anybody copy images, two of each of two classes form one PNG address instead.
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
    few["tomorrow"] |= {name: _mean(name, compared.per_repetition(name, "before")) for name in COMPARED}
    first = replace(reports[sizes[0]], curve=tuple(one.run for one in reports.values()))
    diagnosis = first.diagnosis
    assert diagnosis is not None  # noqa: S101 - `check` diagnoses
    rate = None if diagnosis.change is None else [round(float(one), 5) for one in diagnosis.ratio_at(1)]
    change = {"verdict": diagnosis.verdict.name, "title": diagnosis.verdict.title, "sentence": unmarked(first.meaning)}
    found: dict[str, Any] = {
        "tasks": len(sequence),
        "rows": [int(min(sequence.sizes)), int(max(sequence.sizes))],
        "features": sequence.n_features,
        "classes": sequence.n_classes,
        "hash": sequence.fingerprint[:16],
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "version": imrc.__version__,
        "change": change | {"rate": rate},
        "realised": None,
        "at": at,
        "picture": picture(sequence, source.facts["licence"]),
    }
    if len(first.curve) > 1:
        # How many samples a task was worth with forward and backward learning, counted in errors.
        one = realised_samples(first.curve, first.n)[-1]
        ends = {"value": one.value, "low": one.low, "high": one.high}
        found["realised"] = ends | {"promised": one.promised.mean, "n": first.n}
    return source.facts | dict(plain(found))


def winner(found: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the entry with the lowest error."""
    return min(found.values(), key=lambda one: one["error"])


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


def page(cards: Sequence[Card]) -> str:
    """Return the page."""
    heads = ["sequence", "tasks", "classes", "how it changes", "rate of change", "past worth"]
    heads += [*(f"best at n = {n}" for n in SIZES), "next task"]
    dates = sorted({card["date"] for card in cards})
    return Template(resources.files("imrc").joinpath("atlas.html").read_text(encoding="utf-8")).substitute(
        count=len(cards),
        repetitions=REPETITIONS,
        most=MOST_TASKS,
        dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "no date",
        head="".join(f'<th scope="col"><button type="button">{head}</button></th>' for head in heads),
        rows="".join(map(_row, cards)),
        cards="".join(map(_card, cards)),
    )


def _error(one: Card) -> str:
    return f"{decimal(one['error'])} [{decimal(one['low'])}, {decimal(one['high'])}]"


def _worth(card: Card) -> str:
    found = card["realised"]
    if not found:
        return "not measured: too few rows for a second n"
    promised = f"if the tasks evolved as the theorems assume: {found['promised']:.1f}"
    if found["value"] is None:
        return f"beyond what was tried; {promised}"
    reach = "" if None in (found["low"], found["high"]) else f" [{found['low']:.0f}, {found['high']:.0f}]"
    return f"{found['n']} labels and the past: {found['value']:.0f}{reach} labels alone; {promised}"


def _row(card: Card) -> str:
    rate, worth, at = card["change"]["rate"], card["realised"], card["at"]
    n, few = next(iter(at.items()))

    def best(one: Card, measure: str = "error", where: str = "") -> tuple[str, float]:
        found, kind = winner(one), "" if measure == "error" else f" ({measure})"
        return f"{found['title']} {decimal(found['error'])}{kind}{where}", found["error"]

    known = (number(rate[0]), rate[0]) if rate and None not in rate else ("", "")
    found = [
        (f"{card['tasks']}", card["tasks"]),
        (f"{card['classes']}", card["classes"]),
        (card["change"]["title"], None),
        known,
        (f"{worth['value']:.0f} for {worth['n']}", worth["value"]) if worth and worth["value"] else ("", ""),
        best(few["errors"], few["measure"], "" if n == str(SIZES[0]) else f", n = {n}"),
        *(best(at[str(n)]["errors"], at[str(n)]["measure"]) if str(n) in at else ("", "") for n in SIZES[1:]),
        best(few["tomorrow"]),
    ]
    cells = [("" if by is None else f' data-v="{by}"', html.escape(text)) for text, by in found]
    title = f'<td><a href="#{card["name"]}">{html.escape(card["title"])}</a></td>'
    return f'<tr data-card="{card["name"]}">{title}{"".join(f"<td{by}>{text}</td>" for by, text in cells)}</tr>'


def _points(rows: Sequence[Sequence[int]], told: str) -> str:
    dots = "".join(f'<circle cx="{x}" cy="{99 - y}" r="2" fill="var(--c{label % _COLOURS})"/>' for x, y, label in rows)
    return f'<svg viewBox="-4 -4 107 107" role="img" aria-label="{told}">{dots}</svg>'


def _panels(card: Card) -> str:
    """Return the first, middle and last task, as images or as points in a plane."""
    shown = ""
    for name, rows in zip((1, card["tasks"] // 2 + 1, card["tasks"]), card["picture"], strict=True):
        told = f"rows of task {name}"
        drawn = f'<img src="{rows}" alt="{told}">' if isinstance(rows, str) else _points(rows, told)
        shown += f"<div>{drawn}task {name}</div>"
    return f"<figure>{shown}</figure>"


def _errors(card: Card) -> str:
    """Return the table of strategies and methods, with a column of intervals for each n and one for the next task."""
    at = card["at"]
    measures = {n: "" if one["measure"] == "error" else f"{one['measure']}, " for n, one in at.items()}
    columns = [(f"{measures[n]}n = {n}", one["errors"], one["advised"]) for n, one in at.items()]
    columns.append((f"next task, n = {next(iter(at))}", next(iter(at.values()))["tomorrow"], None))
    top = max(one["high"] or one["error"] for _, found, _ in columns for one in found.values())
    head = "".join(f'<th scope="col">{name}</th>' for name, _, _ in columns)
    names = {name: one["title"] for _, found, _ in columns for name, one in found.items()}
    rows = ""
    for name, title in names.items():
        rows += f'<tr><th scope="row">{html.escape(title)}</th>'
        for _, found, advised in columns:
            rows += _interval(found, name, top, advised) if name in found else "<td></td>"
        rows += "</tr>"
    table = f"<thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="wide"><table class="errors">{table}</table></div>'


def _interval(found: Card, name: str, top: float, advised: str | None) -> str:
    one, best = found[name], winner(found) is found[name]
    low, high, middle = (100 * one[part] / top for part in ("low", "high", "error"))
    drawn = (
        '<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{max(low, 0):.1f}" y="2" width="{max(high - max(low, 0), 1):.1f}" height="4" fill="currentColor" '
        f'opacity=".35"/><rect x="{middle - 0.8:.1f}" width="1.6" height="8" fill="currentColor"/></svg>'
    )
    mark = ' <span title="advised">✓</span>' if name == advised else ""
    told = f"<small>{_error(one).partition(' ')[2]}</small>" if best else ""
    return f'<td{" class=best" * best} title="{_error(one)}">{decimal(one["error"])}{mark}{drawn}{told}</td>'


def _card(card: Card) -> str:
    """Return one card."""
    n, first = next(iter(card["at"].items()))
    low, high = card["rows"]
    cut = card["cut"] if card["cut"].endswith(("?", ".")) else f"{card['cut']}:"
    size = f"{card['tasks']} tasks of {low if low == high else f'{low} to {high}'} rows"
    rate = card["change"]["rate"]
    measured = "not measured" if not rate or None in rate else "{} [{}, {}]".format(*map(number, rate))
    facts = {
        "A task": f"{cut} {size}, {card['features']} columns, {card['classes']} classes",
        "How it changes": f"{capital(card['change']['title'])}. {card['change']['sentence']}",
        "Rate of change": measured,
        "The past": _worth(card),
        "What to do": first["sentence"],
        "Source": f"{card['source']}; licence: {card['licence']}",
        "Computed": f"{card['date']}, imrc {card['version']}, tasks {card['hash']}",
    }
    told = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in facts.items())
    command = f"{card['command']} -k {card['tasks']} -n {n} --repetitions {REPETITIONS}"
    told += f"<dt>Repeat</dt><dd><code>{html.escape(command)}</code></dd>"
    return (
        f'<article id="{card["name"]}"><h2>{html.escape(card["title"])}</h2><p>{html.escape(story(card))}</p>'
        f'<div class="two"><div>{_panels(card)}<dl>{told}</dl></div><div>{_errors(card)}</div></div></article>'
    )
