"""The command ``imrc sweep``: many runs, each kept as soon as it is finished."""

from __future__ import annotations

import argparse
import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc._checks import InputError
from imrc._folders import default_store_path
from imrc.baselines import registry
from imrc.commands.output import ProgressLine, add_formats, print_table
from imrc.core.settings import PRESETS
from imrc.evaluation import PARAMETERS, SCENARIOS
from imrc.evaluation.settings import window_argument
from imrc.features import KINDS
from imrc.solvers import cores
from imrc.sweeps.database import StoreError
from imrc.sweeps.execute import SchedulerError, SweepReport, run_sweep
from imrc.sweeps.plan import SweepPlan, make_plan
from imrc.sweeps.spec import FACTORS, SweepSpec, read_toml
from imrc.sweeps.store import ResultStore, check_export
from imrc.sweeps.summary import summary_lines, summary_table
from imrc.wording import duration

FAILED = 1

_EPILOG = """\
A combination that makes no sense is left out, one that changes nothing is run once; the plan says which and why.
--file names a TOML file with the same keys, one value or a list each; flags replace what it says:

  datasets = ["rotated_digits", "spam"]
  n = [10, 50]
  presets = ["recommended", "paper"]
  methods = ["imrc", "mer"]
  seeds = "0:4"
  repetitions = 5

Each finished cell (one repetition of one method) is kept at once. Stopped by Ctrl-C, kill or a power cut, the same
command goes on where it stopped. Exit status: 0 done, 2 bad input, 1 failure (also if single cells failed) or stopped.
"""


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser(
        "sweep",
        help="run many settings, on one machine or many, and keep every result",
        description="Run every combination of datasets, representations, n, k, b, W, presets, methods and seeds.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_argument_group("what to run (several values each)")
    what.add_argument("--file", metavar="FILE.toml", help="read the values from a TOML file")
    what.add_argument("--datasets", nargs="+", choices=datasets.names(), metavar="NAME", help="see: imrc datasets")
    what.add_argument(
        "--features", nargs="+", choices=KINDS, metavar="KIND", help=f"of {', '.join(KINDS)}. Default: blended."
    )
    for name in ("n", "k", "b", "W"):
        limits = PARAMETERS[name]
        default = {"k": "the dataset's", "W": "the preset's"}.get(name, str(limits.default))
        what.add_argument(
            f"-{name}",
            type=window_argument if name == "W" else int,
            nargs="+",
            metavar=name.upper(),
            help=f"{limits.help} Range {limits.low} to {limits.high}, default: {default}.",
        )
    what.add_argument(
        "--presets",
        nargs="+",
        choices=PRESETS,
        metavar="PRESET",
        help=f"of {', '.join(PRESETS)}. Default: recommended.",
    )
    what.add_argument("--methods", nargs="+", metavar="METHOD", help=f"of imrc, {', '.join(registry)}. Default: imrc.")
    what.add_argument("--seeds", nargs="+", metavar="SEED", help="numbers or ranges: 0:10 is 0 to 9. Default: 0.")
    what.add_argument("--scenario", choices=SCENARIOS, help="what is judged, see imrc run --help. Default: continual.")
    limits = PARAMETERS["repetitions"]
    what.add_argument(
        "--repetitions",
        type=int,
        help=f"splits and draws per seed, {limits.low} to {limits.high}, default: {limits.default}",
    )
    how = parser.add_argument_group("how")
    how.add_argument("--store", type=Path, metavar="PATH", help="where results are kept (default: $IMRC_STORE, else a "
                     "file in your folder for data)")  # fmt: skip
    how.add_argument("--jobs", type=int, metavar="N", help="worker processes (default: one per core)")
    how.add_argument("--scheduler", metavar="ADDRESS", help="use the workers of a Dask cluster: tcp://HOST:8786")
    how.add_argument("--dry-run", action="store_true", help="show the plan and run nothing")
    how.add_argument(
        "--export", type=Path, metavar="FILE", help="write every cell to a .csv or .parquet file at the end"
    )
    add_formats(parser)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _spec(options: argparse.Namespace) -> SweepSpec:
    values = {} if options.file is None else read_toml(options.file)
    given = {
        name: getattr(options, name)
        for name in (*FACTORS, "repetitions", "scenario")
        if getattr(options, name) is not None
    }
    if options.file is None and "datasets" not in given:
        raise InputError("Name at least one dataset with --datasets, or a file with --file (imrc sweep --help).")
    where = "the command" if options.file is None else Path(options.file).name + (" with flags" if given else "")
    return SweepSpec.from_values({**values, **given}, where)


def _show(line: ProgressLine, report: SweepReport) -> None:
    """Say how far a sweep is."""
    failures = len(report.failed)
    last = report.done + failures == report.total
    left = "" if last or math.isnan(report.seconds_left) else f", about {duration(report.seconds_left)} left"
    failed = f", {failures} failed" if failures else ""
    title = "" if report.cell is None else report.cell.title
    line.write(f"[{report.done}/{report.total}]{failed}{left}: {title}", last=last)


def run(options: argparse.Namespace) -> int:
    """Plan, run and print a sweep."""
    spec = _spec(options)
    if options.jobs is not None and not 1 <= options.jobs <= 1024:
        raise InputError(f"--jobs must be between 1 and 1024; got {options.jobs}.")
    if options.jobs is not None and options.scheduler is not None:
        raise InputError("--jobs is for this machine; with --scheduler the cluster decides how many run at once.")
    if options.export is not None:
        check_export(options.export)
    path = default_store_path() if options.store is None else options.store.expanduser()
    try:
        if options.store is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        with ResultStore(path) as store:
            return _sweep(spec, store, options, options.jobs or cores())
    except (StoreError, SchedulerError) as error:
        _say(f"imrc: {error}")
    except OSError as error:
        _say(f"imrc: {error.filename or path}: {error.strerror or error}. Choose another place with --store.")
    return FAILED


def _sweep(spec: SweepSpec, store: ResultStore, options: argparse.Namespace, jobs: int) -> int:
    plan = make_plan(spec, store, progress=lambda name: _say(f"Looking at {name} …") if sys.stderr.isatty() else None)
    _say(plan.in_words())
    _say(f"Results: {store.path}")
    if options.dry_run:
        if options.json:
            print(json.dumps({"cells": len(plan.cells), "stored": len(plan.done), "notes": plan.notes}))
        return 0
    try:
        with ProgressLine() as line:
            report = run_sweep(plan, store, jobs=jobs, scheduler=options.scheduler, progress=partial(_show, line))
    except KeyboardInterrupt:
        done = len(store.finished(cell.key for cell in plan.cells))
        _say(
            f"imrc: stopped. {done} of {len(plan.cells)} cells are in {store.path}; "
            "the same command goes on from there."
        )
        return FAILED
    except SchedulerError as error:
        raise SchedulerError(f"{error} Finished cells are kept; the same command goes on from there.") from error
    for cell, failure in report.failed:
        _say(f"Failed: {cell.title}: {failure.message}" + (f"\n{failure.details}" if options.debug else ""))
    _print_summary(plan, store, options)
    if options.export is not None:
        rows = store.export(options.export)
        _say(f"{options.export}: {rows} rows, every cell of the store.")
    if report.failed:
        _say(f"imrc: {len(report.failed)} of {len(plan.cells)} cells failed; the same command tries them again.")
    return FAILED if report.failed else 0


def _print_summary(plan: SweepPlan, store: ResultStore, options: argparse.Namespace) -> None:
    table = summary_table(plan, store)
    if options.json or options.csv:
        print(table.to_json(orient="records") if options.json else table.to_csv(index=False).rstrip("\n"))
        return
    same, lines = summary_lines(table, plan.spec.scenario)
    if plan.spec.scenario != "continual":
        print(SCENARIOS[plan.spec.scenario].sentence)
    if same:
        print(same)
    if lines:
        print_table(list(lines[0]), [list(line.values()) for line in lines], left=("dataset", "features", "method"))
