"""The paper's figures for any sequence: windows of tasks, triangles of many tasks."""

from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc.evaluation import RunSettings, evaluate
from imrc.paper import shipped
from imrc.plots.paper import window_curves
from imrc.plots.result import error_heatmaps, matrix_table, run_heatmaps, triangle_stride
from tests.benchmarks.paper_results import window_errors

SETTINGS = RunSettings(n=5, b=2, preset="paper", repetitions=2)


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=6, samples=80, seed=3)


def test_errors_are_means_over_every_sequence_of_consecutive_tasks(sequence):
    """By hand: each sequence of k tasks run by itself."""
    errors, windows = window_errors(sequence, SETTINGS)
    assert windows.tolist() == [6, 5, 4, 3, 2, 1]
    for k in (1, 3, 6):
        found = []
        for start in range(6 - k + 1):
            part = replace(sequence, tasks=sequence.tasks[start : start + k])
            result = evaluate(part, n=5, b=2, preset="paper", repetitions=2)
            found.append({rule: result.per_repetition(rule, "average") for rule in result.rules})
        for rule, values in errors.items():
            np.testing.assert_allclose(values[:, k - 1], np.mean([run[rule] for run in found], axis=0), atol=1e-12)


def test_curves_show_ratios_for_several_n():
    table = shipped.table("tasks")
    ratios = window_curves(table)
    lines = {trace.name: trace for trace in ratios.data if trace.mode == "lines+markers" and trace.xaxis == "x"}
    assert list(lines) == [f"{rule}, n = {n}" for rule in ("Forward", "Forward and backward") for n in (10, 100)]
    shown = table[(table["rule"] == "forward") & (table["n"] == 100)]
    assert list(lines["Forward, n = 100"].y) == shown["ratio"].tolist()
    assert [trace for trace in ratios.data if trace.xaxis == "x2" and trace.mode == "lines+markers"]
    assert not [trace for trace in window_curves(table.query("n == 10")).data if trace.xaxis == "x2"]


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
