"""Put together the results of page *The paper*, ``data/results/``, from the outputs of commands.

    python -m tests.benchmarks.paper_results OUTPUTS
    python -m tests.benchmarks.paper_results tasks

OUTPUTS is a folder with what the commands in ``data/results/index.toml`` printed: ``backward*.csv``, ``window*.csv``,
``lags_*.csv``, ``errors*.csv`` (``imrc table --csv``), ``sweep*.csv`` (``imrc sweep --export``;
``sweep_settings*.csv`` also for W and b, ``sweep_covertype.csv`` is kept whole) and ``*.npz``. What is in none of them
stays as it is shipped. Columns and their order are those of the shipped tables. The word tasks measures the errors of
all sequences of k consecutive tasks of Spam.
"""

import json
import shutil
import sys
from datetime import date
from pathlib import Path

import pandas as pd

from imrc import datasets
from imrc.baselines import PUBLISHED, SIMPLE
from imrc.evaluation import RunSettings
from imrc.evaluation.comparison import imrc_key
from imrc.features import FeatureSpec
from imrc.paper.measure import BACKWARD_STEPS, WINDOWS, versions
from imrc.paper.shipped import results_folder
from imrc.paper.windows import window_table
from tests.benchmarks.common import RESULTS as MEASURED

RESULTS = results_folder()
RULES = [imrc_key("paper", rule) for rule in ("forward_backward", "forward", "single")]
KEPT = (*RULES, imrc_key("recommended"), *PUBLISHED, *SIMPLE)


def errors(outputs: Path) -> pd.DataFrame:
    """The table of errors: what was measured anew first."""
    frames = [pd.read_csv(path).query("method in @KEPT") for path in filled(outputs, "errors*.csv")]
    frames += [of_sweep(pd.read_csv(path)) for path in filled(outputs, "sweep*.csv")]
    table = as_shipped(frames, "errors", ["dataset", "n", "method", "error_kind"])
    order = {method: position for position, method in enumerate(KEPT)}
    return table.sort_values(
        ["error_kind", "dataset", "n", "method"], key=lambda c: c.map(order) if c.name == "method" else c
    )


def as_shipped(frames: list[pd.DataFrame], name: str, cells: list[str]) -> pd.DataFrame:
    """Return the cells of some tables, each from the first that has it, the last of them as shipped."""
    shipped = pd.read_csv(RESULTS / f"{name}.csv")
    return pd.concat([*frames, shipped])[[*shipped]].drop_duplicates(cells, keep="first")


def summed_up(cells: pd.DataFrame, by: list[str], error: str) -> pd.DataFrame:
    """Return a row for the repetitions of each cell of a sweep; seconds are per task."""
    if cells.empty:
        return pd.DataFrame()
    cells = cells.assign(date=cells["finished_at"].str[:10], versions=cells["versions"].map(named))
    table = cells.groupby(by).agg(
        error=(error, "mean"),
        std=(error, "std"),
        stderr=(error, "sem"),
        average=("average", "mean"),
        released=("released", "mean"),
        seconds=("seconds", "mean"),
        tasks=("k", "first"),
        repetitions=("repetition", "count"),
        seed=("seed", "first"),
        date=("date", "first"),
        versions=("versions", "first"),
    )
    return table.assign(seconds=table["seconds"] / table["tasks"]).reset_index()


def of_sweep(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table of errors from the cells of a sweep: those with the paper's representation, b and W."""
    own = cells["method"] == "imrc"
    usual = (cells["b"] == 3) & ((cells["W"] == 2) | (cells["preset"] != "paper"))
    cells = cells[(cells["features"] == "paper") & (usual | ~own)]
    rules = [imrc_key(row.preset, row.rule) if row.method == "imrc" else row.method for row in cells.itertuples()]
    first = (cells["dataset"] == "covertype") & (cells["k"] == 60)
    cells = cells.assign(method=rules, dataset=cells["dataset"].mask(first, "covertype_60")).query("method in @KEPT")
    kinds = ("average", "released")
    return pd.concat([summed_up(cells, ["dataset", "n", "method"], kind).assign(error_kind=kind) for kind in kinds])


def settings_of_sweep(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table over W and b from the cells of a sweep of all tasks of a dataset."""
    cells = cells[(cells["features"] == "paper") & (cells["preset"] == "paper") & (cells["rule"] == "forward_backward")]
    cells = cells[(cells["k"] != 60) | (cells["dataset"] != "covertype")]
    parts = [(f"b{b}", cells[(cells["b"] == b) & (cells["W"] == 2)]) for b in BACKWARD_STEPS]
    parts += [(f"W{W}", cells[(cells["b"] == 3) & (cells["W"] == W)]) for W in WINDOWS]
    by = ["dataset", "n", "b", "W"]
    return pd.concat([summed_up(part, by, "released").assign(setting=setting) for setting, part in parts])


def named(versions: str) -> str:
    if not versions.startswith("{"):  # kept in words already
        return versions
    known = json.loads(versions)
    return f"imrc {known['imrc']}, Python {known['python']}, numpy {known['numpy']}, numba {known['numba']}"


def filled(outputs: Path, pattern: str) -> list[Path]:
    """Outputs of commands that ended."""
    return [path for path in sorted(outputs.glob(pattern)) if path.stat().st_size]


def settings(outputs: Path) -> pd.DataFrame:
    paths = [*filled(outputs, "backward*.csv"), *filled(outputs, "window*.csv")]
    sweeps = [settings_of_sweep(pd.read_csv(path)) for path in filled(outputs, "sweep_settings*.csv")]
    # All of Covertype was run with b = 3 and W = 2, which are in the tables over W and over b.
    whole = pd.read_csv(RESULTS / "covertype.csv")
    sweeps.append(settings_of_sweep(whole.assign(W=2, finished_at=whole["date"])))
    frames = [*(pd.read_csv(path) for path in paths), *sweeps]
    cells = ["dataset", "n", "setting"]
    return as_shipped(frames, "settings", cells).sort_values(cells)


def write(table: pd.DataFrame, name: str) -> None:
    table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.5g")
    print(f"{name}: {len(table)} rows")


def tasks() -> None:
    settings = RunSettings(preset="paper", features=FeatureSpec("paper"), repetitions=3)
    table = window_table(datasets.load("spam"), settings, [10, 100])
    write(table.assign(versions=versions(), date=date.today().isoformat()), "tasks")


def main() -> None:
    if sys.argv[1:] == ["tasks"]:
        tasks()
        return
    outputs = Path(sys.argv[1])
    write(errors(outputs), "errors")
    write(settings(outputs), "settings")
    if lags := filled(outputs, "lags_*.csv"):
        columns = ["sequence", "lag", "pacf", "pacf_std", "pacf_low", "pacf_high"]
        write(pd.concat([pd.read_csv(path) for path in lags])[columns].dropna(), "lags")
    for path in filled(outputs, "sweep_covertype.csv"):
        cells = pd.read_csv(path).assign(dataset="covertype")
        cells = cells.assign(date=cells["finished_at"].str[:10], versions=cells["versions"].map(named))
        write(cells[[*pd.read_csv(RESULTS / "covertype.csv", nrows=0)]], "covertype")
    growth = pd.read_csv(MEASURED / "solver_growth.csv")
    write(growth[["varied", "k", "n", "b", "ms_per_task", "seed", "versions"]], "growth")
    for path in sorted(outputs.glob("*.npz")):
        shutil.copy(path, RESULTS / path.name)


if __name__ == "__main__":
    main()
