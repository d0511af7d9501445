"""Memory of a server after one visitor has opened every dataset on every page, and after it has rested.

Run: python tests/benchmarks/server_memory.py [--pages "" evolving ...] [--csv FILE]

Data that are not on this computer are left out; `IMRC_DATA` names the folder of those that are.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from imrc import datasets
from tests.app.conftest import server_process
from tests.app.visitor import visiting
from tests.benchmarks.tables import RESULTS, write_rows
from tests.benchmarks.visitors import memory_mb

PAGES = ("", "effective-sample-size", "evolving")


def main() -> None:
    """Print and write the memory after each dataset."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", nargs="*", default=PAGES)
    parser.add_argument("--datasets", nargs="*", default=[n for n in datasets.names() if datasets.status(n).loadable])
    parser.add_argument("--csv", type=Path, default=RESULTS / "server_memory.csv")
    options = parser.parse_args()
    rows = []

    def note(what: str, seconds: float = 0.0, failed: str = "") -> None:
        rows.append({"after": what, "memory_mb": round(memory_mb(process.pid)), "seconds": round(seconds, 1)})
        print(f"{what:45s} {rows[-1]['memory_mb']:5d} MB {seconds:6.1f} s {failed}", flush=True)

    with server_process() as (url, process):
        note("start")
        for name in options.datasets:
            for page in options.pages:
                with visiting(url, page, dataset=name) as visitor:
                    seconds = visitor.see(seconds=600)
                    failed = " ".join(visitor.failures)
                    failed += " went wrong" * ("went wrong" in visitor.alerts)
                note(f"{name}, {page or 'result'}", seconds, failed)
        time.sleep(150)  # a large dataset that nobody uses goes after two minutes
        note("at the end")
    print(f"largest {max(row['memory_mb'] for row in rows)} MB")
    write_rows(options.csv, rows)


if __name__ == "__main__":
    main()
