"""What was chosen when: the table and its figure."""

import numpy as np
import pytest

import imrc
from imrc.plots.choices import choices_chart, choices_table


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=6, samples=120)


def test_table_sums_up_the_choices_of_the_repetitions(sequence):
    result = imrc.evaluate(sequence, n=10, repetitions=4)
    table = choices_table(result)
    rates, penalties = result.choices["rate"], result.choices["penalty"]
    np.testing.assert_allclose(table["rate"], np.prod(rates, axis=0) ** 0.25)
    np.testing.assert_allclose(table["penalty"], np.prod(penalties, axis=0) ** 0.25)
    np.testing.assert_array_equal(table["low"], rates.min(axis=0))
    np.testing.assert_array_equal(table["transfer"], result.choices["transfer"].mean(axis=0))


@pytest.mark.parametrize(
    ("chosen", "panels"),
    [
        ({"preset": "recommended"}, ["rate", "transfer", "pooled", "penalty"]),
        ({"preset": "recommended_2023"}, ["rate", "transfer", "penalty"]),
        ({"preset": "recommended_01"}, ["rate"]),
    ],
)
def test_figure_has_a_panel_for_everything_that_is_chosen(sequence, chosen, panels):
    result = imrc.evaluate(sequence, n=10, repetitions=2, **chosen)
    table = choices_table(result)
    for name in {"transfer", "pooled"} & set(panels):
        np.testing.assert_array_equal(table[name], result.choices[name].mean(axis=0))
    figure = choices_chart(table)
    drawn = [trace for trace in figure.data if trace.mode is not None and "lines" in trace.mode and trace.fill is None]
    assert len(figure.layout.annotations) == len(panels)
    for name, trace in zip(panels, drawn, strict=True):
        np.testing.assert_array_equal(trace.y, table[name])
