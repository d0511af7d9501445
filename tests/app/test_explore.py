"""The Explore page without a browser: defaults, runs, links, bad values, the store."""

import json
import math
import re

import pandas as pd
import pytest

import imrc
from imrc.evaluation import RunSettings, what_if
from imrc.evaluation.measures import measure_rows
from imrc.evaluation.significance import with_error
from imrc.evaluation.weights import task_weights, weights_sentence
from imrc.wording import RULES
from pages.shell import running
from tests.app.conftest import link, metrics, set_value, texts


def run(test, **values):
    for name, value in values.items():
        set_value(test, name, value)
    return test.run()


def test_a_visitor_who_changes_nothing_sees_a_finished_result(app):
    test = app()
    assert "**learning forward and backward makes the fewest errors** of five strategies (.014): " in texts(test)
    expected = imrc.evaluate(imrc.datasets.load("six_or_nine", tasks=20, seed=0), n=4)
    for rule, title in RULES.items():
        assert metrics(test)[f"Error, {title.lower()}"] == with_error(expected.headline()[rule])


def test_labels_follow_the_dataset_until_somebody_sets_them(app):
    test = app(k="4", repetitions="1")
    assert test.number_input(key="n").value == 4
    test = run(test, dataset="identical")
    assert test.number_input(key="n").value == 10
    test = run(run(test, n=7), dataset="six_or_nine")
    assert test.number_input(key="n").value == 7


def test_a_run_starts_when_a_value_changes_and_a_long_one_waits_for_its_button(app, monkeypatch):
    test = app(dataset="identical", k="4", n="5", repetitions="2")
    first = metrics(test)
    test = run(test, n=20)
    second = metrics(test)
    assert (second != first, link(test)["n"]) == (True, "20")
    assert "run" not in {button.key for button in test.button}
    monkeypatch.setattr(running, "AT_ONCE_S", 0.0)
    test = run(test, n=30)
    assert (metrics(test), link(test)["n"]) == (second, "20")
    (button,) = [button for button in test.button if button.key == "run"]
    assert re.fullmatch(r"Run \(about \d+ s\)", button.label)
    test = button.click().run()
    assert (metrics(test) != second, link(test)["n"]) == (True, "30")
    # What is there already waits for nobody, and views below wait by the same rule.
    test = run(test, n=20)
    assert metrics(test) == second
    for view, said in (("budget", "An error of"), ("what_if", "cut into blocks of equal size")):
        test = test.radio(key="view").set_value(view).run()
        assert said not in texts(test)
        assert said in texts(test.button(key=f"run_{view}").click().run())


def test_a_first_look_has_three_repetitions_and_no_advice_then_five_and_a_sentence(app, nothing_kept, monkeypatch):
    looks, draw = [], running._show_first
    monkeypatch.setattr(running, "_show_first", lambda of, tasks, _, slot: draw(of, tasks, looks.append, slot))
    monkeypatch.setattr(running, "_FIRST_LOOK_S", 0.0)
    test = app(dataset="random_walk", k="4", n="5", repetitions="6")
    look, more = looks
    assert (look.is_first_look, look.run.settings.repetitions, look.advice.advised) == (True, 3, None)
    assert (more.is_first_look, more.run.settings.repetitions) == (False, 5)
    expected = imrc.evaluate(imrc.datasets.load("random_walk", tasks=4), n=5, repetitions=6).headline()
    assert metrics(test)["Error, forward"] == with_error(expected["forward"])


def test_the_window_follows_the_preset_until_somebody_sets_it(app):
    test = app(dataset="trend", k="5", n="6", repetitions="2")
    assert test.number_input(key="W").value is None
    test = run(test, preset="paper")
    assert (test.number_input(key="W").value, link(test)["W"]) == (2, "2")
    test = run(test, preset="recommended")
    assert (test.number_input(key="W").value, link(test)["W"]) == (None, "all")
    test = run(test, preset="paper", W=4)
    test = run(test, preset="recommended", W=3)
    assert link(test)["W"] == "3"
    expected = imrc.evaluate(imrc.datasets.load("trend", tasks=5), n=6, W=3, repetitions=2).headline()
    assert metrics(test)["Error, forward and backward"] == with_error(expected["forward_backward"])
    # An empty field under the paper's choices is its own number, not a mistake.
    test = run(test, preset="paper", W=None)
    assert link(test)["W"] == "2"
    assert not test.warning


def test_the_representation_follows_the_preset_until_somebody_sets_it(app):
    test = app(dataset="trend", k="5", n="6", repetitions="2")
    for preset, kind in (("paper", "automatic"), ("recommended", "blended")):
        test = run(test, preset=preset)
        assert (test.selectbox(key="features").value, link(test)["features"]) == (kind, kind)
    test = run(run(test, features="standardised"), preset="paper")
    assert link(test)["features"] == "standardised"
    trend = imrc.datasets.load("trend", tasks=5)
    expected = imrc.evaluate(trend, n=6, repetitions=2, features="standardised", preset="paper").headline()
    assert metrics(test)["Error, forward"] == with_error(expected["forward"])


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"n": "abc"}, "n = 'abc' is not possible (1 to 10,000); 4 is used"),
        ({"n": "-3"}, "n = '-3' is not possible (1 to 10,000); 1 is used"),
        ({"n": "9999"}, "n = 9 is used, not 9,999"),
        ({"seed": "1e10"}, "seed = '1e10' is not possible (0 to 2,147,483,647)"),
        ({"k": "2000"}, "There are at most 60 tasks: k = 60 is used, not 2,000"),
        ({"b": "500"}, "With 20 tasks, at most 19 come before the newest: b = 19 is used, not 500"),
        ({"W": ""}, "W = '' is not possible"),
        ({"dataset": "../../etc/passwd"}, "dataset = '../../etc/passwd' is not known; six_or_nine is used"),
        ({"preset": "recommended_01"}, "preset = 'recommended\\_01' is not known; recommended is used"),
        ({"scenario": "<b>yesterday</b>"}, "is not known; continual is used"),
    ],
)
def test_bad_values_in_the_link_are_corrected_and_said(app, query, said):
    test = app(**{"k": "20", "repetitions": "1", **query})
    assert said in texts(test)
    assert metrics(test)["Error, alone"]


def test_every_dataset_and_representation_opens(app):
    test = app(dataset="identical", k="3", n="4", repetitions="1")
    for name in imrc.datasets.names():
        if imrc.datasets.entry(name).group == "from the paper" or not imrc.datasets.status(name).loadable:
            continue
        test = test.selectbox(key="dataset").set_value(name).run()
    test = app(dataset="identical", k="3", n="4", repetitions="1")
    for kind in imrc.features.FEATURE_KINDS:
        test = run(test, features=kind)


def test_the_numbers_have_measures_by_name_with_their_formulas(app):
    test = app(dataset="random_walk", k="5", n="5", repetitions="2", experts="true")
    measures = test.dataframe[0].value
    result = imrc.evaluate(imrc.datasets.load("random_walk", tasks=5, seed=0), n=5, repetitions=2)
    pd.testing.assert_frame_equal(measures, pd.DataFrame(measure_rows(result.measures())))
    assert "accuracy on task j after task i of T" in texts(test)


@pytest.mark.parametrize(("dataset", "preset"), [("rotated_digits", "recommended"), ("random_walk", "paper")])
def test_weights_of_tasks_are_shown_on_demand_as_the_library_says(app, dataset, preset):
    query = {"dataset": dataset, "k": "5", "n": "6", "repetitions": "1", "preset": preset}
    test = app(**query, experts="true", expert="One task")
    test = test.number_input(key="story_task").set_value(4).run()
    sequence = imrc.datasets.load(dataset, tasks=5)
    table = task_weights(sequence, RunSettings(n=6, repetitions=1, preset=preset), 3)
    assert weights_sentence(table, 3) in texts(test)
    (bars,) = [part for part in test.get("plotly_chart") if part.proto.id.endswith("-task-weights")]
    drawn = [trace["name"] for trace in json.loads(bars.proto.spec)["data"]]
    assert drawn == ["own samples", "tasks before it", "tasks after it"]


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ({}, "How large should blocks be?"),
        ({"what_if": "Another order"}, "Does the gain depend on the order of the tasks?"),
        ({"what_if": "A task less", "what_if_task": "2"}, "Which tasks need task 2?"),
    ],
)
def test_what_if_is_answered_from_the_link_as_the_library_does(app, asked, title):
    test = app(dataset="random_walk", k="6", n="5", repetitions="2", view="What if?", **asked)
    assert any(title in one.value for one in test.markdown)
    sequence, settings = imrc.datasets.load("random_walk", tasks=6), RunSettings(n=5, repetitions=2)
    if "what_if" not in asked:
        sizes = what_if.block_sizes(sequence, settings)
        table = what_if.over_blocks(sequence, settings, sizes, diagnose=imrc.diagnostics.assess)
        said = what_if.blocks_sentence(table, 300)
    elif "what_if_task" in asked:
        said = what_if.without_sentence(what_if.without(sequence, settings, 1), 1)
    else:
        said = what_if.shuffled_sentence(what_if.shuffled(sequence, settings))
    assert said in texts(test)


@pytest.mark.parametrize("scenario", ["continual", "next_task"])
def test_labels_needed_are_the_realised_samples_wherever_they_are_said(app, scenario):
    query = {"dataset": "random_walk", "k": "8", "n": "5", "repetitions": "3", "scenario": scenario}
    test = app(**query, view="How many labels?")
    needed = int(re.search(r"\*\*(?:more than )?([\d,]+)(?: or fewer)? labels\*\*", texts(test))[1])
    test = test.switch_page("pages/why_it_helps/page.py").run()  # the runs at several n are there now
    realised = re.search(r"alone would need (?:at most )?([\d.,]+) ", texts(test))
    assert realised is None or math.ceil(float(realised[1]) - 1e-9) in (needed - 1, needed)
    assert realised is not None or scenario == "next_task"
