"""Confusion matrix of `imrc.diagnostics.assess` on simulated sequences of known kinds of change, and error rates."""

import platform
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.signal import lfilter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import imrc
from imrc.diagnostics import VERDICTS, assess
from imrc.diagnostics.assessment import NAMED
from imrc.diagnostics.evidence import FLAG_LIMIT, MEAN_LIMIT
from tests.benchmarks.common import RESULTS, Cells, parser, share_error, write

SCENARIOS = (
    "identical", "iid", "walk", "walk_1_direction", "ar_0.6", "walk_drift", "straight_trend", "period_5", "jump",
    "three_concepts", "three_jumps", "two_come_and_go",
)  # fmt: skip
TASKS = (5, 10, 20, 60)


def deviations(scenario: str, k: int, size: int, generator: np.random.Generator) -> np.ndarray:
    """Path of `size` coordinates over k tasks, unit variance per step."""
    noise = generator.standard_normal((k, size))
    time_ = np.arange(k)[:, None]
    direction = generator.standard_normal(size)
    direction *= np.sqrt(size) / np.linalg.norm(direction)
    walk = np.cumsum(noise, axis=0)
    straight = {
        "identical": np.zeros((k, size)),
        "iid": noise,
        "walk": walk,
        "walk_1_direction": walk[:, :1] * direction,  # the same total variance per step as in all directions
        "walk_drift": walk + time_ * direction,
        "straight_trend": 0.5 * time_ * direction,
    }
    if scenario in straight:
        return straight[scenario]
    if scenario == "ar_0.6":
        path = noise.copy()
        path[0] /= np.sqrt(1 - 0.36)
        return lfilter([1.0], [1.0, -0.6], path, axis=0)
    if scenario == "period_5":
        period = 2 if k == 5 else 5
        return np.sqrt(2) * np.cos(2 * np.pi * time_ / period + generator.uniform(0, 2 * np.pi, size))
    if scenario == "jump":
        place = generator.integers(max(2, k // 4), max(3, 3 * k // 4 + 1))
        return np.where(time_ >= place, 2.0 * noise[0], 0.0)
    if scenario in ("three_jumps", "two_come_and_go"):
        # Four pieces of at least two tasks where there are so many, each of a new level or of one of two in turn.
        short = 2 if k >= 10 else 1
        places = np.sort(generator.choice(np.arange(1, k - 4 * short + 4), 3, replace=False))
        places += (short - 1) * np.arange(1, 4)
        piece = (np.arange(k)[:, None] >= places).sum(axis=1)
        levels = generator.standard_normal((4, size)) * np.sqrt(2)
        return levels[piece if scenario == "three_jumps" else piece % 2]
    concepts = generator.standard_normal((2 if k == 5 else 3, size)) * np.sqrt(2)
    return concepts[generator.integers(len(concepts), size=k)]


def simulate(scenario: str, k: int, run: int, seed: int) -> tuple[imrc.TaskSequence, object, dict[str, object]]:
    """Return a sequence, its representation (None: plain) and the settings drawn for it."""
    generator = np.random.default_rng([seed, SCENARIOS.index(scenario), k, run])
    n, nominal = (10, 100)[run % 2], (1.0, 3.0)[run // 2 % 2]
    dimensions, is_rff = (5, 8)[run // 4 % 2], bool(run // 8 % 2)
    means = generator.standard_normal((2, dimensions)) / 2
    path = deviations(scenario, k, 2 * dimensions, generator).reshape(k, 2, dimensions)
    means = means + np.sqrt(nominal / n) * path
    tasks = []
    for j in range(k):
        y = generator.integers(2, size=n)
        tasks.append(imrc.Task(means[j, y] + generator.standard_normal((n, dimensions)), y))
    features: object = lambda X: X  # noqa: E731 - plain features
    if is_rff:
        frequencies = generator.standard_normal((dimensions, 50)) / np.sqrt(dimensions)
        features = lambda X: np.concatenate([np.cos(X @ frequencies), np.sin(X @ frequencies)], axis=1)  # noqa: E731
    sequence = imrc.TaskSequence(tuple(tasks), name=scenario, classes=[0, 1])
    return sequence, features, {"n": n, "nominal": nominal, "dimensions": dimensions, "rff": is_rff}


def run_study(runs: int, others: int, seed: int, kept: Path) -> pd.DataFrame:
    """Assess all sequences. Each run is a row in a file, so that the study can continue after a stop."""
    store = Cells(kept, ("scenario", "k", "run"))
    for scenario in SCENARIOS:
        for k in TASKS:
            count = runs if scenario in ("identical", "iid") else others
            count = count if k < 60 else max(16, count // 2)
            for run in range(count):
                if store.has(scenario, k, run):
                    continue
                sequence, features, drawn = simulate(scenario, k, run, seed)
                result = assess(sequence, features=features, seed=run)
                verdict, tests = result.verdict, result.innovations
                row = {"scenario": scenario, "k": k, "run": run, **drawn, "verdict": verdict.name}
                row |= {"second": verdict.second or "", "p_same": result.p_same, "p_order": result.p_order}
                store.add([row | {"lr": result.change.lr, "z_mean": tests.z_mean, "z_lag": tests.largest}])
    return pd.read_csv(kept, keep_default_na=False, na_values=["nan"])


def confusion(table: pd.DataFrame) -> pd.DataFrame:
    """Share of verdicts in percent per scenario and k; two names count as "two names"."""
    shown = table.assign(verdict=np.where(table["second"] != "", "two names", table["verdict"]))
    out = shown.groupby(["scenario", "k"], sort=False)["verdict"].value_counts(normalize=True)
    out = out.reset_index(name="share").pivot_table("share", ["scenario", "k"], "verdict", fill_value=0, sort=False)
    counts = shown.groupby(["scenario", "k"], sort=False).size()
    shares = [name for name in (*VERDICTS, "two names") if name in out]
    out = (100 * out.reindex(counts.index)[shares]).round(1)
    out.insert(0, "runs", counts)
    return out.reset_index()


def rates(table: pd.DataFrame) -> pd.DataFrame:
    """Error rates on sequences without change or without order, with standard errors."""
    is_evolving = (table["verdict"] == "evolving") | (table["second"] == "evolving")
    rows = []

    def add(what: str, chosen: pd.Series, event: pd.Series, limit: float) -> None:
        for k in (*TASKS, "all"):
            part = chosen if k == "all" else chosen & (table["k"] == k)
            count, share = int(part.sum()), float(event[part].mean())
            if count:
                row = {"rate": what, "k": k, "runs": count, "percent": round(100 * share, 2)}
                rows.append(row | {"standard_error": round(100 * share_error(share, count), 2), "limit": limit})

    identical, iid = table["scenario"] == "identical", table["scenario"] == "iid"
    add("any change claimed on identical tasks", identical, ~table["verdict"].isin(["no_change", "too_few"]), 7.0)
    add("an order claimed on independent tasks", iid, table["verdict"].isin([*NAMED]), 7.0)
    add("evolving claimed on identical tasks", identical, is_evolving, 4.0)
    add("evolving claimed on independent tasks", iid, is_evolving, 4.0)
    add("p_same <= .05 on identical tasks", identical, table["p_same"] <= 0.05, np.nan)
    add("p_order <= .05 on identical tasks", identical, table["p_order"] <= 0.05, np.nan)
    add("p_order <= .05 on independent tasks", iid, table["p_order"] <= 0.05, np.nan)
    add("LR > 2.706 on identical tasks", identical, table["lr"] > 2.706, np.nan)
    # What qualifies the verdict "evolving": changes that keep a direction, or depend on each other.
    evolving = (table["verdict"] == "evolving") & (table["second"] == "")
    walks = table["scenario"].isin(["walk", "walk_1_direction"])
    drifts = table["scenario"].isin(["walk_drift", "straight_trend"])
    dependent = table["z_lag"].abs() > FLAG_LIMIT
    for limit in (MEAN_LIMIT, 1.64):
        said = (table["z_mean"] > limit) | dependent
        add(f"departure said (z > {limit}) of walks called evolving", walks & evolving, said, 5.0)
        add(f"departure said (z > {limit}) of trends called evolving", drifts & evolving, said, np.nan)
    return pd.DataFrame(rows)


def main() -> None:
    """Run the study from the command line."""
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=320, help="runs per k for identical and i.i.d. tasks")
    options.add_argument("--others", type=int, default=64, help="runs per k for every other scenario")
    options.add_argument("--seed", type=int, default=2024)
    options.add_argument("--out", type=Path, default=RESULTS)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    kept = given.out / "diagnostics_rows.csv"
    table = run_study(given.runs, given.others, given.seed, kept)
    versions = f"numpy {np.__version__}, Python {platform.python_version()}, imrc {imrc.__version__}"
    for name, frame in (("diagnostics_confusion", confusion(table)), ("diagnostics_rates", rates(table))):
        write(frame.assign(seed=given.seed, versions=versions), given.out.resolve() / f"{name}.csv")
    kept.unlink()  # the next study is of the code as it is then


if __name__ == "__main__":
    main()
