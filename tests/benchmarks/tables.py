"""What benchmarks share: tables they write, rows on the screen."""

import csv
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    """Write a table of dictionaries as CSV, columns as in the first."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def print_rows(row: dict[str, object], problems: list[str]) -> None:
    """Print one row below each other, and the first problems."""
    for name, value in row.items():
        print(f"{name:20s} {value}")
    print(*problems[:20], sep="\n")
