"""Time of `imrc.diagnostics.assess` on given means: reduction, all order tests, change, twelve models, verdict.

    OMP_NUM_THREADS=1 PYTHONPATH=. python tests/benchmarks/diagnostics_time.py

Warm: compiled code and eigenvectors are there from a first call with the same k. Each time is the smallest of several
repetitions, with the time of one product of 400 x 400 matrices beside it as a yardstick of the machine. Writes
``results/diagnostics_time.csv``.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path

import numpy as np
import pandas as pd

import imrc
from imrc.diagnostics import assess

RESULTS = Path(__file__).parent / "results"


def smallest_ms(function: object, repetitions: int) -> float:
    """Smallest time of several calls, in milliseconds."""
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        function()  # type: ignore[operator]  # a function without arguments
        times.append(time.perf_counter() - started)
    return 1000 * min(times)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = []
    for k, m in ((5, 50), (20, 50), (60, 50), (60, 802), (100, 50), (100, 802), (400, 50), (400, 802), (1936, 106)):
        generator = np.random.default_rng(k)
        means = np.cumsum(0.5 * generator.standard_normal((k, m)), axis=0) + generator.standard_normal((k, m))
        assess(means, 1.0)
        square = generator.standard_normal((400, 400))
        spent = smallest_ms(lambda means=means: assess(means, 1.0), 10 if k <= 100 else 3)
        product = smallest_ms(lambda square=square: square @ square, 10)
        rows.append({"k": k, "m": m, "assess_ms": round(spent, 1), "product_ms": round(product, 2)})
        rows[-1]["ratio"] = round(spent / product, 1)
        print(rows[-1], flush=True)
    versions = f"numpy {np.__version__}, Python {platform.python_version()}, imrc {imrc.__version__}"
    pd.DataFrame(rows).assign(versions=versions).to_csv(options.out / "diagnostics_time.csv", index=False)


if __name__ == "__main__":
    main()
