"""Settings of the learner and its presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from imrc._checks import InputError, check_choice, check_int, check_real
from imrc.features import FeatureSpec
from imrc.tasks import MAX_TASKS

Preset = Literal["recommended", "paper"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
Instances = Literal["own", "reach", "recent", "all"]
INSTANCES: tuple[Instances, ...] = get_args(Instances)
Solver = Literal["subgradient", "exact"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)
Tracking = Literal["component", "rate"]
TRACKINGS: tuple[Tracking, ...] = get_args(Tracking)
Confidence = Literal["root_mse", "over_ess"]
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
Loss = Literal["0-1", "log"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
Change = Literal["released", "printed"]
CHANGES: tuple[Change, ...] = get_args(Change)
Window = int | Literal["all"]

LIMITS: dict[str, tuple[int, int]] = {
    "b": (0, MAX_TASKS),
    "W": (1, 100),
    "lambda0": (0, 100),
    "max_iter": (1, 100_000),
    "rate": (0, 100),
}
"""Smallest and largest value of each number of `IMRCSettings`; the page and the command line have the same."""

DESCRIPTIONS: dict[Preset, str] = {
    "recommended": "Four rates of change side by side: no change, slow, fast, and each task alone. Each has a share by "
    "how well it predicted the tasks so far; a task is learnt by one logistic regression on past samples, weighted "
    "accordingly. Fewest errors on average, not on every sequence.",
    "paper": "The choices of the authors' code, up to ties that rounding decides.",
}


@dataclass(frozen=True)
class IMRCSettings:
    """Everything that decides what the learner computes.

    What each choice of a preset is worth was measured, see `tests/benchmarks/README.md`, "Choices".

    Attributes
    ----------
    b : int
        Backward steps: at each step the b tasks before the newest are learnt again. 0 is forward learning only.
    W : int or "all"
        Window of the change estimate: the number of recent changes from which the size of a change is estimated, 1 to
        100. Tracking "component" averages the last W squared differences, eq. (7); tracking "rate" sums what was
        predicted of the last W tasks when they arrived, and with "all" (for "rate" only) of every task so far.
    preset : {"recommended", "paper"}
        Where the other values come from when they are not given; see `DESCRIPTIONS`.
    lambda0 : float
        Size of the uncertainty set: factor of the confidence vector lambda (the paper uses 1), or of the penalty of
        the rule for log loss.
    instances : {"own", "reach", "recent", "all"}
        The set X of problem (3): the task's own samples (the authors' code), those of the newest task and the b
        before it, those of the last max(b + 1, 100 / n) tasks, or all seen. "all" keeps every sample in memory. Ten
        points are a poor stand-in for all instances: with more of them the uncertainty set is rarely empty.
        Single-task rules always use their own.
    solver : {"subgradient", "exact"}
        Method for problem (3): the paper's early-stopped scheme, or the linear program to a certified gap.
    max_iter : int or "by_n"
        Iterations K of the subgradient method. The paper uses 2000, which acts as early stopping; "by_n" is
        min(2000, max(500, 40 n)), the same from n = 50 on, to save time.
    tracking : {"component", "rate"}
        Gains of the recursions. "component": each component has its own variance and change, as in the paper.
        "rate": variances pooled over tasks and one rate of change rho for all components, four of them side by side,
        see `imrc.core.rules_log`: a rare word or an absent class is never known "exactly".
    confidence : {"root_mse", "over_ess"}
        lambda = lambda0 sqrt(s), as in the paper, or lambda0 sqrt(s / ESS) = lambda0 sigma / ESS, which is the scale
        that predicted best. With the latter the minimax risk is evaluated at the same rule with sqrt(s), so that it
        stays a bound. Used by the 0-1 rule.
    loss : {"0-1", "log"}
        What the rule minimises in the worst case: the error probability (the paper; guarantees hold for it), or log
        loss with the marginal fixed to the weighted stored samples, see `imrc.solvers.log_loss`: on the same tracked
        means it uses every sample by its weight.
    rate : float or None
        The only rate of change rho = d^2 / sigma^2 per task, 0 to 100; None: four of them. For tracking "rate".
    change : {"released", "printed"}
        Which squared differences the backward change of tracking "component" averages, see
        `imrc.core.change.backward_change`: those of the authors' code, or the W closest ones of eq. (7) as printed.

    Raises
    ------
    ValueError, TypeError
        For a value out of range, or a combination that does not exist.
    """

    b: int = 3
    W: Window = 2
    preset: Preset = "paper"
    lambda0: float = 1.0
    instances: Instances = "own"
    solver: Solver = "subgradient"
    max_iter: int | Literal["by_n"] = 2000
    tracking: Tracking = "component"
    confidence: Confidence = "root_mse"
    loss: Loss = "0-1"
    rate: float | None = None
    change: Change = "released"

    def __post_init__(self) -> None:
        check_int("b", self.b, *LIMITS["b"])
        check_window(self.W)
        check_choice("preset", self.preset, PRESETS)
        object.__setattr__(self, "lambda0", check_real("lambda0", self.lambda0, *LIMITS["lambda0"]))
        check_choice("instances", self.instances, INSTANCES)
        check_choice("solver", self.solver, SOLVERS)
        if self.max_iter != "by_n":
            check_int("max_iter", self.max_iter, *LIMITS["max_iter"])
        check_choice("tracking", self.tracking, TRACKINGS)
        check_choice("confidence", self.confidence, CONFIDENCES)
        check_choice("loss", self.loss, LOSSES)
        check_choice("change", self.change, CHANGES)
        if self.W == "all" and self.tracking != "rate":
            raise InputError(
                "W='all' needs tracking='rate' (preset recommended): eq. (7) averages W squared "
                f"differences. Give a number from 1 to {LIMITS['W'][1]}."
            )
        if self.change != "released" and self.tracking != "component":
            raise InputError("change='printed' needs tracking='component': only there eq. (7) is used.")
        if self.loss == "log" and self.tracking != "rate":
            raise InputError("loss='log' needs tracking='rate': its sample weights are gains common to all components.")
        if self.loss == "log" and self.lambda0 == 0.0:
            raise InputError("loss='log' needs lambda0 above 0: without a penalty separable samples have no solution.")
        if self.rate is not None:
            object.__setattr__(self, "rate", check_real("rate", self.rate, *LIMITS["rate"]))

    def iterations(self, n: int) -> int:
        """Return the iterations of the subgradient method for tasks of n samples.

        Parameters
        ----------
        n : int
            Samples per task.

        Returns
        -------
        int
        """
        return min(2000, max(500, 40 * n)) if self.max_iter == "by_n" else self.max_iter


def check_window(W: object) -> Window:
    """Return W if it is "all" or a whole number from 1 to 100; raise ValueError or TypeError otherwise."""
    return "all" if isinstance(W, str) and W == "all" else check_int("W", W, *LIMITS["W"])


PRESET_VALUES: dict[Preset, dict[str, Any]] = {
    "paper": {"W": 2},
    # The last three are for loss "0-1".
    "recommended": {
        "W": "all",
        "tracking": "rate",
        "loss": "log",
        "confidence": "over_ess",
        "instances": "recent",
        "max_iter": "by_n",
    },
}


def resolve_settings(
    preset: str,
    *,
    b: int,
    **overrides: Any,  # noqa: ANN401 - values are checked by IMRCSettings
) -> IMRCSettings:
    """Return the settings of a preset with everything that is not None in `overrides` put in its place.

    >>> resolve_settings("paper", b=2, lambda0=0.5, solver=None).lambda0
    0.5
    >>> resolve_settings("paper", b=2).W, resolve_settings("recommended", b=2).W
    (2, 'all')
    """
    chosen = check_choice("preset", preset, PRESETS)
    given = {name: value for name, value in overrides.items() if value is not None}
    return IMRCSettings(b=b, preset=chosen, **{**PRESET_VALUES[chosen], **given})


def own_features(preset: str) -> FeatureSpec:
    """Return the representation of a preset: what its choices were measured with.

    Parameters
    ----------
    preset : str
        One of `PRESETS`.

    Returns
    -------
    FeatureSpec

    Examples
    --------
    >>> own_features("recommended").kind, own_features("paper").kind
    ('blended', 'automatic')
    """
    return FeatureSpec("blended" if preset == "recommended" else "automatic")
