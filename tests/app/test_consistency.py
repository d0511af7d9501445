"""One truth per quantity: what a visitor reads twice is the same number, and the same verdict, on every page.

Pages are read as they are written, without their charts, for twenty sequences and settings. What a page says about a
quantity is found by how it says it, so a page that says something else, or in other numbers, is found out.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest
from streamlit.testing.v1 import AppTest

from imrc import datasets
from imrc.cli import main
from imrc.evaluation import effective_samples
from imrc.evaluation.comparison import imrc_key, title_of_method
from imrc.evaluation.words import samples_text, with_error
from pages.ui import charts
from tests.app.conftest import texts
from tests.app.test_copies import page_result

VIEWS = {name: f"pages/views/{name}.py" for name in ("explore", "ess", "evolving", "compare")}
RULES = {"single": "single task", "forward": "forward", "forward_backward": "forward and backward"}
KINDS = (
    "abrupt", "identical", "independent", "mean_reverting", "periodic", "random_walk", "trend", "rotated_digits",
)  # fmt: skip
VARIANTS: tuple[dict[str, str], ...] = (
    {"k": "6", "n": "5", "b": "1", "repetitions": "3"},
    {"k": "8", "n": "10", "preset": "paper", "repetitions": "3"},
    {"k": "5", "n": "20", "b": "2", "seed": "1", "repetitions": "4"},
    {"k": "12", "n": "8", "repetitions": "2"},
)
REAL = ("usenet1", "usenet2", "german", "power_supply")
REAL_VARIANTS = (
    {"k": "3", "n": "10", "b": "1", "repetitions": "3"},
    {"k": "3", "n": "30", "b": "2", "preset": "paper"},
)
# Every other pair, so that each sequence has two of the variants and each variant half of the sequences.
CASES = [{"dataset": kind, **variant} for i, kind in enumerate(KINDS) for variant in VARIANTS[i % 2 :: 2]] + [
    {"dataset": name, "repetitions": "3", **REAL_VARIANTS[i % 2]} for i, name in enumerate(REAL)
]

_ERROR = r"(\.\d{3} ± \.\d{3})"
_FACTS: tuple[tuple[str, str], ...] = (
    ("effective samples", r"worth ([\d,.]+) samples instead of"),
    ("effective samples", r"worth its own (\d+) samples"),
    ("effective samples", r"this run: ([\d,.]+) samples"),
    ("effective samples", r"Effective samples: ([\d,.]+)"),
    ("effective samples", r"run reached, ([\d,.]+\d)"),
    ("verdict", r"Verdict on the page \*(?:Is it e|E)volving\?\*: \**(.+?)\**\.(?= |$)"),
    ("verdict", r"\(Verdict: \*\*([^*]+)\*\*"),
    ("error, forward and backward", rf"\({_ERROR} against"),
    ("error, single task", rf"against {_ERROR}(?: for each task alone|\))"),
    ("error, single task", rf"Each task alone \*\*{_ERROR}"),
    ("error, forward", rf"(?:^|· )Forward \*\*{_ERROR}"),
    ("error, forward and backward", rf"(?:^|· )Forward and backward \*\*{_ERROR}"),
    ("size of the change", r"n d² / σ² (?:=|is) ([\d.,e-]*\d)"),
    ("n", r"(?:At|With) n = (\d+)(?:,| samples)"),
)
_CLEAR = (
    ("fewer", r"\d % fewer errors"),
    (
        "fewer",
        r"learning forward and backward (?:makes|does).{0,60}? fewer errors in 100 than learning each task alone",
    ),
    ("more", r"\d % more errors"),
    ("unclear", r"no clear difference\*{0,2} (?:\(|to learning each task alone)"),
)


def facts(pages: Mapping[str, str]) -> dict[str, dict[str, set[str]]]:
    """Return what pages say: quantity, then page, then all values found there."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for page, text in pages.items():
        for quantity, pattern in _FACTS:
            for value in re.findall(pattern, text):
                # A task that borrows nothing is worth "10" samples in one place and "10.0" in another.
                found[quantity][page].add(re.sub(r"\.0$", "", value.strip()))
        # A comparison of presets beside the result is about other runs.
        for answer, pattern in _CLEAR:
            if re.search(pattern, text):
                found["forward and backward against single task"][page].add(answer)
    return found


def contradictions(pages: Mapping[str, str]) -> list[str]:
    """Return each quantity of which two values are said."""
    return [
        f"{quantity}: { ({page: sorted(values) for page, values in said.items()}) }"
        for quantity, said in facts(pages).items()
        if len(set().union(*said.values())) > 1
    ]


def read(test: AppTest) -> str:
    """Return what a page says, cards included."""
    cards = " ".join(f"{card.label}: {card.value}" for card in test.metric)
    for rule, name in RULES.items():
        cards = cards.replace(
            f"Error, {name}: ", {"single": "Each task alone **"}.get(rule, f"· {name.capitalize()} **")
        )
    return re.sub(r"\s+", " ", f"{texts(test)} {cards}")


def rows(test: AppTest, preset: str) -> str:
    """Return what the table of the comparison says about IMRC's rules, in the words of the other pages."""
    table = next(frame.value for frame in test.dataframe if "Against reference" in frame.value).set_index("Method")
    said = []
    for rule in RULES:
        error = table.loc[title_of_method(imrc_key(preset, rule)), "Error"]
        said.append({"single": "Each task alone **"}.get(rule, f"· {RULES[rule].capitalize()} **") + error)
    verdict = table.loc[title_of_method(imrc_key(preset, "single")), "Against reference"]
    # What is worse than the reference is what the reference improves on.
    said.append(
        {"worse": "1 % fewer errors", "better": "1 % more errors", "no clear difference": "no clear difference ("}[
            verdict
        ]
    )
    return " ".join(said)


def walk(test: AppTest, preset: str) -> Iterator[tuple[str, str]]:
    """Open every page that speaks about the run; yield its name and what it says."""
    yield "explore", read(test)
    for name in ("ess", "evolving"):
        test = test.switch_page(VIEWS[name]).run()
        assert not test.exception, name
        yield name, read(test)
    test.session_state["compare_methods"] = ["majority"]
    test.session_state["compare_reference"] = imrc_key(preset)
    test = test.switch_page(VIEWS["compare"]).run()
    assert not test.exception
    yield "compare", rows(test, preset)


@pytest.fixture
def without_charts(monkeypatch) -> None:
    """Drawing takes most of the time of a page."""
    monkeypatch.setattr(charts, "show", lambda *_, **__: None)


def present(case: Mapping[str, str]) -> bool:
    return case["dataset"] in KINDS or datasets.status(case["dataset"]).loadable


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case.values()))
@pytest.mark.usefixtures("without_charts")
def test_pages_agree(app, case, capsys):
    if not present(case):
        pytest.skip(f"{case['dataset']} is not on this computer")
    test = app(**case)
    assert not test.exception
    run = page_result(test)
    pages = dict(walk(test, run.settings.preset))
    assert contradictions(pages) == []
    # Nothing agrees with nothing: each quantity is really said on several pages, as it is in the run.
    found = facts(pages)
    assert len(found["forward and backward against single task"]) >= 2
    for rule, name in RULES.items():
        said = found[f"error, {name}"]
        assert len(said) >= 2, name
        assert set().union(*said.values()) == {with_error(run.headline()[rule])}
    assert f"{effective_samples(run).mean:,.1f}".removesuffix(".0") in found["effective samples"]["ess"]
    assert {"ess", "evolving"} <= set(found["verdict"])
    if case["k"] == "6":
        words = ["-k", case["k"], "-n", case["n"], "-b", case["b"], "--repetitions", case["repetitions"]]
        capsys.readouterr()
        assert main(["run", case["dataset"], *words]) == 0
        # Columns of a terminal keep the zero that texts leave out.
        printed = re.sub(r"\b0\.(?=\d{3})", ".", capsys.readouterr().out)
        assert with_error(run.headline()["forward_backward"]) in printed
        assert samples_text(effective_samples(run)) in printed


PLANTED = {
    "effective samples": ("each task is worth 22.1 samples instead of 10", "this run: 31.4 samples, mean"),
    "verdict": ("Verdict on the page *Evolving?*: trend.", "seen. (Verdict: **evolving**.)"),
    "error, single task": ("(.324 ± .009 against .410 ± .008)", "Each task alone **.417 ± .013**"),
    "forward and backward against single task": ("**17 % fewer errors**", "**no clear difference** (.330"),
}


@pytest.mark.parametrize("quantity", PLANTED)
def test_contradictions_are_found(quantity):
    first, second = PLANTED[quantity]
    assert contradictions({"explore": first, "ess": first}) == []
    found = contradictions({"explore": first, "ess": second})
    assert [line.partition(":")[0] for line in found] == [quantity]


@pytest.mark.usefixtures("without_charts")
def test_a_page_with_another_estimate_is_found_out(app, monkeypatch):
    """As it was: the page of effective samples took the change from all samples, the first page from the run."""
    from dataclasses import replace

    def other(run, *rule):
        found = effective_samples(run, *rule)
        return replace(found, mean=1.5 * found.mean)

    monkeypatch.setattr("imrc.evaluation.promises.effective_samples", other)
    test = app(dataset="random_walk", k="6", n="5", repetitions="3")
    said = dict(walk(test, "recommended"))
    said["chart"] = f"this run: {effective_samples(page_result(test)).mean:,.1f} samples"
    assert any(line.startswith("effective samples") for line in contradictions(said))
