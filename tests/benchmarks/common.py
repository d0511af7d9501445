"""What benchmarks share: options, tables on the screen and in a file, cells done before."""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser that shows the docstring of a script as it stands."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def write(rows: pd.DataFrame | Sequence[dict[str, object]], path: Path | str) -> pd.DataFrame:
    """Print a table, and write it to a file, by name in `RESULTS`; columns that hold one long text are not shown."""
    table = pd.DataFrame(rows)
    target = RESULTS / path
    target.parent.mkdir(exist_ok=True)
    table.to_csv(target, index=False, lineterminator="\n")
    print(table.drop(columns=["versions", "seed", "seeds"], errors="ignore").to_string(index=False), flush=True)
    return table


def share_error(value: float, count: int) -> float:
    """Return the standard error of a share."""
    return float(np.sqrt(value * (1.0 - value) / count))


class Cells:
    """A CSV file of finished cells, named by some of its columns: a study that was stopped goes on where it was."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path, self.columns, self.done = path, columns, set()
        if path.exists():
            with path.open(newline="") as file:
                self.done = {tuple(row[name] for name in columns) for row in csv.DictReader(file)}

    def has(self, *cell: object) -> bool:
        """Whether a cell has been measured."""
        return tuple(map(str, cell)) in self.done

    def add(self, rows: Sequence[dict[str, object]], **how: object) -> None:
        """Write the rows of a cell; `how` goes to `DataFrame.to_csv`."""
        pd.DataFrame(rows).to_csv(self.path, mode="a", header=not self.path.exists(), index=False, **how)
        print(*(rows[0][name] for name in self.columns), flush=True)
