"""Tables behind the pages: component tracks, changes per step, bounds, how far verdicts can be relied on, figures."""

from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc.diagnostics import assess
from imrc.diagnostics import assessment as tracks
from imrc.diagnostics.power import SIMULATED, power_table
from imrc.paper import shipped
from imrc.plots import ess
from imrc.plots import evolving as pictures
from imrc.report import guarantees


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
    given = assess(np.cumsum(np.random.default_rng(0).normal(size=(9, 3)), axis=0), 0.5)
    np.testing.assert_allclose(tracks.component_tracks(given, 0)["mean_se"], np.sqrt(0.5))
    assert (tracks.step_changes(given)["noise_se"] == np.sqrt(2) * 2 / np.sqrt(given.m_eff)).all()


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


# -- how far a verdict can be relied on: the study of sequences of each kind ------------------------------------


@pytest.fixture
def study():
    return shipped.table("verdicts")


@pytest.mark.parametrize("tasks", [1, 5, 14, 20, 35, 5000])
def test_every_sequence_of_the_nearest_number_of_tasks_is_counted_once(study, tasks):
    table = power_table(study, tasks)
    assert list(table["kind"]) == list(SIMULATED)
    assert set(table["k"]) == {{1: 5, 14: 10, 35: 60, 5000: 60}.get(tasks, tasks)}
    assert table[["named", "two", "another", "nothing"]].sum(axis=1).to_numpy() == pytest.approx(100, abs=0.3)


def test_clear_kinds_are_recognised_and_identical_tasks_seldom_called_changing(study):
    table = power_table(study, 60).set_index("kind")
    assert (table.loc[["evolving", "iid", "jump", "periodic", "recurring", "no_change"], "named"] > 80).all()
    assert table.loc["no_change", "evolving"] < 10
    assert power_table(study, 10).set_index("kind").loc["jump", "named"] < table.loc["jump", "named"]


# -- figures ---------------------------------------------------------------------------------------------------


def names(figure):
    return [trace.name for trace in figure.data if trace.showlegend is not False]


def test_long_heatmap_is_averaged_in_blocks(result):
    distance = np.random.default_rng(0).normal(size=(450, 450))
    np.fill_diagonal(distance, np.nan)
    z = np.array(pictures.distance_heatmap(replace(result, distance=distance, labels=("",) * 450)).data[0].z)
    assert z.shape == (150, 150)
    assert (z[0, 1], z[0, 0]) == pytest.approx((distance[:3, 3:6].mean(), np.nansum(distance[:3, :3]) / 6))


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
    assert shown[:3] == ["bound, alone", "bound, forward", "bound, forward and backward"]
    assert shown[3:5] == ["minimax risk reached", "test error"]
    assert "guessing, .50" in shown[5]
    np.testing.assert_allclose(ess.bound_chart(table, trivial).data[2].y, table["forward_backward"] / trivial)
