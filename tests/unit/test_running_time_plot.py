"""The figure of running times."""

import pandas as pd
import pytest

from imrc.plots.running_time import running_time_curves


def table(varied, values):
    rows = [{"n": 10, "k": 100, "b": 3} | {varied: value} for value in values]
    return pd.DataFrame(
        [row | {"varied": varied, "ms_per_task": 2.0 * value} for row, value in zip(rows, values, strict=True)]
    )


def test_one_panel_per_quantity_with_what_is_fixed():
    figure = running_time_curves(pd.concat([table("n", [30, 10, 20]), table("b", [4, 8])]))
    assert [axis.title.text for axis in (figure.layout.xaxis, figure.layout.xaxis2)] == [
        "Samples per task n",
        "Backward steps b",
    ]
    assert [note.text for note in figure.layout.annotations] == ["k = 100, b = 3", "n = 10, k = 100"]
    assert list(figure.data[0].x) == [10, 20, 30]
    assert list(figure.data[0].y) == [20.0, 40.0, 60.0]
    assert figure.data[0].line.color == "#009E73"
    assert figure.layout.yaxis.rangemode == "tozero"


def test_empty_table_is_refused():
    with pytest.raises(ValueError, match="no row"):
        running_time_curves(table("n", [10]).iloc[:0])
