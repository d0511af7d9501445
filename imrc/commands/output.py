"""Output of commands: text for people, JSON and CSV for programs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from imrc.wording import in_columns, plain

if TYPE_CHECKING:
    import pandas as pd


def print_as(
    options: argparse.Namespace,
    rows: pd.DataFrame | Sequence[Mapping[str, Any]],
    told: Mapping[str, Any],
    text: Callable[[], object] = lambda: None,
) -> None:
    """Print a result as asked for: `told` as JSON, `rows` as CSV, and otherwise what `text` prints for people.

    JSON is an object with a `schema` and its `version`, and the notes on how a file was read.
    """
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
