"""What must hold for any instance: order of the errors, limits, permutations, degenerate input."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from imrc.core.recursions import smooth, track_forward
from tests.whole_sequences import track_backward, track_forward_backward

SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 4))
MEANS = st.floats(-1e3, 1e3, allow_subnormal=False)
# Zero is allowed: a constant feature, an absent class, tasks that do not change.
VARIANCES = st.one_of(st.just(0.0), st.floats(1e-8, 1e4))


@st.composite
def instances(draw, variances=VARIANCES):
    shape = draw(SHAPES)
    return (
        draw(arrays(float, shape, elements=MEANS)),
        draw(arrays(float, shape, elements=variances)),
        draw(arrays(float, shape, elements=VARIANCES)),
    )


@given(instances())
def test_more_information_never_hurts(case):
    tau, s, d = case
    s_fwd = track_forward(tau, s, d)[1]
    s_fb = track_forward_backward(tau, s, d)[1]
    assert (s_fwd <= s).all()
    assert (s_fb <= s_fwd).all()
    assert (s_fb >= 0).all()


@given(instances())
def test_finite_and_between_the_sample_averages(case):
    tau, s, d = case
    slack = 1e-9 * (1 + np.abs(tau).max())
    for estimate, mse in (track_forward(tau, s, d), track_backward(tau, s, d), track_forward_backward(tau, s, d)):
        assert np.isfinite(estimate).all()
        assert np.isfinite(mse).all()
        assert (estimate >= tau.min(axis=0) - slack).all()
        assert (estimate <= tau.max(axis=0) + slack).all()


@given(instances())
def test_a_component_known_exactly_stays_as_it_is(case):
    tau, s, d = case
    exact = s == 0
    for estimate, mse in (track_forward(tau, s, d), track_forward_backward(tau, s, d)):
        np.testing.assert_array_equal(estimate[exact], tau[exact])
        assert (mse[exact] == 0).all()


@given(instances(), st.randoms(use_true_random=False))
def test_permuting_components_permutes_the_result(case, random):
    tau, s, d = case
    order = list(range(tau.shape[1]))
    random.shuffle(order)
    for route in (track_forward, track_backward, track_forward_backward):
        for whole, permuted in zip(route(tau, s, d), route(tau[:, order], s[:, order], d[:, order]), strict=True):
            np.testing.assert_array_equal(whole[:, order], permuted)


@given(instances(), st.integers(0, 8))
def test_backward_steps_touch_only_the_last_b_tasks(case, b):
    tau, s, d = case
    forward, both = track_forward(tau, s, d), track_forward_backward(tau, s, d, b)
    everything = track_forward_backward(tau, s, d)
    first = max(0, len(tau) - 1 - b)
    for f, fb, full in zip(forward, both, everything, strict=True):
        np.testing.assert_array_equal(fb[:first], f[:first])
        np.testing.assert_array_equal(fb[first:], full[first:])


@given(instances(variances=st.floats(1e-3, 1e3)))
def test_smoother_form_agrees_with_the_two_filter_form(case):
    tau, s, d = case
    tau_fb, s_fb = track_forward_backward(tau, s, d)
    tau_smooth, s_smooth = smooth(*track_forward(tau, s, d), d)
    scale = 1 + np.abs(tau).max()
    np.testing.assert_allclose(tau_smooth, tau_fb, atol=1e-9 * scale)
    np.testing.assert_allclose(s_smooth, s_fb, rtol=1e-7, atol=1e-9)
