"""The pages *Is it evolving?* and *Why it helps*, without a browser."""

import json

import numpy as np
import pytest

import imrc
from imrc.diagnostics import assess, what_changed, words
from imrc.diagnostics.power import power_sentences, power_table
from imrc.evaluation import effective_samples
from imrc.features import FeatureSpec
from imrc.paper import shipped
from imrc.planning import Rate, make_plan, more_sentence, way_sentence
from imrc.plots import ess
from imrc.report import guarantees
from imrc.report.worth import measured_sentence, reason_sentence, worth_sentence
from imrc.watch import arrival_sentences, watch_story
from imrc.wording import number, p_text
from tests.app.conftest import texts

WHY, EVOLVING = (f"pages/{name}/page.py" for name in ("why_it_helps", "evolving"))
SMALL = {"dataset": "random_walk", "k": "6", "n": "5", "repetitions": "2"}


def charts(test) -> list:
    return [json.loads(element.proto.spec) for element in test.get("plotly_chart")]


def titles(test) -> list[str]:
    return [chart["layout"]["meta"]["picture"]["title"]["text"] for chart in charts(test)]


@pytest.mark.parametrize(
    ("file", "fold", "picture", "source"),
    [
        (WHY, "ess_experts", "How many times its own samples is a task worth?", "They need the opposite, σ² ≥ 1"),
        (EVOLVING, "evolving_experts", "Are neighbouring tasks alike?", "Exact permutation test"),
    ],
)
def test_pages_open_with_one_picture_and_fold_away_what_only_experts_ask(app, file, fold, picture, source):
    test = app(**SMALL).switch_page(file).run()
    assert titles(test) == [picture]
    assert all(len(element.proto.alt) > 40 for element in test.get("plotly_chart"))
    assert [folded.label for folded in test.main.expander] == ["For experts"]
    assert source not in texts(test)
    test = app(**SMALL, **{fold: "true"}).switch_page(file).run()
    assert source in texts(test)
    assert texts(test).count("$$") >= 2


def test_why_gives_the_numbers_of_the_library(app):
    test = app(dataset="random_walk", k="12", n="8", b="2", repetitions="2").switch_page(WHY).run()
    sequence = imrc.datasets.load("random_walk", tasks=12, seed=0)
    run = imrc.evaluate(sequence, n=8, b=2, repetitions=2)
    diagnosis = assess(sequence, features=FeatureSpec())
    assert f"# {measured_sentence(run, 'Drifting means (random walk)')}".replace("\u00a0", " ") in texts(test)
    assert worth_sentence(run, diagnosis.verdict) in texts(test)
    assert reason_sentence(run, diagnosis) in texts(test)
    # A frame of the chart for each task: Theorems 2 and 4, the latter for each b, of which a slider shows one.
    figure = ess.ess_by_task(12, 2)
    assert [frame.name for frame in figure.frames] == [str(j) for j in range(1, 13)]
    assert [step.label for step in figure.layout.sliders[0].steps] == [frame.name for frame in figure.frames]
    x, moved = figure.data[0].x, [curve.y for curve in figure.frames[4].data]
    np.testing.assert_allclose(moved[0], imrc.core.theory.ess_forward(5, 1, x))
    for place, step in enumerate(figure.layout.sliders[1].steps, start=1):
        both = imrc.core.theory.ess_forward_backward(5, min(5 + int(step.label), 12), 1, x)
        np.testing.assert_allclose(moved[place], both)
        assert [i for i, seen in zip(step.args[1], step.args[0]["visible"], strict=True) if seen] == [place]
    # The chart by task shows the run, and its mean is the number in the text.
    test = test.radio(key="ess_picture").set_value("tasks").run()
    assert [trace["name"] for trace in charts(test)[0]["data"]] == list(ess.PARTS)
    assert np.mean(ess.run_parts(run).sum(axis=1)) == pytest.approx(effective_samples(run).mean)


def test_why_plans_what_a_wish_takes_and_counts_in_errors_when_asked(app):
    test = app(**SMALL, seed="7").switch_page(WHY).run()  # which no other test has run at several n
    assert "A task alone would need" not in texts(test)
    test = test.radio(key="ess_picture").set_value("more").run()
    sequence = imrc.datasets.load("random_walk", tasks=6, seed=7)
    rate = Rate(*assess(sequence, features=FeatureSpec(), seed=7).ratio_at(1))
    for of in ("mean", "next"):
        test = test.radio(key="plan_of").set_value(of).run()
        plan = make_plan(rate, 5, 6, 3, ess=20, of=of)
        assert f"**{more_sentence(plan)}**" in texts(test)
        assert all(way_sentence(plan, way) in texts(test) for way in plan.ways)
    test = test.toggle(key="realised").set_value(True).run()
    assert "**A task alone would need" in texts(test) or "**The errors do not imply" in texts(test)


@pytest.mark.parametrize(("preset", "used"), [("recommended", "Recommended, 0-1 rule"), ("paper", "As in the paper")])
def test_bound_follows_kappa_and_starts_where_the_paper_allows_it(app, preset, used):
    test = app(**SMALL, preset=preset, ess_experts="true").switch_page(WHY).run()
    test = test.radio(key="ess_part").set_value("guarantee").run()
    assert f"those of the 0-1 rule (minimax error probability), preset *{used}*" in texts(test)
    assert "The bound is vacuous" in texts(test)
    sequence = imrc.datasets.load("random_walk", tasks=6, seed=0)
    stand_in = guarantees.plug_in(sequence, FeatureSpec())
    limit = guarantees.admissible_kappa(stand_in, assess(sequence, features=FeatureSpec()))
    assert guarantees.kappa_sentence(limit) in texts(test)
    assert limit.value <= test.number_input(key="ess_kappa").value < limit.value + 1
    before = charts(test)[-1]["data"][2]["y"]
    test = test.number_input(key="ess_kappa").set_value(1.0).run()
    assert charts(test)[-1]["data"][2]["y"] != before


def test_the_rhythm_of_the_turning_digits_is_explained(app):
    said = texts(app(repetitions="1").switch_page(EVOLVING).run())
    assert "repeats about every 10 tasks, twice in these 20." in said
    assert "20 tasks are one full turn" in said


def test_evolving_gives_the_verdict_of_the_library(app):
    test = app(dataset="periodic", k="24", n="10", repetitions="1").switch_page(EVOLVING).run()
    sequence = imrc.datasets.load("periodic", tasks=24, seed=0)
    result = assess(sequence, features=FeatureSpec())
    assert f"On *Periodic*, {result.verdict.finding}" in texts(test)
    assert f"{result.verdict.sentence} (Verdict: **{result.verdict.title}**.)" in texts(test)
    assert f"| Does their order matter? | **Yes** | {p_text(result.p_order)} | p = .05 |" in texts(test)
    assert f"| change ÷ noise, n d² / σ² = {number(result.ratio_at(10)[0])} (" in texts(test)
    for compare, panels in (("nothing", 1), ("random_walk", 2), ("independent", 2)):
        test = test.selectbox(key="evolving_compare").set_value(compare).run()
        assert len([name for name in charts(test)[0]["layout"] if name.startswith("xaxis")]) == panels
    for picture in ("distance", "alike", "when"):
        test = test.radio(key="evolving_picture").set_value(picture).run()
        assert len(titles(test)) == 1


def test_short_sequences_open_and_say_so(app):
    for k in (2, 3, 4, 5):
        test = app(dataset="random_walk", k=str(k), n="10", repetitions="1").switch_page(EVOLVING).run()
        assert "only" in texts(test).lower() or "too few" in texts(test)
        assert ("| Does their order matter? | **Not testable** |" in texts(test)) or k == 5
        test.switch_page(WHY).run()


@pytest.mark.parametrize("dataset", ["rotated_digits", "random_walk"])
def test_what_changed_is_ranked_as_the_library_does(app, dataset):
    test = app(**SMALL | {"dataset": dataset}).switch_page(EVOLVING).run()
    test = test.radio(key="evolving_picture").set_value("what").run()
    assert words.changed_sentence(what_changed(imrc.datasets.load(dataset, tasks=6))) in texts(test)
    assert titles(test) == ["What changed most?"]
    if dataset == "rotated_digits":
        shown = test.radio(key="evolving_what").set_value("images").run()
        assert titles(shown) == ["What do the classes look like early and late?"]


def test_experts_see_kinds_reliability_components_and_the_alarm(app):
    query = {"dataset": "abrupt", "k": "14", "n": "5", "repetitions": "1", "features": "standardised"}
    test = app(**query, evolving_experts="true").switch_page(EVOLVING).run()
    sequence = imrc.datasets.load("abrupt", tasks=14)

    def opened(part: str):
        return test.radio(key="evolving_part").set_value(part).run()

    assert titles(opened("kinds"))[-1] == "Which kind of change fits best?"
    verdict = assess(sequence, features="standardised").verdict
    said = power_sentences(power_table(shipped.table("verdicts"), 14), verdict)
    reliable = opened("reliable")
    assert all(sentence in texts(reliable) for sentence in said)
    test = opened("component").selectbox(key="evolving_component").set_value(0).run()
    assert charts(test)[-1]["layout"]["yaxis"]["title"]["text"].startswith("share of the class")
    block = test.selectbox(key="evolving_class")
    block.set_value(1 - block.value).run()
    alarm = opened("alarm")
    run = imrc.evaluate(sequence, n=5, repetitions=1, features="standardised")
    story = watch_story(sequence, FeatureSpec("standardised"), run=run)
    assert all(sentence in texts(alarm) for sentence in arrival_sentences(story, 14))
