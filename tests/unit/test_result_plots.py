"""Figures of the page *Result*: what a task is, what could be done, rates of change, and the label budget."""

import numpy as np
import pytest

import imrc
from imrc.evaluation import run_references
from imrc.evaluation.budget import budget_table
from imrc.plots.result import RATES, decision_chart, run_choices
from imrc.plots.tasks import image_strip, moving_clouds, sample_images, task_clouds
from imrc.plots.what_if import budget_chart
from imrc.report.decision import decide
from imrc.report.worth import budget_sentence
from imrc.wording import decimal


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=4, samples=60)


@pytest.fixture(scope="module")
def result(sequence):
    return imrc.evaluate(sequence, n=6, b=2, repetitions=3)


def test_images_are_those_of_the_tasks():
    digits = imrc.datasets.load("rotated_digits", tasks=4)
    found = sample_images(digits)
    assert found.labels == digits.labels
    first = digits[2].X[np.flatnonzero(digits.encoded(2) == 1)[0]].reshape(8, 8)
    np.testing.assert_allclose(found.grid[9:17, 18:26], first / first.max())
    assert np.isnan(found.grid[8]).all()
    assert len(image_strip(found).data) == 1


def test_rows_of_tables_move_in_a_plane_of_the_first_tasks(sequence):
    assert sample_images(sequence) is None
    clouds = task_clouds(sequence)
    # The first axis tells the classes apart where it was learnt.
    first, codes = clouds.points[0], clouds.codes[0]
    assert first[codes == 1, 0].mean() > first[codes == 0, 0].mean() + 0.5
    figure = moving_clouds(clouds)
    assert len(figure.frames) == len(figure.layout.sliders[0].steps) == len(sequence)
    np.testing.assert_array_equal(figure.frames[2].data[1].x, clouds.points[2][clouds.codes[2] == 1, 0])
    # Two columns are shown as they are.
    X = np.array([[1.0, 2.0], [3.0, 5.0]])
    two = imrc.TaskSequence([imrc.Task(X, [0, 1]), imrc.Task(X + 1, [1, 0])])
    np.testing.assert_array_equal(task_clouds(two).points[0], X)


def test_the_decision_is_drawn_as_it_is_judged(sequence, result):
    decision = decide(result, "Toy", references=run_references(sequence, result.settings))
    figure = decision_chart(decision.errors)
    for bar, dot, one in zip(figure.data[::2], figure.data[1::2], decision.strategies, strict=True):
        assert list(dot.x) == [one.error.mean]
        assert list(bar.x) == pytest.approx([one.low, one.high])


def test_label_budget(sequence, result):
    runs = [imrc.evaluate(sequence, n=n, b=2, repetitions=3) for n in (3, 12)]
    table = budget_table([runs[0], result, runs[1]])
    part = table[(table["rule"] == "single") & (table["x"] == 6)]
    assert part["value"].item() == result.headline()["single"].mean
    figure = budget_chart(table, result)
    assert list(figure.layout.xaxis.tickvals) == [3, 6, 12]
    error = decimal(result.headline()["forward_backward"].mean)
    assert budget_sentence(table, 6).startswith(f"An error of {error} takes ")


def test_label_budget_of_one_repetition_has_no_bands(sequence):
    runs = [imrc.evaluate(sequence, n=n, b=2, repetitions=1) for n in (3, 6)]
    table = budget_table(runs)
    assert table["stderr"].isna().all()
    assert not any("95" in (trace.name or "") for trace in budget_chart(table, runs[1]).data)


@pytest.mark.parametrize(
    ("chosen", "rates"),
    [
        ({}, list(RATES)),
        ({"loss": "0-1"}, list(RATES)),
        ({"rate": 0.1}, ["rate 0.1", "rate inf"]),
        ({"rate": 0.5}, ["rate inf"]),  # one that is none of the usual has no line
    ],
)
def test_every_usual_rate_has_a_line_of_its_share(sequence, chosen, rates):
    result = imrc.evaluate(sequence, n=10, repetitions=2, **chosen)
    drawn = run_choices(result).data
    assert [trace.name for trace in drawn] == [RATES[name][0] for name in rates]
    for name, trace in zip(rates, drawn, strict=True):
        np.testing.assert_array_equal(trace.x, range(1, 5))
        np.testing.assert_array_equal(trace.y, result.choices[name].mean(axis=0))
    if chosen != {"rate": 0.5}:
        np.testing.assert_allclose(np.sum([trace.y for trace in drawn], axis=0), 1.0)
