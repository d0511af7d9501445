"""The command ``imrc table``: the paper's tables, our values beside the printed ones."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from imrc import datasets
from imrc._checks import InputError
from imrc._progress import ProgressLine
from imrc.baselines import PUBLISHED, registry
from imrc.commands.options import add_choice, add_settings, given, print_as, print_table
from imrc.core.settings import SETTINGS
from imrc.evaluation import RunSettings
from imrc.evaluation.comparison import SCORE_KINDS, UNTUNED, imrc_key
from imrc.evaluation.latex import BOLD, latex_table
from imrc.features import FeatureSpec
from imrc.paper import cells, measure
from imrc.solvers import warm_up
from imrc.wording import unmarked


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc table``."""
    parser.description = (
        "Measure a table of the paper on the datasets on this computer and compare it with the printed values."
    )
    add_choice(parser, "--kind", measure.TABLES, "which tables", said="errors", nargs="+", default=["errors"])
    add_settings(parser, "n", said="10; for some kinds 10 and 100", nargs="+")
    here = "default: datasets of the paper that are on this computer"
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help=here)
    names = f"imrc (default, always included), {', '.join(measure.GROUPS)}, or names: {', '.join(registry)}"
    profile = "; for a profile, add it after a colon, as in mer:argparse"
    parser.add_argument("--methods", nargs="+", default=["imrc"], metavar="NAME", help=names + profile)
    add_settings(parser, "preset", said="paper", nargs="+")
    said = "released; with --methods: average, as on the page Against others"
    add_choice(parser, "--error", SCORE_KINDS, "which error", said=said)
    latex = "write the table of errors for LaTeX, with the lowest in bold"
    parser.add_argument("--latex", type=Path, metavar="FILE.tex", help=latex)
    rest = parser.add_argument_group("settings")
    add_settings(rest, "b", "W", "seed")
    add_settings(parser, "k", said="all")
    add_settings(rest, "features", said="paper")
    add_settings(parser, "repetitions", said=f"{SETTINGS['repetitions'].default}; the paper has 50")


def run_table(options: argparse.Namespace) -> int:
    """Measure and print the tables."""
    requests, missing = zip(*(_request(options, kind) for kind in dict.fromkeys(options.kind)), strict=True)
    if options.csv and len(requests) > 1:
        raise InputError("--csv writes a single table. Give one --kind, or use --json.")
    if options.latex and (len(requests) > 1 or options.kind[0] in ("time", "characteristics")):
        raise InputError("--latex writes a single table of errors: --kind errors, window or backward.")
    with ProgressLine() as line:
        runs = measure.Runs(line.show, line.say)
        # Compiled first, so that no measured time includes it.
        warm_up(lambda _share, text: line.show(text))
        tables = [measure.measure(request, runs) for request in requests]
    if options.latex:
        options.latex.write_text(_latex(tables[0], requests[0]) + "\n", encoding="utf-8")
    found = [*zip(tables, requests, missing, strict=True)]
    told = [
        {
            "request": dict(vars(request), settings=request.settings.to_json()),
            "rows": table.to_dict("records"),
            "missing": [{"dataset": name, "how": measure.how_to_get(name)} for name in lost],
        }
        for table, request, lost in found
    ]

    def text() -> None:
        for table, request, lost in found:
            _print(table, request)
            for name in lost:
                print(f"Not on this computer: {datasets.entry(name).title}. {measure.how_to_get(name)}")

    print_as(options, tables[0].drop(columns="errors", errors="ignore"), {"tables": told}, text)
    return 0


def _request(options: argparse.Namespace, kind: measure.TableKind) -> tuple[measure.TableRequest, tuple[str, ...]]:
    """Return what to measure for one table, and the datasets that are missing."""
    presets = options.preset or ["paper"]
    methods = measure.methods_named(options.methods, presets)
    alone = all(name.startswith("imrc:") for name in methods)
    here, missing = measure.at_hand(options.datasets, kind)
    if not here:
        ways = "\n".join(f"{datasets.entry(name).title}: {measure.how_to_get(name)}" for name in missing)
        raise datasets.NotAvailableError(f"None of these datasets is on this computer.\n{ways}")
    settings = {"preset": presets[0], "features": FeatureSpec(options.features or "paper")}
    request = measure.TableRequest(
        kind=kind,
        names=here,
        sizes=tuple(map(SETTINGS["n"].check, options.n or ((10,) if kind == "errors" else (10, 100)))),
        methods=methods,
        error=options.error or ("released" if alone else "average"),
        k=options.k,
        settings=RunSettings(**settings, **given(options, "b", "W", "repetitions", "seed")),
    )
    return request, missing


def _caption(request: measure.TableRequest, n: int, spread: str) -> str:
    """Say what a table contains, and with which settings it was measured."""
    settings = request.settings
    varied = {"window": "W", "backward": "b", "time": "b"}.get(request.kind)
    fixed = {"n": n, "b": settings.b, "W": settings.learner.W, "seed": settings.seed}
    told = ", ".join(f"{name} = {value}" for name, value in fixed.items() if name != varied)
    what = "processor time of learning a task" if request.kind == "time" else SCORE_KINDS[request.error]
    over = f"{settings.repetitions} repetition{'s' * (settings.repetitions > 1)}"
    return f"{told}, representation {settings.features.kind}. {spread} over {over}: {what}."


def _shown(table: pd.DataFrame, request: measure.TableRequest) -> pd.DataFrame:
    """Return what is shown of a table: methods in the order given, and of IMRC all rules with preset ``paper``."""
    rules = [imrc_key("paper", rule) for rule in ("forward_backward", "forward", "single")]
    order = [key for name in request.methods for key in (rules if name == rules[0] else [name])]
    return table[table["method"].isin(order)].sort_values("method", key=lambda m: m.map(order.index), kind="stable")


def _print(table: pd.DataFrame, request: measure.TableRequest) -> None:
    if request.kind == "characteristics":
        shown = cells.characteristics(table).drop(columns="How to get it")
        print_table([*shown], shown.to_numpy().tolist())
        return
    timed = request.kind == "time"
    shown = _shown(table, request)
    ours, printed = ("seconds", "printed_seconds") if timed else ("error", "printed")
    titles = shown["dataset"].map(lambda name: datasets.entry(name).title)
    shown = shown.assign(column=shown["title"], title=titles, ours=shown[ours], printed=shown[printed])
    for n, part in shown.groupby("n"):
        print(_caption(request, n, "Ours | printed, mean" + " ± std" * (not timed)), end="\n\n")
        found = cells.wide(part, milliseconds=timed)
        print_table([*found], found.to_numpy().tolist())
        print()
    if request.kind == "errors" and imrc_key("paper") in request.methods:
        print(unmarked(cells.transfer_sentence(table)))
    if shown["method"].str.partition(":")[0].isin(PUBLISHED).any():
        print(UNTUNED)


def _latex(table: pd.DataFrame, request: measure.TableRequest) -> str:
    """Return a table of errors in LaTeX for each n, a column per dataset, with the lowest in bold."""
    tables = []
    for n, part in _shown(table, request).groupby("n"):
        columns = {
            datasets.entry(name).title: {row.title: np.array(row.errors) for row in rows.itertuples()}
            for name, rows in part.groupby("dataset", sort=False)
        }
        tables.append(latex_table(columns, f"{_caption(request, n, 'Mean ± one standard error')} {BOLD}"))
    return "\n\n".join(tables)
