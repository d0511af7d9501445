"""The command line: the same settings, limits and help texts as the page."""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import imrc
from imrc import datasets
from imrc.core.settings import PRESETS
from imrc.datasets import command as datasets_command
from imrc.diagnostics import command as assess_command
from imrc.evaluation import HEADLINES, PARAMETERS, RunResult, RunSettings, iter_run, table_command
from imrc.features import KINDS, FeatureSpec
from imrc.sweeps import command as sweep_command

BAD_INPUT = 2


def app_file() -> Path:
    """Return the app's main script: beside the package in a checkout, inside it when installed.

    Raises
    ------
    FileNotFoundError
        If neither is there.
    """
    package = Path(imrc.__file__).resolve().parent
    for candidate in (package.parent / "app.py", package / "_app" / "app.py"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError("The app's files are missing; install imrc again or run it from its repository.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="imrc", description="Incremental minimax risk classifiers for evolving classification tasks."
    )
    parser.add_argument("--version", action="version", version=f"imrc {imrc.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    app = commands.add_parser("app", help="start the explorer in the browser")
    app.add_argument("--port", type=int, default=8501, help="port on this machine (default: %(default)s)")
    app.add_argument("--address", default="127.0.0.1", help="address to listen on (default: this machine only)")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser window")

    run = commands.add_parser("run", help="learn a sequence and print errors, risks and effective sample sizes")
    run.add_argument("dataset", choices=datasets.names(), metavar="DATASET", help=", ".join(datasets.names()))
    for name in ("n", "k", "b", "W", "repetitions", "seed"):
        parameter = PARAMETERS[name]
        run.add_argument(
            f"-{name}" if len(name) == 1 else f"--{name}",
            type=int,
            default=None if name == "k" else parameter.default,
            help=f"{parameter.help} Range {parameter.low} to {parameter.high}"
            + (", default: the dataset's." if name == "k" else f", default {parameter.default}."),
        )
    run.add_argument("--preset", choices=PRESETS, default="recommended", help="choices (default: %(default)s)")
    run.add_argument("--features", choices=KINDS, default="automatic", help="representation (default: %(default)s)")
    output = run.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON object")
    output.add_argument("--csv", action="store_true", help="print comma-separated values")
    assess_command.add_parser(commands)
    datasets_command.add_parser(commands)
    table_command.add_parser(commands)
    sweep_command.add_parser(commands)
    return parser


def _start_app(options: argparse.Namespace) -> int:
    script = app_file()
    command = [sys.executable, "-m", "streamlit", "run", script.name, "--server.port", str(options.port)]
    command += ["--server.address", options.address, "--server.headless", str(options.no_browser).lower()]
    # Streamlit reads its configuration from the folder it is started in.
    os.chdir(script.parent)
    if os.name == "posix":
        # Become the server: whoever stops this command stops the server, and nothing is left behind.
        os.execv(sys.executable, command)  # noqa: S606 - no shell, fixed command
    return subprocess.run(command, check=False).returncode  # noqa: S603 - no shell, fixed command


def _rows(result: RunResult) -> list[dict[str, Any]]:
    rows = []
    for rule in result.error_tables:
        row: dict[str, Any] = {"rule": rule}
        for kind in HEADLINES:
            headline = result.headline(kind)[rule]
            row[f"error_{kind}"], row[f"stderr_{kind}"] = headline.mean, headline.stderr
        row["risk"] = float(result.risk_tables[rule].average().mean())
        row["ess"] = float(result.ess_tables[rule].final().mean())
        rows.append(row)
    return rows


def _print_table(result: RunResult) -> None:
    print(f"{result.name}: {result.n_tasks} tasks, n = {result.settings.n}, b = {result.settings.b}, ", end="")
    print(f"{result.settings.repetitions} repetitions, {result.time_s.sum():.2f} s")
    print(f"{'rule':18s}{'average':>17s}{'newest':>17s}{'lag b':>17s}{'risk':>8s}{'ESS':>8s}")
    for row in _rows(result):
        cells = "".join(
            f"{row[f'error_{kind}']:9.3f} ± {row[f'stderr_{kind}']:.3f}" for kind in ("average", "newest", "lag")
        )
        print(f"{row['rule']:18s}{cells}{row['risk']:8.3f}{row['ess']:8.1f}")


def _run(options: argparse.Namespace) -> int:
    load = {} if options.k is None else {"tasks": options.k}
    sequence = datasets.load(options.dataset, seed=options.seed, **load)
    names = ("n", "b", "W", "repetitions", "seed")
    settings = RunSettings(
        features=FeatureSpec(options.features),
        preset=options.preset,
        **{name: getattr(options, name) for name in names},
    )
    steps = []
    for step in iter_run(sequence, settings):
        steps.append(step)
        print(f"\rtask {step.number} of {step.total}", end="", file=sys.stderr, flush=True)
    print("\r" + " " * 30 + "\r", end="", file=sys.stderr, flush=True)
    result = RunResult.from_steps(settings, sequence, steps)
    if options.json:
        print(json.dumps({"dataset": result.name, "settings": settings.to_json(), "rules": _rows(result)}))
    elif options.csv:
        rows = _rows(result)
        writer = csv.DictWriter(sys.stdout, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    else:
        _print_table(result)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (0 done, 2 bad input, 1 failure)."""
    options = _parser().parse_args(arguments)
    try:
        return {
            "app": _start_app,
            "run": _run,
            "assess": assess_command.run,
            "datasets": datasets_command.run,
            "table": table_command.run,
            "sweep": sweep_command.run,
        }[options.command](options)
    except (ValueError, TypeError, FileNotFoundError) as error:
        print(f"imrc: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("\nimrc: stopped", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
