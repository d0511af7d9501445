"""Kept charts: never stale, never somebody else's, bounded, and really kept."""

import json
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest
import streamlit as st

import imrc
from imrc.plots import describe, on_phone
from imrc.plots.runs import run_choices, run_curves, run_heatmaps, run_story
from pages.ui import drawings, keeping
from pages.ui.drawings import Drawing, drawing, key_of
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


def specs(chart: Drawing) -> dict:
    return json.loads(chart.figure.to_json())


CONTROLS = {
    "story_task": 1, "quantity": "difference", "n": 7, "k": 4, "b": 1, "W": 3, "seed": 2, "repetitions": 2,
    "features": "standardised", "preset": "recommended", "dataset": "trend",
}  # fmt: skip


def test_every_control_changes_the_charts_as_if_nothing_were_kept(app):
    test = app(dataset="random_walk", k="5", n="6", repetitions="3", preset="paper")
    before = charts_of(test)
    for name, value in CONTROLS.items():  # one after the other
        if name in ("preset", "quantity"):
            test.radio(key=name).set_value(value)
        else:
            set_value(test, name, value)
        if name == "dataset":
            test.run()
            test.number_input(key="k").set_value(5)
        test = test.run() if name in ("story_task", "quantity") else test.button(key="run").click().run()
        assert not test.exception, name
        after = charts_of(test)
        assert after != before, name
        # With nothing kept, everything is computed and drawn anew: the same.
        st.cache_resource.clear()
        assert charts_of(test.run()) == after, name
        before = after


def test_a_repeated_view_builds_nothing(app, monkeypatch):
    test = app(dataset="random_walk", k="4", n="5")
    before = charts_of(test)
    assert len(before) >= 4

    def fail(*_, **__):
        raise AssertionError("built again")

    monkeypatch.setattr(drawings, "_drawing", fail)
    test = test.run()
    assert not test.exception
    assert charts_of(test) == before


@pytest.mark.parametrize(("builder", "values"), [(run_heatmaps, ("risk",)), (run_curves, ()), (run_story, (2,))])
def test_a_kept_chart_is_the_one_that_would_be_built(builder, values):
    first = drawing(builder, (result(), *values), {}, narrow=False, dark=False)
    assert drawing(builder, (result(), *values), {}, narrow=False, dark=False) is first
    plain = json.loads(builder(result(), *values).to_json())
    assert specs(first)["data"] == plain["data"]
    assert first.title == specs(first)["layout"]["meta"]["title"]


def test_theme_width_and_options_have_charts_of_their_own():
    shown = [
        drawing(run_heatmaps, (result(),), {"risk": risk}, narrow=narrow, dark=dark)
        for narrow in (False, True)
        for dark in (False, True)
        for risk in ("minimax risk", "minimax log loss")
    ]
    # The name of the risk is not part of a chart of errors, but part of what it was made from.
    assert len({id(chart) for chart in shown}) == 8
    assert len(keeping.kept().entries) == 8


def test_one_number_or_the_function_makes_another_key():
    table = result().error_tables["forward"].values
    other = table.copy()
    other[0, -1, 0] += 1e-12
    keys = {
        key_of(builder, (value,), {}, narrow=False, dark=False)
        for builder in (run_curves, run_choices)
        for value in (table, other, table.astype(np.float32), table[:, :-1])
    }
    assert len(keys) == 8
    page = {"narrow": False, "dark": False}
    assert key_of(run_curves, (table,), {}, **page) == key_of(run_curves, (table.copy(),), {}, **page)
    changed = replace(result(), labels=("<i>x</i>", *result().labels[1:]))
    assert key_of(run_story, (result(), 1), {}, **page) != key_of(run_story, (changed, 1), {}, **page)
    assert key_of(run_story, (result(), 1), {}, **page) != key_of(run_story, (result(),), {"task": 1}, **page)


def test_functions_without_a_name_are_refused():
    with pytest.raises(pickle.PicklingError):
        key_of(lambda: go.Figure(), (), {}, narrow=False, dark=False)


def test_what_one_visitor_gets_cannot_change_another():
    chart = drawing(run_curves, (result(),), {}, narrow=False, dark=False)
    before = chart.figure.to_dict()
    taken = chart.figure.to_dict()
    taken["data"].clear()
    taken["layout"]["height"] = 1
    assert chart.figure.to_dict() == before


def test_what_is_kept_is_what_is_sent(app, monkeypatch):
    """A chart that reaches the browser without its content shows nothing, and nothing else would say so."""
    made = []
    make = drawings._drawing
    monkeypatch.setattr(drawings, "_drawing", lambda *args, **theme: made.append(make(*args, **theme)) or made[-1])
    test = app(dataset="random_walk", k="4", n="5")
    for view in (test, test.run()):  # made, and kept
        sent = [json.loads(chart.proto.spec) for chart in view.get("plotly_chart")]
        assert len(sent) == len(made) >= 4
        assert all(chart["data"] for chart in sent)
        assert sent == [specs(chart) for chart in made]


def test_other_programs_templates_do_not_reach_our_figures(monkeypatch):
    expected = run_curves(result()).to_json()
    monkeypatch.setattr(pio.templates, "default", "plotly_dark")
    assert run_curves(result()).to_json() == expected
    drawing(run_curves, (result(),), {}, narrow=False, dark=False)
    assert pio.templates.default == "plotly_dark"  # nor do we change theirs


@pytest.mark.parametrize(("dark", "name"), [(False, "imrc_light"), (True, "imrc_dark")])
def test_each_scheme_has_its_template(dark, name):
    chart = drawing(run_curves, (result(),), {}, narrow=False, dark=dark)
    assert chart.figure.layout.template == pio.templates[name]


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
