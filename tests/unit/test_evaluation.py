"""Draws, the run loop, results: reproducible, leak-free, and averaged as the formulas say."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc.evaluation import LagTable, RunResult, RunSettings, draw_task, iter_run, join_repetitions, largest_n
from imrc.evaluation.columns import arrays_of
from imrc.evaluation.run import run_all, run_references, split_references, with_references
from imrc.evaluation.splits import MappedRows, held_out, repetition_seeds, task_seed
from imrc.features import FeatureSpec
from tests.sweeps.cells import assert_same_result


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=7, samples=80, features=3, seed=2)


@pytest.fixture(scope="module")
def result(sequence):
    return imrc.evaluate(sequence, n=8, b=2, repetitions=3, features="identity", seed=5, max_iter=300)


def test_the_minimax_risk_of_few_samples_does_not_bound_the_error(compiled):
    walk, last = imrc.datasets.load("random_walk", tasks=12), (slice(None), -1)
    few, more = (
        imrc.evaluate(walk, n=10, repetitions=3, **chosen) for chosen in ({"preset": "paper"}, {"loss": "0-1"})
    )
    assert (few.risks["forward_backward"][last] < few.errors["forward_backward"][last]).mean() > 0.5
    risk = more.risks["forward_backward"][last]
    assert (risk >= more.errors["forward_backward"][last]).all()
    assert risk.mean() > 0.5


# With n = 40 the training rows of the first task are all from which a run learns a representation.
@pytest.mark.parametrize(("features", "n"), [("identity", 8), ("rff", 8), ("blended", 40)])
def test_errors_are_those_of_an_estimator_fed_the_same_draws(sequence, features, n):
    result = imrc.evaluate(sequence, n=n, b=2, repetitions=3, features=features, seed=5)
    for repetition, seed in enumerate(repetition_seeds(5, 3)):
        draws = [draw_task(sequence.encoded(j), n, 2, task_seed(seed, j)) for j in range(7)]
        # The number stands for the first of the repetitions.
        model = imrc.IMRC(b=2, features=features, random_state=seed if repetition else 5)
        for step, draw in enumerate(draws):
            model.partial_fit(sequence[step].X[draw.train], sequence[step].y[draw.train], classes=[0, 1])
            for rule in ("single", "forward", "forward_backward"):
                for task in range(step + 1):
                    test = draws[task].test
                    error = 1 - model.score(sequence[task].X[test], sequence[task].y[test], task=task, rule=rule)
                    assert result.errors[rule][repetition, step, task] == pytest.approx(error, abs=1e-12)
        np.testing.assert_allclose(
            result.risk_tables["forward_backward"].final()[repetition], model.risk_["forward_backward"]
        )
        np.testing.assert_allclose(result.ess_tables["forward"].final()[repetition], model.ess_["forward"])


def test_random_features_are_drawn_anew_in_each_repetition_and_by_nothing_else(sequence):
    chosen = {"n": 8, "b": 0, "features": "rff", "seed": 5, "methods": ("imrc", "logistic_single")}
    many = imrc.evaluate(sequence, repetitions=3, **chosen)
    few = imrc.evaluate(sequence, repetitions=2, k=3, **chosen)
    for name, errors in few.errors.items():
        np.testing.assert_array_equal(errors, many.errors[name][:2, :3, :3])
    first, second = (
        MappedRows(sequence, FeatureSpec("rff"), np.arange(10), seed).rows(0, np.arange(10))
        for seed in repetition_seeds(5, 2)
    )
    # Cosines and sines of the same rows: nothing about them agrees but the intercept.
    assert (first[:, 0] == second[:, 0]).all()
    assert abs(np.corrcoef(first[0, 1:201], second[0, 1:201])[0, 1]) < 0.3


def test_test_rows_are_never_trained_on_and_the_same_for_every_n():
    y = np.random.default_rng(0).integers(0, 3, 90)
    seed = np.random.SeedSequence(3)
    for n in (1, 10, 45):
        draw = draw_task(y, n, 3, seed)
        assert len(draw.train) == n
        assert set(draw.train) <= set(draw.pool)
        assert not set(draw.pool) & set(draw.test)
        np.testing.assert_array_equal(draw.test, draw_task(y, 2, 3, seed).test)


def test_draw_is_stratified():
    y = np.repeat([0, 1], [150, 50])
    for seed in range(20):
        draw = draw_task(y, 20, 2, np.random.SeedSequence(seed))
        count, pool = (np.bincount(y[rows], minlength=2) for rows in (draw.train, draw.pool))
        assert np.abs(count - 20 * pool / pool.sum()).max() < 1


def test_held_out_and_largest_n():
    assert [held_out(size) for size in (2, 3, 199, 200, 5000)] == [1, 1, 99, 100, 100]
    sequence = imrc.datasets.load("identical", tasks=2, samples=30)
    assert largest_n(sequence) == 15
    with pytest.raises(ValueError, match=r"n = 16 .* leaves 15 .* Choose n <= 15"):
        imrc.evaluate(sequence, n=16)


def test_headlines_by_hand(result):
    errors = result.errors["forward_backward"]
    # At which step an error of task j is taken; the tasks seen at step q count alike.
    steps = {"newest": lambda j: j, "lag": lambda j: min(j + 2, 6), "released": lambda j: min(j + 1, 6)}
    expected = {kind: np.mean([errors[:, step(j), j] for j in range(7)], axis=0) for kind, step in steps.items()}
    expected["average"] = np.mean([errors[:, q, : q + 1].mean(axis=1) for q in range(7)], axis=0)
    for kind, values in expected.items():
        np.testing.assert_allclose(result.per_repetition("forward_backward", kind), values)
        headline = result.headline(kind)["forward_backward"]
        assert (headline.mean, headline.stderr) == pytest.approx((values.mean(), values.std(ddof=1) / np.sqrt(3)))


def test_as_the_script_prints_with_as_many_backward_steps_as_tasks():
    """Tasks that b - 1 more do not follow are tested at the end, also where that is all of them."""
    sequence = imrc.datasets.load("random_walk", tasks=3, seed=1)
    result = imrc.evaluate(sequence, n=10, b=3, preset="paper", repetitions=3)
    end = result.errors["forward_backward"][:, 2]
    assert not np.array_equal(end[:, 0], result.errors["forward_backward"][:, 1, 0])
    np.testing.assert_allclose(result.per_repetition("forward_backward", "released"), end.mean(axis=1))


def test_lag_table_agrees_with_its_dense_form(rng):
    values = rng.random((2, 6, 3))
    for lag in (1, 2):
        values[:, 6 - lag :, lag] = np.nan
    table = LagTable(values)
    dense = table.dense()
    np.testing.assert_allclose(table.by_step(), np.nanmean(dense, axis=2))
    np.testing.assert_allclose(table.final(), dense[:, -1])
    np.testing.assert_allclose(table.story(2), dense[:, 2:, 2])
    np.testing.assert_allclose(table.newest(), np.diagonal(dense, axis1=1, axis2=2))


def test_the_table_of_numbers_has_each_learnt_value_once_and_gives_the_headline(result):
    frame = result.to_frame()
    rows = {"single": 3 * 7, "forward": 3 * 7, "forward_backward": 3 * (7 + 6 + 5)}
    assert frame.groupby("rule").size().to_dict() == rows
    assert (frame["step"] == frame["task"] + frame["lag"]).all()
    for rule, part in frame.groupby("rule"):
        sums = (part["error"] * part["weight"]).groupby(part["repetition"]).sum()
        np.testing.assert_allclose(sums, result.per_repetition(rule))


@pytest.fixture(scope="module")
def uneven():
    """Tasks in which one answer of two is rare."""
    y = np.array(["no", "yes"])[(np.arange(90) % 8 == 0).astype(int)]
    rows = np.random.default_rng(0).normal(size=(4, 90, 3)) + 1.2 * (y == "yes")[:, None]
    return imrc.TaskSequence([imrc.Task(X, y) for X in rows], "uneven")


@pytest.mark.parametrize("scenario", ["continual", "multi_task"])
def test_files_and_repetitions_put_together_hold_every_number(uneven, scenario, tmp_path, compiled):
    settings = RunSettings(n=12, b=1, repetitions=2, methods=("imrc", "gem"), scenario=scenario)
    whole = run_all(uneven, settings)
    kinds = {kind for kind, _ in arrays_of(whole)}
    assert {"error", "risk", "ess", "miss", "before", "choices", "reliability", "by_class", "rare_counts"} < kinds
    whole.save(tmp_path / "run.npz")
    loaded = RunResult.load(tmp_path / "run.npz")
    parts = [run_all(uneven, settings, only=[r]) for r in range(2)]
    joined = join_repetitions(parts, settings)
    for found in (loaded, joined, RunResult.from_bytes(whole.to_bytes())):
        assert (found.settings, found.rare_class) == (settings, "yes")
        assert_same_result(found, whole)
        assert found.to_frame().equals(whole.to_frame())
        assert found.headline() == whole.headline()
    # An earlier version did not count the rare class before learning.
    for some in (parts[0], replace(parts[1], before_miss={})), (replace(parts[0], before_miss={}), parts[1]):
        older = join_repetitions(some, settings)
        assert (older.measure("before"), older.measure("newest")) == ("error", "balanced error")
        np.testing.assert_array_equal(older.judged("forward", "before"), whole.per_repetition("forward", "before"))


@pytest.mark.parametrize("format_", [1, 2])
def test_what_was_saved_before_the_recommended_learner_changed_is_refused_with_a_way_out(tmp_path, result, format_):
    result.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header"))) | {"format": format_}
    np.savez(tmp_path / "old.npz", header=np.array(json.dumps(header)), **arrays)
    with pytest.raises(ValueError, match=r"saved by imrc 1, which had a different recommended learner\. Open it with"):
        RunResult.load(tmp_path / "old.npz")


def test_a_representation_belongs_to_the_preset_unless_it_is_named():
    assert RunSettings().features == RunSettings(features="blended").features
    assert RunSettings(preset="paper").features == RunSettings(preset="paper", features="automatic").features
    zero_one = RunSettings(overrides=(("loss", "0-1"),))
    assert zero_one.features == RunSettings().features
    assert FeatureSpec("blended", 50).diagnosed == FeatureSpec("automatic", 50)
    assert FeatureSpec("rff").diagnosed == FeatureSpec("rff")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    for header in ("no JSON", "[]", "{}", '{"format": 2}', '{"format": 3}'):
        np.savez(path, header=header)
        with pytest.raises(ValueError, match="not a result saved by imrc"):
            RunResult.load(path)
    with pytest.raises(FileNotFoundError):
        RunResult.load(tmp_path / "absent.npz")


def test_stopped_run_gives_what_it_reached(sequence):
    settings = RunSettings(n=8, b=2, repetitions=2, features=FeatureSpec("identity"), overrides=(("max_iter", 100),))
    run = iter_run(sequence, settings)
    steps = [next(run) for _ in range(3)]
    run.close()
    partial, whole = RunResult.from_steps(settings, sequence, steps), run_all(sequence, settings)
    np.testing.assert_array_equal(partial.errors["forward_backward"], whole.errors["forward_backward"][:, :3, :3])
    with pytest.raises(ValueError, match="No step was run"):
        RunResult.from_steps(settings, sequence, [])


WRONG = [
    *({"n": 0}, {"n": 2.5}, {"k": 99}, {"b": -1}, {"repetitions": 0}, {"seed": -1}),
    *({"features": "wavelets"}, {"preset": "x"}, {"max_iter": -5}),
]


@pytest.mark.parametrize("arguments", WRONG, ids=str)
def test_bad_arguments_are_named(sequence, arguments):
    with pytest.raises((ValueError, TypeError), match=rf"^{next(iter(arguments))} "):
        imrc.evaluate(sequence, **arguments)


def test_task_too_small_to_split_is_named():
    tasks = [imrc.Task(np.zeros((10, 1)), np.arange(10) % 2), imrc.Task([[0.0]], [0], label="1999")]
    with pytest.raises(ValueError, match=r"Task '1999' \(number 2\) has 1 sample"):
        imrc.evaluate(imrc.TaskSequence(tasks), n=1)


def test_a_tick_that_raises_ends_the_run_in_the_middle_of_a_step():
    sequence = imrc.datasets.load("random_walk", tasks=3, samples=400)
    settings = RunSettings(n=100, repetitions=100, preset="paper", features=FeatureSpec("rff"))
    ticks = []

    def tick():
        ticks.append(threading.active_count())
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        list(iter_run(sequence, settings, tick=tick))
    # It was computing, and no thread goes on.
    assert ticks[0] > before
    assert len(ticks) == 1
    assert threading.active_count() == before


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["paper", "recommended"])
def test_repetitions_run_one_by_one_in_one_thread_are_the_same_to_the_last_bit(preset, two_threads):
    # 64 features and 40 samples: large enough for linear algebra to use several threads if it may.
    sequence = imrc.datasets.load("rotated_digits", tasks=6, seed=1)
    settings = RunSettings(
        n=40, preset=preset, features=FeatureSpec("rff_median"), repetitions=2, methods=("imrc", "gem")
    )
    parts = [run_all(sequence, settings, only=[r], threads=1) for r in range(2)]
    assert_same_result(join_repetitions(parts, settings), run_all(sequence, settings))


def test_repetitions_that_do_not_belong_together_are_refused(sequence, result):
    with pytest.raises(ValueError, match="do not contain the 4 repetitions"):
        join_repetitions([result], RunSettings(repetitions=4))
    other = imrc.evaluate(sequence.head(6), n=8, b=2, repetitions=3, features="identity")
    with pytest.raises(ValueError, match="different sequences or methods"):
        join_repetitions([result, other], RunSettings(repetitions=6))
    with pytest.raises(ValueError, match="only is empty"):
        next(iter_run(sequence, RunSettings(n=8), only=[]))


@pytest.mark.parametrize("preset", ["recommended", "paper"])
def test_a_run_answers_for_fewer_steps_repetitions_tasks_and_methods(preset):
    sequence = imrc.datasets.load("random_walk", tasks=6, samples=60)
    most = RunSettings(n=5, b=4, repetitions=3, preset=preset, methods=("imrc", "pooled", "majority"))
    whole = run_all(sequence, most)
    for change in ({"b": 2}, {"repetitions": 2}, {"k": 4}, {"k": 3, "b": 1, "methods": ("imrc",)}):
        wanted = replace(most, **change)
        held, run = whole.answering(wanted, sequence), run_all(sequence, wanted)
        assert (held.settings, held.fingerprint, held.labels) == (run.settings, run.fingerprint, run.labels)
        for rule in run.rules:
            for kind in imrc.evaluation.HEADLINES:
                np.testing.assert_array_equal(held.judged(rule, kind), run.judged(rule, kind))
            np.testing.assert_array_equal(held.errors[rule], run.errors[rule])
        for name in ("risks", "ess", "before", "before_risk", "choices"):
            for rule, values in getattr(run, name).items():
                np.testing.assert_array_equal(getattr(held, name)[rule], values)
    more = ({"b": 5}, {"repetitions": 4}, {"n": 6}, {"scenario": "multi_task"}, {"methods": ("logistic_seen",)})
    assert [whole.answering(replace(most, **one), sequence) for one in more] == [None] * 5
    assert whole.answering(most, sequence.head(5)) is None
    depends = replace(most, preset="recommended", overrides=(("loss", "0-1"),))
    assert run_all(sequence.head(2), depends).answering(replace(depends, b=1), sequence.head(2)) is None


@pytest.mark.parametrize("options", [{}, {"loss": "0-1"}, {"b": 6}, {"preset": "paper"}, {"scenario": "multi_task"}])
def test_references_are_the_same_beside_a_run_and_alone(options):
    sequence = imrc.datasets.load("random_walk", tasks=8)
    settings = RunSettings.of("a test", n=5, repetitions=2, **options)
    mine, references = split_references(run_all(sequence, with_references(settings)), settings)
    assert_same_result(mine, run_all(sequence, settings))
    assert_same_result(references, run_references(sequence, settings))
