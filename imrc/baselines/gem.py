"""GEM, gradient episodic memory: project each step so that no earlier task's memory loss grows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imrc._types import Floats, Ints
from imrc.baselines._network import NetworkBaseline, group_gradients, loss_gradient
from imrc.baselines.base import Settings, named, real, whole

_LARGEST = 1e50  # Gradients beyond this have no meaning, and their products would overflow.


@dataclass(frozen=True)
class GEMSettings(Settings):
    """Hyper-parameters of GEM."""

    learning_rate: float = real(0.1, 0.0, above=True)  # step size of plain SGD
    batch_size: int = whole(10, 1)  # samples per step
    epochs: int = whole(1, 1)  # passes over a task
    memory: int = whole(256, 1)  # samples kept per task, at most (a task with fewer keeps all)
    margin: float = real(0.5, 0.0)  # gamma, weight every constraint gets at least when a projection happens
    ridge: float = real(1e-3, 0.0, above=True)  # epsilon, added to the diagonal of the quadratic program


def project_gradient(
    gradient: Floats, memory_gradients: Floats, *, margin: float = 0.0, ridge: float = 0.0
) -> tuple[Floats, Floats]:
    """Return g + G'v and v >= margin, the argmin of 1/2 v'(G G' + ridge I) v + (G g)'v; G (J, P); g and 0 if G g >= 0.

    With v = u + margin and R'R = G G' + ridge I this is a non-negative least squares problem in u, solved exactly.
    """
    products = memory_gradients @ gradient
    if len(products) == 0 or products.min() >= 0.0:
        return gradient, np.zeros(len(products))
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    gram = memory_gradients @ memory_gradients.T
    gram[np.diag_indices_from(gram)] += ridge
    try:
        root = np.linalg.cholesky(gram).T
    except np.linalg.LinAlgError:  # the ridge is lost in rounding beside large gradients
        lift = 1e-10 * max(float(np.trace(gram)) / len(gram), 1e-300)
        root = np.linalg.cholesky(gram + lift * np.eye(len(gram))).T
    target = -solve_triangular(root, products + margin * gram.sum(axis=1), trans="T")
    v = nnls(root, target, maxiter=100 * len(products))[0] + margin
    return gradient + v @ memory_gradients, v


class GEM(NetworkBaseline):
    """Gradient episodic memory.

    Each mini-batch first goes into the task's memory; then the batch gradient is projected so that, to first order, the
    loss on the memory of no earlier task grows; `n_projections` counts such steps. Profiles: ``"default"`` (scripts of
    the authors' repository), ``"argparse"`` (its command line defaults), ``"retuned"`` (values of the authors of MER).
    """

    title = "GEM"
    paper = "D. Lopez-Paz, M. Ranzato. Gradient Episodic Memory for Continual Learning. NeurIPS 2017"
    idea = "Keeps samples of earlier tasks and never takes a step that would make errors on them worse."
    wins = "Many tasks that must all be remembered and do not contradict each other."
    keeps = "Up to 256 samples per task, and a network."
    deviations = (
        "Only filled memory slots are used; the authors' code takes the gradient over uninitialised slots when a "
        "task has fewer samples than the memory.",
        "The gradients of all memories come from one batched pass, and the quadratic program is solved exactly as "
        "non-negative least squares.",
        "Steps that overflow are skipped and counted; the authors' code would continue with NaN.",
        "float64 throughout; the samples of a task are visited in random order.",
    )
    profiles = named(
        GEMSettings(),
        argparse=GEMSettings(learning_rate=0.001, margin=0.0),
        retuned=GEMSettings(learning_rate=0.01, margin=1.0),
    )
    settings: GEMSettings

    def _start(self) -> None:
        super()._start()
        self._memory_X = np.zeros((0, 0, self.n_features))
        self._memory_y = np.zeros((0, 0), dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self.n_projections = 0

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        s = self.settings
        self._open_memory(min(s.memory, len(X)))
        written = 0
        for batch in self._batches(X, y, s.batch_size, s.epochs):
            written = self._remember(*batch, written)
            # With a margin, every projection adds margin times the sum of all memory gradients, so the effective step
            # grows with the number of tasks and plain SGD can diverge.
            with np.errstate(over="ignore", invalid="ignore"):
                self._move(self._projected(step, *batch))

    def _projected(self, step: int, X: Floats, y: Ints) -> Floats | None:
        """Return theta after one step, or None if gradients are not finite."""
        gradient = loss_gradient(self._layout, self.theta, X, y)
        if step > 0:
            slots = int(self._counts[:step].max())
            memory = self._memory_X[:step, :slots], self._memory_y[:step, :slots], self._counts[:step]
            past = group_gradients(self._layout, self.theta, *memory)
            if not max(np.abs(past).max(), np.abs(gradient).max()) < _LARGEST:  # also catches NaN
                return None
            try:
                projected, _ = project_gradient(gradient, past, margin=self.settings.margin, ridge=self.settings.ridge)
            except (np.linalg.LinAlgError, RuntimeError):  # no solution in floating point: numbers too far apart
                return None
            self.n_projections += projected is not gradient
            gradient = projected
        return np.asarray(self.theta - self.settings.learning_rate * gradient)

    def _open_memory(self, slots: int) -> None:
        """Add an empty memory for a new task; all memories are padded to the largest."""
        tasks, old, width = self._memory_X.shape
        X = np.zeros((tasks + 1, max(slots, old), width))
        y = np.zeros(X.shape[:2], dtype=np.int64)
        X[:tasks, :old], y[:tasks, :old] = self._memory_X, self._memory_y
        self._memory_X, self._memory_y = X, y
        self._counts = np.append(self._counts, 0)
        self._slots = slots

    def _remember(self, X: Floats, y: Ints, written: int) -> int:
        """Write a batch into the newest memory, in ring order once it is full."""
        places = (written + np.arange(len(X))) % self._slots
        self._memory_X[-1, places], self._memory_y[-1, places] = X, y
        self._counts[-1] = min(self._slots, written + len(X))
        return written + len(X)

    def state_size(self) -> int:
        """Return P + samples in the memories times (D + 1)."""
        return self.theta.size + int(self._counts.sum()) * (self.n_features + 1)
