"""What must hold for every minimax problem, whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imrc.solvers import solve
from tests.benchmarks.problems import random_problem

few = settings(max_examples=25, deadline=None, derandomize=True)
sizes = st.tuples(st.integers(2, 20), st.integers(1, 25), st.integers(2, 5), st.integers(0, 10**6))


def exact(X1, tau, lam, **options):
    return solve(X1[:, 1:], tau.ravel(), lam.ravel(), n_classes=len(tau), method="exact", **options)


@few
@given(sizes)
def test_order_of_classes_and_instances_does_not_matter(size):
    X1, tau, lam = random_problem(*size)
    rng = np.random.default_rng(size[3])
    classes, rows = rng.permutation(len(tau)), rng.permutation(len(X1))
    assert exact(X1[rows], tau[classes], lam[classes]).value == pytest.approx(exact(X1, tau, lam).value, abs=1e-7)
    one = solve(X1[:, 1:], tau.ravel(), lam.ravel(), n_classes=len(tau), max_iter=1)
    # From zeros all classes tie, so the first step permutes with the classes.
    other = solve(X1[:, 1:], tau[classes].ravel(), lam[classes].ravel(), n_classes=len(tau), max_iter=1)
    np.testing.assert_allclose(other.last.reshape(tau.shape), one.last.reshape(tau.shape)[classes], atol=1e-13)


@few
@given(sizes, st.floats(1.0, 3.0))
def test_more_doubt_and_more_instances_cost_risk(size, factor):
    X1, tau, lam = random_problem(*size)
    value = exact(X1, tau, lam).value
    assert exact(X1, tau, factor * lam).value >= value - 1e-7
    extra = np.random.default_rng(size[3]).normal(size=(3, X1.shape[1]))
    extra[:, 0] = 1.0
    assert exact(np.vstack([X1, extra]), tau, lam).value >= value - 1e-7


@few
@given(sizes)
def test_risk_is_between_nothing_and_guessing(size):
    # X = own samples: the empirical distribution is in the set, so the optimum is at least 0; mu = 0 gives 1 - 1/C.
    X1, tau, lam = random_problem(*size)
    solution = exact(X1, tau, lam)
    assert "is empty" not in solution.status
    assert -1e-7 <= solution.value <= 1.0 - 1.0 / len(tau) + 1e-7


@few
@given(sizes, st.floats(0.01, 100.0))
def test_units_of_a_feature_do_not_matter(size, factor):
    X1, tau, lam = random_problem(*size)
    scaled = X1.copy(), tau.copy(), lam.copy()
    for part in scaled:
        part[:, -1] *= factor
    assert exact(*scaled).value == pytest.approx(exact(X1, tau, lam).value, abs=1e-7)


@few
@given(sizes)
def test_subgradient_never_beats_the_certified_bound(size):
    X1, tau, lam = random_problem(*size)
    solution = solve(X1[:, 1:], tau.ravel(), lam.ravel(), n_classes=len(tau), max_iter=200)
    assert solution.value >= exact(X1, tau, lam).lower_bound - 1e-12
    assert solution.value <= 1.0 - 1.0 / len(tau) + 1e-12
