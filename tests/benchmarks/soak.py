"""Thirty visitors for half an hour: two with large files and the largest settings, the others read.

Run: python tests/benchmarks/soak.py [--visitors 30] [--seconds 1800] [--think 10] [--csv FILE]

The readers are those of `visitors.py`: each compares every number it sees with what the library gives. The other two
take turns between a file of 60 MB and 200,000 rows, a run just below the limit, the largest settings there are, and
uploads that no page asked for. Wanted: no error, a median below .5 s for views seen before, memory below 1.5 GB, and
back near the start once everybody has left.
"""

import argparse
import itertools
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.app.conftest import server_process
from tests.app.visitor import visiting
from tests.benchmarks.tables import RESULTS, print_rows, write_rows
from tests.benchmarks.visitors import Report, expected, memory_mb, settings_of, visit

LARGEST = {
    "dataset": "random_walk", "k": 2000, "n": 1, "b": 1999, "repetitions": 200, "features": "rff", "frequencies": 1000,
}  # fmt: skip
LARGE = {"dataset": "random_walk", "k": 60, "n": 5, "b": 59, "repetitions": 10, "features": "rff", "frequencies": 200}


def large_file(rows: int = 200_000, columns: int = 28) -> bytes:
    """Return a CSV of about 60 MB."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, columns)).round(7), columns=[f"x{i}" for i in range(columns)])
    frame.insert(
        0, "month", np.repeat(pd.date_range("2010-01-01", periods=100, freq="MS").strftime("%Y-%m-%d"), rows // 100)
    )
    frame["state"] = np.where(frame["x0"] + rng.normal(size=rows) > 0, "yes", "no")
    return frame.to_csv(index=False).encode()


def demand(url: str, number: int, until: float, content: bytes, report: Report, done: list[str]) -> None:
    """Be a visitor who asks for as much as there is."""
    for turn in itertools.count():
        if time.monotonic() > until:
            return
        what = ("file", "largest", "large", "uploads")[(turn + 2 * number) % 4]
        try:
            if what in ("file", "uploads"):
                with visiting(url, "your-data") as visitor:
                    visitor.see(seconds=600)
                    sent = [visitor.upload(file, content) for file in range(1 if what == "file" else 6)]
                    if sent.count(204) != len(sent):
                        report.problems.append(f"uploads were answered {sent}")
                    visitor.see(seconds=600)
                    if what == "file" and "Use this" in visitor.buttons:
                        visitor.see("Use this", seconds=600)
                    elif what == "file":
                        report.problems.append(f"the file was not opened: {visitor.alerts} {visitor.failures}")
            else:
                wanted = LARGEST if what == "largest" else {**LARGE, "seed": turn}
                with visiting(url, "", **wanted) as visitor:
                    visitor.see(seconds=600)
                    if what == "largest" and "too large for this server" not in visitor.alerts:
                        report.problems.append("the largest settings were not refused")
                    if "Start this run" in visitor.buttons:
                        visitor.see("Start this run", seconds=600)
            if visitor.failures or "went wrong" in visitor.alerts:
                report.problems.append(f"{what}: {visitor.failures} {visitor.alerts}")
            done.append(what)
        except Exception as error:
            report.problems.append(f"{what}: {type(error).__name__}: {error}")


def main() -> None:
    """Print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--think", type=float, default=10.0)
    parser.add_argument("--rest", type=float, default=150.0, help="seconds after the last has left")
    parser.add_argument("--csv", type=Path, default=RESULTS / "soak.csv")
    options = parser.parse_args()
    readers, report, done, content = options.visitors - 2, Report(), [], large_file()
    for number in range(readers):
        for turn in range(4):
            expected(*settings_of(number, turn))
    with server_process() as (url, process):
        with visiting(url, dataset="identical", k=3, n=4, repetitions=1) as first:
            first.see(seconds=300)
        at_start, until = memory_mb(process.pid), time.monotonic() + options.seconds
        threads = [
            threading.Thread(target=visit, args=(url, i, until, options.think, 4, report), daemon=True)
            for i in range(readers)
        ]
        threads += [
            threading.Thread(target=demand, args=(url, i, until, content, report, done), daemon=True) for i in range(2)
        ]
        for thread in threads:
            thread.start()
            time.sleep(0.1 * options.seconds / len(threads))
        while any(thread.is_alive() for thread in threads) and time.monotonic() < until + 300:
            report.memory_mb.append((time.monotonic(), memory_mb(process.pid)))
            time.sleep(0.5)
        report.problems += ["a visitor never came to an end" for thread in threads if thread.is_alive()]
        time.sleep(options.rest)
        # Streamlit lets go of the sessions of those who left two minutes ago when somebody comes or goes.
        with visiting(url, dataset="identical", k=3, n=4, repetitions=1) as last:
            last.see(seconds=300)
        time.sleep(20)  # and gives memory back a little later
        at_end = memory_mb(process.pid)
    rows = {
        "visitors": options.visitors,
        "seconds": options.seconds,
        "file_mb": round(len(content) / 1e6, 1),
        "cached_views": len(report.cached),
        "cached_median_s": round(statistics.median(report.cached), 3) if report.cached else None,
        "fresh_views": len(report.fresh),
        "fresh_median_s": round(statistics.median(report.fresh), 3) if report.fresh else None,
        **{f"asked_{what}": done.count(what) for what in ("file", "largest", "large", "uploads")},
        "problems": len(report.problems),
        "memory_at_start_mb": round(at_start),
        "memory_largest_mb": round(max(value for _, value in report.memory_mb)),
        "memory_at_end_mb": round(at_end),
        "load_after": Path("/proc/loadavg").read_text().split()[0],
    }
    print_rows(rows, report.problems)
    write_rows(options.csv, [rows])


if __name__ == "__main__":
    main()
