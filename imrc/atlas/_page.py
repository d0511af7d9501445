"""The atlas page: an overview to sort and filter, and all cards, in one file that needs no server."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

from imrc.atlas._cards import MOST_TASKS, REPETITIONS, SIZES, story, winner
from imrc.wording import capital, decimal, number

Card = Mapping[str, Any]
_COLOURS = 10


def page(cards: Sequence[Card]) -> str:
    """Return the page."""
    heads = ["sequence", "tasks", "classes", "how it changes", "rate of change", "past worth"]
    heads += [*(f"best at n = {n}" for n in SIZES), "next task"]
    dates = sorted({card["date"] for card in cards})
    return Template(resources.files("imrc.atlas").joinpath("page.html").read_text(encoding="utf-8")).substitute(
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


def _rate(card: Card) -> str:
    rate = card["change"]["rate"]
    return "not measured" if not rate or None in rate else f"{number(rate[0])} [{number(rate[1])}, {number(rate[2])}]"


def _worth(card: Card) -> str:
    found = card["realised"]
    if not found:
        return "not measured: too few rows for a second n"
    promised = f"promised by the theorems: {found['promised']:.1f}"
    if found["value"] is None:
        return f"beyond what was tried; {promised}"
    reach = "" if None in (found["low"], found["high"]) else f" [{found['low']:.0f}, {found['high']:.0f}]"
    return f"{found['n']} labels and the past: {found['value']:.0f}{reach} labels alone; {promised}"


def _row(card: Card) -> str:
    rate, worth, at = card["change"]["rate"], card["realised"], card["at"]
    n, few = next(iter(at.items()))

    def cell(text: str, value: float | None = None, *, is_number: bool = True) -> str:
        shown = html.escape(text)
        return f'<td data-v="{"" if value is None else value}">{shown}</td>' if is_number else f"<td>{shown}</td>"

    def best(one: Card, measure: str = "error", where: str = "") -> str:
        found, kind = winner(one), "" if measure == "error" else f" ({measure})"
        return cell(f"{found['title']} {decimal(found['error'])}{kind}{where}", found["error"])

    known = rate[0] if rate and None not in rate else None
    found = [
        f'<td><a href="#{card["name"]}">{html.escape(card["title"])}</a></td>',
        cell(f"{card['tasks']}", card["tasks"]),
        cell(f"{card['classes']}", card["classes"]),
        cell(card["change"]["title"], is_number=False),
        cell("" if known is None else number(known), known),
        cell(f"{worth['value']:.0f} for {worth['n']}", worth["value"]) if worth and worth["value"] else cell("", None),
        best(few["errors"], few["measure"], "" if n == str(SIZES[0]) else f", n = {n}"),
        *(best(at[str(n)]["errors"], at[str(n)]["measure"]) if str(n) in at else cell("", None) for n in SIZES[1:]),
        best(few["tomorrow"]),
    ]
    return f'<tr data-card="{card["name"]}">{"".join(found)}</tr>'


def _points(rows: Sequence[Sequence[int]], told: str) -> str:
    dots = "".join(f'<circle cx="{x}" cy="{99 - y}" r="2" fill="var(--c{label % _COLOURS})"/>' for x, y, label in rows)
    return f'<svg viewBox="-4 -4 107 107" role="img" aria-label="{told}">{dots}</svg>'


def _panels(card: Card) -> str:
    """Return the first, middle and last task, as images or as points in a plane."""
    names = ("1", str(card["tasks"] // 2 + 1), str(card["tasks"]))
    shown = ""
    for name, rows in zip(names, card["picture"], strict=True):
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
    facts = {
        "A task": f"{cut} {size}, {card['features']} columns, {card['classes']} classes",
        "How it changes": f"{capital(card['change']['title'])}. {card['change']['sentence']}",
        "Rate of change": _rate(card),
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
