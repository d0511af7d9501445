"""From whatever somebody has to a report: tasks, numbers, advice, files, and what is refused with which words."""

import base64
import gzip
import html
import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pytest

import imrc
from imrc.cli import main
from imrc.diagnostics import assess
from imrc.evaluation import SCENARIOS, run_references
from imrc.evaluation.columns import arrays_of
from imrc.evaluation.significance import with_error
from imrc.planning import Rate, effective_samples_of
from imrc.report._write import chart, charts, page_of
from imrc.report.decision import Advice, advise, decide, usual_answer
from tests.conftest import run_python

TWO = imrc.datasets.load("identical", tasks=2)
SETTINGS = {"n": 8, "b": 2, "repetitions": 5, "seed": 3}


@pytest.fixture(scope="module")
def tasks():
    return imrc.datasets.load("random_walk", tasks=6, samples=80, seed=3)


@pytest.fixture(scope="module")
def reports(tasks):
    """The first look and the whole report."""
    return list(imrc.iter_check(tasks, **SETTINGS))


@pytest.fixture(scope="module")
def report(reports):
    return reports[1]


@pytest.fixture(scope="module")
def weather():
    """A made-up frame with dates, words and gaps."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=240), "wind": random.choice(["N", "S"], 240)})
    frame["sun"] = random.normal(size=240)
    frame["rain"] = np.where(frame["sun"] + random.normal(size=240) > 0, "no", "yes")
    frame.loc[3, "sun"] = np.nan
    return frame


def test_numbers_are_those_of_evaluate_and_assess(report, tasks):
    run = imrc.evaluate(tasks, **SETTINGS)
    references = run_references(tasks, run.settings)
    found = arrays_of(report.run)
    for key, values in arrays_of(run).items():
        # A first look takes nothing away: all numbers but times are equal to the last bit.
        if "time" not in key[0]:
            np.testing.assert_array_equal(found[key], values)
    table = report.errors.set_index("strategy")
    assert list(table.index) == ["majority", "single", "pooled", "forward", "forward_backward"]
    of = {name: references if name in ("majority", "pooled") else run for name in table.index}
    expected = {name: of[name].per_repetition(name) for name in table.index}
    assert table["error"].tolist() == [values.mean() for values in expected.values()]
    np.testing.assert_allclose(table["standard error"], [values.std(ddof=1) / 5**0.5 for values in expected.values()])
    decision = decide(run, tasks.name, references=references, usual=usual_answer(tasks))
    assert (report.decision.sentence, report.decision.action) == (decision.sentence, decision.action)
    assert report.advice == advise(expected)
    assert table["advised"].tolist() == [name == report.advice.advised for name in table.index]
    # The diagnosis is that of the pages: in the representation of the run, with its seed.
    diagnosis = assess(tasks, features=run.settings.features.diagnosed, seed=3)
    assert report.verdict.title == diagnosis.verdict.title
    assert report.diagnosis.ratio_at(8) == diagnosis.ratio_at(8)
    worth = effective_samples_of(8, 6, 2, Rate(*diagnosis.ratio_at(1)).value)
    assert report.plan.promised["mean"].value == worth
    assert f"{worth:,.1f}" in report.labels[0]


def test_the_plan_is_for_the_task_that_the_scenario_tests(report):
    cases = {"continual": ("mean", 2), "multi_task": ("mean", 5), "adaptation": ("newest", 0), "next_task": ("next", 0)}
    for scenario, expected in cases.items():
        seen = replace(report.run, settings=replace(report.run.settings, scenario=scenario))
        found = replace(report, run=seen, references=None)
        assert (found.plan.of, found.plan.b) == expected
        assert "averages over several rates" in found.labels[0]
        # Nothing is said of what a scenario does not have.
        page = page_of(found)
        assert ("orward and backward" in page) == (expected[1] > 0)
        assert SCENARIOS[scenario].field in page


def test_it_prints_in_twelve_lines_and_says_each_number_once_computed(report):
    text = str(report)
    assert len(text.splitlines()) <= 12
    assert "*" not in text
    for one in report.decision.strategies:
        assert f"{with_error(one.error)}{'  advised' * (one.name == report.advice.advised)}\n" in text
    headline, gain = report.run.headline(), report.run.difference("forward_backward")
    assert f"({with_error(headline['forward_backward'])} against {with_error(headline['single'])})" in report.measured
    if gain.clear:
        assert f"{100 * abs(gain.mean) / headline['single'].mean:.0f}\u00a0% fewer" in report.measured
    assert report.measured in text
    for part in (report.run, report.decision, report.diagnosis):
        assert 1 < len(repr(part).splitlines()) < 10
        assert "array(" not in repr(part)


def test_a_first_look_is_marked_and_gives_no_advice(reports, report):
    look = reports[0]
    assert (look.is_first_look, report.is_first_look) == (True, False)
    np.testing.assert_array_equal(look.run.errors["forward"], report.run.errors["forward"][:3])
    assert look.advice.verdict == "too few repetitions"
    assert (look.pays, look.worth, look.measured) == (None, (), "")
    assert "first look, 3 repetitions" in str(look)
    assert len(list(charts(look))) >= 8
    assert look.to_dict()["first_look"]
    with pytest.raises(imrc._checks.InputError, match=r"at least 5 repetitions.*fit\(strategy='.*--strategy "):
        look.fit()


def test_n_is_the_largest_that_leaves_rows_to_test_on():
    for samples, largest in ((80, 40), (230, 130)):
        found = imrc.check(imrc.datasets.load("identical", tasks=3, samples=samples), repetitions=1)
        assert (found.n, found.run.test_samples.tolist()) == (largest, [samples - largest] * 3)
        assert (found.pays, found.advice.advised) == (None, None)


def test_following_pays_where_a_rule_that_follows_is_advised(report):
    best = {"single": False, "pooled": False, "forward": True, "forward_backward": True}
    cases = [*(("best", name, pays) for name, pays in best.items()), ("simpler", "single", False)]
    for verdict, advised, pays in [*cases, ("none of these", None, False), ("too few repetitions", None, None)]:
        judged = replace(report)
        judged.__dict__["decision"] = replace(report.decision, advice=Advice(verdict, "forward", advised))
        assert judged.pays is pays
        assert judged.errors["advised"].sum() == (advised is not None)


def test_only_a_strategy_of_a_sequence_at_hand_is_learnt(report):
    assert report.fit("alone").strategy == "single"
    with pytest.raises(ValueError, match="must be one of 'alone', 'forward', 'forward_backward', 'pooled'"):
        report.fit("majority")
    nothing = replace(report)
    nothing.__dict__["decision"] = replace(report.decision, advice=replace(report.advice, advised=None))
    with pytest.raises(ValueError, match="No strategy is advised"):
        nothing.fit()
    with pytest.raises(ValueError, match="does not contain the tasks"):
        replace(report, sequence=None).fit("forward")


def test_how_many_labels_takes_runs_at_other_n(tasks):
    found = imrc.check(tasks, 10, repetitions=2, labels=True, k=4)
    assert [run.settings.n for run in found.curve] == [5, 10, 20, 40]
    np.testing.assert_array_equal(found.curve[0].errors["single"], imrc.evaluate(tasks, n=5, repetitions=2, k=4).errors["single"])  # fmt: skip  # noqa: E501
    assert "labels" in found.labels[0]
    assert any("task alone would need" in text or "do not imply" in text for text in found.worth)


def test_progress_is_one_bar_and_can_stop_the_work(tasks, capsys):
    shares = []
    imrc.check(tasks, 5, repetitions=1, progress=lambda share, what: shares.append(share))
    assert [0.0, *sorted(shares[1:-1]), 1.0] == shares

    def stop(share, what):
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        imrc.check(tasks, 5, repetitions=1, progress=stop)
    assert capsys.readouterr().err == ""
    imrc.check(tasks, 5, repetitions=1, progress=True)
    assert "100%" in capsys.readouterr().err


def test_predictions_have_the_errors_of_the_run(report, tasks):
    run = report.run
    few = SETTINGS | {"repetitions": 2}
    together = imrc.evaluate(tasks, **few, scenario="multi_task")
    methods = imrc.evaluate(tasks, **few, methods=("imrc", "pooled", "logistic_single", "ella"))
    ahead = methods.seen_as("next_task")
    first = (run, True), (run.seen_as("next_task"), False), (together, True)
    for result, final in (*first, (methods, True), (ahead, False)):
        table = result.predictions(tasks, 1)
        wrong = (table["class"] != table["true"]).groupby([table["rule"], table["task"]]).mean()
        for rule in result.rules:
            expected = result.error_tables[rule].final()[1] if final else result.before_of(rule)[1, 1:]
            np.testing.assert_allclose(wrong[rule], expected)
    table = report.predictions()
    assert list(table.columns) == ["task", "label", "row", "rule", "class", "true", "p(0)", "p(1)"]
    wrong = (table["class"] != table["true"]).groupby([table["rule"], table["task"]]).mean()
    for name in report.errors["strategy"]:
        source = report.references if name in ("majority", "pooled") else run
        np.testing.assert_allclose(wrong[name], source.error_tables[name].final()[0])
    of_rules = table[table["rule"].isin(run.rules)]
    np.testing.assert_allclose(of_rules[["p(0)", "p(1)"]].sum(axis=1), 1.0)
    for task, part in table.groupby("task"):
        assert (tasks[task - 1].y[part["row"]].astype(str) == part["true"]).all()
    with pytest.raises(ValueError, match="fingerprints differ"):
        run.predictions(imrc.datasets.load("random_walk", tasks=6, samples=80, seed=4))


def unpacked(text, name):
    packed = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', text)[1]
    return gzip.decompress(base64.b64decode(packed)).decode()


@pytest.mark.skipif(importlib.util.find_spec("kaleido") is not None, reason="kaleido is there")
def test_a_picture_says_what_it_needs(report, tmp_path):
    with pytest.raises(ValueError, match="needs Chrome and kaleido: pip install kaleido"):
        report.save(tmp_path / "ladder.pdf", "ladder")


@pytest.mark.parametrize("thing", ["report", "run", "model"])
def test_a_missing_folder_is_named(report, tmp_path, thing):
    saved = {"report": report, "run": report.run, "model": report.fit("alone")}[thing]
    with pytest.raises(ValueError, match=r"There is no folder .*nowhere' for 'file.html'\. Create it"):
        saved.save(tmp_path / "nowhere" / "file.html")
    with pytest.raises(ValueError, match=r"is a folder\. Add a file name"):
        saved.save(tmp_path)
    with pytest.raises(ValueError, match=r"must end in .html or .* or .png; got 'report.docx'"):
        report.save(tmp_path / "report.docx")
    with pytest.raises(FileNotFoundError, match=r"the dataset is imrc.datasets.load\('usenet1'\)"):
        imrc.load("usenet1")


def test_a_chart_of_many_cells_is_small():
    cells = np.random.default_rng(0).random((200, 200))
    places = [[f"{i}<br>{j}" for i in range(200)] for j in range(200)]
    drawn = go.Heatmap(z=cells, customdata=places, hovertemplate="%{customdata}")
    text = chart("cells", go.Figure(drawn, {"height": 400, "title": "cells"}))
    assert len(text) < 160_000
    drawn = json.loads(unpacked(text, "cells-drawn"))[0][0]["z"]
    shown = np.frombuffer(base64.b64decode(drawn["bdata"]), np.float32).reshape(200, 200)
    np.testing.assert_allclose(shown, cells, atol=1e-3)


def test_the_file_is_small_and_holds_what_is_drawn(report, tmp_path):
    file = report.save(tmp_path / "report.html")
    assert file.stat().st_size < 1_500_000
    text = file.read_text(encoding="utf-8")
    assert "default-src 'none'" in html.unescape(text)
    assert "MIT License" in unpacked(text, "plotly")[:2000]
    drawn = [trace["x"][0] for trace in json.loads(unpacked(text, "decision-drawn"))[0] if trace["mode"] == "markers"]
    np.testing.assert_array_equal(drawn, report.errors["error"])
    assert report.plot().layout.title.text == "What could you do?"
    assert report.plot("ladder").data
    with pytest.raises(ValueError, match="Did you mean 'ladder'"):
        report.plot("lader")


def test_json_has_schema_and_version_and_a_notebook_a_table(report):
    told = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert (told["schema"], told["version"]) == ("imrc.report", 1)
    assert [row["error"] for row in told["errors"]] == report.errors["error"].tolist()
    assert told["advice"]["advised"] == report.advice.advised
    assert told["verdict"]["title"] == report.verdict.title
    shown = replace(report, name="<b>mine</b>")._repr_html_()
    assert "<b>mine" not in shown
    assert shown.count("<svg") == len(report.errors)
    assert all(with_error(one.error) in shown for one in report.decision.strategies)


def test_latex_is_bold_where_nothing_is_clearly_worse(report):
    text = replace(report, name="50 % of a_b").to_latex()
    assert text.count("{") == text.count("}")
    assert r"50 \% of a\_b \\" in text
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")].strip().splitlines()[1:]
    assert [line.count("&") for line in body] == [1] * 5
    assert all(line.endswith(r"\\") for line in body)
    best = report.errors.loc[report.errors["error"].idxmin(), "title"]
    bold = [line.split(" & ")[0] for line in body if r"\textbf" in line]
    assert best in bold
    assert "Always the most frequent class" not in bold
    assert "n = 8, preset recommended, k = 6, b = 2, W = all, representation blended, seed 3." in text
    lines = report.run.to_latex().splitlines()
    assert sum(r"$\pm$" in line for line in lines if line.endswith(r"\\")) == 3


def test_a_frame_a_file_arrays_and_lists_make_the_same_tasks(weather, tmp_path):
    found = imrc.tasks_from(weather, target="rain", every=60)
    assert (len(found), found.feature_names) == (4, ("day", "wind", "sun"))
    assert imrc.tables.Recipe.from_dict(found.info["recipe"]).label["name"] == "rain"
    assert np.isnan(found[0].X).sum() == 1
    months = imrc.tasks_from(weather.set_index("day"), target="rain", by="day", period="month")
    assert months.labels == tuple(f"2020-0{month}" for month in range(1, 9))[: len(months)]
    path, periods = tmp_path / "weather.csv", weather.assign(day=weather["day"].dt.to_period("D"))
    weather.to_csv(path, index=False)
    for table in (path, periods):  # a period is read as its first moment
        assert imrc.tasks_from(table, target="rain", by="day", period="month").fingerprint == months.fingerprint
    assert imrc.tasks_from(pa.Table.from_pandas(weather), target="rain", every=60).fingerprint == found.fingerprint
    X, y, groups = weather[["wind", "sun"]], weather["rain"], np.repeat(["b", "a", "d", "c"], 60)
    grouped = imrc.tasks_from((X, y, groups))
    assert (grouped.labels, grouped.feature_names) == (("b", "a", "d", "c"), ("wind", "sun"))
    listed = imrc.tasks_from([(name, X[groups == name], y[groups == name]) for name in "badc"], name="mine")
    assert (listed.fingerprint, listed.name) == (grouped.fingerprint, "mine")
    # Arrays keep all of their columns, and numbers come in increasing order.
    values = np.column_stack([weather["sun"], np.ones(240)])
    arrays = imrc.tasks_from((values, y.to_numpy(), np.repeat([3, 1, 2, 10], 60)))
    assert (arrays.labels, arrays.n_features, arrays.feature_names) == (("1", "2", "3", "10"), 2, ())
    np.testing.assert_array_equal(arrays[2].X, values[:60])
    assert imrc.tasks_from((values, y), every=100).sizes.tolist() == [100, 100]
    assert imrc.tasks_from(found) is found
    for one in (found, grouped, arrays):
        assert imrc.evaluate(one, n=20, repetitions=1).n_tasks == len(one)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda X: imrc.evaluate(X), r"needs a TaskSequence, not DataFrame.*imrc.tasks_from\(df, target=.*'sun'"),
        (lambda X: imrc.check(X), r"imrc.check needs .*imrc.tasks_from\(df, target="),
        (lambda X: imrc.diagnostics.assess(X), r"assess needs a TaskSequence.*imrc.tasks_from\(df, target="),
        (lambda X: imrc.diagnostics.assess(np.eye(3)), r"also give mse.*imrc.tasks_from\(\(X, y, groups\)\)"),
        (lambda X: imrc.evaluate([(np.eye(2), [0, 1])]), r"not list. Make tasks with imrc.tasks_from\(\[\(X, y\)"),
        (lambda X: imrc.check("weather.csv"), r"not str.*imrc.tasks_from\('weather.csv', target="),
        (lambda X: imrc.tasks_from(X), "target='rain', by='day'.*Columns: 'day', 'wind', 'sun' and 'rain'"),
        (lambda X: imrc.tasks_from(X, target="rain", every=9, evry=3), "unknown option 'evry'"),
        (lambda X: imrc.tasks_from(np.eye(3)), r"imrc.tasks_from\(\(X, y, groups\)\)"),
        (lambda X: imrc.tasks_from((np.eye(3), [0, 1, 0])), "needs every="),
        (lambda X: imrc.tasks_from((np.eye(3), [0, 1, 0], [1, 2])), "X has 3 rows and groups 2"),
        (lambda X: imrc.tasks_from((np.eye(3), [0, 1]), every=9), "X has 3 rows and y 2; these numbers must be equal"),
        (
            lambda X: imrc.tasks_from(X.assign(t=X["day"] - X["day"][0]), "rain", by="t"),
            r"'t': .*of type duration\(",
        ),
        (lambda X: imrc.datasets.sample_csv(0), "rows must be at least 1; got 0"),
        (lambda X: imrc.tasks_from([(np.eye(2), [0, 1]), 7]), r"Entry 2 .* must be \(X, y\) or \(name, X, y\)"),
        (lambda X: imrc.tasks_from({"sun": [1]}), r"imrc.tasks_from\(pandas.DataFrame\("),
        (lambda X: imrc.tasks_from(X, target="rain", every=0), "every .rows per task. must be at least 2; got 0"),
        (lambda X: imrc.tasks_from([(np.eye(2), [0, 1]), ("b", np.eye(2), [1])]), "Task b: y .* X has 2 rows, y has"),
        (lambda X: imrc.check(TWO, labels="no"), "labels must be True or False, got 'no'"),
        (lambda X: imrc.check(TWO, progress="yes"), "progress.* must be True or False"),
        (lambda X: imrc.tasks_from(X, target="rain", every=60, by="day"), "rows per task, or by=, .*; not both"),
        (lambda X: imrc.tasks_from([X]), r"got DataFrame. Of a frame: \(frame.drop"),
        (lambda X: imrc.TaskSequence(X), "made of tasks. Make tasks from a data frame"),
        (lambda X: imrc.planning.make_plan(0.1, 5, 5, 1), r"Rate.guess\(0.1\)"),
        (lambda X: imrc.load(3), "the path of a file that Model.save wrote, not int"),
        (lambda X: imrc.watch.Watcher(X), r"Watcher\(\).read\(tasks\). Make tasks from a data frame"),
        (lambda X: list(imrc.watch.Watcher().read(X)), r"needs a TaskSequence, not DataFrame"),
        (lambda X: imrc.diagnostics.variogram(TWO), r"assess\(tasks\).variogram"),
        (lambda X: imrc.diagnostics.partial_autocorrelation(TWO), r"assess\(tasks\).pacf"),
        (lambda X: TWO + X, r"not DataFrame. Make tasks from a data frame"),
        (lambda X: TWO + imrc.tasks_from(X, target="rain", every=60)[:1], "differ in feature_names"),
        (lambda X: imrc.tasks_from([(np.eye(2), [1, 1])]), "Two or more classes"),
        (lambda X: imrc.tasks_from([(np.eye(2), pd.array(["a", None]))]), "Task 1: y has a missing label at row 1"),
        (lambda X: imrc.tasks_from([(np.eye(2), [0, 1])], by="day"), "by is for a data frame or a file"),
        (lambda X: imrc.check(TWO, repetition=3), "Did you mean 'repetitions'"),
        (lambda X: imrc.check(TWO, methods=["gem"]), "imrc.evaluate"),
    ],
)
def test_what_is_of_the_wrong_kind_is_told_the_right_call(weather, call, said):
    with pytest.raises(ValueError, match=said):
        call(weather)


@pytest.mark.slow
def test_the_command_prints_the_report(weather, tmp_path, capsys):
    path = tmp_path / "weather.csv"
    weather.to_csv(path, index=False)
    given = ["check", str(path), "--target", "rain", "--every", "60", "-n", "10", "--repetitions", "2"]
    given += ["--features", "identity"]
    files = {"html": tmp_path / "r.html", "latex": tmp_path / "r.tex", "predictions": tmp_path / "r.csv"}
    assert main([*given, *(word for name, file in files.items() for word in (f"--{name}", str(file)))]) == 0
    shown = capsys.readouterr()
    found = imrc.check(imrc.tasks_from(path, target="rain", every=60), 10, repetitions=2, features="identity")
    assert shown.out.splitlines() == [line for line in str(found).splitlines() if "report.notes" not in line]
    assert all(f"imrc: {note}" in shown.err for note in found.notes)
    assert found.notes
    assert found.decision.action in files["html"].read_text(encoding="utf-8")
    assert files["latex"].read_text(encoding="utf-8") == found.to_latex() + "\n"
    written = pd.read_csv(files["predictions"], dtype={"label": str})
    pd.testing.assert_frame_equal(written, found.predictions(), check_dtype=False)
    assert main([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_dict()))
    assert main(["run", *given[1:], "--predictions", str(files["predictions"])]) == 0
    assert len(pd.read_csv(files["predictions"])) == len(found.run.predictions(found.sequence))


SCRIPT = """
import numpy as np

import imrc


def main(folder: str) -> imrc.Model:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) + y[:, None]
    tasks: imrc.TaskSequence = imrc.tasks_from((X, y, np.repeat(np.arange(5), 60)))
    both: imrc.TaskSequence = tasks[:4] + tasks[4]
    report: imrc.Report = imrc.check(both, n=10, repetitions=5, progress=False)
    evolving: bool | None = report.evolving
    advised: str | None = report.advice.advised
    lowest: float = min(one.error.mean for one in report.decision.strategies)
    print(report, evolving, advised, lowest, report.n)
    run: imrc.RunResult = imrc.evaluate(both, n=10, repetitions=2)
    print(run.headline()["forward"].mean, report.to_latex(), report.to_dict()["schema"])
    report.save(f"{folder}/report.html")
    model: imrc.Model = report.fit("forward")
    model.update(X[:50], y[:50], name="new").save(f"{folder}/model.imrc")
    again = imrc.load(f"{folder}/model.imrc")
    assert bool((again.predict(X) == model.predict(X, task="next")).all())
    print(again.predict_proba(X[:2]).sum(axis=1))
    return again
"""


@pytest.mark.slow
def test_a_script_of_the_users_runs_and_has_strict_types(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    names = {}
    exec(compile(SCRIPT, "script", "exec"), names)
    assert names["main"](str(tmp_path)).tasks[-1] == "new"
    root = Path(imrc.__file__).parents[1]
    words = ["mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(root / ".mypy_cache"), "script.py"]
    run_python("-m", *words, folder=tmp_path, MYPYPATH=str(root))
