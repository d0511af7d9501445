"""From clone to the first finished page on a machine that has Python and nothing else: seconds for each part.

Run: python tests/benchmarks/first_time.py [--keep FOLDER]        (needs the network for pip)

Does what README tells: clone, new environment, install, start. Nothing compiled before is used. A visitor without a
browser waits for the first page; drawing in a browser comes on top (`page_times.py`). The second start shows what is
left of it when everything is compiled.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.app.conftest import ROOT, server_process
from tests.app.visitor import Visitor


def seconds(action: Callable[[], object]) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def first_page(python: Path, clone: Path) -> tuple[float, float]:
    """Start the server of a clone; return seconds until it answers and until the first page is finished."""
    started = time.perf_counter()
    with server_process("-m", "imrc.cli", "app", "--no-browser", python=python, folder=clone) as (url, _):
        answers = time.perf_counter() - started
        visitor = Visitor(url)
        visitor.see(seconds=600)
        finished = time.perf_counter() - started
        assert "Error, forward and backward" in visitor.metrics, visitor.alerts
        visitor.close()
    return answers, finished


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="an empty folder to work in, kept afterwards")
    parser.add_argument("--csv", type=Path, default=Path(__file__).parent / "results" / "first_time.csv")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="imrc-first-") as temporary:
        folder = options.keep or Path(temporary)
        clone = folder / "imrc"
        python = clone / ".venv" / "bin" / "python"
        # Whoever runs this has used the program before: nothing of that may help.
        for name in ("PYTHONPATH", "NUMBA_CACHE_DIR", "IMRC_DATA", "IMRC_CACHE"):
            os.environ.pop(name, None)
        times = {
            "clone": seconds(lambda: subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)),
            "environment": seconds(lambda: subprocess.run([sys.executable, "-m", "venv", clone / ".venv"], check=True)),
            "install": seconds(
                lambda: subprocess.run([python, "-m", "pip", "install", "-q", "-e", "."], cwd=clone, check=True)
            ),
        }
        times["compile"] = float(
            subprocess.run(
                [python, "-c", "from imrc.solvers import warm_up; print(warm_up())"],
                cwd=clone,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for compiled in clone.rglob("*.nb[ic]"):
            compiled.unlink()
        for name in ("first time", "second time"):
            times[f"start, {name}"], times[f"first page, {name}"] = first_page(python, clone)
    load = Path("/proc/loadavg").read_text().split()[0]
    for name, value in times.items():
        print(f"{name:36s} {value:6.1f} s")
    print(f"load average {load}")
    with options.csv.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["part", "seconds", "load_average"])
        writer.writerows([name, f"{value:.1f}", load] for name, value in times.items())


if __name__ == "__main__":
    main()
