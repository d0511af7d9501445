"""Errors of the recommended learner against its rivals; a study that was stopped goes on where it was."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import imrc
from imrc.atlas import STREAMS, of_file
from imrc.evaluation import largest_n
from imrc.evaluation.measures import calibration_error, log_loss
from tests.benchmarks.common import RESULTS, Cells, parser

B = 3
MADE = ("rotated_digits", *imrc.datasets.names("synthetic"))
SEQUENCES = {
    **dict.fromkeys(("usenet1", "usenet2"), (0, 5)),
    **{"german": (0, 3), "spam": (0, 20), "power_supply": (40, 60), "weather": (25, 45)},
    **{"covertype_excerpt": (0, 20), "rotated_mnist": (0, 15), **dict.fromkeys((*MADE, *STREAMS), (0, 20))},
}
"""The 21 sequences, with their first task and the one after the last."""
SEEN = (
    "weather", "rotated_digits", "independent", "identical", "periodic", "movingsquares", "chess", "sea",
    "luxembourg", "usenet1", "usenet2", "spam", "covertype_excerpt",
)  # fmt: skip
"""Sequences on which choices were made; all others are untouched."""


def loaded(name: str, seed: int) -> imrc.TaskSequence:
    """Return the tasks of a sequence; the seed decides the data of those that are made, or drawn."""
    first, end = SEQUENCES[name]
    if name in STREAMS:
        sequence = of_file("IMRC_STREAMS", name, STREAMS[name][0], every=300)
    else:
        drawn = {"tasks": end, "seed": seed} if name in (*MADE, "rotated_mnist") else {}
        sequence = imrc.datasets.load(name, **drawn)
    return replace(sequence, tasks=sequence.tasks[first:end])


def evaluated(sequence: imrc.TaskSequence, n: int, seed: int, **options: object) -> dict[str, object]:
    """Return the measures of a method that `imrc.evaluate` runs."""
    result = imrc.evaluate(sequence, n=n, repetitions=1, seed=seed, b=B, **options)
    name = "forward_backward" if "forward_backward" in result.error_tables else str(options["methods"][0])
    own = name == "forward_backward"
    row: dict[str, object] = {kind: result.headline(kind)[name].mean for kind in ("average", "newest")}
    row["before"] = float(np.nanmean(result.before["imrc" if own else name]))
    if own:
        row["single"] = result.headline()["single"].mean
        row["log_loss"] = log_loss(result.reliability[name])[0]
        row["calibration"] = calibration_error(result.reliability[name])[0]
    row["ms"] = 1000.0 * float(np.mean(result.method_time_s["imrc" if own else name]))
    return row


CONTINUAL: dict[str, Callable[..., dict[str, object]]] = {
    "learner": evaluated,
    "pooled": partial(evaluated, methods=("pooled",)),
    "loss_01": partial(evaluated, loss="0-1"),
    "paper": partial(evaluated, preset="paper"),
    "logistic_seen": partial(evaluated, methods=("logistic_seen:tuned",)),
    "logistic_single": partial(evaluated, methods=("logistic_single:tuned",)),
    "forest": partial(evaluated, methods=("forest:hundred",)),
}


COLUMNS = (
    "setting", "n", "seed", "method", "average", "newest", "before", "single", "pooled", "log_loss", "calibration",
)  # fmt: skip


def run_continual(store: Cells, methods: list[str], sizes: list[int], seeds: range, only: list[str]) -> None:
    """Run what is missing, a seed after the other."""
    for n, seed, name in product(sizes, seeds, only or SEQUENCES):
        missing = [method for method in methods if not store.has(name, n, seed, method)]
        if not missing:
            continue
        sequence = loaded(name, seed)
        most = largest_n(sequence)
        if n <= max(most, 50):  # digits have 45 samples to learn from: their largest n counts as 50
            for method in missing:
                cell = dict.fromkeys((*COLUMNS, "ms"), "") | dict(zip(COLUMNS, (name, n, seed, method), strict=False))
                store.add([cell | CONTINUAL[method](sequence, min(n, most), seed)], float_format="%.5f")


def summed_up(data: pd.DataFrame, error: str) -> pd.DataFrame:
    """Return a line per method: its mean, and how it compares with the learner on the seeds that both have."""
    table = data.pivot_table(index=["setting", "seed"], columns="method", values=error)
    means = table.groupby(level="setting").mean()
    complete = means.dropna(axis=1)
    regret = complete.sub(complete.min(axis=1), axis=0)  # of methods that have all sequences, as are ranks
    lines = {}
    for method in table:
        both = (table[method] - table["learner"]).dropna().groupby(level="setting").agg(["mean", "sem", "size"])
        own = data[data["method"] == method].groupby("setting")[["log_loss", "calibration", "ms"]].median().mean()
        beyond = both["mean"] / (2.0 * both["sem"]).where(both["sem"] > 0.0)
        lines[method] = {
            "sets": len(both),
            "error": means[method].mean(),
            "minus learner": both["mean"].mean(),
            "se sets": both["mean"].sem(),
            "se seeds": np.sqrt((both["sem"] ** 2).sum()) / len(both),
            "wins": int((beyond > 1.0).sum()),
            "losses": int((beyond < -1.0).sum()),
            "rank": complete.rank(axis=1)[method].mean() if method in complete else np.nan,
            "worst regret": regret[method].max() if method in complete else np.nan,
            **own,
        }
    return pd.DataFrame(lines).T


def report(path: Path) -> None:
    """Print the tables."""
    pd.set_option("display.width", 200, "display.max_columns", 30, "display.max_rows", 200)
    data = pd.read_csv(path)
    data["setting"] = data["setting"].astype(str)
    for n, part in data.groupby("n"):
        error = "before" if n == "all" else "average"
        untouched = ~part["setting"].isin(SEEN)
        for title, rows in (("untouched", part[untouched]), ("seen", part[~untouched])):
            if "learner" in set(rows["method"]):
                print(f"\nn = {n}, {title}\n{summed_up(rows, error).round(4).to_string()}")
        table = part.pivot_table(index="setting", columns="method", values=error).assign(
            alone=part[part["method"] == "learner"].groupby("setting")["single"].mean()
        )
        print(table.round(4).to_string())
        # Of the tables of the next task, moons are simulated.
        every = table.drop(index="moons", errors="ignore")
        for title, rows in (("all", every), ("untouched", table.drop(index=[*SEEN], errors="ignore"))):
            mean = rows.mean()
            saved = "" if n == "all" else f"; the learner is {1 - mean['learner'] / mean['alone']:.0%} below alone"
            print(f"n = {n}, mean over {title} {len(rows)}: {mean.round(4).to_dict()}{saved}")


def main() -> None:
    """Read the command line."""
    options = parser(__doc__)
    options.add_argument("action", choices=["continual", "report"])
    options.add_argument("--methods", nargs="+", default=["learner"])
    options.add_argument("--sizes", type=int, nargs="+", default=[10, 50])
    options.add_argument("--seeds", default="9101:9111", help="first:last")
    options.add_argument("--only", nargs="*", default=[], help="names of sequences")
    options.add_argument("--file", type=Path, default=RESULTS / "learner_study_continual.csv")
    given = options.parse_args()
    if given.action == "report":
        report(given.file)
    else:
        seeds = range(*map(int, given.seeds.split(":")))
        run_continual(Cells(given.file, COLUMNS[:4]), given.methods, given.sizes, seeds, given.only)


if __name__ == "__main__":
    main()
