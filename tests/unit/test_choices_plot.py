"""What was chosen when: the table and its figure."""

import numpy as np
import pytest

import imrc
from imrc.plots.choices import RATES, choices_chart, choices_table


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=6, samples=120)


@pytest.mark.parametrize(
    ("chosen", "rates"), [({}, list(RATES)), ({"loss": "0-1"}, list(RATES)), ({"rate": 0.1}, ["rate 0.1", "rate inf"])]
)
def test_table_and_figure_have_the_share_of_every_rate(sequence, chosen, rates):
    result = imrc.evaluate(sequence, n=10, repetitions=2, **chosen)
    table = choices_table(result)
    assert list(table.columns) == ["step", *rates]
    for name in rates:
        np.testing.assert_array_equal(table[name], result.choices[name].mean(axis=0))
    np.testing.assert_allclose(table[rates].sum(axis=1), 1.0)
    drawn = choices_chart(table).data
    assert [trace.name for trace in drawn] == [RATES[name][0] for name in rates]
    for name, trace in zip(rates, drawn, strict=True):
        np.testing.assert_array_equal(trace.y, table[name])


def test_a_rate_that_is_none_of_the_usual_has_no_line(sequence):
    table = choices_table(imrc.evaluate(sequence, n=10, repetitions=1, rate=0.5))
    assert list(table.columns) == ["step", "rate inf"]
