"""The presets, each in one table with its representation, their constants, and the steps when a task arrives.

``recommended`` is the default. `imrc.evaluate` draws the splits and `imrc.IMRC.partial_fit` uses the rows it is given.
Both map them by the preset's ``features`` and then call `Learner.step` once per task.

recommended (``tracking="rate"``, ``loss="log"``): `LogLossLearner.step`
    1. `step`: every candidate's rule for the next task is tested on all rows of the task that arrived.
    2. `add`: the rows are stored beside those of the last tasks. `RateOfChange.add` measures by how much means changed,
       and `RateWeights.after` computes the weight of every stored task for this one, eq. (6), at each rate.
    3. `_learn_candidates`: half of the rows are held back, each candidate learns the rest and the past, and is tested
       on them. Then one weighted logistic regression per candidate uses all stored rows, `solve_in_turn`.
    4. `shares`: the losses of the last W tasks, summed by `Account`, give each candidate its share.
    5. `_learn_tasks`: for the newest task and, by `RateWeights.revised`, eq. (10), each of the b before it, weights and
       penalties of the candidates are averaged by their shares for one regression.
    With ``loss="0-1"``, `ZeroOneLearner.step` learns from the estimates of `samples_and_weights`.

paper (``tracking="component"``, ``loss="0-1"``): Algorithm 1, component by component
    1. `ComponentTracker.update`: `sample_moments` gives tau and s, eq. (4); `forward_change` the expected quadratic
       change d^2 from the last W differences, eq. (7); `forward_step` the forward mean vector, eq. (6).
    2. `ComponentTracker.revised`: `backward_change`, then `revise`, eq. (10), for the b tasks before the newest.
    3. `ZeroOneLearner.step`: with lambda = lambda0 sqrt(s), the subgradient method solves problem (3) for the newest
       task alone and forward, and again for each of the b before it from its last solution.

For the next task, `Learner.predicted` averages the candidates' rules by their shares, or solves problem (3) again for
the forward mean with the change of one more period (`predict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from imrc._checks import check_choice
from imrc.features import FeatureSpec

Preset = Literal["recommended", "paper"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
DEFAULT: Preset = "recommended"


class Candidate(NamedTuple):
    """One way to learn from the past."""

    rate: float  # of change, rho = d^2 / sigma^2 per period
    penalty: float  # factor of the penalty
    start: float  # its initial share relative to the others
    moving: bool = False  # whether coefficients move linearly in time: for the next task only


VALUES: Mapping[str, Mapping[str, Any]] = {
    "recommended": {
        "features": FeatureSpec("blended"),  # with the numbers in `imrc.features.BLENDED`
        "W": "all",
        "tracking": "rate",
        "rate": None,  # `CANDIDATES` side by side
        "loss": "log",
        "lambda0": 1.0,
        # For loss "0-1".
        "confidence": "over_ess",
        "instances": "recent",  # `RECENT_SAMPLES`
        "solver": "subgradient",
        "max_iter": "by_n",  # `iterations_by_n`
    },
    "paper": {
        "features": FeatureSpec("automatic"),
        "W": 2,
        "tracking": "component",
        "change": "released",
        "loss": "0-1",
        "lambda0": 1.0,
        "confidence": "root_mse",
        "instances": "own",
        "solver": "subgradient",
        "max_iter": 2000,
    },
}
"""Values of each preset for `imrc.core.settings.SETTINGS`. Other settings have no effect or are the same in both, such
as b and, in `imrc.features`, the numbers of a representation (frequencies, `BLENDED`, `PULLED_IN_BEYOND`)."""

# The constants of tracking "rate", and of its log loss.

POOLED = Candidate(0.0, 16.0, 4.0)
ALONE = Candidate(float("inf"), 4.0, 1.0)
CANDIDATES = (POOLED, Candidate(0.1, 4.0, 2.0), Candidate(1.0, 4.0, 1.0), ALONE, Candidate(0.01, 4.0, 1.0, moving=True))
"""The candidates if no rate is given."""

TREND_PERIODS = 3.0
"""Periods in which moving coefficients change by one unit of speed."""

STORED_ROWS, STORED_TASKS = 2000, 6
"""At least the last 6 tasks are stored (b + 1 if that is more), and more tasks up to 2,000 rows."""

NEGLIGIBLE_WEIGHT = 1e-3
"""Tasks with a smaller weight, as a share of the largest, are left out."""

USUAL_LENGTH = 250.0
"""Mean squared length of a row of 200 random frequencies beside linear features, for which penalties were chosen."""

INTERCEPT_SCALE = 10.0
"""Value of the intercept in the Gram matrix, so large that it has practically no penalty."""

FLOOR = 0.01
"""Uniform part of the probabilities in tests of candidates, so that no new class decides for ever."""

TOLERANCE, SCORING_TOLERANCE = 3e-3, 1e-2
"""Norm of the gradient at which the solver stops for a rule, and for a candidate that is tested."""

NEGLIGIBLE_VARIANCE = 1e-12
"""Features that vary less within a class are ignored when change is measured."""

# The constants of its 0-1 loss.

RECENT_SAMPLES = 100
"""Number of samples in the instances "recent" of problem (3), if the last b + 1 tasks have fewer."""


def iterations_by_n(n: int) -> int:
    """Return the iterations of the subgradient method for tasks of n samples with `max_iter` "by_n"."""
    return min(2000, max(500, 40 * n))


PRESET_DESCRIPTIONS: dict[Preset, str] = {
    "recommended": "Four rates of change side by side: no change, slow, fast, and each task alone. The better a rate "
    "has predicted the tasks so far, the larger its share. Each task is learnt by one logistic regression on past "
    "samples, weighted accordingly. It has the lowest error on average, but not on every sequence.",
    "paper": "The choices of the authors' code, except for ties that rounding decides.",
}


def own_features(preset: str) -> FeatureSpec:
    """Return the representation of a preset.

    >>> own_features("recommended").kind, own_features("paper").kind
    ('blended', 'automatic')
    """
    spec: FeatureSpec = VALUES[check_choice("preset", preset, PRESETS)]["features"]
    return spec
