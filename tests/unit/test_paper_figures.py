"""The paper's figures for any sequence: windows of tasks, triangles of many tasks."""

import numpy as np
import pytest

import imrc
from imrc.evaluation import evaluate
from imrc.paper import shipped
from imrc.plots.paper import window_curves
from imrc.plots.result import error_heatmaps, matrix_table, run_heatmaps, triangle_stride


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
