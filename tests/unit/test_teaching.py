"""The simulation behind the page Learn: equally hard tasks, gains that fall with drift, boxes that keep their word."""

from dataclasses import replace

import numpy as np
import pytest

from imrc import teaching
from imrc._checks import InputError
from imrc.core import theory
from imrc.core.learner import RULES
from imrc.core.recursions import track_forward_backward
from imrc.plots import teaching as pictures
from imrc.teaching import DRIFTS, KINDS, Study

SIZES = (10, 50, 100)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("drift", [0.0, 0.5, 1.5])
def test_every_task_is_equally_hard(kind, drift):
    world = teaching.simulate(10, drift, kind=kind, runs=20)
    best = teaching.linear_error(teaching.halfway_rule(world.truth), world.truth)
    np.testing.assert_allclose(best, teaching.best_error(), rtol=1e-9)
    # No other boundary does better.
    other = teaching.linear_error(teaching.halfway_rule(world.truth + 0.3), world.truth)
    assert (other >= best - 1e-12).all()


@pytest.mark.parametrize("kind", ["walk", "trend"])
def test_steps_have_the_size_they_should(kind):
    world = teaching.simulate(10, 0.5, kind=kind, runs=4000)
    steps = np.diff(world.truth, axis=0)
    assert np.mean(steps**2) == pytest.approx(0.25, rel=0.03)
    assert np.mean(steps[1:] * steps[:-1]) == pytest.approx(0.25 if kind == "trend" else 0.0, abs=0.01)
    np.testing.assert_allclose(steps[..., :2], steps[..., 2:], atol=1e-12)  # both classes together


def test_jump_and_swap():
    steps = np.diff(teaching.simulate(10, 0.0, kind="jump", k=7, runs=3).truth, axis=0)
    length = np.linalg.norm(steps[..., :2], axis=-1)
    np.testing.assert_allclose(length, np.tile([[0], [0], [teaching.JUMP], [0], [0], [0]], 3), atol=1e-12)
    truth = teaching.simulate(10, 0.0, kind="swap", k=4, runs=3).truth
    np.testing.assert_allclose(truth[1:, :, :2], truth[:-1, :, 2:], atol=1e-12)


def test_averages_and_variances_are_those_of_samples():
    world = teaching.simulate(10, 0.3, runs=4000)
    assert np.var(world.average - world.truth) == pytest.approx(2 / 10, rel=0.03)
    assert world.variance.mean() == pytest.approx(1.0, rel=0.01)
    assert world.variance.var() == pytest.approx(2 / 4, rel=0.05)  # of 5 samples


def test_exact_errors_equal_simulated_ones():
    generator = np.random.default_rng(0)
    means = np.array([-1.0, 0.5, 1.2, 0.0])
    y = generator.integers(2, size=400_000)
    X = means.reshape(2, 2)[y] + generator.standard_normal((len(y), 2))
    for w in ([0.2, 1.0, -0.4], [-0.5, 0.3, 0.3], [0.3, 0.0, 0.0]):
        wrong = ((w[0] + X @ np.array(w[1:]) > 0) != (y == 1)).mean()
        assert teaching.linear_error(np.array(w), means) == pytest.approx(wrong, abs=4 * np.sqrt(0.25 / len(y)))
    assert teaching.linear_error(np.zeros(3), means) == 0.5


@pytest.mark.parametrize("n", SIZES)
def test_the_gain_falls_with_drift(n):
    """The theorems on the page: what neighbours remove shrinks as tasks change more, whatever the sample size."""
    table = teaching.drift_table(Study(n=n, runs=400)).set_index(["rule", "drift"])
    assert (table.loc["single", "removed"] == 0.0).all()
    # The task alone does not notice the drift: all differences are the neighbours'.
    np.testing.assert_allclose(table.loc["single", "avoidable"], table.loc[("single", 0.0), "avoidable"], rtol=1e-9)
    for rule in ("forward", "forward_backward"):
        removed = table.loc[rule, "removed"].loc[list(DRIFTS)].to_numpy()
        assert (np.diff(removed) < 0).all()
        assert removed[0] > 0.7
        assert removed[-1] < 0.2
        assert (removed > 0).all()
    assert (table.loc["forward_backward", "removed"] > table.loc["forward", "removed"]).all()


def test_the_gain_falls_with_drift_where_the_change_is_estimated():
    for knowledge, runs in (("window", 400), ("rate", 40)):
        table = teaching.drift_table(Study(knowledge=knowledge, runs=runs), (0.0, 0.25, 0.5, 1.0))
        removed = table[table["rule"] == "forward_backward"].set_index("drift")["removed"]
        assert (np.diff(removed) < 0).all()
        assert removed[0.0] > 0.4


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("drift", DRIFTS)
def test_boxes_hold_the_truth_as_often_as_they_say(n, drift):
    study = Study(n=n, drift=drift, runs=400)
    world = study.world()
    for width in (1.0, 2.0):
        for mean, mse in teaching.track(world, 3).values():
            inside = (np.abs(mean - world.truth) <= width * np.sqrt(mse)).mean(axis=(0, 2))  # by sequence
            error = inside.std(ddof=1) / np.sqrt(len(inside))
            assert abs(inside.mean() - teaching.inside_share(width)) < 4 * error
        holds = teaching.box_table(study, width).groupby("rule")["holds"].mean()
        share = teaching.inside_share(width, sides=2)
        assert (abs(holds - share) < 4 * np.sqrt(share * (1 - share) / 400)).all()


def test_a_box_of_estimated_size_holds_the_truth_less_often():
    share = teaching.box_table(Study(drift=0.5, knowledge="window"))
    share = share.groupby("rule")["holds"].mean()
    assert share["forward_backward"] < teaching.inside_share(1.0, sides=2) - 0.05


def test_worth_in_samples_is_that_of_the_theorems_and_is_reached():
    study = Study(n=10, drift=0.25, b=3, runs=4000)
    table = teaching.task_table(study).set_index(["rule", "task"])
    tasks = np.arange(1, study.k + 1)
    last = np.minimum(tasks + study.b, study.k)
    # Each class mean comes from n / 2 samples of variance 1: n d^2 / sigma^2 is n / 2 times the squared drift.
    for rule, expected in (
        ("single", np.full(study.k, 10.0)),
        ("forward", theory.ess_forward(tasks, 10, 0.25**2 / 2)),
        ("forward_backward", theory.ess_forward_backward(tasks, last, 10, 0.25**2 / 2)),
    ):
        np.testing.assert_allclose(table.loc[rule, "samples_promised"], expected, rtol=1e-9)
        np.testing.assert_allclose(table.loc[rule, "samples"], expected, rtol=0.08)


def test_recursions_are_those_of_the_learner():
    world = teaching.simulate(10, 0.3, runs=5)
    tau = world.average.reshape(teaching.TASKS, -1)
    mean, mse = track_forward_backward(tau, np.full_like(tau, 0.2), np.full_like(tau, 0.09))
    both = teaching.track(world, b=60)["forward_backward"]
    np.testing.assert_allclose(both[0].reshape(tau.shape), mean)
    np.testing.assert_allclose(both[1].reshape(tau.shape), mse)


@pytest.mark.parametrize("knowledge", teaching.KNOWLEDGE)
def test_old_tasks_keep_what_the_last_task_in_reach_left(knowledge):
    world = teaching.simulate(10, 0.3, runs=4)
    last = teaching.track(world, 2, knowledge)
    then = teaching.track(world.until(7), 2, knowledge)
    for rule in RULES:
        np.testing.assert_allclose(last[rule][0][5], then[rule][0][5])
    assert not np.allclose(last["forward_backward"][0][6], then["forward_backward"][0][6])
    np.testing.assert_allclose(then["forward"][0][7], then["forward_backward"][0][7])


@pytest.mark.parametrize("kind", ["jump", "swap"])
def test_broken_assumptions_cost_errors_and_an_estimated_change_costs_fewer(kind):
    told = teaching.summary(Study(kind=kind)).set_index("rule")
    estimated = teaching.summary(Study(kind=kind, knowledge="rate", runs=60)).set_index("rule")
    assert told.loc["forward_backward", "removed"] < -4 * told.loc["forward_backward", "removed_se"]
    assert estimated.loc["forward_backward", "removed"] > told.loc["forward_backward", "removed"] + 0.4


def test_odd_sample_sizes_are_refused():
    with pytest.raises(InputError, match="half of n"):
        teaching.simulate(7)


# -- pictures --------------------------------------------------------------------------------------------------


def named(figure):
    return {trace.name: trace for trace in figure.data}


def test_sequence_shows_what_is_known_when_a_task_arrives():
    world = teaching.simulate(10, 0.3, runs=1, seed=3)
    figures = [
        pictures.sequence_chart(world, newest, 2, rules=("single", "forward", "forward_backward"))
        for newest in (0, 5, 14)
    ]
    known = teaching.track(world.until(5), 2)
    for rule, name in pictures.NAMES.items():
        np.testing.assert_allclose(named(figures[1])[name].y, known[rule][0][:, 0, 2])
        np.testing.assert_allclose(named(figures[1])[f"{name}, samples"].y, 2 / known[rule][1][:, 0, 2])
    assert len({str(figure.layout[axis].range) for figure in figures for axis in ("yaxis",)}) == 1
    assert len({str(figure.layout.yaxis2.range) for figure in figures}) == 1
    assert [figure.layout.title.text for figure in figures][1] == "Task 6 has just arrived"


def test_drift_chart_hides_its_curves_until_they_are_asked_for():
    study = Study(runs=20, k=5)
    table, now = teaching.drift_table(study), teaching.summary(study)
    hidden = named(pictures.drift_chart(table.iloc[:0], now, 0.25))
    assert set(hidden) == {f"{name}, at this drift" for name in pictures.NAMES.values()}
    shown = named(pictures.drift_chart(table, now, 0.25))
    forward = table[table["rule"] == "forward"]
    np.testing.assert_allclose(shown["Forward"].y, 100 * forward["avoidable"])


def test_boxes_and_tasks_show_their_tables():
    study = Study(runs=50, k=6)
    table = teaching.box_table(study)
    figure = pictures.box_chart(table)
    inside = int(table[table["rule"] == "single"]["holds"].sum())
    assert len(named(figure)["Single task, box holds the truth"].x) == inside
    assert f"{inside / 50:.0%}".replace("%", " %") in figure.layout.annotations[0].text
    tasks = teaching.task_table(study)
    line = named(pictures.task_chart(tasks))["Single task"]
    np.testing.assert_allclose(line.y, 100 * tasks[tasks["rule"] == "single"]["avoidable"])


def test_for_a_projector_everything_is_larger():
    samples, boundaries = teaching.try_one_task(8, tries=3)
    usual, large = (pictures.tries_chart(samples, boundaries, large=large) for large in (False, True))
    assert large.layout.font.size >= 1.3 * usual.layout.template.layout.font.size
    pairs = list(zip(usual.data, large.data, strict=True))
    assert all(b.line.width > a.line.width for a, b in pairs if a.line.width)
    assert all(b.marker.size > a.marker.size for a, b in pairs if a.marker.size)
    assert large.layout.annotations[0].font.size > usual.layout.annotations[0].font.size


def test_a_study_is_computed_once(monkeypatch):
    study = Study(runs=3, k=4, seed=77)
    first = teaching.task_table(study)
    monkeypatch.setattr("imrc.teaching._lessons.track", lambda *_: pytest.fail("computed again"))
    assert teaching.task_table(replace(study)).equals(first)
