"""Does the recommended preset beat the paper's? Paired runs over datasets, sample sizes and seeds; resumable.

Run:    python tests/benchmarks/default_study.py run --stage tuning --seeds 0:10
        python tests/benchmarks/default_study.py run --stage confirmation --seeds 100:120
        python tests/benchmarks/default_study.py run --stage repeated --seeds 200:220
        python tests/benchmarks/default_study.py run --sets blended --stage final --seeds 400:420 \\
            --variants recommended_2023 recommended paper references
Cost:   python tests/benchmarks/default_study.py cost
Report: python tests/benchmarks/default_study.py report --stage confirmation

Sets "blended" are the same sequences once each and five streams in the folder $IMRC_STREAMS (name.csv.gz, label last,
blocks of 300 rows), all in the representation `blended`, but the variants that name another.

Each finished cell is one line of results/default_study_STAGE.csv; cells already there are skipped.
"""

import argparse
import csv
import gzip
import os
import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

import imrc
from imrc.baselines import PUBLISHED
from imrc.evaluation import largest_n
from imrc.features import _spec

RESULTS = Path(__file__).parent / "results"
SIZES = (10, 50, 100)
METRICS = ("average", "newest", "lag")


@dataclass(frozen=True)
class Setting:
    """A dataset with a representation and the tasks used."""

    dataset: str
    features: str
    tasks: int = 20
    first: int = 0

    @property
    def name(self) -> str:
        return f"{self.dataset}/{self.features}"

    def load(self, seed: int) -> imrc.TaskSequence:
        if self.dataset in BUILT_IN:
            return imrc.datasets.load(self.dataset, tasks=self.tasks, seed=seed)
        if self.dataset in STREAMS:
            return _stream(self.dataset).head(self.tasks)
        sequence = _real(self.dataset, seed if self.dataset == "rotated_mnist" else 0)
        tasks = sequence.tasks[self.first : self.first + self.tasks]
        return replace(sequence, tasks=tasks)


BUILT_IN = imrc.datasets.names()[:8]
STREAMS = ("rialto", "movingsquares", "chess", "sea", "luxembourg")
_CACHE: dict[tuple[str, int], imrc.TaskSequence] = {}


def _real(name: str, seed: int) -> imrc.TaskSequence:
    if (name, seed) not in _CACHE:
        _CACHE.clear()
        options = {"tasks": 15} if name == "rotated_mnist" else {}
        _CACHE[name, seed] = imrc.datasets.load(name, seed=seed, **options)
    return _CACHE[name, seed]


@cache
def _stream(name: str) -> imrc.TaskSequence:
    content = (Path(os.environ["IMRC_STREAMS"]) / f"{name}.csv.gz").read_bytes()
    label = gzip.decompress(content).split(b"\n", 1)[0].decode().strip().split(",")[-1]
    return imrc.datasets.read_table(content, label=label, block=300, name=name)


SETTINGS: tuple[Setting, ...] = (
    *(Setting(name, features, 5) for name in ("usenet1", "usenet2") for features in ("rff", "automatic")),
    *(Setting("german", features, 3) for features in ("rff", "automatic")),
    *(Setting("spam", features) for features in ("rff", "automatic")),
    *(Setting("power_supply", features, 20, 40) for features in ("rff", "rff_median")),
    *(Setting("weather", features, 20, 25) for features in ("rff", "rff_median")),
    *(Setting("covertype_excerpt", features, 20) for features in ("rff", "rff_median")),
    Setting("rotated_mnist", "identity", 15),
    Setting("utkfaces_grey", "identity", 15, 40),
    Setting("rotated_digits", "identity"),
    *(Setting(name, "standardised") for name in BUILT_IN[1:]),
)

BLENDED: tuple[Setting, ...] = (
    *(Setting(name, "blended", 5) for name in ("usenet1", "usenet2")),
    Setting("german", "blended", 3),
    Setting("spam", "blended"),
    Setting("power_supply", "blended", 20, 40),
    Setting("weather", "blended", 20, 25),
    Setting("covertype_excerpt", "blended"),
    Setting("rotated_mnist", "blended", 15),
    *(Setting(name, "blended") for name in (*BUILT_IN, *STREAMS)),
)
SETS = {"first": SETTINGS, "blended": BLENDED}

VARIANTS: dict[str, dict[str, object]] = {
    "paper": {"preset": "paper"},
    "recommended": {"preset": "recommended"},
    # What was recommended before 1.0, and each of the two things that are new alone.
    "recommended_2023": {"preset": "recommended_2023", "features": "automatic"},
    "blended_alone": {"preset": "recommended_2023", "features": "blended"},
    "averaged_alone": {"preset": "recommended", "features": "automatic"},
    "recommended_01": {"preset": "recommended_01"},
    # The other presets in the representation they come with.
    "paper_automatic": {"preset": "paper", "features": "automatic"},
    "recommended_01_automatic": {"preset": "recommended_01", "features": "automatic"},
    # References on the same draws: logistic regression on one task, on the last b + 1, on all so far.
    "references": {"methods": ("logistic_single", "logistic_recent", "logistic_seen")},
    # The same with penalties chosen by cross-validation on past data.
    "tuned_references": {"methods": tuple(f"logistic_{name}:tuned" for name in ("single", "recent", "seen"))},
    # The paper's seven methods, each with its default profile.
    "published": {"methods": PUBLISHED},
    "published_automatic": {"methods": PUBLISHED, "features": "automatic"},
    # Ablation: one ingredient of "recommended" removed.
    "without_selection": {"preset": "recommended", "selection": "none"},
    "without_choice_of_rate": {"preset": "recommended", "rate": 0.1},
    # The same for "recommended_01".
    "01_component_tracking": {"preset": "recommended_01", "tracking": "component"},
    "01_own_instances": {"preset": "recommended_01", "instances": "own"},
    "01_root_mse": {"preset": "recommended_01", "confidence": "root_mse"},
    "01_2000_iterations": {"preset": "recommended_01", "max_iter": 2000},
}


# Ablation of the representation `blended`: constants of its maps that are replaced.
MAPS: dict[str, dict[str, object]] = {
    "without_linear": {name: replace(getattr(_spec, name), linear=1e-12) for name in ("_NUMERIC", "_PIXELS")},
    "without_pulling_in": {"_PULLED_IN_BEYOND": np.inf},
    "without_orthogonal": {"_PIXELS": replace(_spec._PIXELS, orthogonal=False)},
    "pixels_like_numbers": {"_PIXELS": replace(_spec._NUMERIC, orthogonal=True)},
}
VARIANTS |= dict.fromkeys(MAPS, VARIANTS["recommended"])


@dataclass
class Store:
    """CSV of finished cells."""

    path: Path
    done: set[tuple[str, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.path.exists():
            with self.path.open(newline="") as file:
                self.done = {(row["setting"], row["n"], row["seed"], row["variant"]) for row in csv.DictReader(file)}

    def add(self, rows: list[dict[str, object]]) -> None:
        fresh = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            if fresh:
                writer.writeheader()
            writer.writerows(rows)


def cell(setting: Setting, n: int, seed: int, variant: str) -> list[dict[str, object]]:
    """Run one cell (one seed, one draw); one row, or one per reference."""
    sequence = setting.load(seed)
    started = time.perf_counter()
    with patch.multiple(_spec, **MAPS[variant]) if variant in MAPS else nullcontext():
        result = imrc.evaluate(
            sequence, n=n, repetitions=1, seed=seed, **{"features": setting.features, **VARIANTS[variant]}
        )
    seconds = time.perf_counter() - started
    own = "forward_backward" in result.error_tables
    rows = []
    for rule in ["forward_backward"] if own else result.error_tables:
        named = rule + "_automatic" * variant.endswith("_automatic")
        row: dict[str, object] = {"setting": setting.name, "n": n, "seed": seed, "variant": variant if own else named}
        row |= {kind: f"{result.headline(kind)[rule].mean:.5f}" for kind in METRICS}
        row["single"] = f"{result.headline()['single'].mean:.5f}" if own else ""
        rows.append(row | {"seconds": f"{seconds:.3f}", "version": imrc.__version__})
    return rows


def run(stage: str, seeds: range, sizes: tuple[int, ...], variants: list[str], settings: list[Setting]) -> None:
    """Run what is missing."""
    store = Store(RESULTS / f"default_study_{stage}.csv")
    for seed in seeds:
        for setting in settings:
            limit = largest_n(setting.load(seed))
            # Digits have 89 samples a task: the first size that is too large becomes the largest possible.
            for n in sorted({min(size, limit) for size in sizes}):
                for variant in variants:
                    known = str(VARIANTS[variant].get("methods", (variant,))[0])
                    known += "_automatic" * (variant.endswith("_automatic") and "methods" in VARIANTS[variant])
                    if (setting.name, str(n), str(seed), known) not in store.done:
                        store.add(cell(setting, n, seed, variant))


def paired(stage: str, metric: str = "average", reference: str = "paper") -> pd.DataFrame:
    """Return per setting and n: reference error, and each variant's paired difference ± standard error."""
    table = _read(stage).pivot_table(index=["setting", "size", "seed"], columns="variant", values=metric)
    rows = []
    for (setting, size), part in table.groupby(level=["setting", "size"]):
        row: dict[str, object] = {"setting": setting, "n": size, "seeds": len(part), reference: part[reference].mean()}
        for variant in table.columns.drop(reference):
            difference = (part[variant] - part[reference]).dropna()
            row[variant] = difference.mean()
            row[f"{variant}_se"] = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _read(stage: str) -> pd.DataFrame:
    data = pd.read_csv(RESULTS / f"default_study_{stage}.csv")
    data["size"] = np.select([data["n"] <= 10, data["n"] <= 50], [10, 50], 100)
    return data


def _summed_up(difference: pd.Series) -> str:
    """Mean over settings ± standard error over seeds, and settings beyond two standard errors of their own."""
    by_seed = difference.groupby(level="seed").mean()
    by_setting = difference.groupby(level="setting").agg(["mean", "sem"])
    lower = int((by_setting["mean"] < -2 * by_setting["sem"]).sum())
    higher = int((by_setting["mean"] > 2 * by_setting["sem"]).sum())
    return f"{by_seed.mean():+.4f} ± {by_seed.sem():.4f}, {lower} / {higher}"


def differences(stage: str, metric: str, reference: str = "paper") -> pd.DataFrame:
    """Return the table of README: each variant minus the reference, by size."""
    table = _read(stage).pivot_table(index=["setting", "size", "seed"], columns="variant", values=metric)
    return pd.DataFrame(
        {
            size: {
                reference: f"{part[reference].groupby(level='setting').mean().mean():.4f}",
                **{name: _summed_up(part[name] - part[reference]) for name in table.columns.drop(reference)},
            }
            for size, part in table.groupby(level="size")
        }
    )


def gains(stage: str) -> pd.DataFrame:
    """Return what forward and backward learning gains on the single-task rule of the same preset, by size."""
    data = _read(stage).dropna(subset="single")
    data = data.assign(gain=data["average"] - data["single"])
    table = data.pivot_table(index=["setting", "size", "seed"], columns="variant", values="gain")
    return pd.DataFrame(
        {size: {name: _summed_up(part[name]) for name in table.columns} for size, part in table.groupby(level="size")}
    )


def report(stage: str, metric: str, reference: str = "paper") -> None:
    """Print the table and its means."""
    table = paired(stage, metric, reference)
    pd.set_option("display.width", 220, "display.max_rows", 200, "display.max_columns", 40)
    print(table.round(4).to_string(index=False))
    for title, rows in (
        (f"minus {reference}", differences(stage, metric, reference)),
        ("minus own single-task rule", gains(stage)),
    ):
        print(f"\n{title}: mean over settings ± one standard error over seeds, settings lower / higher by two")
        print(rows.to_string())
    variants = [name for name in table.columns if f"{name}_se" in table.columns]
    for size, part in table.groupby("n"):
        print(f"n = {size}: {reference} {part[reference].mean():.4f}", end="")
        for variant in variants:
            mean = part[variant].mean()
            better = (part[variant] < -2 * part[f"{variant}_se"]).sum()
            worse = (part[variant] > 2 * part[f"{variant}_se"]).sum()
            print(
                f"; {variant} {mean:+.4f} ({mean / part[reference].mean():+.0%}, {better} better, {worse} worse)",
                end="",
            )
        print()


def cost(settings: list[Setting]) -> None:
    """Store the processor seconds of both presets, taken in turns, minimum of five, and their ratio."""
    rows = []
    for setting in settings:
        sequence = setting.load(0)
        for n in sorted({min(size, largest_n(sequence)) for size in SIZES}):
            best = {"paper": np.inf, "recommended": np.inf}
            for _ in range(5):
                for preset in best:
                    started = time.process_time()
                    imrc.evaluate(sequence, n=n, features=setting.features, repetitions=1, preset=preset)
                    best[preset] = min(best[preset], time.process_time() - started)
            rows.append({"setting": setting.name, "n": n, **best, "ratio": best["recommended"] / best["paper"]})
    table = pd.DataFrame(rows).round(4)
    table.to_csv(RESULTS / "default_study_cost.csv", index=False)
    print(table.to_string(index=False))
    print(table["ratio"].describe())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "report", "cost"])
    parser.add_argument("--stage", default="tuning")
    parser.add_argument("--sets", default="first", choices=SETS)
    parser.add_argument("--reference", default="paper", help="what the others are compared with in a report")
    parser.add_argument("--seeds", default="0:10", help="first:last")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument(
        "--variants", nargs="+", default=["paper", "recommended", "recommended_01", "references"], choices=VARIANTS
    )
    parser.add_argument("--only", default="", help="part of the names of the settings")
    parser.add_argument("--metric", default="average")
    options = parser.parse_args()
    if options.action == "report":
        report(options.stage, options.metric, options.reference)
        return
    if options.action == "cost":
        cost([setting for setting in SETS[options.sets] if options.only in setting.name])
        return
    first, last = map(int, options.seeds.split(":"))
    settings = [setting for setting in SETS[options.sets] if options.only in setting.name]
    run(options.stage, range(first, last), tuple(options.sizes), options.variants, settings)


if __name__ == "__main__":
    main()
