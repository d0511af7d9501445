"""Diagnosis of sequences: calibration over seeds, degenerate input, rules of the verdict, words."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import imrc
from imrc.diagnostics import partial_autocorrelation, variogram
from imrc.diagnostics import words as words_
from imrc.diagnostics.assessment import NAMED, Assessment, judge
from imrc.diagnostics.by_lag import find_returns
from imrc.diagnostics.evidence import (
    FLAG_LIMIT,
    MEAN_LIMIT,
    ChangeEstimate,
    OrderTests,
    approximate_p_value,
    exact_p_value,
)
from imrc.diagnostics.models import ModelFit
from imrc.diagnostics.samples import read_sequence
from imrc.diagnostics.words import CHANGES
from imrc.report.guarantees import PlugIn, order_sentence, vacuous_sentence
from imrc.tasks import Task, TaskSequence
from tests.benchmarks.diagnostics_study import SCENARIOS, deviations
from tests.changed_sequences import stationary

# Few components: what is tested here are the tests, not the representation. Few orders are enough for levels of 5 %.
assess = partial(imrc.diagnostics.assess, features=None, permutations=199)


def gaussian(kind, k=20, n=40, seed=0, change=0.4):
    return imrc.datasets.load(kind, tasks=k, samples=n, seed=seed, change=change)


def pooled(sequence):
    return np.concatenate([task.X for task in sequence]), np.concatenate([task.y for task in sequence])


def cut(X, y, sizes):
    ends = np.cumsum(sizes)
    return TaskSequence(tuple(Task(X[e - s : e], y[e - s : e]) for s, e in zip(sizes, ends, strict=True)))


# -- calibration: counted over seeds, because single wrong verdicts do occur at the nominal rate ---------------


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[40] * 12, np.linspace(10, 150, 16).astype(int)], ids=["equal", "unequal"])
def test_shuffled_rows_show_neither_change_nor_order(sizes):
    quiet = false_alarms = 0
    X, y = pooled(gaussian("random_walk", k=12, n=40) if len(sizes) == 12 else gaussian("identical", k=30, n=100))
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(len(X))
        result = assess(cut(X[order], y[order], sizes), seed=seed)
        quiet += result.verdict.name in ("no_change", "too_few")
        false_alarms += result.p_order <= 0.05
        assert result.n == pytest.approx(len(sizes) / (1 / np.array(sizes)).sum())
    assert quiet >= 10
    assert false_alarms <= 2


@pytest.mark.slow
def test_order_of_shuffled_tasks_gives_uniform_p_values():
    from scipy.stats import kstest

    sequence = gaussian("random_walk", k=14, n=40)
    p_values = []
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(14)
        shuffled = TaskSequence(tuple(sequence[j] for j in order))
        p_values.append(assess(shuffled, seed=seed, permutations=199).p_order)
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) <= 0.05) <= 0.15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("random_walk", "evolving"),
        ("independent", "iid"),
        ("identical", "no_change"),
        ("mean_reverting", "mean_reverting"),
        ("periodic", "periodic"),
        ("abrupt", "jump"),
        ("trend", "trend"),
    ],
)
def test_kinds_are_recognised_in_most_sequences(kind, expected):
    hits = 0
    for seed in range(6):
        verdict = assess(gaussian(kind, k=40, n=100, seed=seed), seed=seed).verdict
        hits += expected in (verdict.name, verdict.second)
    assert hits >= 4


@pytest.mark.slow
def test_rho_of_the_truth_lies_in_most_intervals():
    inside, ratios = 0, []
    for seed in range(12):
        sequence = gaussian("random_walk", k=30, n=50, seed=seed, change=0.2)
        result = assess(sequence, features=lambda X: X)
        v = result.moments.s.mean(axis=0) * 50
        steps = np.diff(sequence.truth["mean_vectors"], axis=0) ** 2
        moving = steps.mean(axis=0) > 0
        truth = 50 * (steps.mean(axis=0) / v)[moving].sum() / result.m
        rho, low, high = result.ratio_at()
        inside += low <= truth <= high
        ratios.append(rho / truth)
    assert inside >= 10
    assert 0.8 < np.median(ratios) < 1.25


@pytest.mark.slow
def test_exact_test_of_identical_tasks_keeps_its_level():
    p_values = np.array([assess(gaussian("identical", k=6, n=12, seed=seed), seed=seed).p_same for seed in range(50)])
    assert np.count_nonzero(p_values <= 0.05) < 9  # 2.5 expected; 9 or more have probability .003
    assert 0.35 < p_values.mean() < 0.65


@pytest.mark.parametrize(("k", "least", "most"), [(4, 0, 0), (5, 1, 8), (8, 9, 10)])
def test_how_many_tasks_an_order_takes(k, least, most):
    unordered = {"no_change", "too_few", "differ", "iid"}
    walks = [gaussian("random_walk", k=k, n=100, seed=seed) for seed in range(10)]
    assert least <= sum(assess(walk).verdict.name not in unordered for walk in walks) <= most


def test_exact_and_approximate_tests_agree():
    for change in (0.0, 0.02, 0.05):
        sequence = gaussian("independent", k=8, n=60, change=change)
        generator = np.random.default_rng(0)
        reading = read_sequence(sequence, lambda X: X, generator, keep=np.inf)
        exact = exact_p_value(reading.rows, generator, shuffles=999)
        assert approximate_p_value(reading.reduced, reading.m_noise, 1.0)[0] == pytest.approx(exact, abs=0.08)


# -- unequal and degenerate input ------------------------------------------------------------------------------


def test_class_missing_from_some_tasks_is_accepted():
    sequence = gaussian("random_walk", k=8, n=20)
    tasks = [Task(task.X, np.zeros(20, dtype=int) if j == 3 else task.y) for j, task in enumerate(sequence)]
    result = assess(TaskSequence(tuple(tasks), classes=[0, 1]))
    assert np.isfinite(result.q)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_very_short_sequences_say_so(k):
    result = assess(cut(*pooled(gaussian("random_walk", k=5, n=20)), [20] * k))
    assert result.verdict.name in ("too_few", "no_change", "differ", "recurring")
    assert (result.order is None) == (k < 5)
    assert (result.pacf is None) == (k < 4)
    json.dumps(result.summary(10 if k > 1 else None), allow_nan=False)


def test_one_sample_per_task_is_too_few():
    result = assess(cut(*pooled(gaussian("random_walk", k=2, n=6)), [1] * 12))
    assert result.verdict.name == "too_few"
    assert result.m == 0
    with pytest.raises(ValueError, match="Too few tasks or components"):
        result.ratio_at()


def test_rho_converts_in_proportion_to_n():
    result = assess(gaussian("random_walk", k=12, n=60))
    assert result.n == pytest.approx(60, rel=1e-14)
    assert np.array(result.ratio_at(10)) == pytest.approx(np.array(result.ratio_at()) / 6)
    summary = result.summary(10)
    assert summary["n_rho"] == pytest.approx(result.ratio_at(10)[0])
    # rho is d^2 / sigma^2 and knows no n.
    assert summary["rho"] == pytest.approx(summary["n_rho"] / 10) == pytest.approx(result.summary(50)["rho"])
    with pytest.raises(ValueError, match="leave n out"):
        assess(np.arange(8.0)[:, None], 1.0).ratio_at(10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assess(np.zeros((4, 2))), "also give mse"),
        (lambda: assess(np.zeros((4, 2)), np.ones(3)), "must have the shape of means"),
        (lambda: assess(np.zeros((4, 2)), [[1, 1], [1, -1], [1, 1], [1, 1]]), "row 1, column 1"),
        (lambda: assess(np.zeros((4, 2)), [[1, 1], [0, 0], [1, 1], [1, 1]]), "Task 1 .* error 0 in every"),
        (lambda: assess([[1.0], [np.nan]], 1.0), "row 1, column 0"),
        (lambda: assess(gaussian("identical", k=3), 1.0), "Give mse only with means"),
        (lambda: assess(gaussian("identical", k=3), features=lambda X: X[1:]), "39 rows for the 40 samples of task 0"),
        (lambda: assess(np.zeros((4, 2)), 1.0, permutations=3), "permutations must be between 99"),
        (lambda: partial_autocorrelation(np.zeros((1, 3))), "at least 2 tasks"),
        (lambda: partial_autocorrelation(np.ones((5, 3))), "constant"),
        (lambda: partial_autocorrelation(np.eye(5), 5), "nlags must be between 1 and 4"),
        (lambda: variogram(np.zeros((3, 2)), 1.0, max_lag=3), "max_lag must be between 1 and 2"),
        (lambda: variogram(np.zeros((1, 2)), 1.0), "at least 2 tasks"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_representations_of_every_form():
    sequence = gaussian("random_walk", k=6, n=30)
    function = assess(sequence, features=lambda X: 2 * X)
    with_map = assess(sequence, features=imrc.features.make("identity", sequence))
    assert function.representation == "given features"
    assert function.q == pytest.approx(with_map.q)
    assert assess(sequence, features="rff").is_bounded
    with pytest.raises(TypeError, match="features must be None"):
        assess(sequence, features=3)


# -- rules and words -------------------------------------------------------------------------------------------


def found(k, high, **evidence):
    """What was found on k tasks: the evidence given, and nothing else."""
    stand_in = dict.fromkeys(
        ("verdict", "name", "representation", "labels", "m", "dropped", "distance", "moments", "n")
    )
    change = ChangeEstimate(0.1, 0.0, high, 0.0)
    return Assessment(k=k, change=change, models=FITS, is_bounded=False, **stand_in, **evidence)


FITS = tuple(
    ModelFit(name, group, 0.0, bic, parameters, *pieces)
    for name, group, bic, parameters, *pieces in (
        ("rw", "evolving", 0.0, {"ratio": 1.0}),
        ("ar", "mean_reverting", 1.5, {"a": 1.0, "phi": 0.5}),
        ("trend", "trend", 5.0, {"a": 0.0, "b": 1.0}),
        ("jump", "jump", 6.0, {"a": 0.0, "b": 1.0}, (4,)),
        ("season", "periodic", 7.0, {"a": 0.0, "b": 1.0, "f": 0.2}),
        ("iid", "iid", 8.0, {"a": 1.0}),
        ("identical", "no_change", 9.0, {}),
        ("states", "recurring", 20.0, {"a": 0.0, "b": 1.0}, (9, 10, 20), (0, 1, 0, 1)),
    )
)


@pytest.mark.parametrize(
    ("k", "p_same", "p_order", "high", "share", "expected"),
    [
        (20, 0.5, 0.5, 0.9, 0.0, ("no_change", None)),
        (20, 0.5, 0.5, 1.1, 0.0, ("too_few", None)),
        (2, 0.5, None, 0.5, 0.0, ("too_few", None)),
        (20, 0.026, 0.9, 0.5, 0.0, ("no_change", None)),  # doubled for looking twice
        (4, 0.001, None, 5.0, 0.0, ("differ", None)),
        (7, 0.001, 0.5, 5.0, 0.1, ("differ", None)),
        (7, 0.001, 0.5, 5.0, 0.2, ("recurring", None)),
        (12, 0.001, 0.5, 5.0, 0.2, ("iid", None)),
        (12, 0.9, 0.02, 5.0, 0.0, ("evolving", "mean_reverting")),
    ],
)
def test_rules_of_the_verdict(k, p_same, p_order, high, share, expected):
    order = None if p_order is None else OrderTests({}, {}, p_order)
    assert judge(found(k, high, p_same=p_same, order=order, returns_share=share))[:2] == expected


def test_returns_of_alternating_tasks():
    means = np.array([[0.0, 0.0], [5.0, 5.0], [0.1, 0.0], [5.0, 5.1], [0.0, 0.1]])
    difference = ((means[:, None] - means[None]) ** 2).mean(axis=2)
    pairs, share = find_returns(difference, np.full(5, 0.02), 2.0)
    assert set(pairs) == {(0, 2), (1, 3), (2, 4), (0, 4)}
    assert share == pytest.approx(0.4)


def test_band_holds_the_average_of_independent_tasks():
    inside = []
    for seed in range(30):
        means = np.random.default_rng(seed).normal(size=(20, 12))
        pacf = assess(means, 1.0, seed=seed).pacf
        inside.append((pacf.low[:4] <= pacf.mean[:4]) & (pacf.mean[:4] <= pacf.high[:4]))
    assert 0.88 < np.mean(inside) <= 1.0  # of 120 values, 95 % expected
    assert pacf.low[0] < -1 / 20 < pacf.high[0]


def simulated_means(kind, seed):
    generator = np.random.default_rng([seed, len(kind)])
    k, size = int(generator.choice([5, 7, 8, 10, 12, 16])), generator.choice([0.5, 1.0, 2.0])
    path = deviations("walk" if kind == "smooth" else kind, k, 6, generator)
    return size * (np.cumsum(0.3 * path, axis=0) if kind == "smooth" else path) + generator.standard_normal((k, 6))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*SCENARIOS, "smooth"])
def test_sentences_never_contradict_each_other(kind):
    said = set()
    for seed in range(25):
        result = replace(assess(simulated_means(kind, seed), 1.0, permutations=99, seed=seed), n=10.0)
        verdict, tests = result.verdict, result.innovations
        meaning, order = words_.meaning_sentence(result, 10), order_sentence(verdict)
        card = verdict.changes_text
        heading = " ".join((verdict.title, verdict.sentence, *verdict.notes))
        told = " ".join((heading, card, meaning, order, words_.report(result, 10)))
        found = [phrase for phrase in CHANGES.values() if phrase in told]
        assert len(found) <= 1, (seed, told)
        for phrase in found:
            assert phrase in heading, (seed, told)
            assert phrase == card, (seed, told)
        if "drift in one direction" in found:
            assert tests.z_mean > MEAN_LIMIT
        if "look independent and zero-mean" in found:
            assert tests.z_mean <= MEAN_LIMIT
            assert abs(tests.largest) <= FLAG_LIMIT
            assert "evolving" in (verdict.name, verdict.second)
        for way, sign in (("positively", 1), ("negatively", -1)):
            assert f"look {way} correlated" not in told or sign * tests.largest > FLAG_LIMIT
        # Only where the order matters something is said about the changes; nothing says the opposite there.
        assert (card.startswith("not judged")) == (verdict.name not in NAMED or verdict.name == "recurring")
        assert ("order does not matter" in told) == (verdict.name == "iid")
        supported = {
            "Supported:" in heading,
            "these tasks evolve as they assume" in meaning,
            "which the diagnosis supports" in order,
        }
        assert len(supported) == 1 or verdict.name == "too_few", (seed, told)
        refused = {"which they do not seem to do" in meaning, "nor their order" in order}
        assert len(refused) == 1, (seed, told)
        assert not (True in supported and True in refused)
        if verdict.name == "too_few":
            assert "be predicted" in meaning
            assert "promise a" not in told
        elif result.ratio_at(10)[1] >= 1:
            assert "promise only a little" in meaning or "promise hardly anything" in meaning
        elif result.ratio_at(10)[2] < 1:
            assert "promise a large gain" in meaning or "promise a clear gain" in meaning
        else:
            assert "a gain that may be small" in meaning
        said.add(verdict.name)
    assert len(said) >= 3


# 2 sqrt(2 log(400)) / sqrt(ESS) = .3 at ESS = 533.
@pytest.mark.parametrize(
    ("vacuous", "said"),
    [(3, "vacuous for every task"), (3, "size of 533"), (2, "2 of the 3 tasks"), (0, "below the risk of guessing")],
)
def test_vacuous_bounds_are_called_vacuous(vacuous, said):
    stand_in = PlugIn(np.arange(3), np.full(3, 0.2), np.full(3, 1.0), 1.0, 10, 2)
    assert said in vacuous_sentence(stand_in, list(np.arange(3) < vacuous), 0.5, 0.05, 1.0)


# -- what averages do not show ----------------------------------------------------------------------------------


def rows_of(seed, *, follow=0.0, spread=1.0, by_class=False):
    """Ten tasks whose means never change; rows follow each other, or the spread grows, or rows are sorted by class."""
    generator = np.random.default_rng(seed)
    tasks = []
    for j in range(10):
        X, y = generator.normal(size=(60, 4)), generator.integers(2, size=60)
        for t in range(1, 60):
            X[t] = follow * X[t - 1] + np.sqrt(1 - follow**2) * X[t]
        y = np.sort(y) if by_class else y
        tasks.append(imrc.Task(X * spread**j + 3.0 * y[:, None], y))
    return imrc.TaskSequence(tuple(tasks), name="rows", classes=[0, 1])


def test_nothing_is_claimed_of_rows_that_follow_each_other():
    result = assess(rows_of(0, follow=0.5))
    verdict = result.verdict
    assert (verdict.name, verdict.second, verdict.changes) == ("dependent", None, None)
    assert verdict.title == "not judged: successive rows are correlated"
    assert verdict.finding == "successive rows are correlated, so nothing is judged"
    assert verdict.assumption == "open"
    assert "independent" in verdict.sentence
    assert (result.summary(10)["verdict"], result.summary(10)["title"]) == ("dependent", verdict.title)
    assert words_.report(result, 10).startswith(f"rows: {verdict.title}\n")
    assert [asked.answer for asked in words_.questions(result, 10)] == ["Not judged"] * 5
    assert len(verdict.notes) == 1
    assert "Successive rows within a task are correlated (0." in verdict.notes[0]
    assert "can be predicted" in words_.meaning_sentence(result, 10)


@pytest.mark.parametrize(("follow", "count"), [(0.7, 10), (0.0, 0)])
def test_false_claims_on_stationary_series(follow, count):
    assert [assess(stationary(follow, 15, 30, seed)).verdict.name for seed in range(10)].count("dependent") == count


@pytest.mark.slow
@pytest.mark.parametrize("by_class", [False, True])
def test_rows_in_no_order_are_not(by_class):
    for seed in range(10):
        notes = " ".join(assess(rows_of(seed, by_class=by_class), features=None).verdict.notes)
        assert "Successive rows" not in notes
        assert "spread" not in notes


def test_a_spread_that_changes_is_said_to_be_invisible():
    plain_, fourier = (assess(rows_of(0, spread=1.2), features=features) for features in (None, "rff_median"))
    assert plain_.verdict.name in ("no_change", "too_few")
    assert any("spread around them does" in note for note in plain_.verdict.notes)
    assert fourier.p_same < 0.05
