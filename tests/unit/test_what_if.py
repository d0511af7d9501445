"""What if: blocks of another size, another order, a task less, on the same rows."""

from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc._checks import InputError
from imrc.diagnostics import assess
from imrc.evaluation import RunSettings, iter_run, what_if
from imrc.evaluation.what_if import Otherwise
from imrc.plots.what_if import blocks_chart, gains_chart
from imrc.tasks import Task

SETTINGS = RunSettings(n=5, b=1, repetitions=3, features="identity", overrides=(("loss", "0-1"),))


@pytest.fixture(scope="module")
def walk():
    return imrc.datasets.load("random_walk", tasks=6, samples=60)


def raised(before: float, after: float, noise: float = 0.001) -> Otherwise:
    """Return made-up errors of five tasks in ten repetitions."""
    rows = noise * np.random.default_rng(0).standard_normal((10, 5))
    single = {"single": np.full((10, 5), 0.4)}
    return Otherwise(
        np.arange(5),
        single | dict.fromkeys(("forward", "forward_backward"), np.full((10, 5), before)),
        single | dict.fromkeys(("forward", "forward_backward"), after + rows),
    )


def test_tasks_moved_elsewhere_keep_their_draws(walk):
    order = [3, 0, 5, 1, 4, 2]
    moved = replace(walk, tasks=tuple(walk[j] for j in order), truth=None)
    own = [step.errors["single"][step.step] for step in iter_run(walk, SETTINGS)]
    there = [step.errors["single"][step.step] for step in iter_run(moved, SETTINGS, places=order)]
    for position, place in enumerate(order):
        assert there[position] == pytest.approx(own[place], abs=0)
    elsewhere = [step.errors["single"][step.step] for step in iter_run(moved, SETTINGS)]
    assert not all(np.array_equal(a, b) for a, b in zip(elsewhere, there, strict=True))


def test_single_task_learning_does_not_feel_the_order(walk):
    found = what_if.shuffled(walk, SETTINGS)
    assert np.array_equal(found.before["single"], found.after["single"])
    assert not np.array_equal(found.before["forward"], found.after["forward"])
    again = what_if.shuffled(walk, SETTINGS)
    assert all(np.array_equal(found.after[rule], again.after[rule]) for rule in found.after)


def test_tasks_before_one_left_out_are_learnt_forward_as_with_it(walk):
    found = what_if.without(walk, SETTINGS, 3)
    assert found.tasks.tolist() == [0, 1, 2, 4, 5]
    assert np.array_equal(found.before["single"], found.after["single"])
    assert np.array_equal(found.before["forward"][:, :3], found.after["forward"][:, :3])
    run = imrc.evaluate(walk, n=5, b=1, repetitions=3, loss="0-1", features="identity")
    assert np.array_equal(
        found.before["forward_backward"], run.error_tables["forward_backward"].final()[:, found.tasks]
    )


def test_blocks_hold_the_rows_in_their_order(walk):
    cut = what_if.in_blocks(walk, 100)
    assert len(cut) == 3
    assert np.array_equal(np.concatenate([task.X for task in cut]), np.concatenate([task.X for task in walk])[:300])
    assert cut.labels == ("rows 1 to 100", "rows 101 to 200", "rows 201 to 300")
    assert what_if.in_blocks(walk, 60).sizes.tolist() == walk.sizes.tolist()
    with_gaps = imrc.TaskSequence([Task([[0.0], [np.nan]], [0, 1], allow_missing=True)] * 3)
    assert len(what_if.in_blocks(with_gaps, 3)) == 2


def test_only_sizes_that_can_be_run_are_tried(walk):
    sizes = what_if.block_sizes(walk, SETTINGS)
    assert 60 in sizes
    for size in sizes:
        cut = what_if.in_blocks(walk, size)
        settings = what_if.settings_for(size, walk, SETTINGS)
        assert settings.fit_to(cut) is cut
        assert settings.n == round(5 * size / 60)
    assert what_if.block_sizes(walk, replace(SETTINGS, n=10_000)) == []


def test_every_size_is_run_and_diagnosed(walk):
    sizes = what_if.block_sizes(walk, SETTINGS)
    seen = []
    table = what_if.over_blocks(walk, SETTINGS, sizes, diagnose=assess, tick=seen.append)
    assert list(table["size"].unique()) == sizes
    assert len(table) == 3 * len(sizes)
    assert seen == sorted(seen)
    assert seen[0] == 0.0
    now = table[(table["size"] == 60) & (table["rule"] == "forward")].iloc[0]
    run = imrc.evaluate(walk, n=5, b=1, repetitions=3, loss="0-1", features="identity")
    assert now["title"] == assess(walk, features="identity").verdict.title
    # Rows of other names, the same draws.
    assert now["value"] == pytest.approx(run.error_tables["forward"].final().mean())
    figure = blocks_chart(table, 60)
    assert figure.layout.title.text.endswith("?")
    assert "verdict" in what_if.blocks_sentence(table, 60)


def test_what_is_raised_while_it_runs_ends_it(walk):
    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        what_if.over_blocks(walk, SETTINGS, [60], diagnose=assess, tick=stop)


@pytest.mark.parametrize(
    ("after", "said", "missed"),
    [
        (0.30, "no measurable difference", "do not need"),
        (0.35, "order matters", "helps"),
        (0.25, "fewer errors", "harms"),
    ],
)
def test_sentences_follow_the_interval(after, said, missed):
    found = raised(0.30, after, noise=0.01)
    assert said in what_if.shuffled_sentence(found)
    assert missed in what_if.without_sentence(found, 2)


def test_one_repetition_says_nothing_about_noise():
    found = raised(0.30, 0.35)
    one = Otherwise(found.tasks, *({r: e[:1] for r, e in side.items()} for side in (found.before, found.after)))
    assert "cannot show" in what_if.shuffled_sentence(one)
    assert "cannot show" in what_if.without_sentence(one, 0)
    assert len(gains_chart(one).data) == 5


def test_two_tasks_are_too_few(walk):
    for asked in (lambda: what_if.shuffled(walk.head(2), SETTINGS), lambda: what_if.without(walk.head(2), SETTINGS, 0)):
        with pytest.raises(InputError, match="at least 3 tasks"):
            asked()
