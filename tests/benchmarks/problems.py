"""Problems of chosen size, for benchmarks and tests."""

import numpy as np


def random_problem(n, features, n_classes, seed=0):
    """Return X1 (n, D + 1), tau and lam (C, D + 1) of one task learnt alone.

    With 100 features or more the instances are random Fourier features of ten inputs, as in the paper; below, normal
    numbers around class means.
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
