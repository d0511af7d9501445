"""Errors of the recommended learner against its rivals: all tasks so far, and the task to come.

    python tests/benchmarks/learner_study.py continual --methods learner pooled paper --sizes 10 50 --seeds 9101:9111
    python tests/benchmarks/learner_study.py next --methods learner forest --seeds 9101:9111
    python tests/benchmarks/learner_study.py report [--tables next]

A cell is one sequence, n, seed and method. A seed decides the data of synthetic sequences, the draws and the random
features, the same for every method. Each finished cell is a line of results/learner_study_*.csv; cells already there
are skipped, so a run that was stopped goes on where it was. Rows "recommended_1.0" were measured with the code of
version 1.0 (commit 858417b) on the same data, draws and random features.

Tables for the task to come are read from the folder $IMRC_TEMPORAL (name.csv.gz with columns `task` and `label`); for
the others see `sequences.py`.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_moons
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import imrc
from imrc import features
from imrc.evaluation import largest_n
from imrc.evaluation.measures import calibration_error, counted, log_loss
from imrc.evaluation.splits import draw_task, repetition_seeds, task_seed
from tests.benchmarks.common import RESULTS, Cells, parser
from tests.benchmarks.sequences import SEQUENCES

B = 3
SEEN = (
    "weather", "rotated_digits", "independent", "identical", "periodic", "movingsquares", "chess", "sea",
    "luxembourg", "usenet1", "usenet2", "spam", "covertype_excerpt",
)  # fmt: skip
"""Sequences on which choices were made; all others are untouched."""


# All tasks so far


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


def forest(sequence: imrc.TaskSequence, n: int, seed: int) -> dict[str, object]:
    """Return the measures of one forest on all samples so far, with the number of the task as a column."""
    repetition = repetition_seeds(seed, 1)[0]
    known, labels, tests, errors, before, times = [], [], [], [], [], []
    model = None
    for task, block in enumerate(sequence.tasks):
        y = sequence.encoded(task)
        draw = draw_task(y, n, sequence.n_classes, task_seed(repetition, task))
        numbered = np.column_stack([block.X, np.full(len(y), task)])
        if model is not None:
            before.append(np.mean(model.predict(numbered[draw.test]) != y[draw.test]))
        known.append(numbered[draw.train])
        labels.append(y[draw.train])
        tests.append((numbered[draw.test], y[draw.test]))
        started = time.process_time()
        model = RandomForestClassifier(100, random_state=seed).fit(np.vstack(known), np.concatenate(labels))
        times.append(time.process_time() - started)
        answers = model.predict(np.vstack([X for X, _ in tests]))
        ends = np.cumsum([len(truth) for _, truth in tests])[:-1]
        errors.append([np.mean(a != t) for a, (_, t) in zip(np.split(answers, ends), tests, strict=True)])
    return {
        "average": float(np.mean([np.mean(row) for row in errors])),
        "newest": float(np.mean([row[-1] for row in errors])),
        "before": float(np.mean(before)),
        "ms": 1000.0 * float(np.mean(times)),
    }


CONTINUAL: dict[str, Callable[..., dict[str, object]]] = {
    "learner": evaluated,
    "pooled": partial(evaluated, methods=("pooled",)),
    "loss_01": partial(evaluated, loss="0-1"),
    "paper": partial(evaluated, preset="paper"),
    "logistic_seen": partial(evaluated, methods=("logistic_seen:tuned",)),
    "logistic_single": partial(evaluated, methods=("logistic_single:tuned",)),
    "forest": forest,
}


# The task to come

TABLES = ("pima", "liver", "chess_games", "istanbul", "occupancy", "ames", "hyperplane", "moons")


@lru_cache(1)
def table(name: str, seed: int) -> imrc.TaskSequence:
    """Return a table of tasks in their order, or rotated moons."""
    if name == "moons":
        return imrc.TaskSequence(tuple(_moons(seed)), name)
    path = Path(os.environ["IMRC_TEMPORAL"]) / f"{name}.csv.gz"
    return imrc.datasets.read_table(path, label="label", task="task", name=name)


def _moons(seed: int) -> Iterator[imrc.Task]:
    """Yield eleven rotations by 18 degrees of half moons, fresh points each time."""
    for rotation in range(11):
        X, y = make_moons(200, noise=0.1, random_state=1000 * seed + rotation)
        angle = np.deg2rad(18.0 * rotation)
        yield imrc.Task(X @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]), y)


Next = Iterator[tuple[np.ndarray | None, float]]
"""Before each task after the first: its probabilities, before any row of it is learnt; and processor seconds."""


def next_learnt(sequence: imrc.TaskSequence, seed: int) -> Next:
    """Yield the probabilities of IMRC."""
    model = imrc.IMRC(b=B, features=features.Representation.of("blended", sequence), random_state=seed)
    for task, block in enumerate(sequence.tasks):
        started = time.thread_time()
        found = model.predict_proba(block.X, task="next") if task else None
        model.partial_fit(block.X, block.y, classes=sequence.classes)
        yield found, time.thread_time() - started


def next_rival(sequence: imrc.TaskSequence, seed: int, make: Callable[[int], object], *, numbered: bool) -> Next:
    """Yield the probabilities of a scikit-learn classifier learnt from all rows so far, with the task's number or not.

    Columns are standardised and words 0/1 columns by what was seen.
    """
    for task, block in enumerate(sequence.tasks):
        if task == 0:
            yield None, 0.0
            continue
        started = time.process_time()
        X = np.vstack([one.X for one in sequence.tasks[:task]])
        y = np.concatenate([sequence.encoded(j) for j in range(task)])
        feature_map = features.Representation.of("standardised", sequence).learn(X, seed)
        inputs, wanted = feature_map.transform(X), feature_map.transform(block.X)
        if numbered:
            inputs = np.column_stack([inputs, np.repeat(np.arange(task), sequence.sizes[:task])])
            wanted = np.column_stack([wanted, np.full(len(wanted), task)])
        found = np.zeros((len(wanted), sequence.n_classes))
        present, counts = np.unique(y, return_counts=True)
        if len(present) == 1:
            found[:, present] = 1.0
        else:
            model = make(seed, int(counts.min())).fit(inputs, y)
            found[:, model.classes_] = model.predict_proba(wanted)
        yield found, time.process_time() - started


def tuned_logistic(seed: int, rarest: int) -> object:
    """Return logistic regression whose penalty is chosen among four by folds."""
    if rarest < 2:
        return LogisticRegression(max_iter=1000)
    return LogisticRegressionCV(
        Cs=[0.01, 0.1, 1.0, 10.0], cv=min(5, rarest), scoring="neg_log_loss", max_iter=1000, random_state=seed
    )


NEXT: dict[str, Callable[[imrc.TaskSequence, int], Next]] = {
    "logistic": lambda s, seed: next_rival(s, seed, tuned_logistic, numbered=False),
    "forest": lambda s, seed: next_rival(
        s, seed, lambda seed, _: RandomForestClassifier(100, random_state=seed), numbered=True
    ),
    "majority": lambda s, seed: next_rival(s, seed, lambda *_: DummyClassifier(strategy="prior"), numbered=False),
    "learner": next_learnt,
}


def measured(sequence: imrc.TaskSequence, steps: Next) -> dict[str, object]:
    """Return the measures over the rows of the second half of the tasks."""
    wrong, rows, sums, times = 0, 0, 0.0, []
    for task, (found, seconds) in enumerate(steps):
        times.append(seconds)
        if task >= len(sequence) // 2 and found is not None:
            y, answers = sequence.encoded(task), found.argmax(axis=1)
            wrong, rows = wrong + int((answers != y).sum()), rows + len(y)
            sums = sums + counted(0.999 * found + 0.001 / found.shape[1], answers, y)[0]
    return {
        "before": wrong / rows,
        "log_loss": log_loss(sums[None])[0],
        "calibration": calibration_error(sums[None])[0],
        "ms": 1000.0 * float(np.mean(times)),
    }


COLUMNS = (
    "setting", "n", "seed", "method", "average", "newest", "before", "single", "pooled", "log_loss", "calibration",
)  # fmt: skip


def add(store: Cells, cell: tuple[object, ...], row: dict[str, object]) -> None:
    """Keep the measures of a finished cell."""
    values = dict.fromkeys((*COLUMNS, "ms"), "") | dict(zip(COLUMNS, cell, strict=False)) | row
    store.add([values], float_format="%.5f")


def run_next(store: Cells, methods: list[str], seeds: range, only: list[str]) -> None:
    """Run what is missing."""
    for name, seed, method in product(only or TABLES, seeds, methods):
        if not store.has(name, "all", seed, method):
            sequence = table(name, seed)
            add(store, (name, "all", seed, method), measured(sequence, NEXT[method](sequence, seed)))


def run_continual(store: Cells, methods: list[str], sizes: list[int], seeds: range, only: list[str]) -> None:
    """Run what is missing, a seed after the other."""
    for n, seed, setting in product(sizes, seeds, SEQUENCES):
        missing = [method for method in methods if not store.has(setting.dataset, n, seed, method)]
        if not missing or (only and setting.dataset not in only):
            continue
        sequence = setting.load(seed)
        most = largest_n(sequence)
        if n <= max(most, 50):  # digits have 45 samples to learn from: their largest n counts as 50
            for method in missing:
                add(store, (setting.dataset, n, seed, method), CONTINUAL[method](sequence, min(n, most), seed))


def summed_up(data: pd.DataFrame, error: str) -> pd.DataFrame:
    """Return a line per method: its mean, and how it compares with the learner on the seeds that both have.

    Wins, ties and losses are those of the learner at two standard errors. Ranks and regret, the distance to the best
    method of a sequence, are over the methods that have all sequences. The first standard error is over sequences, the
    second over seeds.
    """
    table = data.pivot_table(index=["setting", "seed"], columns="method", values=error)
    means = table.groupby(level="setting").mean()
    complete = means.dropna(axis=1)
    regret = complete.sub(complete.min(axis=1), axis=0)
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
        print(part.pivot_table(index="setting", columns="method", values=error).round(4).to_string())


def main() -> None:
    """Read the command line."""
    options = parser(__doc__)
    options.add_argument("action", choices=["continual", "next", "report"])
    options.add_argument("--methods", nargs="+", default=["learner"])
    options.add_argument("--sizes", type=int, nargs="+", default=[10, 50])
    options.add_argument("--seeds", default="9101:9111", help="first:last")
    options.add_argument("--only", nargs="*", default=[], help="names of sequences")
    options.add_argument("--tables", choices=["continual", "next"], default="continual", help="for `report`")
    options.add_argument("--file", type=Path, help="default: that of the action")
    given = options.parse_args()
    seeds = range(*map(int, given.seeds.split(":")))
    file = given.file or RESULTS / f"learner_study_{given.tables if given.action == 'report' else given.action}.csv"
    if given.action == "report":
        report(file)
    elif given.action == "next":
        run_next(Cells(file, COLUMNS[:4]), given.methods, seeds, given.only)
    else:
        run_continual(Cells(file, COLUMNS[:4]), given.methods, given.sizes, seeds, given.only)


if __name__ == "__main__":
    main()
