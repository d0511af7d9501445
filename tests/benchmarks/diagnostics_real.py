"""Diagnosis of the real datasets at hand, with all samples and with n = 50 and 10 drawn per task.

    IMRC_DATA=... PYTHONPATH=. python tests/benchmarks/diagnostics_real.py

All columns standardised with one scale for all tasks, linear features; images averaged over 2 x 2 pixels first.
Blocks of 300 rows (UTKFaces: 250). Writes ``results/diagnostics_real.csv``: one row per dataset and n. The second part
counts verdicts after rows have been shuffled before cutting (nothing should change) and after the order of the tasks
has been shuffled (order should not matter): ``results/diagnostics_shuffled.csv``.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path

import numpy as np
import pandas as pd

import imrc
from imrc.diagnostics import Assessment, assess
from imrc.features import Standardised

RESULTS = Path(__file__).parent / "results"
NAMES = (
    "german",
    "usenet1",
    "usenet2",
    "spam",
    "power_supply",
    "weather",
    "covertype_excerpt",
    "utkfaces_grey",
    "rotated_mnist",
)
IMAGES = {"utkfaces_grey": 32, "rotated_mnist": 28}
LARGEST_TASK = 300


def halve(X: np.ndarray, side: int) -> np.ndarray:
    """Average images over 2 x 2 pixels."""
    return X.reshape(len(X), side // 2, 2, side // 2, 2).mean(axis=(2, 4)).reshape(len(X), -1)


def prepared(name: str) -> imrc.TaskSequence:
    """Load a dataset, at most 300 rows a task, images halved, columns standardised with one scale."""
    sequence = imrc.datasets.load(name)
    blocks = []
    for task in sequence:
        X, y = task.X[:LARGEST_TASK], task.y[:LARGEST_TASK]
        blocks.append((halve(X, IMAGES[name]) if name in IMAGES else X, y))
    scale = Standardised.learn(np.concatenate([X for X, _ in blocks]))
    tasks = tuple(
        imrc.Task(scale.transform(X), y, label) for (X, y), label in zip(blocks, sequence.labels, strict=True)
    )
    return imrc.TaskSequence(tasks, name=name, classes=sequence.classes)


def drawn(sequence: imrc.TaskSequence, n: int, seed: int) -> imrc.TaskSequence:
    """Draw n rows of every task."""
    generator = np.random.default_rng([seed, n])
    tasks = []
    for task in sequence:
        rows = generator.permutation(len(task))[:n]
        tasks.append(imrc.Task(task.X[rows], task.y[rows], task.label))
    return imrc.TaskSequence(tuple(tasks), name=sequence.name, classes=sequence.classes)


def diagnose(sequence: imrc.TaskSequence, seed: int) -> Assessment:
    """Assess inputs as they are (already standardised)."""
    return assess(sequence, features=lambda X: X, seed=seed)


def row_of(result: Assessment, seconds: float) -> dict[str, object]:
    """Return what the table shows."""
    ratio, low, high = result.ratio_at()
    gamma = result.variogram.gamma
    picked = [t for t in (1, 2, 3, 5, 8, 13, 30, 45) if t <= len(gamma)]
    pacf = result.pacf
    return {
        "dataset": result.name,
        "k": result.k,
        "m": result.m,
        "n": round(result.n),
        "Q": round(result.q, 2),
        "p_same": round(result.p_same, 4),
        "p_order": result.p_order,
        "r1": None if result.order is None else round(abs_r1(result), 3),
        "pacf_1": None if pacf is None else f"{pacf.mean[0]:.2f} +/- {pacf.std[0]:.2f}",
        "n_rho": f"{ratio:.3g} [{low:.3g}, {high:.3g}]",
        "gamma": ", ".join(f"{t}: {gamma[t - 1]:.3g}" for t in picked),
        "m_eff": round(result.m_eff, 1),
        "m_noise": round(result.m_noise, 1),
        "verdict": result.verdict.title,
        "seconds": round(seconds, 2),
    }


def abs_r1(result: Assessment) -> float:
    """Return r1, whose sign is turned for up to 7 tasks."""
    statistics = result.order.statistics
    return statistics["r1"] if "r1" in statistics else -statistics["-r1"]


def shuffled_counts(name: str, sequence: imrc.TaskSequence, seeds: int) -> list[dict[str, object]]:
    """Verdicts after shuffling rows before cutting, and after shuffling the order of the tasks."""
    X = np.concatenate([task.X for task in sequence])
    y = np.concatenate([task.y for task in sequence])
    ends = np.cumsum(sequence.sizes)
    rows = []
    for seed in range(seeds):
        order = np.random.default_rng([seed, 7]).permutation(len(X))
        parts = [order[e - s : e] for s, e in zip(sequence.sizes, ends, strict=True)]
        mixed = imrc.TaskSequence(tuple(imrc.Task(X[p], y[p]) for p in parts), name=name, classes=sequence.classes)
        result = diagnose(mixed, seed)
        rows.append({"dataset": name, "shuffled": "rows", "seed": seed, "verdict": result.verdict.name})
        rows[-1] |= {"p_same": result.p_same, "p_order": result.p_order}
        if len(sequence) >= 10:
            order = np.random.default_rng([seed, 8]).permutation(len(sequence))
            mixed = imrc.TaskSequence(tuple(sequence[j] for j in order), name=name, classes=sequence.classes)
            result = diagnose(mixed, seed)
            rows.append({"dataset": name, "shuffled": "tasks", "seed": seed, "verdict": result.verdict.name})
            rows[-1] |= {"p_same": result.p_same, "p_order": result.p_order}
    return rows


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="*", default=list(NAMES))
    parser.add_argument("--seeds", type=int, default=6, help="shuffles per dataset; 0: skip the second part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    table, shuffled = [], []
    for name in options.datasets:
        try:
            sequence = prepared(name)
        except (OSError, KeyError, ValueError) as error:
            print(f"{name}: left out ({error})")
            continue
        for n in (None, 50, 10):
            part = sequence if n is None else drawn(sequence, n, options.seed)
            started = time.perf_counter()
            result = diagnose(part, options.seed)
            table.append(row_of(result, time.perf_counter() - started))
            print(table[-1], flush=True)
        shuffled += shuffled_counts(name, sequence, options.seeds)
    versions = f"numpy {np.__version__}, Python {platform.python_version()}, imrc {imrc.__version__}"
    frame = pd.DataFrame(table).assign(seed=options.seed, versions=versions)
    frame.to_csv(options.out / "diagnostics_real.csv", index=False)
    if shuffled:
        counts = pd.DataFrame(shuffled)
        counts.assign(versions=versions).to_csv(options.out / "diagnostics_shuffled.csv", index=False)
        print(counts.groupby(["shuffled", "verdict"]).size())
        small = counts[counts["shuffled"] == "rows"]
        print("rows shuffled, p_same <= .05:", (small["p_same"] <= 0.05).mean(), len(small))
        print("rows shuffled, p_order <= .05:", (small["p_order"].dropna() <= 0.05).mean())


if __name__ == "__main__":
    main()
