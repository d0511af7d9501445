"""Put together the results of page *The paper*, ``data/results/``, from the outputs of commands.

    python -m tests.benchmarks.paper_results OUTPUTS

OUTPUTS is a folder with what the commands in ``data/results/index.toml`` printed: ``errors*.csv``, ``backward*.csv``,
``window*.csv`` (``imrc table --csv``), ``lags_*.csv``, ``sweep_covertype.csv`` (``imrc sweep --export``) and ``*.npz``.
What is in none of them stays as it is shipped, and so do the columns and their order. The first 60 tasks of Covertype
have a name of their own.
"""

import shutil
import sys
from pathlib import Path

import pandas as pd

from imrc.baselines import PUBLISHED, SIMPLE
from imrc.evaluation.comparison import imrc_key
from imrc.paper.shipped import results_folder
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


def main() -> None:
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
