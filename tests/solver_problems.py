"""Problems of chosen size, and the paper's subgradient method in plain NumPy, the yardstick of tests."""

import numpy as np


def random_problem(n, features, n_classes, seed=0):
    """Return X1 (n, D + 1), tau and lam (C, D + 1) of one task learnt alone.

    With 100 features or more the instances are random Fourier features of ten inputs, as in the paper; below, normal.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[: min(n, n_classes)] = np.arange(min(n, n_classes))
    inputs = features if features < 100 else 10
    X = rng.normal(size=(n, inputs)) + 0.5 * rng.normal(size=(n_classes, inputs))[y]
    if features >= 100:
        projected = X @ rng.normal(size=(inputs, features // 2)) / np.sqrt(inputs)
        X = np.hstack([np.cos(projected), np.sin(projected)])
    X1 = np.hstack([np.ones((n, 1)), X])
    mapped = np.zeros((n, n_classes, X1.shape[1]))
    mapped[np.arange(n), y] = X1
    spread = mapped.var(axis=0, ddof=1) if n > 1 else np.zeros(mapped.shape[1:])
    return X1, mapped.mean(axis=0), np.sqrt(spread / n)


def objective(X1, tau, lam, w):
    """Return the value of problem (3) at w, and its slope; subsets by sorted scores and prefix sums, not one by one."""
    n_classes = len(tau)
    scores = X1 @ w.T
    order = np.argsort(-scores, axis=1, kind="stable")
    sizes = np.arange(1, n_classes + 1)
    values = (np.cumsum(np.take_along_axis(scores, order, axis=1), axis=1) - 1.0) / sizes
    row, size = divmod(int(values.argmax()), n_classes)
    slope = lam * np.sign(w) - tau
    slope[order[row, : size + 1]] += X1[row] / (size + 1)
    return 1.0 - (tau * w).sum() + (lam * np.abs(w)).sum() + values[row, size], slope


def subgradient_numpy(X1, tau, lam, start, candidate, max_iter):
    """Return best point, its value, last iterate and its value of the accelerated method; X1 (n, p), others (C, p)."""
    best, best_value = candidate, objective(X1, tau, lam, candidate)[0]
    w = w_prev = start
    for iteration in range(1, max_iter + 1):
        momentum = 0.0 if iteration <= 3 else (iteration - 3.0) / iteration
        y = w + momentum * (w - w_prev)
        value, slope = objective(X1, tau, lam, y)
        if value < best_value:
            best, best_value = y, value
        w_prev, w = w, y - (iteration + 1.0) ** -1.5 * slope
    last_value = objective(X1, tau, lam, w)[0]
    if last_value < best_value:
        best, best_value = w, last_value
    return best, best_value, w, last_value
