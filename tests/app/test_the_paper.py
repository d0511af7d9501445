"""The page of the paper's tables: every part renders from the shipped results, computes nothing, and is quick."""

import json
import time

import pytest

from imrc.evaluation.comparison import UNTUNED
from imrc.paper import cells, method, shipped
from pages.shell import frame
from tests.app.conftest import texts


@pytest.fixture
def page(app):
    test = app(dataset="identical", k="3", n="4", repetitions="1")
    return test.switch_page("pages/the_paper/page.py").run()


def part(test, name):
    return test.radio(key="paper_part").set_value(name).run()


def test_errors_are_the_shipped_ones(page):
    assert len(page.get("plotly_chart")) == 1
    assert cells.headline() in texts(page)
    page.session_state["paper_experts"] = True
    page.radio(key="paper_error").set_value("average").run()
    table = page.dataframe[0].value
    measured = [not row.startswith("–") for row in table["IMRC (paper)"]]
    assert measured == sorted(measured, reverse=True)  # nothing empty in the middle
    measured = shipped.table("errors").query("dataset == 'spam' and n == 10 and error_kind == 'average'")
    error = measured.set_index("method").loc["imrc:paper", "error"]
    assert table.set_index("Dataset").loc["Spam", "IMRC (paper)"].startswith(f"{error:.3f}"[1:])
    assert table.set_index("Dataset").loc["Spam", "IMRC (paper)"].endswith(".13 ± .01")
    command = "imrc table --n 10 50 100 150 --methods all --preset paper recommended --error average"
    assert command in [c.value for c in page.code]
    for sentence in (UNTUNED, cells.backward_sentence(), "comparing 108 variants"):
        assert sentence in texts(page)
    table = next(one.value for one in page.dataframe if "How to get it" in one.value)
    assert "Yearbook" in ", ".join(table["Dataset"])
    assert any("imrc datasets fetch yearbook" in how for how in table["How to get it"])
    page.radio(key="paper_n").set_value(100).run()
    assert page.dataframe[0].value.equals(cells.wide(cells.error_cells(100)))


def test_on_phones_one_method_at_a_time(app, monkeypatch):
    monkeypatch.setattr(frame, "narrow", lambda: True)
    page = app(dataset="identical", k="3", n="4", repetitions="1").switch_page("pages/the_paper/page.py").run()
    page.selectbox(key="paper_method").set_value("gem").run()
    drawn = json.loads(page.get("plotly_chart")[0].proto.spec)
    assert drawn["data"][0]["x"] == ["10", "50", "100", "150"]


@pytest.mark.parametrize("name", ["settings", "times"])
def test_tables_of_settings_and_times(page, name):
    page.session_state["paper_experts"] = True
    test = part(page, name)
    test.radio(key=f"paper_{name}_n").set_value(100).run()
    assert "Usenet1" in test.dataframe[0].value["Dataset"].tolist()


def test_datasets_stand_beside_print_and_algorithm_beside_its_functions(page):
    test = part(page, "datasets")
    assert test.dataframe[0].value.equals(cells.characteristics())
    assert "imrc table --kind characteristics" in [c.value for c in test.code]
    page.session_state["paper_experts"] = True
    test = part(test, "method")
    assert "`core.recursions.revise`" in texts(test)
    for name in {name for line in method.ALGORITHM for name in line.functions}:
        chosen = test.selectbox(key="paper_function").set_value(name).run()
        assert chosen.code[0].value == method.source(name).strip()


def test_every_figure_of_every_run(page):
    test = part(page, "figures")
    names = ("curves", "heatmaps", "ess", "pacf", "time")
    assert len(test.selectbox(key="paper_figure").options) == len(names)
    for name in names:
        test.selectbox(key="paper_figure").set_value(name).run()
        assert len(test.get("plotly_chart")) >= 1, name
        assert test.code, "each figure says what made it"
        for run in shipped.run_names() if name in ("curves", "heatmaps") else ():
            test.selectbox(key="paper_run").set_value(run).run()


def test_page_computes_nothing_and_is_quick(page, monkeypatch):
    for name in ("evaluate", "iter_run"):
        monkeypatch.setattr(f"imrc.evaluation.run.{name}", lambda *_, **__: pytest.fail("computed on the page"))
    spent = []
    for _ in range(3):
        started = time.process_time()
        page.run()
        spent.append(time.process_time() - started)
    # Processor time of the whole script, so that other programs on the machine do not count.
    assert min(spent) < 0.5
