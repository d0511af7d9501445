"""What was chosen when."""

import numpy as np
import pytest

import imrc
from imrc.plots.result import RATES, run_choices


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=6, samples=120)


@pytest.mark.parametrize(
    ("chosen", "rates"), [({}, list(RATES)), ({"loss": "0-1"}, list(RATES)), ({"rate": 0.1}, ["rate 0.1", "rate inf"])]
)
def test_figure_has_the_share_of_every_rate(sequence, chosen, rates):
    result = imrc.evaluate(sequence, n=10, repetitions=2, **chosen)
    drawn = run_choices(result).data
    assert [trace.name for trace in drawn] == [RATES[name][0] for name in rates]
    for name, trace in zip(rates, drawn, strict=True):
        np.testing.assert_array_equal(trace.x, range(1, 7))
        np.testing.assert_array_equal(trace.y, result.choices[name].mean(axis=0))
    np.testing.assert_allclose(np.sum([trace.y for trace in drawn], axis=0), 1.0)


def test_a_rate_that_is_none_of_the_usual_has_no_line(sequence):
    figure = run_choices(imrc.evaluate(sequence, n=10, repetitions=1, rate=0.5))
    assert [trace.name for trace in figure.data] == [RATES["rate inf"][0]]
