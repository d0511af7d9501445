"""Processor time of reading 40 MB of clean CSV beside that of pandas.

python -m tests.benchmarks.reading
"""

import io
import resource
import subprocess
import sys

import numpy as np
import pandas as pd

from imrc.tables import open_table
from imrc.tables.read import read_bytes
from imrc.tables.table import Reading

ROWS = 400_000


def clean_csv() -> bytes:
    """Return dates, eight columns of decimals, whole numbers and words."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=ROWS, freq="5min").strftime("%Y-%m-%d %H:%M:%S")})
    for j in range(8):
        frame[f"x{j}"] = generator.normal(size=ROWS).round(6)
    frame["count"] = generator.integers(0, 100_000, ROWS)
    return frame.assign(y=generator.choice(["no", "yes"], ROWS)).to_csv(index=False).encode()


def seconds(work) -> float:
    """Return the least of three measurements, of this process and those it started."""
    used = []
    for _ in range(3):
        before = _spent()
        work()
        used.append(_spent() - before)
    return min(used)


def _spent() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def main() -> None:
    """Print seconds of a processor, and how many times those of pandas."""
    data, few = clean_csv(), b"x,y\n1,a\n2,b\n"
    bare = [sys.executable, "-c", "import sys, pandas; pandas.read_csv(sys.stdin.buffer)"]
    ways = {
        "pandas": lambda: pd.read_csv(io.BytesIO(data)),
        "imrc, without a process": lambda: read_bytes(data, "clean.csv", Reading()),
        "imrc": lambda: open_table(data, name="clean.csv"),
        "imrc, three lines": lambda: open_table(few),
        "pandas in a process of its own": lambda: subprocess.run(bare, input=data, check=True),
    }
    spent = {name: seconds(work) for name, work in ways.items()}
    for name, one in spent.items():
        print(f"{name:32s} {one:.3f} s  {one / spent['pandas']:.1f} times pandas")


if __name__ == "__main__":
    main()
