"""The accelerated subgradient method as printed in the paper, and as its authors' code has it: gaps to the optimum.

    python -m tests.benchmarks.printed_momentum

As printed, the momentum multiplies mu(l) - mubar(l): zero at the start, so always. Here on 20 problems, with K = 2000.
"""

import numpy as np

from imrc.solvers import solve
from tests.benchmarks.problems import objective, random_problem

SHAPES = ((10, 20, 2), (40, 10, 4))
ITERATIONS = 2000


def gaps(n: int, features: int, n_classes: int, seed: int) -> tuple[float, float, float]:
    """Return the gaps of the last printed iterate, of the best one, and of the method in use."""
    X1, tau, lam = random_problem(n, features, n_classes, seed)
    mu = bar = np.zeros_like(tau)
    best = np.inf
    for step in range(1, ITERATIONS + 1):
        value, slope = objective(X1, tau, lam, mu)
        best = min(best, value)
        theta, theta_next = 2.0 / (step + 1), 2.0 / (step + 2)
        new_bar = mu - (step + 1.0) ** -1.5 * slope
        mu, bar = new_bar + theta_next * (1.0 / theta - 1.0) * (mu - bar), new_bar
    last = objective(X1, tau, lam, mu)[0]
    problem = {"X": X1[:, 1:], "tau": tau.ravel(), "lam": lam.ravel(), "n_classes": n_classes}
    optimum = solve(**problem, method="exact").value
    used = solve(**problem, method="subgradient", max_iter=ITERATIONS).value
    return last - optimum, min(best, last) - optimum, used - optimum


if __name__ == "__main__":
    measured = np.array([gaps(*shape, seed) for shape in SHAPES for seed in range(10)])
    for name, column in zip(("printed, last iterate", "printed, best iterate", "in use"), measured.T, strict=True):
        error = column.std(ddof=1) / np.sqrt(len(column))
        print(f"{name:22s} mean gap {column.mean():.5f} ± {error:.5f} (largest {column.max():.5f})")
