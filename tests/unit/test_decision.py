"""The decision: trivial rivals count, a simpler strategy wins if it surely loses little, too little is no advice."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import imrc
from imrc.evaluation import LagTable, RunSettings, draw_task, run_references
from imrc.evaluation.comparison import comparison_table, score_table
from imrc.evaluation.settings import REFERENCES, STRATEGY_TITLES, as_python
from imrc.evaluation.splits import repetition_seeds, task_seed
from imrc.plots.result import run_ladder
from imrc.report import Report
from imrc.report.decision import advise, decide, steps_that_pay
from tests.conftest import run_python

REPETITIONS = 8


@pytest.fixture(scope="module")
def runs():
    sequence = imrc.datasets.load("random_walk", tasks=4, samples=60)
    result = imrc.evaluate(sequence, n=5, b=2, repetitions=REPETITIONS)
    return result, run_references(sequence, result.settings)


def table(mean, spread, rng, repetitions=REPETITIONS):
    """Errors of one value per repetition, the same at all steps."""
    values = mean + spread * rng.standard_normal(repetitions)
    return LagTable(np.repeat(values[:, None], 4, axis=1)[:, :, None])


def decided(runs, spread=0.002, usual=None, repetitions=REPETITIONS, **means):
    result, references = runs
    rng = np.random.default_rng(3)
    tables = {name: table(mean, spread, rng, repetitions) for name, mean in means.items()}
    result = replace(result, error_tables={rule: tables[rule] for rule in ("single", "forward", "forward_backward")})
    references = replace(references, error_tables={name: tables[name] for name in REFERENCES})
    return decide(result, "Toy", references=references, usual=usual)


def test_all_strategies_have_the_error_of_their_run(runs):
    result, references = runs
    found = decide(result, "Toy", references=references)
    assert [one.name for one in found.strategies] == list(STRATEGY_TITLES)
    assert (found.measure, result.balanced("single")) == ("error", None)
    for one in found.strategies:
        run = references if one.name in REFERENCES else result
        assert one.error == run.headline()[one.name]
        expected = stats.ttest_1samp(run.per_repetition(one.name), 0.0).confidence_interval(0.95)
        assert (one.low, one.high) == pytest.approx(tuple(expected))


def test_the_rule_is_the_rule(rng):
    """Against the definition, with SciPy's intervals, on errors of all sizes."""
    verdicts = set()
    for _ in range(150):
        means = rng.choice([0.003, 0.02, 0.1]) * rng.random(4)
        errors = {
            name: 0.3 + mean + rng.choice([0.003, 0.02]) * rng.standard_normal(6)
            for name, mean in zip(("majority", "single", "forward", "forward_backward"), means, strict=True)
        }
        best = min(errors, key=lambda name: errors[name].mean())
        interval = {
            name: stats.ttest_rel(values, errors[best]).confidence_interval(0.95)
            for name, values in errors.items()
            if name != best
        }
        guess = errors["majority"].mean() - errors[best].mean()
        found = advise(errors)
        verdicts.add(found.verdict)
        assert found.best == best
        if found.rival not in (None, best):
            gap = errors[found.rival].mean() - errors[best].mean()
            np.testing.assert_allclose(found.loss, [gap, *interval[found.rival]], rtol=1e-7, atol=1e-12)
        if best == "majority" or guess < 0.02 or interval["majority"].low <= 0:
            assert (found.advised, found.verdict) == (None, "none of these")
            continue
        simpler = [name for name in errors if list(errors).index(name) < list(errors).index(best)]
        expected = next((name for name in simpler if interval[name].high < 0.01), best)
        assert found.advised == expected
        assert (found.verdict == "simpler") == (expected != best)
        if expected == best:
            assert (found.verdict == "close") == any(interval[name].low <= 0 for name in simpler)
    assert verdicts == {"none of these", "simpler", "close", "best"}


BOTH, LITTLE = "forward_backward", "simpler and learning forward and backward is less than .010 better (.00"
# Errors of the most frequent class, each task alone, pooled, forward, forward and backward, and their spread; which is
# best, which is advised, the verdict, and what is to be done.
CASES = {
    "a clear gain": ((0.5, 0.4, 0.36, 0.35, 0.32), 0.002, BOTH, BOTH, "best", "revise earlier rules"),
    # Also not where the gain is sure, but too small to be of use. The gain over each task alone says nothing.
    **{
        f"guessing, {guess}": ((guess, 0.378, 0.34, 0.35, 0.32), 0.002, best, None, "none of these", "not use")
        for guess, best in ((0.30, "majority"), (0.3205, BOTH), (0.335, BOTH))
    },
    "noise": ((0.4, 0.38, 0.38, 0.36, 0.34), 0.1, BOTH, None, "none of these", "More repetitions"),
    "one rule": ((0.5, 0.4, 0.30, 0.35, 0.32), 0.002, "pooled", "pooled", "best", "Train one rule for all tasks"),
    "little is lost": ((0.5, 0.4, 0.323, 0.35, 0.32), 0.002, BOTH, "pooled", "simpler", LITTLE),
    "close": ((0.6, 0.4, 0.33, 0.4, 0.32), 0.03, BOTH, BOTH, "close", "It is close: pooling all tasks"),
    "neighbours as good": ((0.6, 0.3, 0.4, 0.303, 0.5), 0.03, "single", "single", "best", "worse: learning forward ("),
    "neighbours mislead": ((0.6, 0.3, 0.4, 0.33, 0.35), 0.002, "single", "single", "best", "on its own samples"),
}


@pytest.mark.parametrize(("means", "spread", "best", "advised", "verdict", "action"), CASES.values(), ids=CASES)
def test_what_is_found_and_to_be_done(runs, means, spread, best, advised, verdict, action):
    found = decided(runs, spread, "no", **dict(zip(STRATEGY_TITLES, means, strict=True)))
    assert (found.advice.best, found.advice.advised, found.advice.verdict) == (best, advised, verdict)
    assert found.sentence == f"On *Toy*, {found.finding}."
    assert action in found.action + found.finding
    assert any("the same learner" in note for note in found.notes)


@pytest.mark.parametrize("repetitions", [1, 2, 4, 5])
def test_few_repetitions_give_numbers_and_no_advice(runs, repetitions):
    means = {"majority": 0.5, "single": 0.4, "pooled": 0.36, "forward": 0.35, "forward_backward": 0.32}
    found = decided(runs, repetitions=repetitions, **means)
    assert [len(one.errors) for one in found.strategies] == [repetitions] * 5
    assert "learning forward and backward makes the fewest errors" in found.sentence
    few = repetitions < 5
    assert found.advice.advised == (None if few else BOTH)
    assert ("too few repetitions to tell" in found.sentence) == few
    assert (found.action == "Choose at least 5 repetitions to get advice.") == few


def test_intervals_of_errors_stay_between_0_and_1(runs):
    found = decided(runs, 0.2, repetitions=2, majority=0.97, single=0.5, pooled=0.5, forward=0.5, forward_backward=0.03)
    ends = np.array([[one.low, one.high] for one in found.strategies])
    assert (ends.min(), ends.max()) == (0.0, 1.0)


def test_without_references_guessing_still_counts(runs):
    found = decide(replace(runs[0], majority=table(0.01, 0.001, np.random.default_rng(0))), "Toy")
    assert (found.advice.best, found.advice.advised) == ("majority", None)
    assert found.notes == ("This result has no pooled rule to compare with.",)


def test_other_draws_are_refused(runs):
    result, references = runs
    with pytest.raises(ValueError, match="same tasks and draws"):
        decide(result, "Toy", references=replace(references, settings=replace(references.settings, seed=1)))


def test_steps_that_pay(runs):
    """Errors fall clearly at the first step back and not at the second."""
    result, _ = runs
    rng = np.random.default_rng(0)
    values = 0.3 + 0.01 * rng.standard_normal((REPETITIONS, 4, 1)) + 0.002 * rng.standard_normal((REPETITIONS, 4, 3))
    values[:, :, 1:] -= 0.05
    values[:, 3, 1:] = values[:, 2, 2] = np.nan
    for made, pay in ((LagTable(values), 1), (LagTable(values[:, :, :1]), 0)):
        changed = replace(result, error_tables={**result.error_tables, "forward_backward": made})
        assert steps_that_pay(changed) == pay


@pytest.mark.slow
def test_the_script_of_the_model_gives_the_model(tmp_path):
    """The downloaded script runs on its own, and its model predicts as the one made here."""
    settings = RunSettings(b=1, preset="paper", features="standardised", repetitions=2, overrides={"lambda0": 0.5})
    script = tmp_path / "imrc_model.py"
    script.write_text(as_python("random_walk", 4, settings, strategy="forward"), encoding="utf-8")
    done = run_python(str(script), folder=tmp_path)
    sequence = imrc.datasets.load("random_walk", tasks=4, seed=0)
    here = imrc.model.fit_model(sequence, strategy="forward", settings=settings)
    there = imrc.load(tmp_path / "model.imrc")
    for task in (*range(4), "next"):
        np.testing.assert_array_equal(
            here.predict_proba(sequence[-1].X, task), there.predict_proba(sequence[-1].X, task)
        )
    assert str(here.predict(sequence[-1].X[:10])) in done.stdout
    assert done.stderr == ""


@pytest.fixture(scope="module")
def rare():
    """Six tasks in which one answer of two is rare."""
    generator = np.random.default_rng(0)
    tasks = []
    for _ in range(6):
        y = (generator.random(90) < 0.12).astype(int)
        tasks.append(imrc.Task(generator.normal(size=(90, 3)) + 1.2 * y[:, None], np.array(["no", "yes"])[y]))
    return imrc.TaskSequence(tuple(tasks), "rare")


def by_class(answers, y):
    return np.array([rows.sum() for is_it in (y == "yes", y == "no") for rows in ((answers != y) & is_it, is_it)])


def test_rare_classes_are_counted_as_by_hand(rare):
    result = imrc.evaluate(rare, n=12, b=2, repetitions=2, features="identity", max_iter=300)
    assert result.rare_class == "yes"
    for repetition, seed in enumerate(repetition_seeds(0, 2)):
        model = imrc.IMRC(b=2, features="identity", max_iter=300)
        draws = [draw_task(rare.encoded(j), 12, 2, task_seed(seed, j)) for j in range(6)]
        counts, ahead, alone = np.zeros((3, 4))
        for step, draw in enumerate(draws):
            X, y = rare[step].X[draw.test], rare[step].y[draw.test]
            assert result.majority.newest()[repetition, step] == np.mean(y == "yes")
            if step:
                ahead += by_class(model.predict(X, task="next"), y)
                alone += by_class(model.predict(X, rule="single"), y)
            model.partial_fit(rare[step].X[draw.train], rare[step].y[draw.train], classes=["no", "yes"])
            for j in range(step + 1):
                X, y = rare[j].X[draws[j].test], rare[j].y[draws[j].test]
                counts += by_class(model.predict(X, task=j), y) / (6 * (step + 1))
        hands = {("forward_backward", "average"): counts, ("forward", "before"): ahead, ("single", "before"): alone}
        for of, (missed, there, wrong, others) in hands.items():
            assert result.misses(*of)[repetition] == pytest.approx(missed / there)
            assert result.balanced(*of)[repetition] == pytest.approx(0.5 * (missed / there + wrong / others))
    np.testing.assert_allclose(result.judged_by_step("single", "before")[:, -1], result.judged("single", "before"))


def test_rare_classes_are_judged_by_the_balanced_error(rare):
    result = imrc.evaluate(rare, n=12, b=2, repetitions=6, features="identity")
    references = run_references(rare, result.settings)
    found = decide(result, "Rare", references=references, usual="no")
    assert found.measure == "balanced error"
    # Who always says no finds no yes and errs on half of the classes.
    assert (found["majority"].recall, found["majority"].error.mean) == (0.0, pytest.approx(0.5))
    assert found["forward_backward"].error.mean == pytest.approx(result.balanced("forward_backward").mean())
    assert "“yes” is rare" in found.notes[-1]
    assert "recall" in found.notes[-1]
    assert "fewer errors" not in found.sentence
    told = Report(run=result, references=references, curve=(imrc.evaluate(rare, n=6, repetitions=6), result)).labels[0]
    assert told.startswith("A balanced error of ")
    assert run_ladder(result).layout.xaxis.title.text == "plain error"
    # Also of the newest task only, and before learning, unless the result is of a version that counted no misses there.
    for run in (result.seen_as("adaptation"), ahead := result.seen_as("next_task")):
        found = decide(run, "Rare", references=references)
        assert found.measure == run.measure() == "balanced error"
        assert found["forward"].error == run.headline()["forward"]
    scores = comparison_table(score_table([result, references]), kind="before").set_index("method")
    assert scores["error"]["majority"] == pytest.approx(0.5)
    assert set(scores["measure"]) == {"balanced error"}
    old = replace(ahead, before_miss={})
    found = decide(old, "Rare", references=references)
    assert (found.measure, old.measure()) == ("error", "error")
    assert found["forward"].error.mean == pytest.approx(old.before["imrc"][:, 1:].mean())
    assert any("before learning are not known" in note for note in found.notes)
