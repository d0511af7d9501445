"""The pages Effective sample size and Evolving?, without a browser."""

import json

import numpy as np
import pytest

import imrc
from imrc.diagnostics import assess, what_changed, words
from imrc.diagnostics.power import power_sentences, power_table
from imrc.evaluation import effective_samples, theorem_4
from imrc.evaluation.effective import samples_text
from imrc.features import FeatureSpec
from imrc.paper import shipped
from imrc.planning import Rate, advice, make_plan, way_sentence
from imrc.plots import ess
from imrc.report import guarantees
from imrc.report.sentences import measured_sentence, reason_sentence, theorem_4_sentence, worth_sentence
from imrc.watch import arrival_sentences, watch_story
from imrc.wording import number, p_text
from pages.shell.registry import PAGES
from tests.app.conftest import texts

ESS, EVOLVING = (f"pages/{name}/page.py" for name in ("why_it_helps", "evolving"))


def charts(test) -> list:
    return [json.loads(element.proto.spec) for element in test.get("plotly_chart")]


def titles(test) -> list[str]:
    return [chart["layout"]["meta"]["title"] for chart in charts(test)]


@pytest.mark.parametrize(
    ("file", "source", "errata"),
    [
        (ESS, "Theorems 2 and 4", ("They need the opposite, σ² ≥ 1", "r √(n d²/σ²) ≥ 0.21")),
        (EVOLVING, "Equations (6) and (10)", ()),
    ],
)
def test_pages_open_twice_with_titles_alternative_texts_formulas_and_errata(app, file, source, errata):
    assert file in {entry.file for entry in PAGES}
    test = app(dataset="random_walk", k="6", n="5", repetitions="1").switch_page(file).run()
    assert not test.exception
    first = titles(test)
    assert first
    assert all(title.endswith("?") or "step by step" in title for title in first)
    assert all(len(element.proto.alt) > 40 for element in test.get("plotly_chart"))
    assert len(test.latex) >= 3
    assert any(source in folded.label for folded in test.expander)
    assert all(said in texts(test) for said in errata)
    test = test.run()
    assert not test.exception
    assert titles(test) == first


def test_ess_page_gives_the_numbers_of_the_library(app):
    test = app(dataset="random_walk", k="12", n="8", b="2", repetitions="2").switch_page(ESS).run()
    assert not test.exception
    sequence = imrc.datasets.load("random_walk", tasks=12, seed=0)
    run = imrc.evaluate(sequence, n=8, b=2, repetitions=2)
    found = effective_samples(run)
    assert f"# {measured_sentence(run, 'Drifting means (random walk)')}".replace("\u00a0", " ") in texts(test)
    assert worth_sentence(run) in texts(test)
    assert reason_sentence(run, assess(sequence, features=FeatureSpec())) in texts(test)
    ratio = assess(sequence, features=FeatureSpec()).ratio_at(8)
    limited, full = theorem_4(8, ratio, 12, 2), theorem_4(8, ratio, 12, None)
    assert limited.low < limited.mean < limited.high < 8 * 12
    assert theorem_4_sentence(found, limited, full.mean, run) in texts(test)
    parts, growth = (
        next(chart for chart in charts(test) if chart["layout"]["meta"]["title"].startswith(start))
        for start in ("How many samples", "Do more tasks")
    )
    assert [trace["name"] for trace in parts["data"]] == [
        "own samples",
        "from preceding tasks",
        "from succeeding tasks",
    ]
    # The chart by task shows the run, and its mean is the number in the headline.
    assert "As estimated in the run" in test.radio(key="ess_source").options
    assert np.mean(ess.run_parts(run).sum(axis=1)) == pytest.approx(found.mean)
    assert f"this run, forward and backward: {samples_text(found)}" in [trace.get("name") for trace in growth["data"]]
    assert len(titles(test)) == 3


def test_links_to_pairs_still_work_and_another_number_of_tasks_brings_its_own(app):
    test = app(dataset="random_walk", k="6", n="5", repetitions="1", ess_pairs="10, 13").switch_page(ESS).run()
    assert not test.exception
    assert test.multiselect(key="ess_pairs").value == ["10, 13"]
    test.number_input(key="k").set_value(8)
    test = test.run()
    assert test.multiselect(key="ess_pairs").value == ["4, 8"]


def test_bad_pairs_are_said(app):
    test = app(dataset="identical", k="4", n="5", repetitions="1").switch_page(ESS).run()
    for pair in ("5 4", "x", "0, 3", "1e3, 2", "3, 99999999", "<b>1</b>, 2"):
        test = test.multiselect(key="ess_pairs").set_value([pair]).run()
        assert not test.exception, pair
        assert "Not a pair j, k" in texts(test), pair


def test_bound_follows_kappa_and_starts_where_the_paper_allows_it(app):
    test = app(dataset="random_walk", k="6", n="5", repetitions="1").switch_page(ESS).run()
    assert "The bound is vacuous" not in texts(test)
    test = test.toggle(key="ess_bound").set_value(True).run()
    assert "The bound is vacuous" in texts(test)
    sequence = imrc.datasets.load("random_walk", tasks=6, seed=0)
    stand_in = guarantees.plug_in(sequence, FeatureSpec())
    limit = guarantees.admissible_kappa(stand_in, assess(sequence, features=FeatureSpec()))
    assert guarantees.kappa_sentence(limit) in texts(test)
    assert limit.value <= test.number_input(key="ess_kappa").value < limit.value + 1
    before = charts(test)[-1]["data"][2]["y"]
    test = test.number_input(key="ess_kappa").set_value(1.0).run()
    assert not test.exception
    assert charts(test)[-1]["data"][2]["y"] != before


def test_evolving_page_gives_the_verdict_of_the_library(app):
    test = app(dataset="periodic", k="24", n="10", repetitions="1").switch_page(EVOLVING).run()
    assert not test.exception
    result = assess(
        imrc.datasets.load("periodic", tasks=24, seed=0), features=FeatureSpec(), representation="automatic"
    )
    assert f"Periodic: {result.verdict.finding}" in texts(test)
    assert f"{result.verdict.sentence} (Verdict: **{result.verdict.title}**.)" in texts(test)
    assert f"| Does their order matter? | **Yes** | {p_text(result.p_order)} | p = .05 |" in texts(test)
    assert f"| n d² / σ² = {number(result.ratio_at(10)[0])} (" in texts(test)
    assert len(titles(test)) == 6
    for compare, panels in (("nothing", 1), ("random_walk", 2), ("independent", 2)):
        test = test.radio(key="evolving_compare").set_value(compare).run()
        assert not test.exception
        assert len([name for name in charts(test)[0]["layout"] if name.startswith("xaxis")]) == panels


def test_short_sequences_open_and_say_so(app):
    for k in (2, 3, 4, 5):
        test = app(dataset="random_walk", k=str(k), n="10", repetitions="1").switch_page(EVOLVING).run()
        assert not test.exception
        assert "only" in texts(test) or "too few" in texts(test)
        assert ("| Does their order matter? | **Not testable** |" in texts(test)) or k == 5
        assert not test.switch_page(ESS).run().exception


def test_component_browser_follows_class_and_feature(app):
    test = app(dataset="random_walk", k="6", n="5", features="standardised", repetitions="1")
    test = test.switch_page(EVOLVING).run()
    test = test.selectbox(key="evolving_component").set_value(0).run()
    assert not test.exception
    assert charts(test)[-1]["layout"]["yaxis"]["title"]["text"].startswith("share of the class")
    block = test.selectbox(key="evolving_class")
    test = block.set_value(1 - block.value).run()
    assert not test.exception


@pytest.mark.parametrize("dataset", ["rotated_digits", "random_walk"])
def test_what_changed_is_ranked_on_demand_as_the_library_does(app, dataset):
    query = {"dataset": dataset, "k": "6", "n": "5", "repetitions": "1"}
    assert not any(title.startswith("What changed") for title in titles(app(**query).switch_page(EVOLVING).run()))
    test = app(**query, changed="true").switch_page(EVOLVING).run()
    assert not test.exception
    result = what_changed(imrc.datasets.load(dataset, tasks=6))
    assert words.changed_sentence(result) in texts(test)
    images = "What do the classes look like early and late?"
    assert ["What changed most?", "What changed next?", *([images] if dataset == "rotated_digits" else [])] == [
        title for title in titles(test) if title.startswith("What ")
    ]


def test_watching_says_what_the_library_says_task_by_task(app):
    query = {"dataset": "abrupt", "k": "14", "n": "5", "repetitions": "1"}
    test = app(**query, watch="true").switch_page(EVOLVING).run()
    assert not test.exception
    sequence = imrc.datasets.load("abrupt", tasks=14)
    story = watch_story(sequence, run=imrc.evaluate(sequence, n=5, repetitions=1))
    assert arrival_sentences(story, 14)[-1] in texts(test)
    test = test.slider(key="watch_task").set_value(5).run()
    said = arrival_sentences(story, 5)
    assert f"**{said[0]}** " + " ".join(said[1:]) in texts(test)
    assert "What is known when task 5 has arrived?" in titles(test)


def test_the_verdict_is_hidden_until_somebody_has_guessed(app):
    query = {"dataset": "trend", "k": "12", "n": "5", "repetitions": "1"}
    verdict = assess(imrc.datasets.load("trend", tasks=12)).verdict
    test = app(**query, guess_first="true").switch_page(EVOLVING).run()
    assert not test.exception
    assert verdict.finding not in texts(test)
    assert verdict.sentence not in texts(test)
    assert not [one for one in titles(test) if one.startswith("Which kind")]
    assert test.button(key="guess_reveal").disabled
    test = test.radio(key="guess_kind").set_value("evolving").run()
    assert verdict.finding not in texts(test)  # choosing is not yet showing
    test = test.button(key="guess_reveal").click().run()
    assert "Your guess differs" in texts(test)
    assert verdict.finding in texts(test)
    test = test.radio(key="guess_kind").set_value("trend").run()
    assert words.guess_sentence(assess(imrc.datasets.load("trend", tasks=12)), "trend")[1] in texts(test)
    # The verdict on another sequence is hidden again.
    test.number_input(key="k").set_value(11)
    test = test.run()
    assert "what kind of change is this?" in texts(test)


def test_the_power_of_the_diagnosis_is_shown_on_demand(app):
    query = {"dataset": "random_walk", "k": "6", "n": "5", "repetitions": "1"}
    test = app(**query).switch_page(EVOLVING).run()
    assert not any(title.startswith("How often") for title in titles(test))
    test = app(**query, power="true").switch_page(EVOLVING).run()
    assert not test.exception
    assert "How often would each kind be recognised?" in titles(test)
    verdict = assess(imrc.datasets.load("random_walk", tasks=6)).verdict
    said = power_sentences(power_table(shipped.table("verdicts"), 6), verdict)
    assert all(sentence in texts(test) for sentence in said)


def test_planner_answers_in_both_directions(app):
    test = app(dataset="random_walk", k="6", n="5", repetitions="2").switch_page(ESS).run()
    assert "Collect" not in texts(test)  # folded away until somebody asks
    test = test.toggle(key="plan").set_value(True).run()
    assert not test.exception
    diagnosis = assess(imrc.datasets.load("random_walk", tasks=6, seed=0), features=FeatureSpec())
    plan = make_plan(Rate(*diagnosis.ratio_at(1)), 5, 6, 3, ess=20)
    assert f"**{advice(plan)}**" in texts(test)
    assert all(way_sentence(plan, way) in texts(test) for way in plan.ways)
    test.radio(key="plan_rate").set_value("guess")
    test.radio(key="plan_of").set_value("next")
    test = test.number_input(key="plan_n").set_value(50).run()
    plan = make_plan(Rate.guess(0.1), 50, 6, 3, ess=20, of="next")
    assert f"**{advice(plan)}**" in texts(test)
    assert "never worth 1 / ρ = 10 samples" in texts(test)
    test = test.radio(key="plan_wish").set_value("error").run()
    test = test.number_input(key="plan_error").set_value(0.0).run()
    assert not test.exception
    assert "is beyond the learning curve" in texts(test)
