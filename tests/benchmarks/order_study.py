"""Error on the next task, test then train: order 1, order "auto" and the rivals, on the same draws.

    IMRC_DATA=FOLDER python tests/benchmarks/order_study.py run [--seeds 20] [--methods auto gem] [--sizes 10]
    python tests/benchmarks/order_study.py report

One line per sequence, n, seed and method in `results/order_study.csv`, seed after seed; a run that was stopped goes on
where it was. Data, split and draws follow from the seed. The error is that of what is known before the task, of IMRC
the predicted rule, a mean over tasks from the second on; b has no effect on it and is 0, but for the logistic
regression on the last b + 1 = 4 tasks. Differences are paired over seeds.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import pandas as pd

import imrc
from imrc.baselines import PUBLISHED, method_title
from imrc.core.orders import KNOWN_ORDERS, ORDERS
from imrc.core.settings import check_order
from imrc.datasets.synthetic import KINDS
from imrc.wording import decimal

SEQUENCES = (
    *KINDS,
    "rotated_digits",
    "usenet1",
    "usenet2",
    "german",
    "spam",
    "power_supply",
    "weather",
    "covertype_excerpt",
)
SMALLEST = {"rotated_digits": 45}
"""What the smallest task has to learn from, where that is less than the largest n."""
TASKS = 40
"""At most so many of a sequence."""
RESULTS = Path(__file__).parent / "results" / "order_study.csv"
_PLACES = {name: place for place, name in enumerate(SEQUENCES)}
FIRST = 106
"""Seeds 100 to 105 were looked at while the choice was worked out."""
COLUMNS = ("sequence", "n", "seed", "method", "next", "newest", "chosen", "seconds")
RIVALS = ("paper", "logistic_single", "logistic_recent", "logistic_seen", *PUBLISHED)
METHODS = (*map(str, ORDERS), *RIVALS)
"""An order of preset recommended_2023, preset paper, or a compared method."""
TITLES = {
    "1": "order 1",
    "auto": "order auto",
    "paper": "paper",
    "logistic_single": "last task",
    "logistic_recent": "last 4",
    "logistic_seen": "all",
}


def line(name: str, n: int, seed: int, method: str) -> dict[str, object]:
    """Run one setting with one split."""
    sequence = imrc.datasets.load(name, seed=seed)
    rival = method in RIVALS and method != "paper"
    what = (
        {"methods": (method,)}
        if rival
        else {"preset": "paper"}
        if method == "paper"
        else {"order": check_order(method), "preset": "recommended_2023"}
    )
    started = time.process_time()
    result = imrc.evaluate(
        sequence,
        n=n,
        k=min(len(sequence), TASKS),
        b=3 if method == "logistic_recent" else 0,
        repetitions=1,
        seed=seed,
        scenario="next_task",
        **what,
    )
    seconds = time.process_time() - started
    chosen = "" if method in RIVALS else "1"
    if "order" in result.choices:  # how often each order was in use, over the steps
        places, counts = np.unique(result.choices["order"].astype(int), return_counts=True)
        chosen = " ".join(f"{KNOWN_ORDERS[place]}:{count}" for place, count in zip(places, counts, strict=True))
    rule = method if rival else "forward"
    newest = result.seen_as("adaptation").per_repetition(rule)
    error = result.per_repetition(rule)
    return dict(
        zip(COLUMNS, (name, n, seed, method, float(error[0]), float(newest[0]), chosen, round(seconds, 2)), strict=True)
    )


def run(seeds: int, methods: list[str], sizes: list[int]) -> None:
    """Append what is missing."""
    done = set()
    if RESULTS.exists():
        table = pd.read_csv(RESULTS, dtype={"method": str})
        done = set(zip(table["sequence"], table["n"], table["seed"], table["method"], strict=True))
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for seed in range(FIRST, FIRST + seeds):
            for name in SEQUENCES:
                for size in dict.fromkeys(min(n, SMALLEST.get(name, n)) for n in sizes):
                    for method in methods:
                        if (name, size, seed, method) not in done:
                            writer.writerow(line(name, size, seed, method))
                            file.flush()


def orders_table(table: pd.DataFrame, order: str) -> None:
    """Print one line per sequence and n, order 1 against another, and the mean over all."""
    print(f"| sequence | n | seeds | order 1 | order {order} | difference | used (share of the steps) |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    means = []
    for (name, n), part in table.groupby(["sequence", "n"], sort=False):
        errors = part.pivot_table(index="seed", columns="method", values="next").reindex(columns=["1", order]).dropna()
        if errors.empty:
            continue
        difference = errors[order] - errors["1"]
        stderr = difference.std(ddof=1) / np.sqrt(len(difference))
        used: dict[str, int] = {}
        for text in part.loc[part["method"] == order, "chosen"]:
            for word in text.split():
                which, count = word.rsplit(":", 1)
                used[which] = used.get(which, 0) + int(count)
        total = sum(used.values())
        ranked = sorted(used.items(), key=lambda pair: -pair[1])[:3]
        shares = ", ".join(f"{which} {100 * count / total:.0f} %" for which, count in ranked)
        mark = " worse" if difference.mean() > 2 * stderr else " better" if difference.mean() < -2 * stderr else ""
        means.append(difference.mean())
        both = f"{decimal(errors['1'].mean(), 4)} | {decimal(errors[order].mean(), 4)}"
        change = f"{difference.mean():+.4f} ± {stderr:.4f}{mark}"
        print(f"| {name} | {n} | {len(errors)} | {both} | {change} | {shares} |")
    print(f"\nMean difference over {len(means)} settings: {np.mean(means):+.4f}\n")


def rivals_table(table: pd.DataFrame) -> None:
    """Print errors of all, and how often a rival has clearly fewer or more errors than order 1 on the same seeds.

    The seeds are those of preset paper; a slow method is averaged over those of them it was run with.
    """
    methods = [name for name in ("1", "auto", *RIVALS) if (table["method"] == name).any()]
    errors = table.pivot_table(index=["sequence", "n", "seed"], columns="method", values="next", sort=False)[methods]
    errors = errors[errors["paper"].notna()]
    names = [TITLES.get(name, "") or method_title(name) for name in methods]
    print(f"| sequence | n | {' | '.join(names)} |")
    print("| --- | ---: |" + " ---: |" * len(methods))
    for (name, n), means in errors.groupby(level=["sequence", "n"], sort=False).mean().iterrows():
        shown = ["" if np.isnan(one) else decimal(one) for one in means]
        shown[int(np.nanargmin(means))] = f"**{shown[int(np.nanargmin(means))]}**"
        print(f"| {name} | {n} | {' | '.join(shown)} |")
    print("\n| rival | n | settings | seeds | its error | order 1 | order auto | fewer errors than order 1 | more |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    large = errors.index.get_level_values("n") > 10
    for method, title in zip(methods[2:], names[2:], strict=True):
        for label, chosen in (("10", ~large), ("45 to 100", large)):
            part = errors.loc[chosen, [method, "1", "auto"]].dropna()
            if part.empty:
                continue
            settings = part.groupby(level=["sequence", "n"])
            difference = (part[method] - part["1"]).groupby(level=["sequence", "n"])
            stderr = difference.std(ddof=1) / np.sqrt(difference.size())
            counts = [str((sign * difference.mean() > 2 * stderr).sum()) for sign in (-1, 1)]
            fewer, more = counts if stderr.notna().any() else ("", "")
            seeds = sorted({int(settings.size().min()), int(settings.size().max())})
            means = " | ".join(decimal(one) for one in settings.mean().mean())
            print(
                f"| {title} | {label} | {len(settings)} | {' to '.join(map(str, seeds))} | {means} | {fewer} | {more} |"
            )


def report() -> None:
    """Print both tables."""
    table = pd.read_csv(RESULTS, dtype={"method": str}, keep_default_na=False)
    table = table.sort_values(
        ["sequence", "n"], key=lambda column: column.map(_PLACES) if column.name[0] == "s" else column
    )
    for order in [name for name in table["method"].unique() if name != "1" and name not in RIVALS]:
        orders_table(table, order)
    if table["method"].isin(RIVALS).any():
        rivals_table(table)
    print(f"\n{table['seconds'].sum():.0f} processor seconds")


def main() -> None:
    """Run or report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["1", "auto"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[10, 50, 100])
    options = parser.parse_args()
    if options.what == "run":
        run(options.seeds, options.methods, options.sizes)
    else:
        report()


if __name__ == "__main__":
    main()
