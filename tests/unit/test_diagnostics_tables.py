"""Tables behind the pages: component tracks, changes per step, teaching simulation, bounds, figures."""

import numpy as np
import pytest

import imrc
from imrc import teaching
from imrc.core import theory
from imrc.core.learner import RULES
from imrc.diagnostics import assess, tracks
from imrc.evaluation import guarantees
from imrc.plots import diagnostics as pictures
from imrc.plots import ess
from imrc.plots import teaching as lessons
from imrc.wording import decimal


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


# -- teaching --------------------------------------------------------------------------------------------------


def test_lesson_equals_the_estimator():
    lesson = teaching.teach(n=12, change=0.3, b=2, k=6, seed=3)
    model = imrc.IMRC(b=2, W=2, preset="paper")
    for X, y in zip(lesson.X, lesson.y, strict=True):
        model.partial_fit(X, y, classes=[0, 1])
    for rule in RULES:
        np.testing.assert_allclose(lesson.mean[rule][-1], model.mean_[rule], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(lesson.mse[rule][-1], model.mse_[rule], rtol=1e-12)
        w = model.coef_[rule][:, 3:] - model.coef_[rule][:, :3]
        np.testing.assert_allclose(lesson.boundary[rule][-1], w, rtol=1e-12)


def test_exact_errors_equal_simulated_ones():
    lesson = teaching.teach(n=20, change=0.3, b=2, k=4, seed=1)
    generator = np.random.default_rng(0)
    count = 200_000
    for task in range(4):
        y = generator.integers(2, size=count)
        X = lesson.class_means[task][y] + generator.standard_normal((count, 2))
        for rule in RULES:
            w = lesson.boundary[rule][-1, task]
            wrong = ((w[0] + X @ w[1:] > 0) != (y == 1)).mean()
            assert lesson.error[rule][-1, task] == pytest.approx(wrong, abs=4 * np.sqrt(0.25 / count))
        assert (lesson.bayes[task] <= [lesson.error[rule][-1, task] + 1e-12 for rule in RULES]).all()


def test_rule_that_ignores_the_input_is_wrong_half_the_time():
    means = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert teaching.linear_error(np.array([0.3, 0.0, 0.0]), means) == 0.5
    assert teaching.linear_error(np.zeros(3), means) == 0.5


def test_nothing_before_arrival_and_old_tasks_keep_their_value():
    lesson = teaching.teach(n=10, change=0.2, b=2, k=7)
    both = lesson.mean["forward_backward"]
    assert np.isnan(both[2, 3:]).all()
    assert np.array_equal(both[3, 1], both[6, 1])  # out of reach after two more tasks
    assert not np.array_equal(both[2, 1], both[3, 1])
    assert np.array_equal(lesson.mean["forward"][6, 1], lesson.mean["forward"][1, 1])


def test_coverage_is_nominal_when_everything_is_known():
    table = teaching.coverage_study(50, 0.25, 3, k=10, runs=600)
    for knowledge, slack in (("known", 0.0), ("estimated", 0.06)):
        for rule in RULES:
            part = table[(table["knowledge"] == knowledge) & (table["rule"] == rule)]
            error = part["coverage_se"].mean() / np.sqrt(len(part))
            assert abs(part["coverage"].mean() - teaching.NOMINAL) < 4 * error + slack
    known = table[table["knowledge"] == "known"].set_index(["rule", "task"])["efficiency"]
    # n times the squared error is n / ESS.
    lesson = teaching.teach(50, 0.25, 3, 10)
    expected = 50 / theory.ess_forward_backward(5, 8, 50, lesson.ratio / 50)
    assert known["forward_backward", 5] == pytest.approx(expected, rel=0.12)
    assert known["single", 5] == pytest.approx(1.0, rel=0.08)


def test_gain_is_large_for_slow_and_nil_for_fast_drift():
    slow = teaching.average_lesson(10, 0.1, 3, runs=12).set_index("rule")
    assert slow.loc["forward_backward", "all_gain"] < -2 * slow.loc["forward_backward", "all_gain_se"]
    text = teaching.lesson_sentence(slow, 0.04, 10, 3)
    assert "fewer errors" in text
    fast = teaching.teach(100, 1.5, 3, 15)
    assert fast.ratio > 20
    gains = fast.error["forward_backward"][-1] - fast.error["single"][-1]
    assert abs(gains.mean()) < 0.01


def test_animation_has_a_frame_per_step_that_matches_the_lesson():
    lesson = teaching.teach(10, 0.25, 3, 8, 1)
    figure = lessons.lesson_animation(lesson, watched=4, component=4)
    assert [frame.name for frame in figure.frames] == [str(step) for step in range(1, 9)]
    assert all(len(frame.data) == len(figure.data) for frame in figure.frames)
    at = {trace.name: position for position, trace in enumerate(figure.data)}
    averages = figure.frames[2].data[at["sample average ± √s"]]
    np.testing.assert_allclose(averages.y, lesson.mean["single"][2, :3, 4])
    # Before task 5 arrives the newest one is shown, later task 5.
    assert figure.frames[2].data[at["task shown above"]].x[0] == 3
    assert figure.frames[7].data[at["task shown above"]].x[0] == 5
    boxes = [trace for trace in figure.data if trace.name == "uncertainty set, forward and backward"]
    width = max(boxes[0].x) - min(boxes[0].x)
    assert width == pytest.approx(2 * np.sqrt(lesson.mse["forward_backward"][-1, 4, 4]))
    assert decimal(lesson.error["forward_backward"][-1, 4]) in figure.layout.annotations[-1].text


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
    every = theory.ess_by_b(np.full(k, n), 1.0, rho / n, len(by_b) - 1).mean(axis=1)
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
    assert sum(len(trace.y) for trace in dots) == len(result.gaps) == 7
    change = pictures.change_chart(tracks.step_changes(result), result)
    assert len(names(change)) == 4
    component = pictures.component_chart(tracks.component_tracks(result, 2), "feature")
    assert names(component)[-1] == "sample average ± √s"


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
    assert shown[:3] == ["bound, single task", "bound, forward", "bound, forward and backward"]
    assert shown[3:5] == ["minimax risk reached", "test error"]
    assert "guessing, .50" in shown[5]
    np.testing.assert_allclose(ess.bound_chart(table, trivial).data[2].y, table["forward_backward"] / trivial)


def test_coverage_chart_shows_the_study():
    table = teaching.coverage_study(10, 0.25, 3, k=6, runs=50)
    figure = lessons.coverage_chart(table)
    assert names(figure) == ["Single task", "Forward", "Forward and backward", "nominal, 0.683"]
    part = table[(table["knowledge"] == "estimated") & (table["rule"] == "forward")]
    np.testing.assert_allclose(figure.data[5].y, part["coverage"])


def test_tables_of_given_means():
    generator = np.random.default_rng(0)
    result = assess(np.cumsum(generator.normal(size=(9, 3)), axis=0), 0.5)
    table = tracks.component_tracks(result, 0)
    np.testing.assert_allclose(table["mean_se"], np.sqrt(0.5))
    assert (tracks.step_changes(result)["noise_se"] == np.sqrt(2) * 2 / np.sqrt(result.m_eff)).all()


def test_lesson_sentences_follow_the_numbers():
    import pandas as pd

    def row(gain, error):
        return {"newest": 0.2, "all": 0.2, "newest_gain": gain, "newest_gain_se": error, "all_gain": gain} | {
            "all_gain_se": error
        }

    rows = {"single": row(0.0, 0.0), "forward": row(-0.02, 0.001), "forward_backward": row(0.001, 0.002)}
    text = teaching.lesson_sentence(pd.DataFrame(rows).T, 3.0, 10, 3)
    assert "forward learning makes 10 % fewer errors on the newest task" in text
    assert "with b = 3 makes no clear difference (+0.001 ± 0.002) over all tasks" in text
    assert "nothing helps much" in text
    rows["forward"] = row(0.02, 0.001)
    assert "10 % more errors" in teaching.lesson_sentence(pd.DataFrame(rows).T, 0.05, 10, 3)
