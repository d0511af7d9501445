"""The command ``imrc sweep``: many runs, each kept as soon as it is finished."""

from __future__ import annotations

import argparse
import json
import math
import sys
from functools import partial
from pathlib import Path

from imrc import datasets
from imrc._checks import InputError
from imrc._folders import default_store_path
from imrc.baselines import registry
from imrc.commands.arguments import add_setting
from imrc.commands.output import ProgressLine, print_table, say
from imrc.core.presets import DEFAULT, own_features
from imrc.core.settings import SETTINGS
from imrc.evaluation import SCENARIOS
from imrc.solvers import cores
from imrc.sweeps.execute import SchedulerError, SweepReport, run_sweep
from imrc.sweeps.plan import SweepPlan, plan_sweep, summary_lines, summary_table
from imrc.sweeps.spec import FACTORS, SweepSpec, read_toml
from imrc.sweeps.store import ResultStore, StoreError, check_export
from imrc.wording import duration

FAILED = 1

_EPILOG = """\
A combination that makes no sense is left out, one that changes nothing is run once; the plan says which and why.
A line of the file is the name of an option, and one value or a list: n = [10, 50], presets = "paper", seeds = "0:4".

Each finished cell (one repetition of one method) is kept at once. Stopped by Ctrl-C, kill or a power cut, the same
command goes on where it stopped. Exit status: 0 done, 2 bad input, 1 failure (also if single cells failed) or stopped.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = "Run every combination of datasets, representations, n, k, b, W, presets, methods and seeds."
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    what = parser.add_argument_group("what to run (several values each)")
    what.add_argument(
        "--file", metavar="FILE.toml", help="read the values from a TOML file; flags replace what it says"
    )
    what.add_argument("--datasets", nargs="+", choices=datasets.names(), metavar="NAME", help="see: imrc datasets")
    for name, flag in {"features": "", "n": "", "k": "", "b": "", "W": "", "preset": "presets"}.items():
        usual = {"k": "the dataset's", "features": own_features(DEFAULT).kind}.get(name, SETTINGS[name].default)
        add_setting(what, name, flag=flag, default=None, said=usual, nargs="+")
    what.add_argument("--methods", nargs="+", metavar="METHOD", help=f"of imrc, {', '.join(registry)}. Default: imrc.")
    what.add_argument("--seeds", nargs="+", metavar="SEED", help="numbers or ranges: 0:10 is 0 to 9. Default: 0.")
    what.add_argument("--scenario", choices=SCENARIOS, help="what is judged, see imrc run --help. Default: continual.")
    add_setting(what, "repetitions", default=None, said=SETTINGS["repetitions"].default)
    how = parser.add_argument_group("how")
    place = "where results are kept (default: $IMRC_STORE, else a file in your folder for data)"
    how.add_argument("--store", type=Path, metavar="PATH", help=place)
    how.add_argument("--jobs", type=int, metavar="N", help="worker processes (default: one per core)")
    how.add_argument("--scheduler", metavar="ADDRESS", help="use the workers of a Dask cluster: tcp://HOST:8786")
    how.add_argument("--dry-run", action="store_true", help="show the plan and run nothing")
    how.add_argument(
        "--export", type=Path, metavar="FILE.csv", help="at the end, write every cell to it, or to .parquet"
    )


def _spec(options: argparse.Namespace) -> SweepSpec:
    values = {} if options.file is None else read_toml(options.file)
    known = {name: getattr(options, name) for name in (*FACTORS, "repetitions", "scenario")}
    given = {name: value for name, value in known.items() if value is not None}
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
        say(f"imrc: {error}")
    except OSError as error:
        say(f"imrc: {error.filename or path}: {error.strerror or error}. Choose another place with --store.")
    return FAILED


def _sweep(spec: SweepSpec, store: ResultStore, options: argparse.Namespace, jobs: int) -> int:
    plan = plan_sweep(spec, store, progress=lambda name: say(f"Looking at {name} …") if sys.stderr.isatty() else None)
    say(plan.in_words())
    say(f"Results: {store.path}")
    if options.dry_run:
        if options.json:
            print(json.dumps({"cells": len(plan.cells), "stored": len(plan.done), "notes": plan.notes}))
        return 0
    try:
        with ProgressLine() as line:
            report = run_sweep(plan, store, jobs=jobs, scheduler=options.scheduler, progress=partial(_show, line))
    except KeyboardInterrupt:
        done = f"{sum(cell.key in store for cell in plan.cells)} of {len(plan.cells)} cells"
        say(f"imrc: stopped. {done} are in {store.path}; the same command goes on from there.")
        return FAILED
    except SchedulerError as error:
        raise SchedulerError(f"{error} Finished cells are kept; the same command goes on from there.") from error
    for cell, failure in report.failed:
        say(f"Failed: {cell.title}: {failure.message}" + (f"\n{failure.details}" if options.debug else ""))
    _print_summary(plan, store, options)
    if options.export is not None:
        say(f"{options.export}: {store.export(options.export)} rows, every cell of the store.")
    if report.failed:
        say(f"imrc: {len(report.failed)} of {len(plan.cells)} cells failed; the same command tries them again.")
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
