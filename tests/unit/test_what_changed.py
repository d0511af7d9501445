"""What changed: ranked first, rarely found where nothing changes, three kinds told apart; its words and figures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import imrc
from imrc._checks import InputError
from imrc.diagnostics import what_changed, words
from imrc.diagnostics.changed import moves, read_samples
from imrc.plots.evolving import changed_panels
from imrc.tasks import Task, TaskSequence, sequence_from_blocks
from tests.changed_sequences import (
    false_discovery,
    ranked_first,
    shuffled,
    simulated,
    stationary,
    told_apart,
    unchanging,
)


@pytest.mark.slow
def test_the_column_that_moves_comes_first():
    assert all(ranked_first("input", seed) for seed in range(10))


@pytest.mark.slow
def test_where_nothing_changes_hardly_anything_is_found():
    assert sum(false_discovery(simulated("none", seed, columns=20)) for seed in range(12)) <= 2
    digits = imrc.datasets.load("rotated_digits")
    assert sum(false_discovery(shuffled(digits, seed)) for seed in range(5)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "classes", "samples"), [("digits", 10, 30), (".02", 3, 15), ("normal", 10, 100)])
def test_nothing_is_found_in_many_classes_with_few_samples(kind, classes, samples):
    # With the degrees of freedom and the tails of all classes together .93, .24 and .16 of such sequences.
    assert sum(false_discovery(unchanging(kind, classes, samples, seed)) for seed in range(8)) <= 2


def test_rows_that_follow_each_other_are_not_judged():
    result = what_changed(stationary(0.7, 15, 30, 0))
    assert "Successive rows" in result.note
    assert words.changed_sentence(result).startswith("Not judged, because successive rows are correlated")
    assert what_changed(stationary(0.0, 15, 30, 0)).note == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["label", "input", "concept"])
def test_three_kinds_of_change_are_told_apart(kind):
    assert all(told_apart(kind, seed) for seed in range(5))


def test_p_values_of_nothing_are_uniform_with_unequal_tasks_and_three_classes():
    generator = np.random.default_rng(3)
    tasks = []
    for _ in range(12):
        y = generator.choice(3, int(generator.integers(8, 60)), p=[0.6, 0.3, 0.1])
        X = generator.standard_normal((len(y), 150)) * (1.0 + y[:, None]) + y[:, None]
        tasks.append(Task(X, y))
    table = what_changed(TaskSequence(tasks, classes=[0, 1, 2])).table
    for kind in ("input", "concept"):
        p = table[table["kind"] == kind]["p"]
        # The smaller of two p-values doubled is at least as large as a uniform one where it matters.
        assert (p <= 0.05).mean() < 0.08
        assert (p <= 0.5).mean() > 0.25


def test_the_part_of_all_classes_is_that_of_least_squares():
    generator = np.random.default_rng(1)
    tasks = [
        Task(generator.standard_normal((30, 2)) + y[:, None] * 2.0, y)
        for y in (generator.integers(2, size=30) for _ in range(6))
    ]
    samples, _ = read_samples(TaskSequence(tasks))
    counted = samples.counted()
    X, y = np.concatenate([t.X for t in tasks]), np.concatenate([t.y for t in tasks])
    task = np.repeat(np.arange(6), 30)
    classes = np.eye(2)[y]
    both = np.column_stack([classes, np.eye(6)[task]])

    def rest(design):
        return ((X - design @ np.linalg.lstsq(design, X, rcond=None)[0]) ** 2).sum(axis=0)

    values, _ = moves(counted, "input")
    effects = np.linalg.lstsq(both, X, rcond=None)[0][2:]
    np.testing.assert_allclose(values - values.mean(axis=0), effects - effects.mean(axis=0), atol=1e-10)
    cells = np.eye(12)[task * 2 + y]
    between, within = rest(classes) - rest(both), rest(cells)
    expected = stats.f.sf(between / 5 / (within / (180 - 12)), 5, 180 - 12)
    p = what_changed(TaskSequence(tasks)).table.query("kind == 'input'").sort_values("column_index")["p"]
    assert (p.to_numpy() <= 2 * expected * 1.5 + 1e-12).all()


def test_directions_sizes_and_shares():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((2000, 3))
    task = np.arange(2000) // 100
    X[:, 0] += 0.2 * task
    X[:, 1] += np.where(task % 2, 1.0, -1.0)
    result = what_changed(sequence_from_blocks(X, generator.integers(2, size=2000), 100))
    first = result.table.set_index("column")
    assert first.loc["feature 1", "direction"].tolist()[0] == "rises"
    assert first.loc["feature 2", "direction"].tolist()[0] == "to and fro"
    inputs = first[first["kind"] == "input"]
    assert inputs.loc["feature 2", "size"] == pytest.approx(1.0, abs=0.1)
    assert result.table["share"].sum() == pytest.approx(100.0)
    assert "2 of 3 columns move in the same way in all classes (input shift" in words.changed_sentence(result)


def test_one_class_one_task_and_constant_columns():
    with pytest.raises(InputError, match="at least 2"):
        what_changed(TaskSequence([Task([[0.0], [1.0]], [0, 1])]))
    assert what_changed(imrc.datasets.load("trend", tasks=2)).k == 2
    tasks = []
    for j in range(5):
        numbers = np.random.default_rng(j).permutation(10.0 * np.arange(10))
        tasks.append(Task(np.column_stack([np.full(10, j), numbers]), np.zeros(10, dtype=int)))
    result = what_changed(TaskSequence(tasks))
    assert result.left_out == 1
    assert result.found == {"label": 0, "input": 0, "concept": 0}
    assert words.changed_sentence(result).startswith("Nothing moves by more than noise")
    # Every task has a class of its own: no movement is common to two classes, and none is of one against the others.
    alone = [Task(np.random.default_rng(j).standard_normal((9, 2)), np.full(9, j)) for j in range(4)]
    assert what_changed(TaskSequence(alone)).found["concept"] == 0


def test_names_of_columns_are_text_in_the_figure():
    sequence = imrc.datasets.load("random_walk", tasks=6)
    nasty = replace(sequence, feature_names=tuple(f"<img src=x>{i}" for i in range(sequence.n_features)))
    assert "<img" not in changed_panels(what_changed(nasty)).to_json().replace("\\u003c", "<")
