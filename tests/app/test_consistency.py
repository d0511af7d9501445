"""One truth per quantity: what a visitor reads twice is the same number, and the same statement, on every page.

Pages, the report, the command line and the page a link opens are read as they are written, without their charts. What
is said of a quantity is found by how it is said: a page that says something else, or in other numbers, is found out.
"""

import html
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import imrc
from imrc import datasets
from imrc.cli import main
from imrc.evaluation import SCENARIOS, RunResult, effective_samples
from imrc.evaluation.comparison import imrc_key, title_of_method
from imrc.evaluation.measures import samples_text
from imrc.evaluation.significance import with_error
from imrc.report._report import readable
from imrc.report._write import page_of
from imrc.report.decision import decide
from imrc.report.worth import measured_sentence
from imrc.wording import RULES, with_spread
from pages.shell import charts, running
from tests.app.conftest import link, texts
from tests.app.test_copies import copies, page_result

FOLDERS = {"explore": "result", "ess": "why_it_helps", "compare": "against_others"}
VIEWS = {
    name: f"pages/{FOLDERS.get(name, name)}/page.py" for name in ("explore", "ess", "evolving", "compare", "your_data")
}
KINDS = (*sorted(datasets.names("synthetic")), "rotated_digits")
VARIANTS: tuple[dict[str, str], ...] = (
    {"k": "6", "n": "5", "b": "1", "repetitions": "5"},
    {"k": "5", "n": "8", "preset": "paper", "b": "2", "repetitions": "5"},
    {"k": "5", "n": "10", "scenario": "next_task", "seed": "1", "repetitions": "5"},
    {"k": "4", "n": "6", "scenario": "multi_task", "W": "2", "repetitions": "5"},
    {"k": "5", "n": "12", "scenario": "adaptation", "preset": "paper", "repetitions": "5"},
)
# Every variant on one of the sequences, and one of them on each of the others.
EVERYWHERE = "random_walk"
CASES = [{"dataset": EVERYWHERE, **variant} for variant in VARIANTS] + [
    {"dataset": kind, **VARIANTS[i % len(VARIANTS)]} for i, kind in enumerate(KINDS) if kind != EVERYWHERE
]
REAL = [{"dataset": name, "k": "3", "n": "30", "b": "2", "repetitions": "5"} for name in ("usenet1", "german")]

_ERROR = r"(\.\d{3} ± \.\d{3})"
_FACTS: tuple[tuple[str, str], ...] = (
    ("effective samples", r"worth ([\d,.]+) samples (?:instead of|before it has any labels)"),
    ("effective samples", r"this run: ([\d,.]+) samples"),
    ("effective samples", r"run reached, ([\d,.]+\d)"),
    ("verdict", r"Verdict on the page \*Is it evolving\?\*: \**(.+?)\**\.(?= |$)"),
    ("verdict", r"\(Verdict: \*\*([^*]+)\*\*"),
    ("measure", r"(balanced error|error): alone \*\*"),
    ("measure", r"(?<=\. )([Bb]alanced error|[Ee]rror)(?: ± one standard error)?: [^·]+ \*\*\.\d"),
    ("error, single", rf"error: alone \*\*{_ERROR}"),
    ("error, main", rf"error: alone \*\*[^*]+\*\* · [a-z ]+ \*\*{_ERROR}"),
    ("error, main", rf"\({_ERROR} against"),
    ("error, single", rf"against {_ERROR}\)"),
    ("main against single", r"learning (?:makes|has) (?:a )?(?:\d+ % )?(fewer|lower|more|higher|no clear difference)"),
    ("size of the change", r"n d² / σ² (?:=|is) ([\d.,e-]*\d)"),
    ("n", r"(?:At|With) n = (\d+)(?:,| samples)"),
)
_SAME = {"lower": "fewer", "higher": "more"}


def facts(pages: Mapping[str, str]) -> dict[str, dict[str, set[str]]]:
    """Return what pages say: quantity, then page, then all values found there."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for page, text in pages.items():
        for quantity, pattern in _FACTS:
            for value in re.findall(pattern, text):
                # A task that borrows nothing is worth "10" samples in one place and "10.0" in another.
                value = re.sub(r"\.0$", "", value.strip().lower())
                found[quantity][page].add(_SAME.get(value, value))
    return found


def contradictions(pages: Mapping[str, str]) -> list[str]:
    return [
        f"{quantity}: { ({page: sorted(values) for page, values in said.items()}) }"
        for quantity, said in facts(pages).items()
        if len(set().union(*said.values())) > 1
    ]


def rows(test: AppTest, run: RunResult) -> str:
    """Return what the table of the comparison says about IMRC's rules, in the words of the other pages."""
    table = next(frame.value for frame in test.dataframe if "Against reference" in frame.value).set_index("Method")
    preset, scenario = run.settings.preset, run.scenario
    # Before learning, and of the newest task, both rules that go forward are one.
    rule = scenario.main if scenario.kind == "average" else "forward_backward"
    title = {name: title_of_method(imrc_key(preset, name), run.settings.features) for name in RULES}
    measure = table.columns[0]
    alone = table.loc[title["single"], measure]
    said = f". {measure}: of IMRC **.0** {measure.lower()}: alone **{alone}** · main"
    said += f" **{table.loc[title[rule], measure]}**"
    if rule == "forward_backward":  # else it is not the planned comparison there
        verdict = table.loc[title["single"], "Against reference"]
        # What is worse than the reference is what the reference improves on.
        said += " learning makes " + {"worse": "fewer", "better": "more"}.get(verdict, verdict)
    return said


def walk(test: AppTest, run: RunResult) -> Iterator[tuple[str, str]]:
    """Open every page that speaks about the run; yield its name and what it says."""
    yield "explore", texts(test)
    for name in ("ess", "evolving"):
        test = test.switch_page(VIEWS[name]).run()
        yield name, texts(test)
    if run.scenario.kind != "end":  # methods that cannot learn all tasks at once are compared as tasks arrive
        test.session_state["compare_measure"] = True
        test.session_state["compare_methods"] = ["majority"]
        test.session_state["compare_reference"] = imrc_key(run.settings.preset)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(running, "COMPARED_PRESETS", (run.settings.preset,))  # the others are not read here
            test = test.switch_page(VIEWS["compare"]).run()
        yield "compare", rows(test, run)


def words(page: str) -> str:
    """Return what a page of HTML says."""
    page = re.sub(r"</?(strong|em)>", "", re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL))
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def reported(report: imrc.Report) -> dict[str, str]:
    """Return what the file before its charts, a notebook and JSON say, in the words of the pages."""
    main_rule = report.run.scenario.main
    text = words(page_of(report).partition("Measures of continual")[0])
    table = text[text.index("What to do ") :]
    measure = re.match(r"What to do (Balanced error|Error) 95 % interval", table)[1]
    assert f"{measure} of the rules" in text
    assert f"{measure} ± one standard error over" in text
    single, *others = (re.findall(rf"{RULES[rule]} {_ERROR}", table) for rule in ("single", main_rule))
    errors = " ".join(f"{measure.lower()}: alone **{single[0]}** · main **{one}**" for one in others[0])
    shown, told = words(report._repr_html_()), report.to_dict()
    rows = {row["strategy"]: with_spread(row["error"], row["standard error"]) for row in told["errors"]}
    written = f"{told['measure']}: alone **{rows['single']}** · main **{rows[main_rule]}**"
    assert all(rows[row["strategy"]] in shown for row in told["errors"])
    said = [told["advice"]["sentence"], told["advice"]["action"], told["meaning"], *told["worth"], *told["labels"]]
    return {
        "report": f"{text} {errors} . {measure}: rules **.0",
        "notebook": f"{shown} {written}",
        "json": " ".join([*said, written]),
    }


def typed(run: RunResult, command: str, capsys: pytest.CaptureFixture) -> str:
    """Return what the copied command prints, in the words of the pages."""
    capsys.readouterr()
    assert main(shlex.split(command)[1:]) == 0
    # Columns of a terminal keep the zero that texts leave out.
    text = re.sub(r"\b0\.(?=\d{3})", ".", capsys.readouterr().out)
    assert samples_text(effective_samples(run)) in text
    titles = [one.title for one in decide(run, "").strategies if one.name in ("single", run.scenario.main)]
    single, other = (re.search(rf"^{re.escape(title)} +{_ERROR}", text, re.MULTILINE)[1] for title in titles)
    measure = "balanced error" if "Errors are balanced errors" in text else "error"
    return f"{text} {measure}: alone **{single}** · main **{other}**"


@pytest.fixture
def without_charts(monkeypatch) -> None:
    """Drawing takes most of the time of a page, and of a report."""
    monkeypatch.setattr(charts, "show", lambda *_, **__: None)
    monkeypatch.setattr("imrc.report._write.charts", lambda *_: ())


def agree(test: AppTest, capsys: pytest.CaptureFixture, *, everywhere: bool) -> dict[str, str]:
    """Read everything that speaks about the run that a page shows; fail where two of them contradict each other."""
    run, visit = page_result(test), test.session_state["visit"]
    visited, command = link(test), copies(test)[1]
    pages = dict(walk(test, run))
    if everywhere:
        pages |= reported(replace(visit.report[1], as_text=readable))  # which *Report* saves
        if visit.choice.dataset != "your_file":
            pages["command"] = typed(run, command, capsys)
    assert contradictions(pages) == []
    # Nothing agrees with nothing: each quantity is really said on several pages, as it is in the run.
    found, headline = facts(pages), run.headline()
    for quantity, rule in (("error, single", "single"), ("error, main", run.scenario.main)):
        assert len(found[quantity]) >= len(pages), quantity
        assert set().union(*found[quantity].values()) == {with_error(headline[rule])}
    assert set().union(*found["measure"].values()) == {run.measure()}
    assert set(found["main against single"]) >= {"ess", "evolving"}
    gap = run.difference(run.scenario.main)
    said = ("fewer" if gap.mean < 0 else "more") if gap.clear else "no clear difference"
    assert set().union(*found["main against single"].values()) == {said}
    assert f"{effective_samples(run).mean:,.1f}".removesuffix(".0") in found["effective samples"]["ess"]
    assert {"ess", "evolving"} <= set(found["verdict"])
    # The decision is one sentence, wherever it is said; the command has no title for the data.
    decision = re.search(r"# (On .*?\.\)?)(?= |$)(?= [A-Z#*])", pages["explore"])[1]
    # *Why it helps* needs it unless its headline says as much: a clear gain of what is advised.
    assert decision in pages["ess"] or (gap.clear and re.search(r"\*\*learning (forward|all tasks)", decision))
    action = re.search(r"#+ What to do: \*\*(.+?)\*\*", pages["explore"])[1]
    for place in {"report", "notebook", "json", "command"} & set(pages):
        assert action in re.sub(r"\s+", " ", pages[place]), place
        assert decision.partition(", ")[2].replace("*", "") in re.sub(r"\s+", " ", pages[place]), place
    for one in re.findall(r"· ([^·*]+) \*\*", pages["explore"].partition("one standard error: ")[2]):
        if everywhere:
            assert one in pages["report"]
    return visited


@pytest.mark.parametrize("case", CASES + REAL, ids=lambda case: "-".join(case.values()))
@pytest.mark.usefixtures("without_charts")
def test_pages_agree(app, case, capsys):
    if case["dataset"] not in KINDS and not datasets.status(case["dataset"]).loadable:
        pytest.skip(f"{case['dataset']} is not on this computer")
    # Reports, commands and links are long to read.
    everywhere = case["dataset"] == EVERYWHERE
    test = app(**case)
    first = texts(test)
    visited = agree(test, capsys, everywhere=everywhere)
    if everywhere:
        assert texts(app(**visited)) == first


def rare_table(seed: int = 0) -> bytes:
    """Return a table of five months in which one customer in eight leaves."""
    rng = np.random.default_rng(seed)
    lines = ["month,calls,spend,left"]
    for month in range(5):
        left = rng.random(160) < 0.125
        calls = rng.normal(3.0 + 2.0 * left, 1.5)
        spend = rng.normal(30.0 + 10.0 * left * np.cos(month), 8.0)
        lines += [f"{month},{a:.2f},{b:.2f},{'yes' if c else 'no'}" for a, b, c in zip(calls, spend, left, strict=True)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("preset", ["recommended", "paper"])
@pytest.mark.usefixtures("without_charts")
def test_pages_agree_on_a_rare_class(app, capsys, preset):
    test = app(dataset="identical", k="3", n="10", repetitions="5", preset=preset).switch_page(VIEWS["your_data"]).run()
    test.file_uploader(key="own_upload").set_value(("customers.csv", rare_table(), "text/csv")).run()
    test.selectbox(key="own_label").set_value("left").run()
    test.selectbox(key="own_task").set_value("month").run()
    test.button(key="own_use").click().run()
    for scenario in SCENARIOS:
        test = test.switch_page(VIEWS["explore"]).run()
        if scenario != "continual":
            test = test.radio(key="scenario_shown").set_value(scenario).run()
        run = page_result(test)
        assert run.settings.scenario == scenario
        assert run.measure() == "balanced error"
        agree(test, capsys, everywhere=True)


@pytest.mark.usefixtures("without_charts")
def test_a_page_that_counts_for_itself_is_found_out(app):
    """As it was: one page took the errors of tasks as they arrive, whatever the scenario averaged."""
    test = app(dataset="random_walk", k="6", n="5", repetitions="3", scenario="next_task")
    run = page_result(test)
    pages = dict(walk(test, run))
    assert contradictions(pages) == []
    pages["ess"] += " " + measured_sentence(run.seen_as("continual"))
    assert [line.partition(":")[0] for line in contradictions(pages)][:2] == ["error, single", "error, main"]
