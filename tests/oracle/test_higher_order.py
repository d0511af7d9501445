"""Change of higher order against the joint covariance of states and averages, with a diffuse start."""

import numpy as np
import pytest

from imrc.core import higher_order
from imrc.core.recursions import predict, track_forward
from tests.whole_sequences import track_forward_backward


def solved(matrix, right):
    """Gauss and Jordan in extended precision: joint covariances of order 3 are ill-conditioned."""
    work = np.concatenate([matrix, right], axis=1).astype(np.longdouble)
    for i in range(len(work)):
        pivot = i + int(np.argmax(np.abs(work[i:, i])))
        work[[i, pivot]] = work[[pivot, i]]
        work[i] /= work[i, i]
        others = np.arange(len(work)) != i
        work[others] -= np.outer(work[others, i], work[i])
    return work[:, len(matrix) :]


def exact(F, Q, c, start, free, times, tau, s, seen, wanted):
    """Mean and variance of the component at time `wanted` from the averages `seen`, all by one joint covariance.

    Every state is written as a matrix times all independent noises, plus a matrix times the unknown starting values;
    time runs in single periods, with or without a task.
    """
    r, last = len(c), max(*times, wanted)
    eye = np.eye(r, dtype=np.longdouble)
    F, roots = F.astype(np.longdouble), [np.sqrt(part.astype(np.longdouble)) for part in (start, *[Q] * last)]
    noises, influence = [], []
    state, delta = np.zeros((r, r * (last + 1)), dtype=np.longdouble), eye[:, free]
    for t in range(last + 1):
        if t:
            state, delta = F @ state, F @ delta
        state = state.copy()
        state[:, r * t : r * (t + 1)] += roots[t]
        noises.append(c @ state)
        influence.append(c @ delta)
    L, A = np.array(noises), np.array(influence)
    seen = [j for j in seen if np.isfinite(s[j])]
    at = [times[j] for j in seen]
    cross, X = L[wanted] @ L[at].T, A[at]
    if np.linalg.matrix_rank(X.astype(float), tol=1e-9) < len(free):
        return None
    covariance = L[at] @ L[at].T + np.diag(s[seen])
    inverse = solved(covariance, np.eye(len(at)))
    information = X.T @ inverse @ X
    delta = solved(information, (X.T @ inverse @ tau[seen])[:, None])[:, 0]
    rest = A[wanted] - cross @ inverse @ X
    mean = A[wanted] @ delta + cross @ inverse @ (tau[seen] - X @ delta)
    variance = L[wanted] @ L[wanted] - cross @ inverse @ cross + rest @ solved(information, rest[:, None])[:, 0]
    return float(mean), float(variance)


def model_of(seed, m):
    """A model with its own numbers in each of m components, the forms in turn."""
    generator = np.random.default_rng([seed, 1])
    d = np.exp(generator.normal(size=m) - 1.0)
    made = {
        0: lambda: higher_order.differences(2, d),
        1: lambda: higher_order.differences(3, d),
        2: lambda: higher_order.levels(np.stack([d, d[::-1] / 4], axis=1)),
        3: lambda: higher_order.levels(np.stack([d, 0 * d], axis=1)),
        4: lambda: higher_order.mean_reverting(generator.uniform(0.1, 0.95, m), d),
        5: lambda: higher_order.seasonal(generator.uniform(2.5, 9.0, m), d, d[::-1] / 3),
        6: lambda: higher_order.differences(1, 0 * d),
    }
    return made[seed % len(made)]()


def sequence_of(seed):
    """Unequal errors, gaps of several periods, tasks without labels."""
    generator = np.random.default_rng(seed)
    k, m = int(generator.integers(4, 12)), 3
    tau, s = 3 * generator.normal(size=(k, m)), np.exp(generator.normal(size=(k, m)))
    unlabelled = generator.random(k) < 0.2
    s[unlabelled], tau[unlabelled] = np.inf, 0.0
    return tau, s, generator.integers(1, 4, size=k).astype(float)


@pytest.mark.parametrize("block", range(10))
def test_every_estimate_is_that_of_the_joint_covariance(block):
    compared = 0
    for seed in range(20 * block, 20 * block + 20):
        tau, s, gaps = sequence_of(seed)
        k, m = tau.shape
        model = model_of(seed, m)
        found = higher_order.track(model, tau, s, gaps, ahead=2.0)
        times = np.append(0, np.cumsum(gaps[1:])).astype(int)
        for c in range(m):
            one = model.F[c], model.Q[c], model.c, model.start[c], list(model.free), times, tau[:, c], s[:, c]
            cases = [(found.ahead, range(k), times[-1] + 2)]
            for j in range(k):
                at = [(mean[j], mse[j]) for mean, mse in (found.predicted, found.forward, found.smooth)]
                cases += zip(at, (range(j), range(j + 1), range(k)), [times[j]] * 3, strict=True)
            for (mean, mse), seen, wanted in cases:
                expected = exact(*one, seen, wanted) if len(seen) else None
                if expected is not None:
                    np.testing.assert_allclose([mean[c], mse[c]], expected, rtol=1e-8, atol=1e-8)
                    compared += 1
                elif np.isfinite(mse[c]):  # starting values that do not matter for this task, as its own average
                    assert np.isfinite(s[list(seen), c]).any()
    assert compared > 500


@pytest.mark.parametrize("seed", range(10))
def test_one_difference_is_the_random_walk(seed):
    tau, s, gaps = sequence_of(seed)
    s[0], d = 1.0, 0.3
    found = higher_order.track(higher_order.differences(1, d), tau, s, gaps)
    tau_fwd, s_fwd = track_forward(tau, s, d * gaps[:, None])
    np.testing.assert_allclose(found.forward, (tau_fwd, s_fwd), rtol=1e-10)
    np.testing.assert_allclose(found.smooth, track_forward_backward(tau, s, d * gaps[:, None]), rtol=1e-10)
    np.testing.assert_allclose(found.ahead, predict(tau_fwd[-1], s_fwd[-1], np.full(tau.shape[1], d)), rtol=1e-10)
    assert np.isinf(found.predicted[1][0]).all()


def test_weights_give_the_means():
    """The columns of the identity are the weights of the tasks: they sum to 1, whatever the level."""
    tau, _, gaps = sequence_of(3)
    k = len(tau)
    s = np.linspace(0.5, 2.0, k)[:, None]
    for seed in range(8):
        model = model_of(seed, 1)
        weights = higher_order.run(model, np.eye(k)[:, None], s, gaps, 1.0, smoothed=True)
        found = higher_order.track(model, tau, s, gaps)
        np.testing.assert_allclose(weights.smooth[0][:, 0] @ tau, found.smooth[0], atol=1e-10)
        np.testing.assert_allclose(weights.ahead[0] @ tau, found.ahead[0][None], atol=1e-10)
        np.testing.assert_allclose(weights.ahead[0].sum(), 1.0, atol=1e-8)


def test_a_jump_starts_anew():
    tau, s, _ = sequence_of(5)
    s = np.where(np.isinf(s), 1.0, s)
    jumps = np.zeros(len(tau))
    jumps[2] = 1e9
    stays = higher_order.differences(1, 0.0)
    found = higher_order.track(stays, tau, s, jumps=jumps)
    after = higher_order.track(stays, tau[2:], s[2:])
    np.testing.assert_allclose(found.ahead, after.ahead, rtol=1e-6)
    np.testing.assert_allclose(found.smooth[0][:2], higher_order.track(stays, tau[:2], s[:2]).smooth[0], rtol=1e-6)


def test_parts_of_a_period_add_up():
    for seed in range(8):
        model = model_of(seed, 2)
        half, _ = model.over(0.5)
        np.testing.assert_allclose(half @ half, model.F, atol=1e-8)
        np.testing.assert_allclose(model.over(2.0)[1], model.F @ model.Q @ np.swapaxes(model.F, 1, 2) + model.Q)
        assert not model.over(0.0)[1].any()


def test_what_cannot_be_is_refused():
    tau = np.zeros((3, 2))
    with pytest.raises(ValueError, match="above 0"):
        higher_order.track(higher_order.levels([0.1, 0.1]), tau, np.zeros((3, 1)))
    with pytest.raises(ValueError, match="do not fit"):
        higher_order.track(higher_order.differences(1, [0.1] * 3), tau, np.ones((3, 1)))
