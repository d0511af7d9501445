"""MER, meta-experience replay: Reptile-style interpolation of single-sample steps over a reservoir of past samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats, Ints
from imrc.baselines._network import HIDDEN, NetworkBaseline
from imrc.baselines.base import Settings, choice, named, real, whole

Precision = Literal["float32", "float64"]


@dataclass(frozen=True)
class MERSettings(Settings):
    """Hyper-parameters of MER."""

    learning_rate: float = real(0.03, 0.0, above=True)  # alpha, step size of single-sample SGD
    within: float = real(0.03, 0.0, 1.0)  # beta: interpolation after each batch
    across: float = real(1.0, 0.0, 1.0)  # gamma: interpolation after all batches of a sample
    memory: int = whole(5120, 1)  # slots m of the reservoir
    replay: int = whole(100, 0)  # samples r drawn from the reservoir per batch
    batches: int = whole(10, 1)  # s, per arriving sample
    # of the network while it is trained; the authors' code uses single precision
    precision: Precision = choice("float32", Precision)


def reservoir_slot(seen: int, filled: int, slots: int, generator: np.random.Generator) -> int:
    """Return the slot for sample number `seen` (from 1), -1: not kept, all with one chance."""
    if filled < slots:
        return filled
    place = int(generator.integers(seen))
    return place if place < slots else -1


class MER(NetworkBaseline):
    """Meta-experience replay, algorithm 1 of the publication.

    Profiles: ``"default"`` (values of the authors' README: 1010 steps per sample), ``"argparse"`` (command line
    defaults, which make it sequential replay: 21 steps per sample), ``"small"`` (authors' line for 500 memories).
    """

    title = "MER"
    paper = (
        "M. Riemer et al. Learning to Learn without Forgetting by Maximizing Transfer and Minimizing Interference. "
        "ICLR 2019"
    )
    idea = (
        "Learns a small network on a mixture of new samples and a reservoir of old ones, with steps that favour what "
        "tasks have in common."
    )
    wins = "Tasks so alike that one rule fits all, because it pools everything with a flexible rule."
    keeps = "A reservoir of up to 5,120 samples, and a network."
    deviations = (
        "Reservoir places are drawn from 0..a-1 (uniform inclusion); the authors' code draws from 0..a.",
        "Task numbers are not stored with the samples: the authors' code keeps them but never uses them.",
    )
    profiles = named(
        MERSettings(),
        argparse=MERSettings(learning_rate=0.001, within=1.0, across=1.0, replay=20, batches=1),
        small=MERSettings(learning_rate=0.1, within=0.01, memory=500, replay=10),
    )
    settings: MERSettings

    def _start(self) -> None:
        super()._start()
        dtype = np.dtype(self.settings.precision)
        self.theta = self.theta.astype(dtype)
        self.n_seen = 0
        self.filled = 0
        # Row 0 is the arriving sample, rows 1.. the reservoir; the array grows up to memory + 1 rows.
        self._X = np.zeros((1, self.n_features), dtype)
        self._y = np.zeros(1, dtype=np.int64)

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        more = min(self.settings.memory, self.filled + len(X)) + 1 - len(self._y)
        if more > 0:
            self._X = np.vstack([self._X, np.zeros((more, self.n_features), self._X.dtype)])
            self._y = np.append(self._y, np.zeros(more, dtype=np.int64))
        for i in self.random.permutation(len(X)):
            self._X[0], self._y[0] = X[i], y[i]
            before = self.theta.copy()
            with np.errstate(over="ignore", invalid="ignore"):
                self._replay()
            if not np.isfinite(self.theta).all():
                self.theta = before
                self.n_diverged += 1
            self._keep()

    def _replay(self) -> None:
        """Take s batches of the current sample and r drawn from memory."""
        from imrc.baselines._kernels import sgd_sequence

        s = self.settings
        before_all = self.theta.copy()
        size = min(s.replay, self.filled)
        draws = self.random.integers(1, self.filled + 1, size=(s.batches, size)) if size else None
        for batch in range(s.batches):
            before = self.theta.copy()
            order = np.zeros(size + 1, dtype=np.int64)
            if draws is not None:
                order[1:] = draws[batch]
            rates = np.full(size + 1, s.learning_rate).astype(self.theta.dtype)
            sgd_sequence(self.theta, HIDDEN, self.n_classes, self._X, self._y, order, rates)
            self._interpolate(before, s.within)
        self._interpolate(before_all, s.across)

    def _interpolate(self, before: NDArray[Any], share: float) -> None:
        """Go from `before` only the given share of the way to theta; a share of 1 leaves theta bit for bit."""
        if share != 1.0:
            self.theta -= before
            self.theta *= self.theta.dtype.type(share)
            self.theta += before

    def _keep(self) -> None:
        """Put the current sample into the reservoir, perhaps."""
        self.n_seen += 1
        slot = reservoir_slot(self.n_seen, self.filled, self.settings.memory, self.random)
        if slot >= 0:
            self._X[slot + 1], self._y[slot + 1] = self._X[0], self._y[0]
            self.filled = max(self.filled, slot + 1)

    def state_size(self) -> int:
        """Return P + samples in the reservoir times (D + 1)."""
        return self.theta.size + self.filled * (self.n_features + 1)
