"""Put together the results of page *The paper*, ``data/results/``, from the outputs of commands.

    python -m tests.benchmarks.paper_results OUTPUTS
    python -m tests.benchmarks.paper_results tasks

OUTPUTS is a folder with what the commands in ``data/results/index.toml`` printed: ``errors*.csv``, ``backward*.csv``,
``window*.csv`` (``imrc table --csv``), ``lags_*.csv``, ``sweep_covertype.csv`` (``imrc sweep --export``) and ``*.npz``.
What is in none of them stays as it is shipped, and so do the columns and their order. The first 60 tasks of Covertype
have a name of their own. The word tasks measures the errors of all sequences of k consecutive tasks of Spam.
"""

import shutil
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

import imrc
from imrc import datasets
from imrc.baselines import PUBLISHED, SIMPLE
from imrc.evaluation import RunSettings
from imrc.evaluation.comparison import imrc_key
from imrc.evaluation.run import run_all
from imrc.evaluation.significance import Headline, half_width
from imrc.features import FeatureSpec
from imrc.paper.shipped import results_folder
from imrc.sweeps.cell import versions
from tests.benchmarks.common import RESULTS as MEASURED

RESULTS = results_folder()
RULES = [imrc_key("paper", rule) for rule in ("forward_backward", "forward", "single")]
KEPT = [*RULES, imrc_key("recommended"), *PUBLISHED, *SIMPLE]


def put_together(outputs: Path, name: str, patterns: list[str], by: list[str]) -> None:
    """Write a table whose cells are named by some columns: those of the outputs first, the others as shipped."""
    tables = [pd.read_csv(path) for pattern in patterns for path in sorted(outputs.glob(pattern))]
    for table in tables:
        first = (table["dataset"] == "covertype") & (table["tasks"] == 60)
        table["dataset"] = table["dataset"].mask(first, "covertype_60")
    shipped = pd.read_csv(RESULTS / f"{name}.csv")
    table = pd.concat([*tables, shipped])[[*shipped]].drop_duplicates(by, keep="first")
    if "method" in table:
        table = table.query("method in @KEPT")
    write(table.sort_values(by, key=lambda c: c.map(KEPT.index) if c.name == "method" else c), name)


def write(table: pd.DataFrame, name: str) -> None:
    table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.5g")
    print(f"{name}: {len(table)} rows")


def window_errors(sequence: imrc.TaskSequence, settings: RunSettings) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return errors of sequences of k consecutive tasks by rule, (repetitions, k), and how many there are of each k.

    Each is learnt from its own beginning, at most 100 tasks from at most 100 places. One run from each first task gives
    it for every k, since what happens up to step k does not depend on later tasks.
    """
    sequence, settings = settings.fit_to(sequence), replace(settings, k=None)
    k = len(sequence)
    starts = np.unique(np.linspace(0, k - 1, min(k, 100)).round().astype(int))
    lengths = np.minimum(min(k, 100), k - starts)
    sums: dict[str, np.ndarray] = {}
    for start, length in zip(starts, lengths, strict=True):
        for rule, table in run_all(sequence[start : start + length], settings).error_tables.items():
            values = np.cumsum(table.by_step(), axis=1) / np.arange(1, length + 1)
            sums.setdefault(rule, np.zeros((len(values), lengths[0])))[:, :length] += values
    windows = (lengths[:, None] > np.arange(lengths[0])).sum(axis=0)
    return {rule: total / windows for rule, total in sums.items()}, windows


def tasks() -> None:
    sequence, rows, repetitions = datasets.load("spam"), [], 3
    for n in (10, 100):
        settings = RunSettings(n=n, preset="paper", features=FeatureSpec("paper"), repetitions=repetitions)
        errors, windows = window_errors(sequence, settings)
        shown = [*range(1, 11), 13, 16, len(windows)]
        for rule, values in errors.items():
            for k in shown:
                error, ratio = (Headline.of(found[:, k - 1]) for found in (values, values / errors["single"]))
                means = error.mean, error.stderr, ratio.mean, ratio.stderr
                rows.append((sequence.name, n, k, imrc_key("paper", rule), rule, windows[k - 1], *means))
    names = ["dataset", "n", "k", "method", "rule", "windows", "error", "stderr", "ratio", "ratio_stderr"]
    table = pd.DataFrame(rows, columns=names).assign(repetitions=repetitions)
    halves = {f"{name}half": half_width(table[f"{name}stderr"], repetitions) for name in ("", "ratio_")}
    write(table.assign(**halves, versions=versions(), date=date.today().isoformat()), "tasks")


def main() -> None:
    if sys.argv[1:] == ["tasks"]:
        tasks()
        return
    outputs = Path(sys.argv[1])
    put_together(outputs, "errors", ["errors*.csv"], ["error_kind", "dataset", "n", "method"])
    put_together(outputs, "settings", ["backward*.csv", "window*.csv"], ["dataset", "n", "setting"])
    if lags := sorted(outputs.glob("lags_*.csv")):
        columns = ["sequence", "lag", "pacf", "pacf_std", "pacf_low", "pacf_high"]
        write(pd.concat([pd.read_csv(path) for path in lags])[columns].dropna(), "lags")
    for path in outputs.glob("sweep_covertype.csv"):
        cells = pd.read_csv(path).assign(dataset="covertype")
        cells = cells.assign(date=cells["finished_at"].str[:10])
        write(cells[[*pd.read_csv(RESULTS / "covertype.csv", nrows=0)]], "covertype")
    growth = pd.read_csv(MEASURED / "solver_growth.csv")
    write(growth[["varied", "k", "n", "b", "ms_per_task", "seed", "versions"]], "growth")
    for path in sorted(outputs.glob("*.npz")):
        shutil.copy(path, RESULTS / path.name)


if __name__ == "__main__":
    main()
