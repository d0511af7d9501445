"""A CSV of about 50 MB (500,000 rows x 12) read, cut and summarised: seconds and peak memory.

Writes results/own_csv.csv. Memory is the largest resident size of a process of its own for each measurement, and how
much of it came after the libraries were loaded (Linux).
"""

from __future__ import annotations

import csv
import io
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "own_csv.csv"
ROWS = 500_000


def make(kind: str, path: Path) -> None:
    """Write a file: numbers only, or with dates, categories, missing values and decimal commas."""
    generator = np.random.default_rng(0)
    numbers = np.char.mod("%.6f", generator.standard_normal((ROWS, 10)))
    label = generator.integers(0, 3, ROWS)
    when = np.char.mod("%d", 2000 + np.arange(ROWS) // 20_000)
    columns = [numbers[:, j] for j in range(10)]
    separator = ","
    if kind == "mixed":
        separator = ";"
        days = np.datetime64("1990-01-01") + np.arange(ROWS) // 50
        when = days.astype(str)
        columns[0] = np.where(generator.random(ROWS) < 0.05, "", np.char.replace(columns[0], ".", ","))
        columns[1] = np.char.add("town ", generator.integers(0, 400, ROWS).astype(str))
        columns[2] = np.where(generator.random(ROWS) < 0.02, "n/a", columns[2])
        columns[3] = generator.choice(["yes", "no"], ROWS)
    text = np.char.add("class ", label.astype(str))
    names = ["when", *(f"x{j}" for j in range(10)), "y"]
    with path.open("w") as out:
        out.write(separator.join(names) + "\n")
        for start in range(0, ROWS, 50_000):
            part = slice(start, start + 50_000)
            rows = zip(when[part], *(column[part] for column in columns), text[part], strict=True)
            out.write("\n".join(separator.join(row) for row in rows) + "\n")


def peak_kb() -> int:
    # Not getrusage: its maximum survives the start of a new program and would count the parent.
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def measure(path: Path) -> dict[str, object]:
    from imrc.datasets import cut_table, open_table

    open_table(b"a,b\n1,2\n3,4\n")  # loads the libraries
    before = peak_kb()
    started = time.perf_counter()
    data = io.BytesIO(path.read_bytes())
    table = open_table(data, name=path.name)
    opened = time.perf_counter()
    cut = cut_table(table, label="y", task="when")
    cut.task_table(), cut.column_table(), cut.in_words(), cut.sequence.fingerprint
    done = time.perf_counter()
    peak = peak_kb()
    return {
        "rows": table.n_rows, "columns": len(table.columns), "tasks": len(cut.sequence),
        "features": cut.sequence.n_features, "open_s": round(opened - started, 2), "cut_s": round(done - opened, 2),
        "growth_mb": round((peak - before) / 1024), "peak_mb": round(peak / 1024),
    }  # fmt: skip


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(Path(sys.argv[1]))))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("numbers", "mixed"):
            path = Path(folder) / f"{kind}.csv"
            make(kind, path)
            size = path.stat().st_size / 1e6
            for run in range(3):
                done = subprocess.run([sys.executable, __file__, str(path)], capture_output=True, text=True, check=True)
                rows.append({"file": kind, "mb": round(size, 1), "run": run + 1, **json.loads(done.stdout)})
                rows[-1]["versions"] = f"Python {platform.python_version()}, numpy {np.__version__}"
                print(rows[-1])
    with RESULTS.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
