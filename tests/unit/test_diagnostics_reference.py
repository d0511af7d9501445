"""Reference cases with known numbers (unit noise unless said otherwise), and what must not change the result."""

import numpy as np
import pytest

from imrc.diagnostics import assess, partial_autocorrelation, variogram


def walk_b():
    generator = np.random.default_rng(0)
    steps, noise = generator.normal(size=(60, 50)), generator.normal(size=(60, 50))
    return np.cumsum(0.5 * steps, axis=0) + noise


def noise_c():
    return np.random.default_rng(1).normal(size=(20, 30))


def jump_d():
    generator = np.random.default_rng(2)
    return generator.normal(size=(20, 30)) + 2 * (np.arange(20)[:, None] >= 12) * generator.normal(size=30)


def season_e():
    generator = np.random.default_rng(3)
    noise = generator.normal(size=(40, 30))
    return noise + 1.5 * np.cos(2 * np.pi * np.arange(40)[:, None] / 8 + generator.uniform(0, 6.28, 30))


def trend_f():
    generator = np.random.default_rng(4)
    return generator.normal(size=(40, 30)) + 0.2 * np.arange(40)[:, None] * generator.choice([-1, 1], 30)


CASES = {"B": walk_b, "C": noise_c, "D": jump_d, "E": season_e, "F": trend_f}


@pytest.fixture(scope="module")
def results():
    return {name: assess(make(), 1.0) for name, make in CASES.items()}


def test_a_straight_line_of_five():
    means = np.arange(5.0)[:, None]
    np.testing.assert_allclose(variogram(means, 0.1, max_lag=4).gamma, [8, 38, 88, 158], rtol=1e-12)
    result = assess(means, 0.1)
    assert -result.order.statistics["-r1"] == pytest.approx(0.4, rel=1e-12)
    assert (result.order.p_values["slope"], result.p_order) == pytest.approx((1 / 60, 1 / 60))


def test_a_alternation_of_five():
    result = assess(np.array([[0.0], [1.0], [0.0], [1.0], [0.0]]), 0.1)
    assert result.order.statistics["-r1"] == pytest.approx(0.8, rel=1e-12)
    assert (result.order.p_values["-r1"], result.p_order) == pytest.approx((0.1, 0.1))


def test_b_pictures(results):
    pacf = partial_autocorrelation(walk_b(), 4)
    np.testing.assert_allclose(pacf.mean, [0.559548, 0.243058, 0.124735, 0.044567], atol=1e-6)
    np.testing.assert_allclose(pacf.std, [0.165399, 0.144158, 0.107360, 0.121340], atol=1e-6)
    gamma = variogram(walk_b(), 1.0).gamma
    np.testing.assert_allclose(gamma[[0, 1, 4, 9, 19]], [0.2745, 0.4872, 1.1675, 2.6257, 4.8817], atol=5.1e-5)
    result = results["B"]
    assert result.pacf.mean[0] > result.pacf.high[0]
    np.testing.assert_array_equal(result.variogram.gamma, gamma)


def test_b_numbers(results):
    result = results["B"]
    assert result.q == pytest.approx(3.36887, abs=5e-6)
    assert result.order.statistics["r1"] == pytest.approx(0.63737, abs=5e-6)
    assert result.ratio_at() == pytest.approx((0.25, 0.216, 0.286), abs=0.01)
    assert result.m_eff == 50
    tests = result.innovations
    assert tests.z_mean == pytest.approx(-1.158, abs=0.02)
    assert [tests.z_lags[t] for t in (2, 3, 4)] == pytest.approx([0.49, -0.80, 0.55], abs=0.02)
    assert result.p_order == pytest.approx(0.001)


def test_b_models(results):
    behind = {fit.name: fit.bic - results["B"].models[0].bic for fit in results["B"].models}
    assert results["B"].models[0].name == "rw"
    assert [behind[name] for name in ("rw+iid", "drift", "ar")] == pytest.approx([9, 10, 35], abs=2)
    assert results["B"].verdict.name == "evolving"
    assert results["B"].verdict.second is None


def test_c_no_change(results):
    result = results["C"]
    assert result.q == pytest.approx(0.878529, abs=5e-7)
    assert result.order.statistics["r1"] == pytest.approx(-0.069553, abs=5e-7)
    rho, low, high = result.ratio_at()
    assert (rho, low) == (0.0, 0.0)
    assert high == pytest.approx(0.0132, abs=0.001)
    assert result.p_order == pytest.approx(0.5, abs=0.05)
    assert result.verdict.title == "no detectable change"


def test_d_jump_e_rhythm_f_trend(results):
    assert [results[case].verdict.name for case in "DEF"] == ["jump", "periodic", "trend"]
    assert results["D"].q == pytest.approx(2.19252, abs=5e-6)
    assert results["D"].models[0].starts == (12,)
    assert "task 13" in results["D"].verdict.sentence
    assert results["E"].models[0].parameters["f"] == pytest.approx(0.125)
    assert results["E"].order.p_values["peak"] == pytest.approx(0.001)
    assert "8 tasks" in results["E"].verdict.sentence
    assert results["F"].innovations.z_mean == pytest.approx(15.76, abs=0.1)


# -- what must not matter --------------------------------------------------------------------------------------


def key_numbers(result):
    return [result.q, result.p_same, result.p_order, *result.ratio_at(), result.m_eff, result.innovations.z_mean]


def shuffled_and_scaled(means):
    generator = np.random.default_rng(0)
    order, scale = generator.permutation(means.shape[1]), generator.uniform(0.1, 10, means.shape[1])
    return (means * scale)[:, order], (scale**2)[order]


def with_a_constant(means):
    return np.pad(means, ((0, 0), (0, 1)), constant_values=7.0), np.append(np.ones(means.shape[1]), 0.0)


def copied(means):
    return np.repeat(means, 2, axis=1), 1.0


@pytest.mark.parametrize("change", [shuffled_and_scaled, with_a_constant, copied])
@pytest.mark.parametrize("name", list(CASES))
def test_order_scale_constants_and_copies_of_components_do_not_matter(name, change, results):
    changed, before = assess(*change(CASES[name]())), results[name]
    assert changed.dropped == (change is with_a_constant)
    assert changed.verdict.name == before.verdict.name
    if change is copied:
        assert changed.p_order == before.p_order
    else:
        assert changed.verdict == before.verdict
    if change is not copied or before.m_eff < before.m:  # else it was clipped at the number of components
        np.testing.assert_allclose(key_numbers(changed), key_numbers(before), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", list(CASES))
def test_reversing_time_keeps_verdict_and_rho(name, results):
    changed = assess(CASES[name]()[::-1], 1.0)
    assert changed.verdict.name == results[name].verdict.name
    assert changed.verdict.second == results[name].verdict.second
    assert changed.ratio_at()[0] == results[name].ratio_at()[0]


def test_same_seed_same_result_other_seed_close():
    first, again, other = (assess(noise_c(), 1.0, seed=seed) for seed in (3, 3, 4))
    assert first.summary() == again.summary()
    assert abs(first.p_order - other.p_order) < 0.08
