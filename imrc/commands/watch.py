"""The command ``imrc watch``: an alarm for a sequence whose tasks arrive one after the other."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from imrc._checks import DataError, InputError
from imrc._progress import ProgressLine, say
from imrc.commands.options import add_data, add_settings, given, print_as, print_csv, sequence_of
from imrc.wording import feature_names_or_numbers, listed, number, p_text

if TYPE_CHECKING:
    from imrc.watch import Arrival, Watcher

ALARM = 3
"""Exit status once the alarm has gone off."""
_EVERY_S = 2.0


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc watch``."""
    parser.description = (
        "Compare each task with all earlier ones. If all rows are independent draws from one distribution, "
        "the probability that the alarm ever goes off is at most alpha, however long you watch. The warning *more than "
        "usual* is calibrated by simulation only. The representation is learnt from the first task. With --state or "
        "--follow, the last value of --by waits until a later one shows that it is complete."
    )
    add_data(parser)
    parser.add_argument("--alpha", type=float, help="upper bound on the probability of any false alarm (default: 0.05)")
    state = "continue from this file if it exists, and write it at the end; for cron jobs"
    parser.add_argument("--state", metavar="FILE.npz", type=Path, help=state)
    parser.add_argument("--follow", action="store_true", help="keep reading the file as it grows, until the alarm")
    add_settings(parser, "features", said="automatic")
    add_settings(parser, "seed")


def run_watch(options: argparse.Namespace) -> int:
    """Watch; return 3 if the alarm has gone off, now or before."""
    from imrc.watch import Watcher  # here, so that help and mistyped options wait for nothing

    growing, settings = Path(options.dataset), given(options, "alpha", "features", "seed")
    if options.follow and not growing.is_file():
        raise InputError("--follow is for your own files. A dataset does not grow.")
    continued = options.state is not None and options.state.is_file()
    watcher = Watcher.load(options.state) if continued else Watcher(**settings)
    for name, asked in settings.items():
        if asked != (begun := watcher.settings[name]):
            raise InputError(
                f"{options.state} was started with {name} = {begun}, not {asked}. This value cannot change later."
            )
    options.seed = watcher.settings["seed"]  # a dataset is drawn by it
    arrivals: list[Arrival] = []
    seen: tuple[int, int] | None = None
    while seen is None or (options.follow and watcher.alarm.alarm is None):
        status = growing.stat() if options.follow else None
        now = (0, 0) if status is None else (status.st_size, status.st_mtime_ns)  # changes when the file grows
        if now == seen:
            time.sleep(_EVERY_S)
            continue
        try:
            _read(watcher, arrivals, options, begins=seen is None)
        except DataError as error:
            if seen is None:
                raise
            # Perhaps a row is half written: the next look will tell.
            say(f"imrc: waiting, because the file cannot be used yet: {error}")
        seen = now
    at, alpha = watcher.alarm.alarm, watcher.alarm.alpha
    # The first task is not tested, and the second has nothing before it.
    task = None if at is None else at + 2
    told = {"alpha": alpha, "tasks": watcher.tasks, "alarm": task, "arrivals": [*map(vars, arrivals)]}
    conclusion = (
        f"{'No alarm' if task is None else f'ALARM since task {task}'} in {watcher.tasks} tasks. If rows are "
        f"independent and nothing changes, the evidence reaches {1.0 / alpha:g} with probability at most {alpha:g}."
    )
    if not options.csv:  # whose rows are printed already
        print_as(options, [], told, lambda: print(conclusion))
    return 0 if at is None else ALARM


def _read(watcher: Watcher, arrivals: list[Arrival], options: argparse.Namespace, *, begins: bool) -> None:
    """Take in what is new, show it and save the state."""
    with ProgressLine() as line:
        sequence = sequence_of(options, line)
    if begins and (note := watcher.dependence(sequence)):
        say(f"imrc: {note} The alarm assumes independent rows.")
    may_grow = (options.follow or options.state is not None) and options.by is not None
    empty = [set(np.flatnonzero(np.isnan(task.X).all(axis=0)).tolist()) for task in sequence]
    for arrival in watcher.read(sequence, len(sequence) - may_grow):
        arrivals.append(arrival)
        if gone := empty[arrival.task - 1] - empty[arrival.task - 2]:
            names = feature_names_or_numbers(sequence.feature_names, sequence.n_features)
            say(
                f"imrc: task {arrival.task} ({arrival.label}): from here on, no numbers (empty or infinite) in "
                f"{listed([names[column] for column in sorted(gone)], 5)}"
            )
        # At once: whoever follows a file does not wait for the end.
        if options.csv:
            print_csv([vars(arrival)], header=len(arrivals) == 1)
        elif not options.json:
            print(_in_words(arrival))
        sys.stdout.flush()
    if options.state is not None:
        watcher.save(options.state)


def _in_words(arrival: Arrival) -> str:
    lamp = "ALARM" if arrival.alarm else "more than usual" if arrival.unusual else ""
    evidence = number(arrival.evidence) if arrival.evidence < 1e6 else f"{arrival.evidence:.0e}"
    tested = "the first tested" if arrival.p != arrival.p else f"{p_text(arrival.p)}, evidence {evidence}"
    change = "" if arrival.change != arrival.change else f", change d² / σ² = {arrival.change:.3f}"
    return f"task {arrival.task} ({arrival.label}): {tested}{change}  {lamp}".rstrip()
