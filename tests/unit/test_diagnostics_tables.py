"""Tables behind the pages: component tracks, changes per step, bounds, figures."""

import numpy as np
import pytest

import imrc
from imrc.core import theory
from imrc.diagnostics import assess, tracks
from imrc.evaluation import guarantees
from imrc.plots import diagnostics as pictures
from imrc.plots import ess
from tests.whole_sequences import ess_by_b


@pytest.fixture(scope="module")
def result():
    return assess(imrc.datasets.load("random_walk", tasks=12, samples=60), features=lambda X: X)


# -- component browser -----------------------------------------------------------------------------------------


def test_tracks_equal_a_local_level_smoother(result):
    from statsmodels.tsa.statespace.structural import UnobservedComponents

    table = tracks.component_tracks(result, 1)
    s, d = table["mean_se"].iloc[0] ** 2, result.change.ratio * table["mean_se"].iloc[0] ** 2
    model = UnobservedComponents(table["mean"].to_numpy(), "local level", use_exact_diffuse=True)
    model.ssm.tolerance = 0.0  # no shortcut to the steady state
    smoothed = model.smooth([s, d])
    np.testing.assert_allclose(table["smooth"], smoothed.smoothed_state[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table["smooth_se"] ** 2, smoothed.smoothed_state_cov[0, 0], rtol=1e-9)
    assert (table["smooth_se"] <= table["forward_se"] + 1e-15).all()
    assert (table["forward_se"] <= table["mean_se"] + 1e-15).all()


def test_tracks_of_a_constant_component(result):
    sequence = imrc.datasets.load("random_walk", tasks=5, samples=30)
    constant = assess(sequence, features=lambda X: np.column_stack([X, np.zeros(len(X))]))
    table = tracks.component_tracks(constant, constant.moments.tau.shape[1] - 1)
    assert (table[["mean", "forward", "smooth", "mean_se", "smooth_se"]] == 0).all(axis=None)


def test_step_changes_are_the_first_off_diagonal(result):
    table = tracks.step_changes(result)
    assert table["task"].tolist() == list(range(2, 13))
    assert table["change"].mean() == pytest.approx(result.variogram.gamma[0])


def test_most_changing_component_is_the_one_that_moves():
    generator = np.random.default_rng(0)
    means = generator.normal(size=(10, 6))
    means[:, 4] += 5 * np.arange(10)
    assert tracks.most_changing(assess(means, 1.0)) == 4


# -- bounds ----------------------------------------------------------------------------------------------------


def test_bound_table_by_hand():
    sequence = imrc.datasets.load("random_walk", tasks=6, samples=80)
    stand_in = guarantees.plug_in(sequence, "rff")
    assert stand_in.M <= 1.0
    assert stand_in.m == 2 * 401
    table, trivial = guarantees.bound_table(stand_in, {"single": np.full(6, 10.0)}, delta=0.1, kappa=2.0)
    expected = stand_in.risk + stand_in.M * 3 * np.sqrt(2 * np.log(2 * 802 / 0.1) / 10) * stand_in.mu_norm
    np.testing.assert_allclose(table["single"], expected, rtol=1e-12)
    assert trivial == 0.5
    assert (stand_in.risk >= 0).all()


def test_long_sequences_are_thinned_for_the_bounds():
    sequence = imrc.datasets.load("identical", tasks=60, samples=6)
    stand_in = guarantees.plug_in(sequence, lambda X: X, largest=7)
    assert stand_in.tasks.tolist() == [0, 10, 20, 30, 39, 49, 59]


# -- figures ---------------------------------------------------------------------------------------------------


def names(figure):
    return [trace.name for trace in figure.data if trace.showlegend is not False]


def test_ess_table_and_figure():
    table = ess.ess_curve_table([(10, 13), (10, 20)], 1e-3, 10.0, 5)
    assert len(table) == 15
    row = table[(table["rule"] == "forward_backward") & (table["k"] == 20)].iloc[2]
    assert row["ess"] == pytest.approx(float(theory.ess_forward_backward(10, 20, 1, row["ratio"])))
    figure = ess.ess_curves(table, ess.OwnRatio(0.4, 0.3, 0.5, "Digits"))
    shown = names(figure)
    assert "Digits: n d² / σ² = 0.40" in shown
    assert "forward and backward, task 10 of 20" in shown
    assert {trace.line.dash for trace in figure.data if trace.name.startswith("forward, task")} == {"dash"}


@pytest.mark.parametrize("k", [1, 2, 5, 30])
def test_growth_tables_equal_the_recursions(k):
    n, rho, b = 10.0, 0.2, 3
    by_k, by_b = ess.ess_growth_table(n, rho, k, b)
    for count in (1, k):
        forward, _, both = theory.ess_recursion(np.full(count, n), 1.0, rho / n, b)
        part = by_k[by_k["k"] == count].set_index("rule")["ess"]
        assert part["forward"] == pytest.approx(forward[-1])
        assert part["forward_backward"] == pytest.approx(both.mean())
    every = ess_by_b(np.full(k, n), 1.0, rho / n, len(by_b) - 1).mean(axis=1)
    np.testing.assert_allclose(by_b["ess"], every, rtol=1e-12)
    enough = ess.enough_steps(by_b)
    if k > 1:
        full = theory.ess_recursion(np.full(k, n), 1.0, rho / n)[2].mean() - every[0]
        assert every[enough] - every[0] >= 0.95 * full * (1 - 1e-9)
        assert enough == 0 or every[enough - 1] - every[0] < 0.95 * full
    assert ess.ess_growth(by_k, by_b, n, b).data


def test_bars_become_areas_for_long_sequences():
    short = ess.ess_parts_chart(ess.ess_parts_table(np.ones((120, 3)), ["x"] * 120))
    long = ess.ess_parts_chart(ess.ess_parts_table(np.ones((1936, 3)), ["x"] * 1936))
    assert {trace.type for trace in short.data} == {"bar"}
    assert {trace.type for trace in long.data} == {"scatter"}
    assert names(long) == list(ess.PARTS)


def test_pictures_show_the_numbers_of_the_diagnosis(result):
    pacf = pictures.pacf_panels({"a": result.pacf, "b": result.pacf})
    shown = names(pacf)
    assert shown == [
        "± standard deviation over components (not an error bar)",
        "95 % of the averages if order did not matter",
        "average over components",
        "zero",
    ]
    line = next(trace for trace in pacf.data if trace.name == "average over components")
    np.testing.assert_allclose(line.y, result.pacf.mean)
    curve = pictures.variogram_chart(result)
    np.testing.assert_allclose(curve.data[1].y, result.variogram.gamma)
    assert np.isnan(np.diag(np.array(pictures.distance_heatmap(result).data[0].z, dtype=float))).all()
    dots = [trace for trace in pictures.model_gaps(result).data if trace.type == "scatter"]
    assert sum(len(trace.y) for trace in dots) == len(result.gaps) == 8
    change = pictures.change_chart(tracks.step_changes(result), result)
    assert len(names(change)) == 4
    component = pictures.component_chart(tracks.component_tracks(result, 2), "feature")
    assert names(component)[-1] == "sample average ± √s"


@pytest.mark.slow
def test_long_heatmap_is_averaged_in_blocks():
    generator = np.random.default_rng(0)
    long = assess(np.cumsum(0.3 * generator.normal(size=(450, 12)), axis=0) + generator.normal(size=(450, 12)), 1.0)
    z = np.array(pictures.distance_heatmap(long).data[0].z)
    assert z.shape == (150, 150)
    assert z[0, 1] == pytest.approx(long.distance[:3, 3:6].mean())
    assert z[0, 0] == pytest.approx(long.distance[:3, :3].sum() / 6)


def test_extreme_own_ratio_stays_on_the_chart():
    table = ess.ess_curve_table([(10, 20)])
    figure = ess.ess_curves(table, ess.OwnRatio(0.0, 0.0, 1e-9, "x"))
    line = next(trace for trace in figure.data if trace.name.startswith("x: n d²"))
    assert line.x[0] == table["ratio"].min()
    assert "or smaller" in line.name
    assert ess.ess_curves(table, ess.OwnRatio(1.0, 0.5, np.inf, "x")).data


def test_bound_chart_names_everything_and_what_the_run_reached():
    sequence = imrc.datasets.load("identical", tasks=5, samples=60, seed=0)
    run = imrc.evaluate(sequence, n=6, repetitions=2, features="identity", preset="paper")
    parts = ess.run_parts(run)
    both = run.ess_tables["forward_backward"].final().mean(axis=0)
    np.testing.assert_allclose(parts.sum(axis=1), both, rtol=1e-12)
    assert np.array_equal(parts[:, 0], np.full(5, 6.0))
    stand_in = guarantees.plug_in(sequence, lambda X: X)
    sizes = {"single": parts[:, 0], "forward": parts[:, :2].sum(axis=1), "forward_backward": parts.sum(axis=1)}
    bounds, trivial = guarantees.bound_table(stand_in, sizes)
    assert (bounds["single"] >= bounds["forward"] - 1e-12).all()
    assert (bounds["forward"] >= bounds["forward_backward"] - 1e-12).all()
    table = ess.with_reached(bounds, run)
    np.testing.assert_allclose(table["error"], run.error_tables["forward_backward"].final().mean(axis=0))
    shown = names(ess.bound_chart(table, trivial))
    assert shown[:3] == ["bound, each task alone", "bound, forward", "bound, forward and backward"]
    assert shown[3:5] == ["minimax risk reached", "test error"]
    assert "guessing, .50" in shown[5]
    np.testing.assert_allclose(ess.bound_chart(table, trivial).data[2].y, table["forward_backward"] / trivial)


def test_tables_of_given_means():
    generator = np.random.default_rng(0)
    result = assess(np.cumsum(generator.normal(size=(9, 3)), axis=0), 0.5)
    table = tracks.component_tracks(result, 0)
    np.testing.assert_allclose(table["mean_se"], np.sqrt(0.5))
    assert (tracks.step_changes(result)["noise_se"] == np.sqrt(2) * 2 / np.sqrt(result.m_eff)).all()
