"""Compiled kernel: stochastic gradient descent, one sample at a time, on the small network (the inner loop of MER)."""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit

_FAST = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def _affine(weights, biases, a, out, rectify):  # type: ignore[no-untyped-def]
    """Write W a + b into `out`, negative values cut off if `rectify`."""
    rows, columns = weights.shape
    for i in range(rows):
        total = biases[i]
        for j in range(columns):
            total += weights[i, j] * a[j]
        out[i] = total if total > 0 or not rectify else 0.0


@njit(cache=True, nogil=True, fastmath=_FAST)
def _descend(weights, biases, a, delta, rate, back):  # type: ignore[no-untyped-def]
    """Step on one layer; `back` gets W' delta, with the weights from before the step.

    Rows with delta = 0 (units that are off) need no work: about half of them.
    """
    rows, columns = weights.shape
    back[:] = 0.0
    wants_back = len(back) > 0
    for i in range(rows):
        d = delta[i]
        if d == 0.0:
            continue
        if wants_back:
            for j in range(columns):
                back[j] += weights[i, j] * d
        step = rate * d
        for j in range(columns):
            weights[i, j] -= step * a[j]
        biases[i] -= step


@njit(cache=True, nogil=True)
def softmax_delta(scores, label):  # type: ignore[no-untyped-def]
    """Overwrite scores with softmax(scores) - onehot(label), the derivative of the cross-entropy."""
    top = scores.max()
    total = 0.0
    for c in range(len(scores)):
        scores[c] = np.exp(scores[c] - top)
        total += scores[c]
    for c in range(len(scores)):
        scores[c] /= total
    scores[label] -= scores.dtype.type(1.0)


@njit(cache=True, nogil=True)
def sgd_sequence(theta, n_hidden, n_outputs, X, y, order, rates):  # type: ignore[no-untyped-def]
    """Change theta (P,), as in `_network.Layout`, by one SGD step of size ``rates[s]`` per row of X in `order` (S,)."""
    n_inputs = X.shape[1]
    h = n_hidden
    a, b = h * n_inputs, h * n_inputs + h
    W1, b1 = theta[:a].reshape(h, n_inputs), theta[a:b]
    c, d = b + h * h, b + h * h + h
    W2, b2 = theta[b:c].reshape(h, h), theta[c:d]
    e = d + n_outputs * h
    W3, b3 = theta[d:e].reshape(n_outputs, h), theta[e:]
    a1, a2, out = np.empty(h, theta.dtype), np.empty(h, theta.dtype), np.empty(n_outputs, theta.dtype)
    d1, d2, none = np.empty(h, theta.dtype), np.empty(h, theta.dtype), np.empty(0, theta.dtype)
    for s in range(len(order)):
        x = X[order[s]]
        _affine(W1, b1, x, a1, True)
        _affine(W2, b2, a1, a2, True)
        _affine(W3, b3, a2, out, False)
        softmax_delta(out, y[order[s]])
        _descend(W3, b3, a2, out, rates[s], d2)
        for i in range(h):
            if a2[i] <= 0.0:
                d2[i] = 0.0
        _descend(W2, b2, a1, d2, rates[s], d1)
        for i in range(h):
            if a1[i] <= 0.0:
                d1[i] = 0.0
        _descend(W1, b1, x, d1, rates[s], none)
