"""The pages Effective sample size, Evolving? and How it works, without a browser."""

from __future__ import annotations

import json

import pytest

import imrc
from imrc.diagnostics import assess, words
from imrc.diagnostics.teaching import average_lesson
from imrc.evaluation.words import decimal
from imrc.features import FeatureSpec
from pages.ui.registry import PAGES
from tests.app.conftest import texts

ESS, EVOLVING, HOW = (f"pages/views/{name}.py" for name in ("ess", "evolving", "how_it_works"))


def metrics(test) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def charts(test) -> list:
    return [json.loads(element.proto.spec) for element in test.get("plotly_chart")]


def titles(test) -> list[str]:
    return [chart["layout"]["meta"]["title"] for chart in charts(test)]


@pytest.mark.parametrize("file", [ESS, EVOLVING, HOW])
def test_pages_are_registered_and_open_twice(app, file):
    assert file in {entry.file for entry in PAGES}
    test = app(dataset="random_walk", k="6", n="5", repetitions="1").switch_page(file).run()
    assert not test.exception
    first = titles(test)
    test = test.run()
    assert not test.exception
    assert titles(test) == first
    assert all(title.endswith("?") or "step by step" in title for title in first)


def test_ess_page_gives_the_numbers_of_the_library(app):
    test = app(dataset="random_walk", k="12", n="8", b="2", repetitions="2").switch_page(ESS).run()
    assert not test.exception
    sequence = imrc.datasets.load("random_walk", tasks=12, seed=0)
    rho = assess(sequence, features=FeatureSpec()).ratio_at(8)[0]
    ess = float(imrc.core.theory.ess_forward_backward(7, 9, 8, rho / 8))
    assert f"task 7 is learnt as if it had {words.number(ess)} samples, not 8" in texts(test)
    parts = next(chart for chart in charts(test) if chart["layout"]["meta"]["title"].startswith("How many samples"))
    assert [trace["name"] for trace in parts["data"]] == [
        "own samples",
        "from preceding tasks",
        "from succeeding tasks",
    ]
    assert len(titles(test)) == 4


def test_ess_page_can_show_what_the_run_estimated(app):
    test = app(dataset="random_walk", k="6", n="8", repetitions="2").switch_page(ESS).run()
    before = texts(test)
    test = test.radio(key="ess_source").set_value("run").run()
    assert not test.exception
    assert texts(test) != before
    sequence = imrc.datasets.load("random_walk", tasks=6, seed=0)
    run = imrc.evaluate(sequence, n=8, repetitions=2)
    ess = run.ess_tables["forward_backward"].final().mean(axis=0)[3]
    assert f"as if it had {words.number(float(ess))} samples" in texts(test)


@pytest.mark.parametrize("pair", ["5 4", "x", "0, 3", "1e3, 2", "3, 99999999", "<b>1</b>, 2"])
def test_bad_pairs_are_said(app, pair):
    test = app(dataset="identical", k="4", n="5", repetitions="1").switch_page(ESS).run()
    test = test.multiselect(key="ess_pairs").set_value([pair]).run()
    assert not test.exception
    assert "Not a pair j, k" in texts(test)


def test_bound_sliders_move_the_bound(app):
    test = app(dataset="identical", k="4", n="5", repetitions="1").switch_page(ESS).run()
    assert "The bound is vacuous" in texts(test)
    before = charts(test)[-1]["data"][2]["y"]
    test = test.slider(key="ess_kappa").set_value(3.0).run()
    assert not test.exception
    assert charts(test)[-1]["data"][2]["y"] != before


def test_evolving_page_gives_the_verdict_of_the_library(app):
    test = app(dataset="periodic", k="24", n="10", repetitions="1").switch_page(EVOLVING).run()
    assert not test.exception
    result = assess(
        imrc.datasets.load("periodic", tasks=24, seed=0), features=FeatureSpec(), representation="automatic"
    )
    assert f"Periodic: {result.verdict.title}" in texts(test)
    assert result.verdict.sentence in texts(test)
    assert metrics(test)["Does their order matter?"] == words.p_text(result.p_order)
    assert metrics(test)["n d² / σ² at n = 10"] == words.number(result.ratio_at(10)[0])
    assert len(titles(test)) == 6


def test_changing_n_converts_rho_and_keeps_the_verdict(app):
    few = app(dataset="random_walk", k="10", n="10", repetitions="1").switch_page(EVOLVING).run()
    more = app(dataset="random_walk", k="10", n="100", repetitions="1").switch_page(EVOLVING).run()
    result = assess(imrc.datasets.load("random_walk", tasks=10, seed=0), features=FeatureSpec())
    for n, test in ((10, few), (100, more)):
        assert metrics(test)[f"n d² / σ² at n = {n}"] == words.number(result.ratio_at(n)[0])
    assert metrics(few)["Does their order matter?"] == metrics(more)["Does their order matter?"]


@pytest.mark.parametrize("k", ["2", "3", "4", "5"])
def test_short_sequences_open_and_say_so(app, k):
    test = app(dataset="random_walk", k=k, n="10", repetitions="1").switch_page(EVOLVING).run()
    assert not test.exception
    assert "only" in texts(test) or "too few" in texts(test)
    if int(k) < 5:
        assert metrics(test)["Does their order matter?"] == "not testable"
    test = test.switch_page(ESS).run()
    assert not test.exception


def test_long_sequences_open(app):
    test = app(dataset="independent", k="150", n="2", repetitions="1").switch_page(EVOLVING).run()
    assert not test.exception
    assert "i.i.d.-like" in texts(test)


def test_component_browser_follows_class_and_feature(app):
    test = app(dataset="random_walk", k="6", n="5", features="standardised", repetitions="1")
    test = test.switch_page(EVOLVING).run()
    test = test.selectbox(key="evolving_component").set_value(0).run()
    assert not test.exception
    assert charts(test)[-1]["layout"]["yaxis"]["title"]["text"].startswith("share of the class")
    block = test.selectbox(key="evolving_class")
    test = block.set_value(1 - block.value).run()
    assert not test.exception


@pytest.mark.parametrize("compare", ["nothing", "random_walk", "independent"])
def test_comparison_panels(app, compare):
    test = app(dataset="trend", k="12", n="5", repetitions="1").switch_page(EVOLVING).run()
    test = test.radio(key="evolving_compare").set_value(compare).run()
    assert not test.exception
    axes = [name for name in charts(test)[0]["layout"] if name.startswith("xaxis")]
    assert len(axes) == (1 if compare == "nothing" else 2)


def test_how_it_works_shows_averages_and_follows_its_controls(app):
    test = app(dataset="identical", k="3", n="5", repetitions="1").switch_page(HOW).run()
    assert not test.exception
    row = average_lesson(10, 0.25, 3).set_index("rule").loc["forward"]
    assert metrics(test)["Error, forward"] == f"{decimal(row['all'])} ± {decimal(row['all_se'])}"
    before = texts(test)
    test = test.slider(key="teach_change").set_value(1.5).run()
    test = test.slider(key="teach_n").set_value(100).run()
    assert not test.exception
    assert texts(test) != before
    assert "neighbours say little" in texts(test)
    test = test.slider(key="teach_b").set_value(0).run()
    test = test.select_slider(key="teach_task").set_value(1).run()
    assert not test.exception


def test_every_chart_has_an_alternative_text(app):
    for file in (ESS, EVOLVING, HOW):
        test = app(dataset="random_walk", k="6", n="5", repetitions="1").switch_page(file).run()
        elements = test.get("plotly_chart")
        assert elements
        assert all(len(element.proto.alt) > 40 for element in elements)


def test_own_representation_reaches_the_diagnosis(app):
    test = app(dataset="random_walk", k="8", n="5", features="identity", repetitions="1").switch_page(EVOLVING).run()
    assert "representation: inputs as they are" in texts(test)
    assert "14 components" in texts(test)


@pytest.mark.parametrize(
    ("file", "said"), [(ESS, "Theorems 2 and 4"), (EVOLVING, "Equations (6) and (10)"), (HOW, "Equations (1) and (3)")]
)
def test_formulas_are_set_and_their_source_named(app, file, said):
    test = app(dataset="random_walk", k="6", n="5", repetitions="1").switch_page(file).run()
    assert len(test.latex) >= 3
    assert said in texts(test)
