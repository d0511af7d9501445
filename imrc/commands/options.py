"""What commands share: the data they work on, the settings of the table, and output as text, JSON or CSV."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imrc import datasets
from imrc._checks import ENDINGS, DataError, InputError, check_int, check_place, did_you_mean
from imrc._progress import ProgressLine, say
from imrc.core.presets import DEFAULT, own_features
from imrc.core.settings import OVERRIDES, SETTINGS, Setting
from imrc.features import FeatureSpec
from imrc.tables import READING
from imrc.tables.given import OPTIONS, tasks_from
from imrc.tasks import TaskSequence
from imrc.wording import in_columns, plain

if TYPE_CHECKING:
    import pandas as pd

_Options = argparse._ActionsContainer
_MAPPED = ("frequencies", "sigma2")
_COLUMNS: dict[str, Any] = {"nargs": "+", "metavar": "COLUMN"}


def data(text: str) -> str:
    """Return the name of a dataset or the path of a file; argparse turns the error into a message and status 2."""
    known = datasets.names()
    if text in known or Path(text).is_file():
        return text
    known_and_hint = f"({', '.join(known)}).{did_you_mean(text, known)}"
    raise argparse.ArgumentTypeError(f"{text!r} is neither a file on this computer nor a dataset {known_and_hint}")


def _threshold(text: str) -> float | str:
    return text if text == "median" else float(text)


def _value(one: Setting, text: str) -> Any:  # noqa: ANN401 - a number or a word
    try:
        return one.parse(text)
    except ValueError:
        hint = did_you_mean(text, one.words)
        raise argparse.ArgumentTypeError(f"{text!r} is not understood; possible: {one.possible}.{hint}") from None


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add what a command works on: a dataset, or a file and how it is cut into tasks."""
    about = "a dataset (imrc datasets lists them), or a file of your own: CSV, TSV, Excel, Parquet, ARFF"
    parser.add_argument("dataset", type=data, metavar="DATA", help=about)
    parser.add_argument("-k", "--k", type=int, help="number of tasks (default: all)")
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that cut a file into tasks; the short help has only those without which there are no tasks."""
    parser.add_argument("--target", metavar="COLUMN", help="of a file: column to predict")
    cut = parser.add_mutually_exclusive_group()
    cut.add_argument("--by", metavar="COLUMN", help="of a file: column whose values are the tasks")
    cut.add_argument("--every", type=int, metavar="ROWS", help="of a file: rows per task in file order, without --by")
    parser.add_argument("--period", help="if --by contains dates, one task per value, day, week, month, quarter, year")
    own = parser.add_argument_group("a file of your own", "The tutorial *Your own file* explains these options.")
    own.add_argument("--exclude", **_COLUMNS, help="columns not to learn from")
    own.add_argument("--include", **_COLUMNS, help="columns to use although they look like IDs")
    own.add_argument("--words", **_COLUMNS, help="columns whose numbers are only names")
    own.add_argument("--threshold", type=_threshold, help="threshold that splits a numeric label: a number or median")
    own.add_argument("--max-categories", type=int, metavar="N", help="maximum number of 0/1 columns per category")
    own.add_argument("--max-missing", type=float, metavar="SHARE", help="drop columns with more gaps in task 1")
    own.add_argument("--min-samples", type=int, metavar="ROWS", help="leave out tasks with fewer rows than this")
    own.add_argument("--newest", type=int, metavar="TASKS", help="keep only this many tasks, the newest")
    yes_or_no = argparse.BooleanOptionalAction
    own.add_argument("--dayfirst", action=yes_or_no, help="read 1/2/2020 as 1 February (or as 2 January)")
    own.add_argument("--decimal", choices=(".", ","), help="the decimal separator")
    own.add_argument("--header", action=yes_or_no, help="whether the first row contains the names of the columns")
    own.add_argument("--sheet", metavar="NAME", help="sheet of a workbook: its name, or its number from 1")
    parser.set_defaults(notes=[])


def add_settings(parser: _Options, *names: str, flag: str = "", said: str = "", **how: Any) -> None:  # noqa: ANN401
    """Add options of settings, None unless given; `said` is the default that help names instead of the table's."""
    for name in names:
        one = SETTINGS[name]
        possible: dict[str, Any] = {"choices": tuple(one.words)}
        if one.limits is not None:
            possible = {"type": partial(_value, one), "metavar": name.upper()}
        numbers = "" if one.limits is None else f" Range {one.possible}."
        usual = said or ("the preset's" if one.default is None else one.default)
        text = f"{one.help}{numbers} Default: {usual}.".replace("**", "").replace("%", "%%")
        short = [f"-{name}"] if len(name) == 1 else []
        parser.add_argument(*short, f"--{(flag or name).replace('_', '-')}", help=text, **possible, **how)


def add_choice(parser: _Options, flag: str, words: Mapping[Any, str], what: str, said: str, **how: Any) -> None:  # noqa: ANN401
    """Add an option with one of these words; help says what each means, and what the default is."""
    told = " ".join(f"{word}: {text.rstrip('.')}." for word, text in words.items()).replace("%", "%%")
    parser.add_argument(flag, choices=tuple(words), help=f"{what} (default: {said}). {told}", **how)


def add_settings_of_run(parser: argparse.ArgumentParser, *, largest: bool = False) -> None:
    """Add the data and all settings of a run; `largest`: n is by default what the rows allow."""
    from imrc.evaluation.settings import SCENARIOS  # here, because other commands need none of what it loads

    add_data(parser)
    rest = parser.add_argument_group("other settings, which override the preset and the representation")
    said = "the largest that leaves 100 rows, or half, of each task for testing" if largest else ""
    add_settings(parser, "n", said=said)
    add_settings(parser, "b", "preset", "repetitions")
    add_settings(rest, "seed", "W", "features")
    scenarios = {name: scenario.sentence for name, scenario in SCENARIOS.items()}
    what = "which tasks are learnt from, and which errors are averaged"
    add_choice(rest, "--scenario", scenarios, what, said="continual")
    add_settings(rest, *OVERRIDES, *_MAPPED)


def check_outputs(options: argparse.Namespace, *more: str) -> None:
    """Check options with a Path, the files to write: InputError also if one is a file to read, of `more` too."""
    texts = {getattr(options, name, None) or "" for name in ("dataset", "file", "model")} | {*more}
    read = {Path(text).resolve() for text in texts.difference(datasets.names())}
    for name, place in vars(options).items():
        # A store that is there may be one that is only read.
        if isinstance(place, Path) and not (name == "store" and place.is_file()):
            setattr(options, name, check_place(place, *ENDINGS.get(name, ())))
            if getattr(options, name).resolve() in read:
                raise InputError(f"{str(place)!r} is a file to read, and would be lost. Write to another file.")


def given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the values of these options that were given."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def run_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of `add_run` that were given, by the names of `RunSettings.of`."""
    usual = ("preset", "scenario", "n", "b", "W", "repetitions", "seed")
    preset = options.preset or DEFAULT
    features = own_features(preset) if options.features is None else FeatureSpec(options.features)
    return {**given(options, *usual, *OVERRIDES), "features": replace(features, **given(options, *_MAPPED))}


def reading_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return how the options cut a file, as `imrc.tasks_from` takes it."""
    found = given(options, "target", "by", "every", "period", *OPTIONS)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def check_reading(dataset: str, reading: Mapping[str, Any]) -> None:
    """Raise InputError if the options do not say how to cut a file, or cut a dataset that is cut already."""
    if dataset in datasets.names():
        for name in reading:
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} is for your own files. {dataset} is already cut into tasks.")
    elif "target" not in reading or not {"by", "every"} & set(reading):
        table = datasets.open_table(Path(dataset), **{name: reading[name] for name in READING if name in reading})
        found = datasets.suggest(table)
        cut = f"--by {found.task!r}" if found.task else f"--every {found.block}"
        raise DataError(
            f"{dataset} needs --target and either --by or --every, for example --target {found.label or 'COLUMN'!r} "
            f"{cut}. Its columns: {', '.join(table.names[:30])}{' …' if len(table.names) > 30 else ''}."
        )


def sequence_of(options: argparse.Namespace, line: ProgressLine) -> TaskSequence:
    """Return the sequence that the options ask for; print notes on how a file was read."""
    line.show("reading")
    reading = reading_of(options)
    check_reading(options.dataset, reading)
    if options.dataset in datasets.names():
        named = {"tasks": options.k, "seed": options.seed}
        return datasets.load(options.dataset, **{name: one for name, one in named.items() if one is not None})
    sequence = tasks_from(options.dataset, **reading)
    line.clear()
    tell(options, sequence.info["warnings"])
    return sequence if options.k is None else sequence.head(check_int("k", options.k, 1, len(sequence)))


def tell(options: argparse.Namespace, notes: Iterable[str]) -> None:
    """Print the notes that were not printed before on stderr, and keep all for JSON."""
    notes = [*notes]
    for note in notes:
        if note not in options.notes:
            say(f"imrc: {note}")
    options.notes = notes


def print_as(
    options: argparse.Namespace,
    rows: pd.DataFrame | Sequence[Mapping[str, Any]],
    told: Mapping[str, Any],
    text: Callable[[], object] = lambda: None,
) -> None:
    """Print a result as asked for: `told` and the notes as JSON, `rows` as CSV, otherwise what `text` prints."""
    if options.json:
        notes = {"notes": options.notes} if "notes" in options else {}
        told = plain({"schema": f"imrc.{options.command}", "version": 1, **notes, **told})
        # Where the output cannot show every character, JSON has a way to write them all.
        unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        print(json.dumps(told, indent=2, ensure_ascii=not unicode, allow_nan=False))
    elif options.csv:
        print_csv(rows)
    else:
        text()


def print_csv(rows: pd.DataFrame | Sequence[Mapping[str, Any]], *, header: bool = True) -> None:
    """Print rows, with a header unless they continue; missing values stay empty."""
    import pandas as pd

    # Whole numbers stay whole in columns that are not known everywhere.
    pd.DataFrame(rows, dtype=object).to_csv(sys.stdout, index=False, header=header, lineterminator="\n")


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int | Collection[str] = 1) -> None:
    """Print texts in columns; the first `left` columns, or those named, are left-aligned, the others right-aligned."""
    sides = range(left) if isinstance(left, int) else [i for i, name in enumerate(header) if name in left]
    print("\n".join(in_columns([header, *rows], sides)))
