import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from imrc.core import theory

tasks = st.integers(1, 1_000_000)
steps = st.integers(0, 1_000_000)
ratios = st.floats(-12, 12).map(lambda e: 10.0**e)
ROUNDING = 1 + 1e-13


@given(tasks, steps, ratios)
def test_bounded_by_own_and_all_samples(j, r, x):
    both = float(theory.ess_forward_backward(j, j + r, 1, x))
    assert 1 / ROUNDING <= both <= (j + r) * ROUNDING


@given(tasks, steps, ratios, st.integers(1, 1000))
def test_monotone_in_tasks_and_change(j, r, x, more):
    both = theory.ess_forward_backward(j, j + r, 1, x)
    assert theory.ess_forward(j + more, 1, x) >= theory.ess_forward(j, 1, x) / ROUNDING
    assert theory.ess_forward_backward(j + more, j + more + r, 1, x) >= both / ROUNDING
    assert theory.ess_forward_backward(j, j + r + more, 1, x) >= both / ROUNDING
    assert theory.ess_forward_backward(j, j + r, 1, x * (1 + more)) <= both * ROUNDING


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(1e-3, 1e3), st.floats(0, 1e3)), min_size=1, max_size=30))
def test_recursions_between_own_and_all_samples(rows):
    n, sigma2, d2 = np.array(rows).T
    forward, backward, both = theory.ess_recursion(n, sigma2, d2)
    assert (forward >= n).all()
    assert (backward >= n).all()
    assert (both >= forward).all()
    assert (both <= n.sum() * ROUNDING).all()
    np.testing.assert_allclose(both - n, (forward - n) + (backward - n), rtol=1e-9, atol=1e-9 * n.sum())
