"""Four scenarios: one run, judged in different ways; test then train, without a leak."""

import json
from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc.cli import main
from imrc.core.presets import PRESETS
from imrc.evaluation import SCENARIOS, RunResult, RunSettings, draw_task, effective_samples, run_references
from imrc.evaluation.budget import budget_table
from imrc.evaluation.comparison import comparison_table, curve_table, score_table
from imrc.evaluation.measures import samples_text
from imrc.evaluation.settings import REFERENCES, STRATEGY_TITLES
from imrc.evaluation.splits import repetition_seeds, task_seed
from imrc.plots.result import run_curves, run_heatmaps, step_table, task_table
from imrc.plots.what_if import budget_chart
from imrc.report.decision import decide
from imrc.sweeps import ResultStore
from imrc.sweeps.cell import cell_key

SETTINGS = {"n": 8, "b": 2, "repetitions": 2, "features": "identity", "seed": 5, "max_iter": 200}


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=6, samples=80, features=3, seed=2)


@pytest.fixture(scope="module", params=PRESETS)
def preset(request):
    return request.param


@pytest.fixture(scope="module")
def result(sequence, preset):
    return imrc.evaluate(sequence, preset=preset, **SETTINGS)


def draws_of(sequence, seed):
    return [draw_task(sequence.encoded(j), 8, 2, task_seed(seed, j)) for j in range(len(sequence))]


def test_before_learning_is_the_estimator_asked_for_the_next_task(sequence, preset, result):
    for repetition, seed in enumerate(repetition_seeds(5, 2)):
        model = imrc.IMRC(b=2, preset=preset, features="identity", max_iter=200)
        for j, draw in enumerate(draws_of(sequence, seed)):
            X, y = sequence[j].X, sequence[j].y
            if j:
                error = 1 - model.score(X[draw.test], y[draw.test], task="next")
                assert result.before["imrc"][repetition, j] == pytest.approx(error, abs=1e-12)
                alone = 1 - model.score(X[draw.test], y[draw.test], rule="single")
                assert result.before["single"][repetition, j] == pytest.approx(alone, abs=1e-12)
            model.partial_fit(X[draw.train], y[draw.train], classes=[0, 1])
        assert np.isnan(result.before["imrc"][repetition, 0])
        np.testing.assert_allclose(result.before_ess["imrc"][repetition, 1:], model.ess_["predicted"][1:], rtol=1e-9)
        np.testing.assert_allclose(result.before_risk["imrc"][repetition, 1:], model.risk_["predicted"][1:], rtol=1e-7)


def test_three_scenarios_are_one_run(sequence, preset, result):
    for name in ("adaptation", "next_task"):
        found = imrc.evaluate(sequence, preset=preset, scenario=name, **SETTINGS)
        for rule, table in result.error_tables.items():
            np.testing.assert_array_equal(found.error_tables[rule].values, table.values)
        assert found.headline() == result.seen_as(name).headline()
        assert list(found.headline()) == ["single", "forward"]
    newest = result.seen_as("adaptation").headline()
    assert newest["forward"].mean == pytest.approx(result.error_tables["forward"].newest().mean())
    ahead = result.seen_as("next_task")
    assert ahead.headline()["forward"].mean == pytest.approx(result.before["imrc"][:, 1:].mean())
    assert effective_samples(ahead).mean == pytest.approx(result.before_ess["imrc"][:, 1:].mean())
    assert effective_samples(ahead).mean < effective_samples(result, "forward").mean
    assert samples_text(effective_samples(ahead, "single")) == "–"  # the last task's rule has taken no step


def test_all_tasks_at_once_is_the_last_step_with_every_task_within_reach(sequence, preset, result):
    found = imrc.evaluate(sequence, preset=preset, scenario="multi_task", **SETTINGS)
    without = imrc.evaluate(sequence, preset=preset, scenario="multi_task", **{**SETTINGS, "b": 0})
    assert without.headline() == found.headline()
    for repetition, seed in enumerate(repetition_seeds(5, 2)):
        model = imrc.IMRC(b=5, preset=preset, features="identity", max_iter=200)
        for j, draw in enumerate(draws_of(sequence, seed)):
            model.partial_fit(sequence[j].X[draw.train], sequence[j].y[draw.train], classes=[0, 1])
        worth = found.ess_tables["forward_backward"].final()[repetition]
        np.testing.assert_allclose(worth, model.ess_["forward_backward"], rtol=1e-9)
    table = found.error_tables["forward_backward"]
    assert table.lags == 6
    # A task keeps the rule it had until all of them are there.
    for lag in range(1, 4):
        np.testing.assert_array_equal(table.values[:, 0, lag], table.values[:, 0, 0])
    assert found.headline()["forward_backward"].mean == pytest.approx(table.final().mean())
    assert list(found.headline()) == ["single", "forward_backward"]
    for run, name in ((found, "continual"), (result, "multi_task")):
        with pytest.raises(ValueError, match="needs its own run"):
            run.seen_as(name)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_to_do_is_said_in_words_of_the_scenario(sequence, scenario):
    found = imrc.evaluate(sequence, scenario=scenario, **{**SETTINGS, "repetitions": 4})
    references = run_references(sequence, found.settings)
    decision = decide(found, "Walk", references=references)
    names = (*SCENARIOS[scenario].rules, *REFERENCES)
    assert [one.name for one in decision.strategies] == [name for name in STRATEGY_TITLES if name in names]
    for name in REFERENCES:
        assert decision[name].error.mean == pytest.approx(references.per_repetition(name, found.scenario.kind).mean())
    for rule in SCENARIOS[scenario].rules:
        assert decision[rule].error == found.headline()[rule]
    assert "" not in (decision.sentence, decision.action)


def test_one_task_has_no_next_one(sequence):
    found = imrc.evaluate(sequence, k=1, scenario="next_task", **SETTINGS)
    assert np.isnan(found.headline()["forward"].mean)
    decision = decide(found, "Walk", references=run_references(sequence.head(1), found.settings))
    assert "no next task yet" in decision.sentence


def test_results_kept_before_there_was_testing_before_learning(sequence, preset, result, tmp_path):
    """They load; what they lack is said."""
    old = replace(result, before={}, before_risk={}, before_ess={})
    loaded = RunResult.from_bytes(old.to_bytes())
    assert loaded.headline() == result.headline()
    assert not loaded.has_before
    assert result.has_before
    with pytest.raises(ValueError, match="Run it again"):
        loaded.seen_as("next_task")
    with pytest.raises(ValueError, match="No method has the error 'before'"):
        comparison_table(score_table(loaded), kind="before")
    # Beside others that have it, it is left out of this error only.
    beside = imrc.evaluate(sequence, methods=("majority",), **{**SETTINGS, "max_iter": None})
    scores = score_table([loaded, beside])
    assert list(comparison_table(scores, kind="before")["method"]) == ["majority"]
    assert set(curve_table([loaded, beside], kind="before")["method"]) == {"majority"}


def test_scores_and_curves_before_learning(result):
    name = f"imrc:{result.settings.preset}"
    table = comparison_table(score_table(result), kind="before").set_index("method")
    assert table.loc[name, "error"] == pytest.approx(result.before["imrc"][:, 1:].mean())
    assert list(table.index) == [name, f"{name}:single"] or list(table.index) == [f"{name}:single", name]
    assert table.loc[f"{name}:single", "error"] == pytest.approx(result.before["single"][:, 1:].mean())
    curves = curve_table([result], kind="before")
    assert set(curves["method"]) == {name, f"{name}:single"}
    mine = curves[curves["method"] == name]
    assert list(mine["x"]) == [2, 3, 4, 5, 6]
    np.testing.assert_allclose(mine["value"], result.before["imrc"][:, 1:].mean(axis=0))
    by_k = curve_table([result], kind="before", by="k")
    assert by_k[by_k["method"] == name]["value"].iloc[-1] == pytest.approx(table.loc[name, "error"])


def test_settings_go_there_and_back_and_share_what_is_computed():
    for name in SCENARIOS:
        settings = RunSettings(scenario=name)
        assert RunSettings.from_json(settings.to_json()) == settings
    old = RunSettings().to_json()
    del old["scenario"]
    assert RunSettings.from_json(old) == RunSettings()
    keys = {name: cell_key("data", RunSettings(scenario=name), 0) for name in SCENARIOS}
    assert keys["continual"] == keys["adaptation"] == keys["next_task"] != keys["multi_task"]
    at_once = [cell_key("data", RunSettings(scenario="multi_task", b=b), 0) for b in (1, 2)]
    assert at_once[0] == at_once[1]
    with pytest.raises(ValueError, match="scenario"):
        RunSettings(scenario="yesterday")


def test_the_command(capsys):
    arguments = ["run", "random_walk", "-k", "5", "-n", "5", "--repetitions", "3", "--json", "--scenario"]
    found = {}
    for name in SCENARIOS:
        assert main([*arguments, name]) == 0
        found[name] = json.loads(capsys.readouterr().out)
        assert found[name]["scenario"] == found[name]["settings"]["scenario"] == name
        assert [row["rule"] for row in found[name]["rules"]] == list(SCENARIOS[name].rules)
    expected = imrc.evaluate(imrc.datasets.load("random_walk", tasks=5), n=5, repetitions=3, scenario="next_task")
    row = found["next_task"]["rules"][1]
    assert row["error_before"] == pytest.approx(expected.headline()["forward"].mean)
    assert row["ess"] == pytest.approx(effective_samples(expected).mean)
    assert row["risk"] is None  # the rule is an average of rules for log loss
    assert main(["run", "random_walk", "-k", "5", "-n", "5", "--repetitions", "3", "--scenario", "next_task"]) == 0
    assert SCENARIOS["next_task"].sentence in capsys.readouterr().out


def test_a_sweep_keeps_one_run_for_three_scenarios(sequence, capsys, tmp_path):
    arguments = ["sweep", "--datasets", "random_walk", "-k", "5", "-n", "5", "--repetitions", "2", "--jobs", "1"]
    arguments += ["--store", str(tmp_path / "store.db"), "--json", "--scenario"]
    cells, errors = {}, {}
    for name in SCENARIOS:
        assert main([*arguments, name]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        errors[name] = {row["rule"]: row for row in rows}
        with ResultStore(tmp_path / "store.db") as store:
            cells[name] = len(store)
    assert cells == {"continual": 2, "multi_task": 4, "adaptation": 4, "next_task": 4}
    walk = imrc.datasets.load("random_walk", tasks=5)
    ahead = imrc.evaluate(walk, n=5, repetitions=2, scenario="next_task").headline()["forward"]
    assert errors["next_task"]["forward"]["error_before"] == pytest.approx(ahead.mean)
    at_once = imrc.evaluate(walk, n=5, repetitions=2, scenario="multi_task")
    expected = at_once.headline()["forward_backward"].mean
    assert errors["multi_task"]["forward_backward"]["error_lag"] == pytest.approx(expected)
    with ResultStore(tmp_path / "store.db") as store:
        assert store.result(walk.fingerprint, at_once.settings).headline() == at_once.headline()


@pytest.mark.parametrize("name", SCENARIOS)
def test_pictures_and_sentences_follow_the_scenario(sequence, name):
    found = imrc.evaluate(sequence, scenario=name, **SETTINGS)
    references = run_references(sequence, found.settings)
    rules = set(SCENARIOS[name].rules)
    by_step = step_table(found, references)
    assert set(by_step["rule"]) == {*rules, "majority", "pooled"}
    main = SCENARIOS[name].main
    last = by_step[by_step["rule"] == main]["value"].to_numpy()
    expected = found.headline()[main].mean
    # The mean so far, at the last step, is the number quoted; of continual learning it is their mean.
    assert (last.mean() if name == "continual" else last[-1]) == pytest.approx(expected)
    by_task = task_table(found, references)
    assert by_task["value"].notna().all()
    assert by_task["x"].min() == (2 if name == "next_task" else 1)
    table = budget_table([imrc.evaluate(sequence, scenario=name, **{**SETTINGS, "n": n}) for n in (5, 8)])
    assert set(table["rule"]) == rules
    for figure in (run_curves(found, references), run_heatmaps(found), budget_chart(table, found)):
        assert figure.data
