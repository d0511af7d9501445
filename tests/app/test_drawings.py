"""Kept charts: never stale, never somebody else's, bounded, and really kept."""

from functools import cache

import plotly.io as pio
import pytest
import streamlit as st

import imrc
from imrc.plots import describe, on_phone
from imrc.plots.result import run_curves, run_ladder
from pages.shell.charts import drawing
from tests.app.conftest import set_value


@pytest.fixture(autouse=True)
def _empty_store():
    st.cache_resource.clear()


@cache
def result(**changes):
    return imrc.evaluate(
        imrc.datasets.load("random_walk", tasks=5, seed=0), **{"n": 6, "repetitions": 2, "seed": 0, **changes}
    )


def charts_of(test) -> dict[str, str]:
    """Every chart of a page as it is sent, by its place."""
    return {f"{i}": chart.proto.spec + chart.proto.alt for i, chart in enumerate(test.get("plotly_chart"))}


CONTROLS = {
    "view": "tasks", "n": 7, "k": 4, "b": 1, "W": 3, "seed": 2, "repetitions": 1,
    "features": "standardised", "preset": "recommended", "dataset": "trend",
}  # fmt: skip


def test_every_control_changes_the_charts_as_if_nothing_were_kept(app):
    test = app(dataset="random_walk", k="5", n="6", repetitions="2", preset="paper")
    before = charts_of(test)
    for name, value in CONTROLS.items():  # one after the other
        if name in ("preset", "view"):
            test.radio(key=name).set_value(value)
        else:
            set_value(test, name, value)
        if name == "dataset":
            test.run()
            test.number_input(key="k").set_value(5)
        test = test.run()
        after = charts_of(test)
        assert after != before, name
        # With nothing kept, everything is computed and drawn anew: the same.
        st.cache_resource.clear()
        assert charts_of(test.run()) == after, name
        before = after


def test_what_one_visitor_gets_cannot_change_another():
    chart = drawing(run_curves, (result(),), {}, narrow=False, dark=False)
    before = chart.figure.to_dict()
    taken = chart.figure.to_dict()
    taken["data"].clear()
    taken["layout"]["height"] = 1
    assert chart.figure.to_dict() == before


def test_other_programs_templates_do_not_reach_our_figures(monkeypatch):
    expected = run_curves(result()).to_json()
    monkeypatch.setattr(pio.templates, "default", "plotly_dark")
    assert run_curves(result()).to_json() == expected
    drawing(run_curves, (result(),), {}, narrow=False, dark=False)
    assert pio.templates.default == "plotly_dark"  # nor do we change theirs


def test_a_ladder_is_told_from_task_to_task():
    last = result().error_tables["forward"].final().mean(axis=0)[-1]
    assert f"to {last:.3g} at {result().n_tasks}, lowest" in describe(run_ladder(result()))


def test_panels_know_their_titles():
    """Titles belong to their panels wherever they stand, and whatever else is written above a figure."""
    figure = run_curves(result())
    said = describe(figure)
    figure.layout.annotations[0].update(x=0.9, y=0.7)
    figure.add_annotation(text="a remark", x=0.5, y=1.0, xref="paper", yref="paper", yanchor="bottom")
    assert describe(figure) == said
    on_phone(figure)
    first, second, _ = figure.layout.annotations
    assert (first.x, second.x, first.y) == (0.5, 0.5, 1.0)
    assert 0 < second.y == figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]
