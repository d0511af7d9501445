"""Options that several commands have: the sequence they work on, and the settings of the table."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from imrc import datasets
from imrc._checks import InputError, check_int, did_you_mean
from imrc.core.settings import SETTINGS, Setting
from imrc.datasets import DataError
from imrc.tasks import TaskSequence

FILE_OPTIONS = (
    *("label", "task", "block", "period", "exclude", "include", "words", "threshold", "max_categories", "min_samples"),
    *("newest", "dayfirst", "decimal", "header", "sheet"),
)


def _threshold(text: str) -> float | str:
    return text if text == "median" else float(text)


def _data(text: str) -> str:
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


def add_sequence(
    parser: argparse.ArgumentParser,
    *,
    optional: bool = False,
    tasks: str = "number of tasks (default: the dataset's, all of a file)",
) -> None:
    """Add the positional argument DATA and the options that cut a file into tasks; `tasks` is what ``-k`` says."""
    parser.add_argument(
        "dataset",
        type=_data,
        metavar="DATA",
        nargs="?" if optional else None,
        help=f"a dataset ({', '.join(datasets.names())}), or a file of your own: CSV, TSV, Excel, Parquet, ARFF",
    )
    parser.add_argument("-k", "--k", type=int, help=tasks)
    own = parser.add_argument_group("a file of your own", "What columns mean; see the documentation, Your own file.")
    own.add_argument("--target", "--label", dest="label", metavar="COLUMN", help="column to predict")
    cut = own.add_mutually_exclusive_group()
    cut.add_argument("--by", "--task", dest="task", metavar="COLUMN", help="column whose values are the tasks")
    rows = "rows per task in file order, instead of --by"
    cut.add_argument("--every", "--block", dest="block", type=int, metavar="ROWS", help=rows)
    own.add_argument("--period", help="one task per, if --by holds dates: value, day, week, month, quarter or year")
    own.add_argument("--exclude", nargs="+", metavar="COLUMN", help="columns not to learn from")
    own.add_argument("--words", nargs="+", metavar="COLUMN", help="columns of numbers that are names, used as words")
    own.add_argument(
        "--threshold", type=_threshold, metavar="VALUE", help="two classes of a label of numbers: above it (or median)"
    )
    own.add_argument("--max-categories", type=int, metavar="N", help="most 0/1 columns per category")
    own.add_argument("--min-samples", type=int, metavar="ROWS", help="leave out tasks with fewer rows")
    own.add_argument("--include", nargs="+", metavar="COLUMN", help="columns to use though they look like identifiers")
    own.add_argument("--newest", type=int, metavar="TASKS", help="keep so many tasks at the end")
    yes_or_no = argparse.BooleanOptionalAction
    own.add_argument("--dayfirst", action=yes_or_no, help="1/2/2020 is the 1st of February, or the 2nd of January")
    own.add_argument("--decimal", choices=(".", ","), help="what separates decimals")
    own.add_argument("--header", action=yes_or_no, help="whether the first row holds names of columns")
    own.add_argument("--sheet", metavar="NAME", help="sheet of a workbook, by name or number from 1")
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


def sequence_of(options: argparse.Namespace) -> TaskSequence:
    """Return the sequence the arguments ask for."""
    given: dict[str, Any] = {
        name: getattr(options, name) for name in FILE_OPTIONS if getattr(options, name) is not None
    }
    if options.dataset in datasets.names():
        if given:
            name = next(iter(given)).replace("_", "-")
            raise InputError(f"--{name} is for files of your own; {options.dataset} is cut into tasks already.")
        tasks = {} if options.k is None else {"tasks": options.k}
        return datasets.load(options.dataset, seed=options.seed, **tasks)
    path = Path(options.dataset)
    if not path.is_file():
        raise DataError(f"{path} is not on this computer. Give the path of a file, or one of {datasets.names()}.")
    if "label" not in given or not {"task", "block"} & set(given):
        raise DataError(_what_is_missing(path))
    given.update({name: tuple(given[name]) for name in ("exclude", "include", "words") if name in given})
    sequence = datasets.read_table(path, **given)
    options.notes = list(sequence.info["warnings"])
    return sequence if options.k is None else sequence.head(check_int("k", options.k, 1, len(sequence)))


def _what_is_missing(path: Path) -> str:
    table = datasets.open_table(path)
    suggested = datasets.suggest(table)
    label = suggested.label or "COLUMN"
    cut = f"--by {suggested.task!r}" if suggested.task else f"--every {suggested.block}"
    return (
        f"{path} needs --target and either --by or --every, for example --target {label!r} {cut}. "
        f"Its columns: {', '.join(table.names[:30])}{' …' if len(table.names) > 30 else ''}."
    )
