"""The command ``imrc sweep``: many runs, each kept as soon as it is finished."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from imrc import datasets
from imrc._checks import InputError, check_int
from imrc._folders import default_store_path
from imrc._progress import ProgressLine, say
from imrc.baselines import registry
from imrc.commands.options import (
    add_reading,
    add_settings,
    check_outputs,
    check_reading,
    data,
    given,
    print_as,
    print_table,
    reading_of,
)
from imrc.core.presets import DEFAULT, own_features
from imrc.evaluation import SCENARIOS
from imrc.solvers import cores
from imrc.sweeps.execute import SweepReport
from imrc.sweeps.execute import run_sweep as run_cells
from imrc.sweeps.plan import FACTORS, SweepSpec, plan_sweep, read_toml, summary_lines, summary_table
from imrc.sweeps.store import ResultStore

FAILED = 1
_EPILOG = """\
Impossible and duplicate combinations are left out, and the plan shows why. Each line of the TOML file is
an option with one value or a list: n = [10, 50], presets = "paper", seeds = "0:4". A section [reading] defines how your
own files are cut, for example target = "rain", every = 300.

Each cell (one repetition of one method) is stored as soon as it is finished. After an interruption, the same command
continues where it stopped. Exit status: 0 done, 1 failed (even if only some cells failed) or stopped, 2 bad input.
"""


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc sweep``."""
    parser.description = "Run every combination of datasets, representations, n, k, b, W, presets, methods and seeds."
    parser.epilog, parser.formatter_class = _EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--file", metavar="FILE.toml", help="read values from a TOML file; options override it")
    sources = "datasets (imrc datasets lists them), or files of your own"
    parser.add_argument("--datasets", nargs="+", type=data, metavar="DATA", help=sources)
    add_reading(parser)
    how = parser.add_argument_group("how")
    add_settings(parser, "n", nargs="+")
    add_settings(parser, "k", said="the dataset's", nargs="+")
    add_settings(parser, "b", nargs="+")
    add_settings(parser, "preset", flag="presets", nargs="+", dest="presets")
    add_settings(how, "W", nargs="+")
    add_settings(how, "features", said=own_features(DEFAULT).kind, nargs="+")
    methods = f"of imrc, {', '.join(registry)}. Default: imrc."
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help=methods)
    parser.add_argument("--seeds", nargs="+", metavar="SEED", help="numbers or ranges: 0:10 is 0 to 9. Default: 0.")
    add_settings(parser, "repetitions")
    parser.add_argument("--dry-run", action="store_true", help="show the plan and run nothing")
    export = "at the end, write all cells to this file (.csv or .parquet)"
    parser.add_argument("--export", type=Path, metavar="FILE.csv", help=export)
    scenario = "which errors are averaged (see imrc run --help-all). Default: continual."
    how.add_argument("--scenario", choices=SCENARIOS, help=scenario)
    place = "file to store results in (default: $IMRC_STORE, or else a file in your data folder)"
    how.add_argument("--store", type=Path, metavar="PATH", help=place)
    how.add_argument("--jobs", type=int, metavar="N", help="worker processes (default: one per core)")
    how.add_argument("--scheduler", metavar="ADDRESS", help="use the workers of this Dask cluster: tcp://HOST:8786")


def _spec(options: argparse.Namespace) -> SweepSpec:
    values = {} if options.file is None else read_toml(options.file)
    found = given(options, *FACTORS, "repetitions", "scenario")
    if reading := reading_of(options):
        found["reading"] = {**values.get("reading", {}), **reading}
    where = "the command" if options.file is None else Path(options.file).name + (" with flags" if found else "")
    spec = SweepSpec.from_values({**values, **found}, where)
    check_outputs(options, *spec.datasets)
    for name in set(spec.datasets) - set(datasets.names()):
        check_reading(name, spec.reading)
    if options.jobs is not None:
        check_int("--jobs", options.jobs, 1, 1024)
        if options.scheduler is not None:
            raise InputError("--jobs applies to this machine only. With --scheduler, the cluster decides.")
    return spec


def run_sweep(options: argparse.Namespace) -> int:
    """Plan, run and print a sweep."""
    spec = _spec(options)
    path = default_store_path() if options.store is None else options.store
    if options.store is None:
        path.parent.mkdir(parents=True, exist_ok=True)
    with ResultStore(path, create=True) as store:
        return _sweep(spec, store, options)


def _sweep(spec: SweepSpec, store: ResultStore, options: argparse.Namespace) -> int:
    plan = plan_sweep(spec, store, progress=lambda name: say(f"Looking at {name} …") if sys.stderr.isatty() else None)
    say(f"{plan.in_words()}\nResults: {store.path}")
    options.notes = plan.notes
    if options.dry_run:
        print_as(options, [], {"cells": len(plan.cells), "stored": len(plan.done)})
        return 0
    with ProgressLine() as line:

        def show(report: SweepReport) -> None:
            failed, title = len(report.failed), "" if report.cell is None else report.cell.title
            done, total = (count - report.stored_before for count in (report.done + failed, report.total))
            line.show(f"{failed} failed, {title}" if failed else title, done, total, "cell")

        try:
            report = run_cells(plan, store, jobs=options.jobs or cores(), scheduler=options.scheduler, progress=show)
        except KeyboardInterrupt:
            done = f"{sum(cell.key in store for cell in plan.cells)} of {len(plan.cells)} cells"
            line.say(f"imrc: stopped. {done} are in {store.path}; run the same command again to continue.")
            return FAILED
    for cell, failure in report.failed:
        say(f"Failed: {cell.title}: {failure.message}" + (f"\n{failure.details}" if options.debug else ""))
    table = summary_table(plan, store)

    def text() -> None:
        same, lines = summary_lines(table, spec.scenario)
        for told in (SCENARIOS[spec.scenario].sentence if spec.scenario != "continual" else "", same):
            if told:
                print(told)
        if lines:
            print_table([*lines[0]], [[*line.values()] for line in lines], left=("dataset", "features", "method"))

    print_as(options, table, {"rows": table.to_dict("records")}, text)
    if options.export is not None:
        say(f"{options.export}: {store.export(options.export)} rows, every cell of the store.")
    if report.failed:
        say(f"imrc: {len(report.failed)} of {len(plan.cells)} cells failed. Run the same command again to retry them.")
    return FAILED if report.failed else 0
