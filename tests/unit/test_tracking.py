"""Special cases of the recursions with results known by hand."""

import numpy as np

from imrc.core.change import backward_change, forward_change, squared_differences
from imrc.core.recursions import combine
from tests.whole_sequences import track_forward_backward


def test_infinite_change_is_single_task_learning(rng):
    tau, s = rng.normal(size=(6, 3)), rng.uniform(0.1, 2.0, size=(6, 3))
    for d in (np.full((6, 3), np.inf), np.full((6, 3), 1e14)):
        tau_fb, s_fb = track_forward_backward(tau, s, d)
        np.testing.assert_allclose(tau_fb, tau, atol=1e-12)
        np.testing.assert_allclose(s_fb, s, rtol=1e-12)


def test_known_exactly_both_ways_keeps_the_first():
    mean, mse = combine(np.array([1.0]), np.array([0.0]), np.array([5.0]), np.array([0.0]))
    assert (mean, mse) == (1.0, 0.0)


def test_change_windows_by_hand():
    squared = squared_differences(np.array([[1.0], [3.0], [4.0], [8.0], [8.0]]))
    assert squared.ravel().tolist() == [1.0, 4.0, 1.0, 16.0, 0.0]
    # Forward: the last min(W, k) differences, never the artificial first one.
    assert forward_change(squared, 1, 2) == 4.0
    assert forward_change(squared, 3, 2) == 8.5
    assert forward_change(squared, 4, 10) == (4 + 1 + 16 + 0) / 4
    # Backward over the transition 0 -> 1 seen at step 1: tau_0^2 and the first difference.
    assert backward_change(squared, 0, 1, 2) == 2.5
    assert backward_change(squared, 2, 4, 2) == 8.5
    # W = 4: two before and two after, cut at what has been seen.
    assert backward_change(squared, 3, 4, 4) == (1 + 16 + 0) / 3
    assert backward_change(squared, 1, 4, 4) == (1 + 4 + 1 + 16) / 4
    # W = 1: only the difference that is crossed.
    assert backward_change(squared, 2, 4, 1) == 16.0
    # A stored window that starts later gives the same.
    assert backward_change(squared[2:], 2, 4, 2, first=2) == 8.5
