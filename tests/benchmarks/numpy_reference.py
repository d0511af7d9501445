"""Plain NumPy transcription of the paper's accelerated subgradient method: the yardstick of the benchmarks.

Written the way the method reads, with whole-array operations and no compiled loop. It does not enumerate the label
subsets either (sorted scores and prefix sums), so the ratios measured against it come from the implementation and
not from a worse algorithm.
"""

import numpy as np


def subgradient_numpy(X1, tau, lam, start, candidate, max_iter):
    """Return best point, its value, last iterate and its value; X1 (n, p), the others (C, p)."""
    n_classes = tau.shape[0]
    sizes = np.arange(1, n_classes + 1)

    def evaluate(w):
        scores = X1 @ w.T
        order = np.argsort(-scores, axis=1, kind="stable")
        values = (np.cumsum(np.take_along_axis(scores, order, axis=1), axis=1) - 1.0) / sizes
        row, size = divmod(int(values.argmax()), n_classes)
        value = 1.0 - (tau * w).sum() + (lam * np.abs(w)).sum() + values[row, size]
        return value, row, order[row, : size + 1]

    best, best_value = candidate, evaluate(candidate)[0]
    w = w_prev = start
    for iteration in range(1, max_iter + 1):
        momentum = 0.0 if iteration <= 3 else (iteration - 3.0) / iteration
        y = w + momentum * (w - w_prev)
        value, row, subset = evaluate(y)
        if value < best_value:
            best, best_value = y, value
        slope = lam * np.sign(y) - tau
        slope[subset] += X1[row] / len(subset)
        w_prev = w
        w = y - (iteration + 1.0) ** -1.5 * slope
    last_value = evaluate(w)[0]
    if last_value < best_value:
        best, best_value = w, last_value
    return best, best_value, w, last_value
