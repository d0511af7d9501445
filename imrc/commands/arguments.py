"""Options that several commands have: the sequence they work on, and the settings of the table."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc._checks import DataError, InputError, check_int, did_you_mean
from imrc._progress import ProgressLine
from imrc.core.settings import SETTINGS, Setting
from imrc.tables.given import OPTIONS, tasks_from
from imrc.tasks import TaskSequence

CUT = ("target", "by", "every", "period")
"""Options without which no file becomes tasks, in the short help; others are in `imrc.tables.given.OPTIONS`."""


def _threshold(text: str) -> float | str:
    return text if text == "median" else float(text)


def data(text: str) -> str:
    """Return the name of a dataset or the path of a file; argparse turns the error into a message and status 2."""
    looks_like_file = bool(Path(text).suffix) or os.sep in text or Path(text).is_file()
    if text in datasets.names() or looks_like_file:
        return text
    known = ", ".join(datasets.names())
    raise argparse.ArgumentTypeError(
        f"{text!r} is neither a dataset ({known}) nor a file on this computer.{did_you_mean(text, datasets.names())}"
    )


def _value(one: Setting, text: str) -> Any:  # noqa: ANN401 - a number or a word
    try:
        return one.parse(text)
    except ValueError:
        hint = did_you_mean(text, one.words)
        raise argparse.ArgumentTypeError(f"{text!r} is not understood; possible: {one.possible}.{hint}") from None


def add_sequence(parser: argparse.ArgumentParser, *, tasks: str = "number of tasks (default: all)") -> None:
    """Add the positional argument DATA and the options that cut a file into tasks; `tasks` is what ``-k`` says."""
    about = "a dataset (imrc datasets lists them), or a file of your own: CSV, TSV, Excel, Parquet, ARFF"
    parser.add_argument("dataset", type=data, metavar="DATA", help=about)
    parser.add_argument("-k", "--k", type=int, help=tasks)
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that cut a file into tasks."""
    parser.add_argument("--target", "--label", metavar="COLUMN", help="of a file: column to predict")
    cut = parser.add_mutually_exclusive_group()
    cut.add_argument("--by", "--task", metavar="COLUMN", help="of a file: column whose values are the tasks")
    rows = "of a file: rows per task in file order, instead of --by"
    cut.add_argument("--every", "--block", type=int, metavar="ROWS", help=rows)
    dates = "one task per, if --by holds dates: value, day, week, month, quarter or year"
    parser.add_argument("--period", help=dates)
    own = parser.add_argument_group("a file of your own", "How to read columns: see *Your own file* in the docs.")
    own.add_argument("--exclude", nargs="+", metavar="COLUMN", help="columns not to learn from")
    own.add_argument("--include", nargs="+", metavar="COLUMN", help="columns to use although they look like IDs")
    own.add_argument("--words", nargs="+", metavar="COLUMN", help="columns whose numbers are names, taken as words")
    two = "for a label of numbers, the threshold between two classes: a number or median"
    own.add_argument("--threshold", type=_threshold, metavar="VALUE", help=two)
    own.add_argument("--max-categories", type=int, metavar="N", help="maximum number of 0/1 columns per category")
    empty = "leave out a column of numbers if a larger share of its values is missing in the first task"
    own.add_argument("--max-missing", type=float, metavar="SHARE", help=empty)
    own.add_argument("--min-samples", type=int, metavar="ROWS", help="leave out tasks with fewer rows than this")
    own.add_argument("--newest", type=int, metavar="TASKS", help="keep only this many tasks, the newest")
    yes_or_no = argparse.BooleanOptionalAction
    own.add_argument("--dayfirst", action=yes_or_no, help="read 1/2/2020 as 1 February (or as 2 January)")
    own.add_argument("--decimal", choices=(".", ","), help="the decimal separator")
    own.add_argument("--header", action=yes_or_no, help="whether the first row contains the names of the columns")
    own.add_argument("--sheet", metavar="NAME", help="sheet of a workbook, by its name or its number counted from 1")
    parser.set_defaults(notes=[])


def add_setting(
    parser: argparse._ActionsContainer,
    name: str,
    *,
    flag: str = "",
    default: object = ...,
    said: object = None,
    nargs: str | None = None,
) -> None:
    """Add the option of a setting, with the default of the table or another; `said` is what help calls it."""
    one = SETTINGS[name]
    default = one.default if default is ... else default
    said = said or ("the preset's" if default is None else default)
    possible: dict[str, Any] = {"choices": tuple(one.words)}
    if one.limits is not None:
        possible = {"type": partial(_value, one), "metavar": name.upper()}
    numbers = "" if one.limits is None else f" Range {one.possible}."
    parser.add_argument(
        *([f"-{name}"] if len(name) == 1 else []),
        f"--{(flag or name).replace('_', '-')}",
        default=default,
        nargs=nargs,
        help=f"{one.help}{numbers} Default: {said}.".replace("**", "").replace("%", "%%"),
        **possible,
    )


def add_choice(
    parser: argparse._ActionsContainer,
    flag: str,
    words: Mapping[Any, str],
    what: str,
    *,
    default: Any = None,  # noqa: ANN401 - a word, or several
    said: str = "",
    nargs: str | None = None,
) -> None:
    """Add an option with one of these words; help says what each means."""
    told = " ".join(f"{word}: {text.rstrip('.')}." for word, text in words.items()).replace("%", "%%")
    text = f"{what} (default: {said or default}). {told}"
    parser.add_argument(flag, choices=tuple(words), default=default, nargs=nargs, help=text)


def reading_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return how the arguments cut a file, as `imrc.tasks_from` takes it."""
    given = {name: value for name, value in vars(options).items() if name in (*CUT, *OPTIONS) and value is not None}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def check_reading(dataset: str, given: Mapping[str, Any]) -> None:
    """Raise InputError where a file is to be cut and the arguments do not say how, or a dataset that is cut already."""
    path = Path(dataset)
    if dataset in datasets.names():
        if given:
            name = next(iter(given)).replace("_", "-")
            raise InputError(f"--{name} is for your own files. {dataset} is already cut into tasks.")
    elif not path.is_file():
        raise DataError(f"{path} is not on this computer. Give the path of a file, or one of {datasets.names()}.")
    elif "target" not in given or not {"by", "every"} & set(given):
        table = datasets.open_table(path)
        found = datasets.suggest(table)
        cut = f"--by {found.task!r}" if found.task else f"--every {found.block}"
        raise DataError(
            f"{path} needs --target and either --by or --every, for example --target {found.label or 'COLUMN'!r} "
            f"{cut}. Its columns: {', '.join(table.names[:30])}{' …' if len(table.names) > 30 else ''}."
        )


def sequence_of(options: argparse.Namespace, line: ProgressLine) -> TaskSequence:
    """Return the sequence the arguments ask for; what was decided while a file was read is said, and noted."""
    line.show("reading")
    given = reading_of(options)
    check_reading(options.dataset, given)
    if options.dataset in datasets.names():
        tasks = {} if options.k is None else {"tasks": options.k}
        return datasets.load(options.dataset, seed=options.seed, **tasks)
    sequence = tasks_from(options.dataset, **given)
    for note in sequence.info["warnings"]:
        if note not in options.notes:  # a file that grows is read again
            line.say(f"imrc: {note}")
    options.notes = list(sequence.info["warnings"])
    return sequence if options.k is None else sequence.head(check_int("k", options.k, 1, len(sequence)))
