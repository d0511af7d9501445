"""The paper's IMRC column, ours beside the printed values; writes results/paper_imrc_column.csv.

Run with IMRC_DATA set to a folder with the data sets (or after ``imrc.datasets.download``)::

    python tests/benchmarks/paper_imrc_column.py            # about a quarter of an hour on two cores
    python tests/benchmarks/paper_imrc_column.py --quick    # the two Usenets and German at n = 10
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

import numba
import numpy as np
import pandas as pd

import imrc
from imrc.evaluation.paper_column import paper_imrc_column

RESULTS = Path(__file__).parent / "results" / "paper_imrc_column.csv"


def show(what: str, done: int, total: int) -> None:
    print(f"[{done}/{total}] {what}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repetitions", type=int, default=50)
    options = parser.parse_args()
    if options.quick:
        print(paper_imrc_column(["usenet1", "usenet2", "german"], [10], repetitions=2, progress=show).to_string())
        return
    tables = ["usenet1", "usenet2", "german", "spam", "power_supply"]
    frames = [
        paper_imrc_column(tables, repetitions=options.repetitions, progress=show),
        # 60 tasks of 784 pixels take longer: fewer repetitions.
        paper_imrc_column(["rotated_mnist"], repetitions=5, progress=show),
    ]
    table = pd.concat(frames, ignore_index=True)
    table["versions"] = (
        f"imrc {imrc.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}"
    )
    RESULTS.parent.mkdir(exist_ok=True)
    table.to_csv(RESULTS, index=False)
    print(table.drop(columns=["versions", "seeds"]).to_string())


if __name__ == "__main__":
    main()
