"""Containers: validation with messages that say where, and immutability."""

import numpy as np
import pytest

from imrc import Task, TaskSequence
from imrc.tasks import sequence_from_blocks


def test_sequences_are_sliced_and_put_together():
    whole = TaskSequence([Task([[0.0], [j]], [0, j], str(j)) for j in range(1, 5)], name="whole")
    together = whole[:2] + whole[2:3] + whole[3]
    assert (together.fingerprint, together.name) == (whole.fingerprint, "whole")
    assert (whole[:1] + Task([[1.0]], [7])).classes.tolist() == [0, 1, 2, 3, 4, 7]
    for place, error in ((4, IndexError), ("1", TypeError)):
        with pytest.raises(error, match="There are 4 tasks, numbered from 0"):
            whole[place]


def test_values_are_copied_and_frozen():
    X = np.zeros((2, 1))
    task = Task(X, [0, 1])
    X[0, 0] = 9
    assert task.X[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        task.X[0, 0] = 1


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "missing or infinite value at row 1, column 0"),
        ([1.0, 2.0], [0, 1], "two dimensions"),
        ([[1.0], [2.0]], [0], "one label per row"),
        ([["a"], ["b"]], [0, 1], "only numbers"),
        (np.zeros((0, 1)), [], "at least one sample"),
        ([[1.0], [2.0]], [0.0, np.inf], "label at row 1"),
        ([[1.0], [2.0]], ["a", np.nan], "missing label at row 1"),
        ([[1.0], [2.0]], np.array(["a", None], object), "missing label at row 1"),
        ([[1.0], [2.0]], np.array(["2020", "NaT"], "M8[D]"), "label at row 1"),
        ([[1.0], [2.0]], [1, "1"], "mixes words and others: 1 at row 0, '1' at row 1"),
        (np.array([[1.0], [2.0j]]), [0, 1], "only numbers: it has complex"),
    ],
)
def test_bad_task(X, y, message):
    with pytest.raises(ValueError, match=message):
        Task(X, y)


def test_sequence_collects_classes_of_all_tasks():
    sequence = TaskSequence([Task([[0.0]], ["b"]), Task([[1.0]], ["a"])])
    assert sequence.classes.tolist() == ["a", "b"]
    assert sequence.encoded(0).tolist() == [1]
    assert sequence.labels == ("1", "2")


def test_sequence_with_too_few_classes_or_uneven_features():
    with pytest.raises(ValueError, match="not in classes"):
        TaskSequence([Task([[0.0]], [3])], classes=[0, 1])
    with pytest.raises(ValueError, match=r"tasks\[1\] has 2 features, but the first task has 1"):
        TaskSequence([Task([[0.0]], [0]), Task([[0.0, 1.0]], [0])])
    for tasks, message in (([], "at least one task"), ([Task([[0.0]], [0]), Task([[0.0]], ["0"])], "words in some")):
        with pytest.raises(ValueError, match=message):
            TaskSequence(tasks)


def test_blocks_drop_the_rest():
    sequence = sequence_from_blocks(np.arange(7.0)[:, None], np.arange(7) % 2, 3)
    assert sequence.sizes.tolist() == [3, 3]
    assert sequence[1].X.ravel().tolist() == [3.0, 4.0, 5.0]


def test_head_keeps_the_classes():
    sequence = TaskSequence([Task([[0.0]], [0]), Task([[0.0]], [1])])
    assert sequence.head(1).n_classes == 2
    assert sequence.head(2) is sequence.head(3) is sequence  # more than there are gives all
    with pytest.raises(ValueError, match="k must be at least 1"):
        sequence.head(0)
