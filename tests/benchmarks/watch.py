"""How often does the alarm go off, and how soon? False alarms, delays, the second lamp, and a million steps.

Run: python -m tests.benchmarks.watch [false | real | delays | memory]
"""

import os
import resource
import sys
import time

import numpy as np
from scipy import stats

import imrc
from imrc.watch import Alarm, MoreThanUsual, Watcher
from tests.benchmarks.tables import RESULTS, write_rows

N, COMPONENTS, PERMUTATIONS = 10, 5, 199
JUMP_AT = 20


def tasks(kind: str, size: float, count: int, generator: np.random.Generator):
    """Yield rows of tasks with N samples: identical, a jump of all or one component by so many sd, or a walk of rho."""
    mean, moved = np.zeros(COMPONENTS), np.zeros(COMPONENTS)
    moved[: COMPONENTS if kind == "jump of all" else 1] = size
    for j in range(count):
        if kind == "walk" and j:
            mean = mean + np.sqrt(size) * generator.standard_normal(COMPONENTS)
        shift = moved if "jump" in kind and j >= JUMP_AT else 0.0
        yield mean + shift + generator.standard_normal((N, COMPONENTS))


def watched(kind: str, size: float, count: int, seed: int) -> tuple[int | None, float, bool]:
    """Return the task (from 1) of the first alarm, how often the second lamp lit per task, and whether at the jump."""
    generator = np.random.default_rng([seed, 20])
    alarm, usual, y = Alarm(permutations=PERMUTATIONS, seed=seed), MoreThanUsual(), np.zeros(N, dtype=np.int64)
    lit = []
    for X in tasks(kind, size, count, generator):
        alarm.step(X, y)
        lit.append(usual.step(np.column_stack([np.ones(N), X]), y, 1))
    usually = lit[12:JUMP_AT] + lit[JUMP_AT + 1 :]
    return None if alarm.alarm is None else alarm.alarm + 1, float(np.mean(usually)), lit[JUMP_AT]


def share(hits: int, runs: int) -> str:
    """Return a share with its exact 95 % interval (Clopper and Pearson)."""
    low, high = stats.binomtest(hits, runs).proportion_ci(0.95)
    return f"{hits} of {runs} = {hits / runs:.3f} ({low:.4f} to {high:.4f})"


def false_alarms(runs: int = 1000) -> list[dict[str, object]]:
    """Identical tasks, 100 of them."""
    found = [watched("identical", 0.0, 100, seed) for seed in range(runs)]
    hits = sum(at is not None for at, *_ in found)
    lamp = float(np.mean([rate for _, rate, _ in found]))
    return [{"sequence": "identical, 100 tasks", "false alarms": share(hits, runs), "lamp per task": f"{lamp:.4f}"}]


def false_alarms_on_real(runs: int = 200) -> list[dict[str, object]]:
    """Rows of real sequences dealt to tasks at random."""
    rows = []
    for name in ("usenet1", "german", "spam", "power_supply"):
        sequence = imrc.datasets.load(name)
        mapped = imrc.features.make("standardised", sequence)
        X = np.concatenate([mapped.transform(task.X) for task in sequence])
        y = np.concatenate([sequence.encoded(j) for j in range(len(sequence))])
        count = min(100, len(X) // N)
        hits = 0
        for seed in range(runs):
            order = np.random.default_rng([seed, 21]).permutation(len(X))[: count * N].reshape(count, N)
            alarm = Alarm(permutations=99, seed=seed)
            for part in order:
                alarm.step(X[part], y[part])
            hits += alarm.alarm is not None
        rows.append({"sequence": f"{name}, shuffled, {count} tasks", "false alarms": share(hits, runs)})
    return rows


def delays(runs: int = 200) -> list[dict[str, object]]:
    """Jumps at task 21 and walks, 60 tasks."""
    rows = []
    for kind, sizes in (("jump of all", (0.5, 1, 2)), ("jump of one", (0.5, 1, 2)), ("walk", (0.02, 0.1))):
        for size in sizes:
            found = [watched(kind, size, 60, seed) for seed in range(runs)]
            at = [one for one, *_ in found if one is not None]
            early = sum(one <= JUMP_AT for one in at) if kind != "walk" else 0
            after = np.array([one for one in at if kind == "walk" or one > JUMP_AT])
            after = after - (JUMP_AT if kind != "walk" else 0)
            rows.append(
                {
                    "change": f"{kind} {size:g}",
                    "found": share(len(after), runs),
                    "too early": early,
                    "median delay": float(np.median(after)) if len(after) else np.nan,
                    "90 % within": float(np.quantile(after, 0.9)) if len(after) else np.nan,
                    "lamp at task 21": f"{np.mean([at_jump for *_, at_jump in found]):.3f}",
                    "lamp at others": f"{np.mean([rate for _, rate, _ in found]):.4f}",
                }
            )
    return rows


def memory(steps: int = 1_000_000) -> list[dict[str, object]]:
    """Resident memory and state file of a long watch."""
    watcher, generator = Watcher(permutations=49, memory=200), np.random.default_rng(0)
    y, rows, started = np.array([0, 1] * 2), [], time.perf_counter()
    for step in range(1, steps + 1):
        watcher.arrive(generator.standard_normal((4, 2)), y)
        if step in (1_000, 10_000, 100_000, steps):
            watcher.save("/tmp/watch-state.npz")
            rows.append(
                {
                    "steps": step,
                    "peak memory, MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
                    "state file, bytes": os.path.getsize("/tmp/watch-state.npz"),
                    "seconds": round(time.perf_counter() - started, 1),
                    "alarm": watcher.alarm.alarm,
                }
            )
    return rows


PARTS = {"false": false_alarms, "real": false_alarms_on_real, "delays": delays, "memory": memory}


def main() -> None:
    for name in sys.argv[1:] or PARTS:
        started = time.perf_counter()
        rows = PARTS[name]()
        for row in rows:
            print(row)
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
        write_rows(RESULTS / f"watch_{name}.csv", rows)


if __name__ == "__main__":
    main()
