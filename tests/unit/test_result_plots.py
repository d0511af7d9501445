"""Figures of the page *Result*: what a task is, what could be done, rates of change, and the label budget."""

import numpy as np
import pytest

import imrc
from imrc.evaluation import evaluate, run_references
from imrc.evaluation.budget import budget_table
from imrc.paper import shipped
from imrc.plots.paper import window_curves
from imrc.plots.result import (
    RATES,
    decision_chart,
    error_heatmaps,
    matrix_table,
    run_choices,
    run_heatmaps,
    triangle_stride,
)
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
    # Of each task the image most like the one before.
    images = [image.reshape(8, 8) / image.max() for image in digits[2].X[digits.encoded(2) == 1]]
    before, nearest = found.grid[9:17, 9:17], found.grid[9:17, 18:26]
    np.testing.assert_allclose(min(images, key=lambda image: np.square(image - before).sum()), nearest)
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
        assert bar.marker.size > dot.marker.size + 2 * dot.marker.line.width  # seen where the interval is narrow


def test_label_budget(sequence, result):
    runs = [imrc.evaluate(sequence, n=n, b=2, repetitions=3) for n in (3, 12)]
    table = budget_table([runs[0], result, runs[1]])
    part = table[(table["rule"] == "single") & (table["x"] == 6)]
    assert part["value"].item() == result.headline()["single"].mean
    assert list(budget_chart(table, result).layout.xaxis.tickvals) == [3, 6, 12]
    error = decimal(result.headline()["forward_backward"].mean)
    assert budget_sentence(table, 6).startswith(f"An error of {error} takes ")
    # One repetition has no bands.
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


# The paper's


def test_curves_show_ratios_for_several_n():
    table = shipped.table("tasks")
    ratios = window_curves(table)
    lines = {trace.name: trace for trace in ratios.data if trace.mode == "lines+markers" and trace.xaxis == "x"}
    assert list(lines) == [f"{rule}, n = {n}" for rule in ("Forward", "Forward and backward") for n in (10, 100)]
    shown = table[(table["rule"] == "forward") & (table["n"] == 100)]
    assert list(lines["Forward, n = 100"].y) == shown["ratio"].tolist()
    assert [trace for trace in ratios.data if trace.xaxis == "x2" and trace.mode == "lines+markers"]


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "stride"), [(61, 1), (99, 1), (150, 2)])
def test_a_triangle_shows_steps_beside_tasks_above_sixty_tasks(tasks, stride):
    sequence = imrc.datasets.load("random_walk", tasks=tasks, samples=30)
    result = evaluate(sequence, n=3, b=1, preset="paper", repetitions=1)
    assert triangle_stride(tasks) == stride
    table = matrix_table(result, "forward_backward", triangle=True)
    dense = result.errors["forward_backward"][0]
    count = -(-tasks // stride)
    assert len(table) == count * (count + 1) // 2
    assert (table["value"] == dense[table["step"] - 1, table["task"] - 1]).all()
    assert matrix_table(result, "forward_backward")["lag"].max() == 1
    figure = run_heatmaps(result, triangle=True)
    cells = [trace for trace in figure.data if trace.type == "heatmap"]
    assert [np.shape(trace.z) for trace in cells] == [(count, count)] * 3
    z = np.array(cells[2].z, dtype=float)
    at = np.arange(0, tasks, stride)
    np.testing.assert_array_equal(z, dense[np.ix_(at, at)].T)
    assert list(cells[0].x) == list(cells[0].y) == (at + 1).tolist()
    assert error_heatmaps({"forward_backward": matrix_table(result, "forward_backward")}).data[0].z.shape == (tasks, 2)
