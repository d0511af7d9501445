"""EWC, elastic weight consolidation: keep parameters that mattered for earlier tasks near their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from imrc._types import Floats, Ints
from imrc.baselines._network import NetworkBaseline, loss_gradient, mean_squared_gradient
from imrc.baselines.base import Settings, choice, named, real, whole

Fisher = Literal["squared_mean", "empirical"]


@dataclass(frozen=True)
class EWCSettings(Settings):
    """Hyper-parameters of EWC.

    Importance of a parameter ("fisher"): square of the mean gradient (the usual reference code), or mean of the squared
    per-sample gradients. Gradient steps on the penalty diverge when 2 * learning_rate * strength * importance reaches
    2: then the proximal step (the exact minimiser of the penalised step) is taken for that task.
    """

    learning_rate: float = real(0.01, 0.0, above=True)  # step size of plain SGD
    # rho; the penalty is rho times the weighted squared distance (lambda = 2 rho in the publication)
    strength: float = real(1000.0, 0.0)
    fisher_samples: int = whole(1000, 1)  # samples per task for the importance weights, at most
    fisher: Fisher = choice("squared_mean", Fisher)
    batch_size: int = whole(10, 1)  # samples per step
    epochs: int = whole(1, 1)  # passes over a task


def proximal_step(
    theta: Floats, gradient: Floats, rate: float, strength: float, fisher_sum: Floats, anchor_sum: Floats
) -> Floats:
    """Return (theta - rate g + 2 rate rho h) / (1 + 2 rate rho F): stable for any strength, unlike a gradient step."""
    pull = 2.0 * rate * strength
    return np.asarray((theta - rate * gradient + pull * anchor_sum) / (1.0 + pull * fisher_sum))


class EWC(NetworkBaseline):
    """Elastic weight consolidation, with one quadratic penalty per earlier task.

    Profiles: ``"default"`` (rotations line of the GEM repository), ``"slow"`` (the MER repository), ``"empirical"``
    (importance as per-sample squares). `n_proximal` counts the tasks for which proximal steps were taken.
    """

    title = "EWC"
    paper = "J. Kirkpatrick et al. Overcoming catastrophic forgetting in neural networks. PNAS 114(13), 2017"
    idea = "Keeps training a single rule and protects the weights that mattered for earlier tasks."
    wins = "Few tasks, and no room to keep samples."
    keeps = "A network, and how much each weight matters."
    deviations = (
        "The penalties of all earlier tasks are collapsed into two sums, which gives the same gradient exactly.",
        "When gradient steps on the penalty would diverge, proximal steps are taken for that task.",
        "Importance weights use all samples of the task up to fisher_samples; the usual reference code can stop "
        "after the first batch.",
    )
    profiles = named(
        EWCSettings(),
        slow=EWCSettings(learning_rate=0.001, strength=100.0, fisher_samples=10),
        empirical=EWCSettings(fisher="empirical"),
    )
    settings: EWCSettings

    def _start(self) -> None:
        super()._start()
        self.fisher_sum = np.zeros(self._layout.size)
        self.anchor_sum = np.zeros(self._layout.size)
        self.n_proximal = 0

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        s = self.settings
        proximal = 2.0 * s.learning_rate * s.strength * float(self.fisher_sum.max()) >= 2.0
        self.n_proximal += proximal
        for batch in self._batches(X, y, s.batch_size, s.epochs):
            self._step(*batch, proximal)
        self._consolidate(X[: s.fisher_samples], y[: s.fisher_samples])

    def _step(self, X: Floats, y: Ints, proximal: bool) -> None:
        s = self.settings
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = loss_gradient(self._layout, self.theta, X, y)
            if proximal:
                theta = proximal_step(
                    self.theta, gradient, s.learning_rate, s.strength, self.fisher_sum, self.anchor_sum
                )
            else:
                # Of rho sum_j sum_i F_ji (theta_i - theta*_ji)^2, from the sums over tasks of F_j and F_j theta*_j.
                gradient += 2.0 * s.strength * (self.fisher_sum * self.theta - self.anchor_sum)
                theta = self.theta - s.learning_rate * gradient
        self._move(theta)

    def _consolidate(self, X: Floats, y: Ints) -> None:
        """Add the importance of the finished task's parameters to the sums."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.settings.fisher == "squared_mean":
                fisher = np.asarray(loss_gradient(self._layout, self.theta, X, y) ** 2)
            else:
                fisher = mean_squared_gradient(self._layout, self.theta, X, y)
        if not np.isfinite(fisher).all():  # a network this far off has nothing to consolidate
            self.n_diverged += 1
            return
        self.fisher_sum = self.fisher_sum + fisher
        self.anchor_sum = self.anchor_sum + fisher * self.theta

    def state_size(self) -> int:
        """Return 3 P: parameters and the two sums; it does not grow with the number of tasks."""
        return 3 * self.theta.size
