"""Table of compared methods on the paper's tabular sets and on rotated MNIST, beside the printed values.

    IMRC_DATA=<folder of raw files> python tests/benchmarks/paper_table_baselines.py [--only usenet1 spam] [--n 10 50]

One cell is a dataset, n and a method. Finished cells are kept in ``results/paper_table_baselines_repetitions.csv`` (one
row per repetition), so the script can be stopped and started again; ``--table`` only rebuilds
``results/paper_table_baselines.csv`` and the Markdown table from them, and ``--forget condor`` drops what was measured
of a method (named as for ``--methods``), so that it is measured again. ``--features identity`` runs on raw inputs
instead, into files of their own. Representation as in the paper: 200 random
Fourier features with sigma2 = 10 on raw inputs for tables, pixels in [0, 1] for rotated MNIST. Seconds are processor
seconds of learning per task; they depend on the machine.

``--mu`` measures Condor for mu from 1e-4 to 1e3 instead, some minutes, and writes ``results/condor_mu.csv``.
"""

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
os.environ.setdefault("IMRC_DATA", str(HERE.parents[2] / "shared" / "data" / "raw"))

import numpy as np  # noqa: E402 - after the thread setting
import pandas as pd  # noqa: E402

import imrc  # noqa: E402
from imrc.baselines.condor import Condor, CondorSettings  # noqa: E402
from imrc.evaluation import RunSettings  # noqa: E402
from imrc.evaluation.compared import run_methods, tables_by_cell  # noqa: E402
from imrc.evaluation.comparison import score_table  # noqa: E402
from imrc.paper.measure import TOLERANCE  # noqa: E402
from imrc.paper.printed import printed_errors, with_printed  # noqa: E402
from imrc.wording import decimal, with_spread  # noqa: E402

STEM = {"paper": "paper_table_baselines", "identity": "paper_table_baselines_raw_inputs"}
SEED = 0
TABULAR = ("usenet1", "usenet2", "german", "spam", "power_supply")
METHODS = (
    *("gem", "ewc", "condor", "driftsurf", "aue", "ella", "mer:argparse"),
    *("majority", "logistic_single", "logistic_recent", "logistic_seen", "oracle"),
    *("driftsurf:uniform", "aue:logistic", "aue:zeros", "ewc:slow", "condor:strong", "ella:python", "gem:argparse"),
    *("imrc", "imrc:recommended", "mer"),
)
MUS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 200.0, 1e3)


def cells(only: list[str], sizes: list[int], methods: list[str]) -> list[tuple[str, int, str]]:
    """All cells, cheap ones first."""
    made = [
        (dataset, n, method)
        for n in sizes
        for dataset in only
        for method in methods
        if dataset != "rotated_mnist" or n == 10
    ]
    return sorted(made, key=effort)


def effort(cell: tuple[str, int, str]) -> int:
    """Minutes-long cells last: MER's many steps, GEM's many memories."""
    dataset, n, method = cell
    many_memories = dataset == "power_supply" and n >= 100
    if method == "gem:argparse" and many_memories:
        return 3
    if method == "gem" and many_memories:
        return 2
    return int(method == "mer")


def records(features: str) -> Path:
    return HERE / "results" / f"{STEM[features]}_repetitions.csv"


def done_cells(features: str) -> set[tuple[str, int, str]]:
    if not records(features).exists():
        return set()
    frame = pd.read_csv(records(features))
    return set(zip(frame["dataset"], frame["n"], frame["run"], strict=True))


def forget(methods: list[str], features: str) -> None:
    """Drop the finished cells of methods."""
    frame = pd.read_csv(records(features), dtype=str, keep_default_na=False)
    kept = frame[~frame["run"].isin(methods)]
    kept.to_csv(records(features), index=False)
    print(f"{len(frame) - len(kept)} of {len(frame)} rows forgotten")


def run_cell(dataset: str, n: int, method: str, repetitions: int, features: str) -> None:
    sequence = imrc.datasets.load(dataset)
    started = time.perf_counter()
    settings = RunSettings(n=n, repetitions=repetitions, seed=SEED, features=features, preset="paper")
    (result,) = run_methods(sequence, settings, [method], announce=lambda text: print(f"{dataset}, n={n}: {text}"))
    scores = score_table(result, plain=True).assign(
        dataset=dataset,
        run=method,
        tasks=result.n_tasks,
        seed=SEED,
        imrc=imrc.__version__,
        numpy=np.__version__,
        date=time.strftime("%Y-%m-%d"),
    )
    path = records(features)
    scores.to_csv(path, mode="a", header=not path.exists(), index=False, float_format="%.6g")
    mean = scores.groupby("method")[["average", "newest"]].mean().round(3).to_dict("index")
    print(f"{dataset} n={n} {method}: {mean} ({time.perf_counter() - started:.1f} s)", flush=True)


def build_table(features: str) -> None:
    """Write the table of all finished cells; print errors as Markdown."""
    scores = pd.read_csv(records(features))
    order = {method: position for position, method in enumerate(METHODS)}
    scores = scores.sort_values("run", key=lambda runs: runs.map(order), kind="stable")
    scores = scores.sort_values(["dataset", "n"], kind="stable")
    facts = scores.groupby(["dataset", "n", "method"])[["tasks", "seed", "imrc", "numpy", "date"]].first()
    table = with_printed(tables_by_cell(scores)).join(facts, on=["dataset", "n", "method"])
    table.to_csv(HERE / "results" / f"{STEM[features]}.csv", index=False, float_format="%.4g")
    methods = ["imrc:paper", "imrc:recommended", "gem", "mer", "ella", "ewc", "condor", "driftsurf", "aue"]
    print(paper_markdown(table, methods))
    extra = ["imrc:paper:single", *(m for m in METHODS if m not in (*methods, "imrc", "imrc:recommended"))]
    print("\nReferences and other profiles\n")
    print(paper_markdown(table, extra))
    print_agreement(table, methods)


def paper_markdown(tables: pd.DataFrame, methods: list[str]) -> str:
    """Return a Markdown table: one row per dataset and n, ours and the paper's printed mean in each cell."""
    titles = dict(zip(tables["method"], tables["title"], strict=True))
    shown = [name for name in methods if name in titles]
    lines = ["| dataset | n | " + " | ".join(titles[name] for name in shown) + " |", "| --- " * (len(shown) + 2) + "|"]
    for (dataset, n), cell in tables.groupby(["dataset", "n"], sort=False):
        rows = cell.set_index("method").reindex(shown)
        texts = [
            with_spread(row.error, row.std) + (f" ({decimal(row.printed, 2)})" if np.isfinite(row.printed) else "")
            for row in rows.itertuples()
        ]
        lines.append(f"| {dataset} | {n} | " + " | ".join(text or "–" for text in texts) + " |")
    return "\n".join(lines)


def print_agreement(table: pd.DataFrame, methods: list[str]) -> None:
    """Print in how many cells each method is near the printed value, with both readings of the error."""
    print(f"\nCells within {TOLERANCE} of print, median distance")
    for method in methods:
        cells = table[(table["method"] == method) & table["printed"].notna()]
        for kind in ("average", "newest"):
            gap = (cells[kind] - cells["printed"]).abs()
            if len(gap):
                print(f"{method}, {kind}: {int((gap <= TOLERANCE).sum())} of {len(gap)}, {gap.median():.3f}")


def mu_table(only: list[str], sizes: list[int], repetitions: int) -> None:
    """Measure Condor for several mu, write the table, print it as Markdown."""
    Condor.profiles = {f"mu={mu:g}": CondorSettings(bias=mu) for mu in MUS}
    names = [f"condor:{profile}" for profile in Condor.profiles]
    rows = []
    for dataset in only:
        sequence = imrc.datasets.load(dataset)
        for n in sizes:
            settings = RunSettings(n=n, repetitions=repetitions, seed=SEED, features="paper", preset="paper")
            scores = score_table(run_methods(sequence, settings, names), plain=True)
            printed = printed_errors(dataset, n)["condor"][0]
            for name, mu in zip(names, MUS, strict=True):
                own = scores[scores["method"] == name]
                row = {"dataset": dataset, "n": n, "mu": mu, "printed": printed}
                for kind in ("average", "newest"):
                    row |= {kind: own[kind].mean(), f"{kind}_std": own[kind].std()}
                rows.append(row | {"repetitions": repetitions, "seed": SEED, "imrc": imrc.__version__})
    table = pd.DataFrame(rows)
    table.to_csv(HERE / "results" / "condor_mu.csv", index=False, float_format="%.4g")
    print("| dataset | n | printed | " + " | ".join(f"{mu:g}" for mu in MUS) + " |")
    print("| --- " * (len(MUS) + 3) + "|")
    for (dataset, n), cell in table.groupby(["dataset", "n"], sort=False):
        texts = [f"{decimal(row.average)} / {decimal(row.newest)}" for row in cell.itertuples()]
        print(f"| {dataset} | {n} | {decimal(cell['printed'].iloc[0], 2)} | " + " | ".join(texts) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[*TABULAR, "rotated_mnist"], help="datasets")
    parser.add_argument("--n", nargs="+", type=int, help="training samples per task (default 10 50 100 150)")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="methods")
    parser.add_argument("--repetitions", type=int, default=10, help="for tables (default 10)")
    parser.add_argument("--mnist-repetitions", type=int, default=3, help="for rotated MNIST (default 3)")
    parser.add_argument("--features", choices=list(STEM), default="paper", help="identity: inputs as they are")
    parser.add_argument("--table", action="store_true", help="run nothing, rebuild the table")
    parser.add_argument("--forget", nargs="+", default=[], metavar="METHOD", help="measure these again")
    parser.add_argument(
        "--mu", action="store_true", help="Condor for several mu, at n = 10 and 100 unless --n is given"
    )
    arguments = parser.parse_args()
    if arguments.mu:
        mu_table([d for d in arguments.only if d in TABULAR], arguments.n or [10, 100], arguments.repetitions)
        return
    arguments.n = arguments.n or [10, 50, 100, 150]
    records(arguments.features).parent.mkdir(exist_ok=True)
    if arguments.forget:
        forget(arguments.forget, arguments.features)
    if not arguments.table:
        for preset in ("paper", "recommended"):  # compile, so that no cell's time contains it
            imrc.evaluate(imrc.datasets.load("identical", tasks=3, samples=40), n=5, repetitions=1, preset=preset)
        for cell in cells(arguments.only, arguments.n, arguments.methods):
            if cell not in done_cells(arguments.features):  # read again: another process may work on the same table
                mnist = cell[0] == "rotated_mnist"
                run_cell(*cell, arguments.mnist_repetitions if mnist else arguments.repetitions, arguments.features)
    build_table(arguments.features)


if __name__ == "__main__":
    main()
