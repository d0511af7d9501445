"""Put together the results of page *The paper*, ``data/results/``, from the outputs of commands.

    python tests/benchmarks/paper_results.py [OUTPUTS]

OUTPUTS is a folder with what the commands in ``data/results/index.toml`` printed: ``backward*.csv``, ``window*.csv``,
``lags_*.csv``, ``tasks*.csv``, ``errors*.csv`` (``imrc table --csv`` of further cells), ``sweep*.csv`` (``imrc sweep
--export``; ``sweep_settings*.csv`` also for W and b, ``sweep_covertype.csv`` is kept whole) and ``*.npz``. Errors of
the methods compared come from the cells finished by ``paper_table_baselines.py``: the numbers of ``imrc table --methods
all``, which takes hours at once. What is in none of them stays as it is shipped.
Without OUTPUTS only ``errors.csv`` is put together again.
"""

import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

import pandas as pd  # noqa: E402 - after the path

from imrc.baselines import PUBLISHED, REFERENCES  # noqa: E402
from imrc.evaluation.comparison import imrc_key  # noqa: E402
from imrc.paper.measure import BACKWARD_STEPS, WINDOWS  # noqa: E402

RESULTS = ROOT / "data" / "results"
KEPT = (
    imrc_key("paper"),
    imrc_key("paper", "forward"),
    imrc_key("paper", "single"),
    imrc_key("recommended"),
    *PUBLISHED,
    *REFERENCES,
)
ERRORS = ["dataset", "n", "method", "error_kind", "error", "std", "stderr", "seconds", "tasks", "repetitions", "seed"]
SETTINGS = ["dataset", "n", "setting", "b", "W", "error", "std", "stderr", "average", "released", "seconds", "tasks"]


def errors(outputs: Path | None) -> pd.DataFrame:
    scores = pd.read_csv(HERE / "results" / "paper_table_baselines_repetitions.csv")
    scores = scores[scores["method"].isin(KEPT)]
    cells = ["dataset", "n", "method"]
    facts = scores.groupby(cells).agg(
        seconds=("seconds", "mean"),
        tasks=("tasks", "first"),
        repetitions=("repetition", "max"),
        seed=("seed", "first"),
        date=("date", "first"),
    )
    facts["versions"] = "imrc " + scores["imrc"].iloc[0] + ", numpy " + scores["numpy"].iloc[0]
    frames = []
    for kind in ("average", "released"):
        summary = scores.groupby(cells)[kind].agg(error="mean", std="std", stderr="sem")
        frames.append(summary.join(facts).reset_index().assign(error_kind=kind))
    if outputs is not None:
        frames += [pd.read_csv(path).query("method in @KEPT") for path in filled(outputs, "errors*.csv")]
        frames += [of_sweep(pd.read_csv(path)) for path in filled(outputs, "sweep*.csv")]
    frames.append(shipped("errors"))
    table = pd.concat(frames)[[*ERRORS, "versions", "date"]]
    table = table.drop_duplicates([*cells, "error_kind"], keep="first")
    order = {method: position for position, method in enumerate(KEPT)}
    return table.sort_values(
        ["error_kind", "dataset", "n", "method"], key=lambda c: c.map(order) if c.name == "method" else c
    )


def of_sweep(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table of errors from the cells of a sweep: those with the paper's representation, b and W."""
    own = cells["method"] == "imrc"
    usual = (cells["b"] == 3) & ((cells["W"] == 2) | (cells["preset"] != "paper"))
    cells = cells[(cells["features"] == "paper") & (usual | ~own)]
    rules = [imrc_key(row.preset, row.rule) if row.method == "imrc" else row.method for row in cells.itertuples()]
    first = (cells["dataset"] == "covertype") & (cells["k"] == 60)
    cells = cells.assign(method=rules, dataset=cells["dataset"].mask(first, "covertype_60")).query("method in @KEPT")
    frames: list[pd.DataFrame] = []
    for kind in ("average", "released") if len(cells) else ():
        summary = cells.groupby(["dataset", "n", "method"]).agg(
            error=(kind, "mean"),
            std=(kind, "std"),
            stderr=(kind, "sem"),
            seconds=("seconds", "sum"),
            tasks=("k", "first"),
            repetitions=("repetition", "count"),
            seed=("seed", "first"),
            date=("finished_at", "first"),
        )
        # Of a cell: all tasks of a repetition.
        summary["seconds"] /= summary["tasks"] * summary["repetitions"]
        summary["date"] = summary["date"].str[:10]
        summary["versions"] = named(cells["versions"].iloc[0])
        frames.append(summary.reset_index().assign(error_kind=kind))
    return pd.concat(frames) if frames else pd.DataFrame(columns=["method"])


def settings_of_sweep(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table over W and b from the cells of a sweep of all tasks of a dataset."""
    cells = cells[(cells["features"] == "paper") & (cells["preset"] == "paper") & (cells["rule"] == "forward_backward")]
    cells = cells[(cells["k"] != 60) | (cells["dataset"] != "covertype")]
    frames = []
    for setting, part in [(f"b{b}", cells[(cells["b"] == b) & (cells["W"] == 2)]) for b in BACKWARD_STEPS] + [
        (f"W{W}", cells[(cells["b"] == 3) & (cells["W"] == W)]) for W in WINDOWS
    ]:
        for (name, n), cell in part.groupby(["dataset", "n"]):
            error, tasks, repetitions = cell["released"], int(cell["k"].iloc[0]), len(cell)
            frames.append(
                {
                    "dataset": name,
                    "n": n,
                    "setting": setting,
                    "b": int(cell["b"].iloc[0]),
                    "W": int(cell["W"].iloc[0]),
                    "error": error.mean(),
                    "std": error.std(),
                    "stderr": error.sem(),
                    "average": cell["average"].mean(),
                    "released": error.mean(),
                    "seconds": cell["seconds"].mean() / tasks,
                    "tasks": tasks,
                    "repetitions": repetitions,
                    "seed": cell["seed"].iloc[0],
                    "versions": named(cell["versions"].iloc[0]),
                    "date": cell["finished_at"].iloc[0][:10],
                }
            )
    return pd.DataFrame(frames)


def named(versions: str) -> str:
    if not versions.startswith("{"):  # kept in words already
        return versions
    known = json.loads(versions)
    return f"imrc {known['imrc']}, Python {known['python']}, numpy {known['numpy']}, numba {known['numba']}"


def shipped(name: str) -> pd.DataFrame:
    path = RESULTS / f"{name}.csv"
    return pd.read_csv(path) if path.exists() else pd.DataFrame()


def filled(outputs: Path, pattern: str) -> list[Path]:
    """Outputs of commands that ended."""
    return [path for path in sorted(outputs.glob(pattern)) if path.stat().st_size]


def settings(outputs: Path) -> pd.DataFrame:
    paths = [*filled(outputs, "backward*.csv"), *filled(outputs, "window*.csv")]
    sweeps = [settings_of_sweep(pd.read_csv(path)) for path in filled(outputs, "sweep_settings*.csv")]
    # All of Covertype was run with b = 3 and W = 2, which are in the tables over W and over b.
    if len(whole := shipped("covertype")):
        sweeps.append(settings_of_sweep(whole.assign(W=2, finished_at=whole["date"])))
    table = pd.concat([*(pd.read_csv(path) for path in paths), *sweeps, shipped("settings")])
    table = table.drop_duplicates(["dataset", "n", "setting"], keep="first")
    return table[[*SETTINGS, "repetitions", "seed", "versions", "date"]].sort_values(["dataset", "n", "setting"])


def write(table: pd.DataFrame, name: str) -> None:
    table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.5g")
    print(f"{name}: {len(table)} rows")


def main() -> None:
    outputs = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    RESULTS.mkdir(exist_ok=True)
    write(errors(outputs), "errors")
    if outputs is None:
        return
    write(settings(outputs), "settings")
    lags = [path for path in sorted(outputs.glob("lags_*.csv")) if path.stat().st_size]
    if lags:
        write(
            pd.concat([pd.read_csv(path) for path in lags])[
                ["sequence", "lag", "pacf", "pacf_std", "pacf_low", "pacf_high"]
            ].dropna(),
            "lags",
        )
    for path in filled(outputs, "sweep_covertype.csv"):
        kept = ["features", "n", "k", "b", "preset", "repetition", "rule", "average", "newest", "released", "seconds"]
        cells = pd.read_csv(path)
        cells = cells.assign(
            date=cells["finished_at"].str[:10], versions=cells["versions"].map(named), dataset="covertype"
        )
        write(cells[["dataset", *kept, "state", "seed", "date", "versions"]], "covertype")
    for path in filled(outputs, "tasks*.csv"):
        write(pd.read_csv(path), "tasks")
    growth = pd.read_csv(HERE / "results" / "solver_growth.csv")
    write(growth[["varied", "k", "n", "b", "ms_per_task", "seed", "versions"]], "growth")
    for path in sorted(outputs.glob("*.npz")):
        shutil.copy(path, RESULTS / path.name)


if __name__ == "__main__":
    main()
