"""Do the promises hold? Coverage of tau ± 2 sqrt(s), and minimax risk against the randomised rule's error.

python -m tests.benchmarks.calibration [--seeds 10] [--sizes 10 50 100]     real datasets need $IMRC_DATA
"""

import os

import numpy as np

import imrc
from imrc.core.learner import Learner
from imrc.core.prediction import randomised_rule, scores
from imrc.core.settings import resolve_settings
from imrc.evaluation.significance import mean_and_stderr
from imrc.evaluation.splits import draw_task, largest_n, repetition_seeds, task_seed
from imrc.features import make
from imrc.solvers.api import with_intercept
from tests.benchmarks.common import parser, share_error, write
from tests.benchmarks.sequences import BUILT_IN

REAL = ("usenet1", "usenet2", "german", "spam", "weather", "power_supply")
VARIANTS = {"paper": {"preset": "paper"}, "recommended": {}, "recommended 0-1": {"loss": "0-1"}}


def coverage(variant: str, n: int, seeds: range) -> dict[str, tuple[float, float]]:
    """Share of components with the true mean inside tau ± 2 sqrt(s), and its standard error over seeds, by rule."""
    shares: dict[str, list[float]] = {"forward": [], "forward_backward": []}
    for seed in seeds:
        sequence = imrc.datasets.load("random_walk", tasks=20, samples=n, seed=seed, change=0.3)
        settings = resolve_settings(**{"preset": "recommended", **VARIANTS[variant]}, b=3)
        learner = Learner(settings, 2, rules=("forward", "forward_backward"))
        inside: dict[str, list[float]] = {"forward": [], "forward_backward": []}
        for j, task in enumerate(sequence):
            update = learner.step(with_intercept(task.X), sequence.encoded(j))
            truth = sequence.truth["mean_vectors"]
            pairs = [("forward", j, update.forward), *(("forward_backward", i, e) for i, e in update.revised.items())]
            for rule, i, estimate in pairs:
                inside[rule].append(np.mean(np.abs(estimate.mean - truth[i]) <= 2 * np.sqrt(estimate.mse)))
        for rule, values in inside.items():
            shares[rule].append(float(np.mean(values)))
    return {rule: tuple(map(float, mean_and_stderr(np.array(values)))) for rule, values in shares.items()}


def bounded(name: str, n: int, seeds: range) -> tuple[float, float]:
    """Share of revised tasks whose minimax risk is at least the randomised rule's error, and its standard error."""
    held = []
    for seed in seeds:
        sequence = imrc.datasets.load(name, **({"tasks": 20, "seed": seed} if name in BUILT_IN else {})).head(20)
        feature_map = make("blended", sequence, seed)
        learner = Learner(resolve_settings("recommended", b=3, loss="0-1"), sequence.n_classes)
        repetition, tests = repetition_seeds(seed, 1)[0], {}
        for j, task in enumerate(sequence):
            y = sequence.encoded(j)
            draw = draw_task(y, min(n, largest_n(sequence)), sequence.n_classes, task_seed(repetition, j))
            X1 = with_intercept(feature_map.transform(task.X))
            tests[j] = X1[draw.test], y[draw.test]
            update = learner.step(X1[draw.train], y[draw.train])
            for i, estimate in {j: update.forward, **update.revised}.items():
                X_test, y_test = tests[i]
                rule = randomised_rule(scores(X_test, estimate.coef, sequence.n_classes), estimate.nu)
                held.append(float(1 - rule[np.arange(len(y_test)), y_test].mean()) <= estimate.risk)
    return float(np.mean(held)), share_error(float(np.mean(held)), len(held))


def main() -> None:
    """Print and store the tables."""
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--sizes", type=int, nargs="+", default=[10, 50, 100])
    options.add_argument("--only", nargs="+", default=[*BUILT_IN, *(REAL if os.environ.get("IMRC_DATA") else ())])
    given = options.parse_args()
    rows = []
    for preset in VARIANTS:
        for n in given.sizes:
            for rule, found in coverage(preset, n, range(given.seeds)).items():
                rows.append(("coverage of tau ± 2 sqrt(s)", "random_walk", preset, n, rule, *np.round(found, 4)))
    for name in given.only:
        for n in (n for n in given.sizes if n > 10):
            found = bounded(name, n, range(min(given.seeds, 3)))
            rows.append(("risk bounds error", name, "recommended 0-1", n, "all", *np.round(found, 4)))
    columns = ("what", "on", "preset", "n", "rule", "value", "stderr")
    write([dict(zip(columns, row, strict=True)) for row in rows], "calibration.csv")


if __name__ == "__main__":
    main()
