"""How fast the learners are, in processor seconds of whole runs, and how these grow.

    python tests/benchmarks/speed.py learner [--beside CHECKOUT ...]
    python tests/benchmarks/speed.py growth [--tasks 100000]
    python tests/benchmarks/speed.py reading

The first compares the default with preset paper, here and in other checkouts, in turn: a run on one core, and of it
the loop over tasks. The second varies one of n, k, b, classes C and features D, and gives slopes on log axes (1 is
linear); with `--tasks` also k up to there, with six features. The third reads a clean CSV file, beside pandas.
"""

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common import parser, write  # the file beside, whichever checkout `imrc` is from

import imrc
from imrc.tasks import Task, TaskSequence

PRESETS, ROUNDS = ("recommended", "paper"), 5
USUAL = {"n": 10, "k": 20, "b": 3, "C": 2, "D": 64}
VARIED = {
    **{"n": (10, 20, 40, 80, 160), "k": (20, 80, 320, 1280), "b": (2, 4, 8, 16)},
    **{"C": (2, 5, 10, 40), "D": (64, 250, 1000, 2000)},
}


def drifting(k: int, n: int, C: int, D: int) -> TaskSequence:
    """Return tasks of normal classes whose centres move, with twice as many rows as are learnt from."""
    generator, y, made = np.random.default_rng(0), np.arange(2 * max(n, C)) % C, []
    centres = generator.normal(size=(C, D))
    for _ in range(k):
        centres = 0.999 * centres + 0.1 * generator.normal(size=centres.shape)
        made.append(Task(centres[y] + generator.normal(size=(len(y), D)), y))
    return TaskSequence(tuple(made), "drifting")


def seconds(sequence: TaskSequence, **options: object) -> tuple[float, float]:
    """Return processor seconds of a run on one core, where no thread waits for another, and of its loop."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    started = time.process_time()
    result = imrc.evaluate(sequence, **options)
    return time.process_time() - started, float(result.method_time_s["imrc"].sum())


def presets() -> None:
    """Print the fastest of some rounds of each case and preset, in turn: other programs only ever add time."""
    cases = {name: (imrc.datasets.load(name), {"n": 10}) for name in ("rotated_digits", "random_walk")}
    cases["40 classes"] = drifting(13, 50, 40, 20), {"n": 50, "repetitions": 1}
    for case, (sequence, options) in cases.items():
        rounds = [[seconds(sequence, preset=one, **options) for one in PRESETS] for _ in range(1 + 2 * ROUNDS)]
        print(json.dumps([case, *np.min(rounds[1:], axis=0).ravel().tolist()]))  # the first compiles


def learner(beside: list[Path]) -> None:
    """Compare the presets, in each checkout."""
    rows = []
    for checkout in [Path(__file__).parents[2], *beside]:
        command, told = [sys.executable, __file__, "presets"], os.environ | {"PYTHONPATH": str(checkout)}
        for line in subprocess.check_output(command, env=told, text=True).splitlines():
            case, default, loop, paper, paper_loop = json.loads(line)
            row = {"case": case, "checkout": checkout.name, "default": default, "paper": paper}
            rows.append(row | {"ratio": default / paper, "loop": loop, "loops' ratio": loop / paper_loop})
    write(rows, "speed_learner.csv")


def growth(tasks: int) -> None:
    """Time runs in which one number grows."""
    plans = [(name, {**USUAL, name: value}) for name, values in VARIED.items() for value in values]
    plans += [("k, six features", {**USUAL, "D": 6, "k": k}) for k in (tasks // 100, tasks // 10, tasks) if k]
    rows = []
    for preset in PRESETS:
        for name, numbers in plans:
            sequence = drifting(*(numbers[one] for one in "knCD"))
            given = {"n": max(numbers["n"], numbers["C"]), "b": numbers["b"], "features": "identity"}
            rounds = range(3 if numbers["k"] < 2000 else 1)
            best = min(seconds(sequence, preset=preset, repetitions=1, **given)[0] for _ in rounds)
            row = {"preset": preset, "varied": name, **numbers, "seconds": best, "ms a task": 1e3 * best / numbers["k"]}
            if rows and rows[-1]["varied"] == name:
                before = rows[-1]
                row["slope"] = np.log(best / before["seconds"]) / np.log(numbers[name[0]] / before[name[0]])
            rows.append(row)
    write(rows, "speed_growth.csv")


def reading() -> None:
    """Time pandas, reading in this process and reading in one of its own, in turn, on 640,000 rows of all kinds."""
    from imrc.tables import Reading, open_table  # other checkouts may not have them
    from imrc.tables.read import read_bytes

    generator, rows = np.random.default_rng(0), 640_000
    frame = pd.DataFrame(10.0 * generator.normal(size=(rows, 6)), columns=list("abcdef")).round(3)
    frame.insert(0, "when", pd.date_range("1990", periods=rows, freq="min").strftime("%Y-%m-%d"))
    frame["shop"], frame["state"] = generator.choice(list("uvwxyz"), rows), generator.choice(["ok", "late"], rows)
    frame["count"] = generator.integers(0, 100_000, rows)
    data = frame.to_csv(index=False).encode()
    ways = {
        "pandas": lambda: pd.read_csv(io.BytesIO(data), parse_dates=["when"]),
        "in this process": lambda: read_bytes(data, "clean.csv", Reading()),
        "in its own": lambda: open_table(data, name="clean.csv"),
    }
    taken = {way: [] for way in ways}
    for _ in range(1 + ROUNDS):
        for way, read in ways.items():
            before = sum(os.times()[:4])
            read()
            taken[way].append(sum(os.times()[:4]) - before)
    found = {way: np.median(one[1:]) for way, one in taken.items()}
    write([{"way": way, "seconds": one, "ratio": one / found["pandas"]} for way, one in found.items()], "reading.csv")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("action", choices=["learner", "growth", "reading", "presets"])
    options.add_argument("--beside", type=Path, nargs="*", default=[], help="other checkouts")
    options.add_argument("--tasks", type=int, default=0)
    given = options.parse_args()
    actions = {"learner": lambda: learner(given.beside), "growth": lambda: growth(given.tasks)}
    (actions | {"reading": reading, "presets": presets})[given.action]()
