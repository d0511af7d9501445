"""The recursions against two other routes to the posterior, and by hand; `test_next_task` has the joint Gaussian."""

import warnings

import numpy as np
import pytest

from imrc.core.change import backward_change, forward_change, squared_differences
from imrc.core.recursions import combine, smooth, track_forward
from tests.whole_sequences import track_backward, track_forward_backward


def instance(seed: int, k: int = 12, m: int = 7):
    generator = np.random.default_rng(seed)
    tau = generator.normal(size=(k, m)) * 3
    s = np.exp(generator.normal(size=(k, m)))
    d = np.exp(2 * generator.normal(size=(k, m)))
    return tau, s, d


@pytest.mark.parametrize("seed", range(5))
def test_rauch_tung_striebel_form_gives_the_same(seed):
    tau, s, d = instance(seed)
    for b in (0, 1, 3, None):
        tau_fb, s_fb = track_forward_backward(tau, s, d, b)
        tau_smooth, s_smooth = smooth(*track_forward(tau, s, d), d, b)
        np.testing.assert_allclose(tau_smooth, tau_fb, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(s_smooth, s_fb, rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_statsmodels_local_level_smoother(seed):
    from statsmodels.tsa.statespace.mlemodel import MLEModel

    class LocalLevel(MLEModel):
        """Random walk observed with known, time-varying variances; diffuse start."""

        def __init__(self, values, s, d):
            super().__init__(values, k_states=1, initialization="diffuse")
            self["design", 0, 0] = 1.0
            self["transition", 0, 0] = 1.0
            self["selection", 0, 0] = 1.0
            self["obs_cov"] = s[None, None, :]
            # The state noise at time t leads to time t + 1.
            self["state_cov"] = np.append(d[1:], 0.0)[None, None, :]

    tau, s, d = instance(seed, m=3)
    tau_fwd, s_fwd = track_forward(tau, s, d)
    tau_fb, s_fb = track_forward_backward(tau, s, d)
    for c in range(tau.shape[1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = LocalLevel(tau[:, c], s[:, c], d[:, c]).smooth([])
        np.testing.assert_allclose(result.smoothed_state[0], tau_fb[:, c], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(result.smoothed_state_cov[0, 0], s_fb[:, c], rtol=1e-10)
        np.testing.assert_allclose(result.filtered_state[0], tau_fwd[:, c], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(result.filtered_state_cov[0, 0], s_fwd[:, c], rtol=1e-10)


def test_backward_is_forward_with_time_reversed(rng):
    tau, s, d = instance(3)
    # Row j of d belongs to the step j-1 -> j; read backwards the step into the reversed task j is row k - j.
    reversed_d = np.vstack([d[:1], d[:0:-1]])
    tau_rev, s_rev = track_forward(tau[::-1], s[::-1], reversed_d)
    tau_bwd, s_bwd = track_backward(tau, s, d)
    np.testing.assert_allclose(tau_bwd, tau_rev[::-1], rtol=1e-13)
    np.testing.assert_allclose(s_bwd, s_rev[::-1], rtol=1e-13)


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
