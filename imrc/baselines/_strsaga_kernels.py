"""Compiled kernel of STRSAGA: variance-reduced stochastic gradient steps on a growing sample set."""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit
from imrc.baselines._network_kernels import softmax_delta


@njit(cache=True, nogil=True)
def _derivative(margins, label, out):  # type: ignore[no-untyped-def]
    """Write the derivative of the log-loss in the outputs: one output for two classes, else one per class."""
    if len(margins) == 1:
        sign = 1.0 if label == 1 else -1.0
        out[0] = -sign / (1.0 + np.exp(min(sign * margins[0], 700.0)))
        return
    out[:] = margins
    softmax_delta(out, label)


@njit(cache=True, nogil=True)
def strsaga(W, table, known, total, X, y, end, last, uniforms, rate, shrink):  # type: ignore[no-untyped-def]
    """Take len(uniforms) steps; change W, table, known and total in place; return the new end of the sample set.

    W (c, d) parameters; table (N, c) last derivative of each sample; known (N,) whether it has one; total (c, d) sum
    of table entries times samples; X (N, d) and y (N,) samples of the set, of which ``[0, end)`` have been read and
    ``[end, last)`` are still unread. Even steps read a new sample while there is one; other steps revisit.
    """
    outputs, width = W.shape
    entries = 0
    for i in range(end):
        entries += known[i]
    margins, g = np.empty(outputs), np.empty(outputs)
    for s in range(len(uniforms)):
        if s % 2 == 0 and end < last:
            i = end
            end += 1
        elif end == 0:
            continue
        else:
            i = min(int(uniforms[s] * end), end - 1)
        x = X[i]
        for c in range(outputs):
            value = 0.0
            for j in range(width):
                value += W[c, j] * x[j]
            margins[c] = value
        _derivative(margins, y[i], g)
        scale = rate / max(1, entries)
        for c in range(outputs):
            change = g[c] - table[i, c]
            for j in range(width):
                W[c, j] = (1.0 - rate * shrink) * W[c, j] - rate * change * x[j] - scale * total[c, j]
                total[c, j] += change * x[j]
            table[i, c] = g[c]
        if not known[i]:
            known[i] = True
            entries += 1
    return end
