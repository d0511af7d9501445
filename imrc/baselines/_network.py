"""The small network of GEM, MER and EWC: D - 100 - 100 - C, ReLU, linear output, mean cross-entropy.

All parameters are one vector theta: W1 (H, D), b1 (H,), W2 (H, H), b2 (H,), W3 (C, H), b3 (C,); a layer is W a + b.
Architecture and initialisation follow the code of GEM (Lopez-Paz and Ranzato, 2017).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats, Ints
from imrc.baselines.base import Baseline
from imrc.solvers.api import softmax

HIDDEN = 100  #: Units in each of the two hidden layers.


@dataclass(frozen=True)
class Layout:
    """Shapes of the layers and their places in theta."""

    n_inputs: int
    n_hidden: int
    n_outputs: int

    @property
    def widths(self) -> tuple[int, int, int, int]:
        """Width of the input and of each layer."""
        return self.n_inputs, self.n_hidden, self.n_hidden, self.n_outputs

    @property
    def size(self) -> int:
        """Number of parameters P."""
        w = self.widths
        return sum(w[i + 1] * (w[i] + 1) for i in range(3))

    def split(self, theta: NDArray[np.floating]) -> list[tuple[NDArray[np.floating], NDArray[np.floating]]]:
        """Return views (weights, biases) of the three layers; leading axes of theta are kept."""
        layers, start, w = [], 0, self.widths
        for i in range(3):
            middle = start + w[i + 1] * w[i]
            weights = theta[..., start:middle].reshape(*theta.shape[:-1], w[i + 1], w[i])
            layers.append((weights, theta[..., middle : middle + w[i + 1]]))
            start = middle + w[i + 1]
        return layers

    def initial(self, generator: np.random.Generator) -> Floats:
        """Draw theta: weights uniform on +-sqrt(6 / (fan_in + fan_out)) (Glorot), biases 0."""
        theta = np.zeros(self.size)
        for weights, _ in self.split(theta):
            bound = np.sqrt(6.0 / sum(weights.shape))
            weights[...] = generator.uniform(-bound, bound, weights.shape)
        return theta


def _activity(layout: Layout, theta: NDArray[np.floating], X: Floats) -> tuple[list[Any], Any]:
    """Return what goes into each of the three layers, and the network's outputs, shape (..., n, width)."""
    inputs: list[NDArray[np.floating]] = [X]
    *hidden, (weights, biases) = layout.split(theta)
    for own, shift in hidden:
        inputs.append(np.maximum(inputs[-1] @ own.T + shift, 0.0))
    return inputs, inputs[-1] @ weights.T + biases


def _backward(layout: Layout, theta: Floats, X: Floats, y: Ints) -> tuple[list[Floats], list[Floats]]:
    """Return inputs a_l and loss derivatives delta_l of the three layers, (..., n, width)."""
    layers = layout.split(theta)
    inputs, outputs = _activity(layout, theta, X)
    delta = softmax(outputs)
    np.put_along_axis(delta, y[..., None], np.take_along_axis(delta, y[..., None], axis=-1) - 1.0, axis=-1)
    deltas = [delta]
    for layer in (2, 1):
        delta = (delta @ layers[layer][0]) * (inputs[layer] > 0)
        deltas.append(delta)
    return inputs, deltas[::-1]


def _mean(layout: Layout, inputs: list[Floats], deltas: list[Floats]) -> Floats:
    """Return the mean over samples of delta_l a_l' and delta_l of all layers, shape (P,)."""
    mean = np.empty(layout.size)
    for (weights, biases), a, delta in zip(layout.split(mean), inputs, deltas, strict=True):
        np.matmul(delta.T, a, out=weights)
        biases[...] = delta.sum(axis=0)
    mean /= len(inputs[0])
    return mean


def loss_gradient(layout: Layout, theta: Floats, X: Floats, y: Ints) -> Floats:
    """Return the gradient (P,) of the mean cross-entropy over a batch."""
    return _mean(layout, *_backward(layout, theta, X, y))


def group_gradients(layout: Layout, theta: Floats, X: Floats, y: Ints, counts: Ints) -> Floats:
    """Return mean-loss gradients (G, P) of groups X (G, m, D), y (G, m); rows from ``counts[g]`` on are padding."""
    groups, slots, width = X.shape
    flat_inputs, flat_deltas = _backward(layout, theta, X.reshape(-1, width), y.ravel())
    weight = (np.arange(slots) < counts[:, None]) / counts[:, None]
    gradients = np.empty((groups, layout.size))
    for (weights, biases), a, delta in zip(layout.split(gradients), flat_inputs, flat_deltas, strict=True):
        scaled = delta.reshape(groups, slots, -1) * weight[..., None]
        np.matmul(scaled.transpose(0, 2, 1), a.reshape(groups, slots, -1), out=weights)
        biases[...] = scaled.sum(axis=1)
    return gradients


def mean_squared_gradient(layout: Layout, theta: Floats, X: Floats, y: Ints) -> Floats:
    """Return the mean of squared per-sample gradients, (P,): the square of an outer product is that of the squares."""
    inputs, deltas = _backward(layout, theta, X, y)
    return _mean(layout, [a**2 for a in inputs], [delta**2 for delta in deltas])


class NetworkBaseline(Baseline):
    """One network for all tasks, its largest output the answer; `n_diverged` counts steps left out for overflow."""

    def _start(self) -> None:
        self._layout = Layout(self.n_features, HIDDEN, self.n_classes)
        self.theta: NDArray[Any] = self._layout.initial(self.random)
        self.n_diverged = 0

    def _batches(self, X: Floats, y: Ints, size: int, epochs: int) -> Iterator[tuple[Floats, Ints]]:
        """Yield mini-batches; each epoch has an order of its own."""
        for _ in range(epochs):
            order = self.random.permutation(len(X))
            for start in range(0, len(X), size):
                rows = order[start : start + size]
                yield X[rows], y[rows]

    def _move(self, theta: Floats | None) -> None:
        """Go to theta, or leave the step out where numbers overflowed."""
        if theta is None or not np.isfinite(theta).all():
            self.n_diverged += 1
        else:
            self.theta = theta

    def _predict(self, X: Floats, task: int) -> Ints:
        outputs = _activity(self._layout, self.theta, X.astype(self.theta.dtype, copy=False))[1]
        return np.asarray(outputs.argmax(axis=-1), dtype=np.int64)
