"""The report: one file that opens without a network, shows every chart, and trusts no name from a file."""

import html
import itertools
import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import imrc
from imrc.evaluation.significance import with_error
from imrc.report._write import page_of
from tests.app.test_accessibility import found_by_axe

NASTY = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&"


@pytest.fixture(scope="module")
def run():
    sequence = imrc.datasets.load("random_walk", tasks=6, seed=3)
    return sequence, imrc.evaluate(sequence, n=6, b=2, repetitions=2, seed=3)


@pytest.fixture(scope="module")
def nasty():
    """A visitor's table whose names of columns, classes and tasks all try to break out."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({NASTY: random.normal(size=120), "task": np.repeat([f"{NASTY}{j}" for j in range(6)], 20)})
    frame["label"] = np.where(random.random(120) < 0.5, NASTY, "plain")
    sequence = imrc.tasks_from(frame, target="label", by="task")
    return sequence, imrc.evaluate(sequence, n=4, repetitions=2)


def without_plotly(text: str) -> str:
    """Return the report without the library in its head."""
    return text[text.index("</head>") :]


def test_report_says_what_was_run_and_what_came_out(run, tmp_path):
    sequence, result = run
    file = imrc.Report(run=result, sequence=sequence).save(tmp_path / "report.html")
    text = file.read_text(encoding="utf-8")
    assert text.count("<!doctype html>") == 1
    assert "Measures of continual learning" in text
    body = without_plotly(text)
    for rule in ("single", "forward", "forward_backward"):
        assert with_error(result.headline()[rule]) in body
    for name, value in {"Samples per task n": 6, "Backward steps b": 2, "Seed": 3, "Repetitions": 2}.items():
        assert f'<th scope="row">{name}</th><td>{value}</td>' in body
    for words in (np.__version__, result.fingerprint, sequence.info["licence"], "Do the tasks evolve?"):
        assert words in body
    # plotly.js once, and as many charts as data for them.
    assert text.count("plotly.js v") == 1
    charts = re.findall(r'class="chart" id="([^"]+)"', body)
    assert len(charts) == len(set(charts)) >= 11
    for name in charts:
        assert body.count(f'id="{name}-drawn"') == 1
    assert page_of(imrc.Report(run=result), commands={"Command line": "imrc run <x>"}).count("imrc run &lt;x&gt;") == 1


def test_the_script_in_the_report_gives_its_numbers(run, capsys, tmp_path, monkeypatch):
    sequence, result = run
    report = imrc.Report(run=result, sequence=sequence)
    script, command = report.repeated_by("random_walk").values()
    text = html.unescape(without_plotly(page_of(report)))
    assert all(f"<pre>{one}</pre>" in text for one in (script, command))
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "report", "exec"), {})
    for headline in result.headline().values():
        assert with_error(headline) in capsys.readouterr().out or headline != result.headline()["single"]
    assert imrc.load("model.imrc").n_measured == 6


def test_another_sequence_is_refused(run):
    other = imrc.datasets.load("random_walk", tasks=6, seed=4)
    with pytest.raises(ValueError, match="fingerprints of the 6 tasks differ"):
        imrc.Report(run=run[1], sequence=other)


def test_runs_on_the_first_tasks_and_stopped_runs_have_a_report(tmp_path):
    sequence = imrc.datasets.load("random_walk", tasks=8, seed=3)
    settings = imrc.RunSettings(n=6, repetitions=2, seed=3)
    first = imrc.evaluate(sequence, k=5, n=6, repetitions=2, seed=3)
    steps = list(itertools.islice(imrc.iter_run(sequence, settings), 5))
    stopped = imrc.RunResult.from_steps(settings, sequence, steps)
    for result in (first, stopped):
        file = imrc.Report(run=result, sequence=sequence).save(tmp_path / "report.html")
        body = without_plotly(file.read_text(encoding="utf-8"))
        assert '<th scope="row">Tasks k</th><td>5</td>' in body
        # Size and diagnosis are those of the tasks the run covers.
        assert f"5 tasks, {int(sequence.sizes[:5].sum()):,} samples" in body
        assert "5 tasks, representation" in body
        assert with_error(result.headline()["forward_backward"]) in body
        assert result.fingerprint in body
    # Eight tasks walk elsewhere than five: what name and number would load is not what was run.
    assert imrc.datasets.load("random_walk", tasks=5, seed=3).fingerprint == first.fingerprint or "imrc run" not in body


def test_report_opens_offline(run, nasty, new_page, tmp_path):
    """With names that try to break out, and the code that only a built-in sequence has: all a report can hold."""
    sequence, result = nasty
    commands = imrc.Report(run=run[1], sequence=run[0]).repeated_by("random_walk")
    file = tmp_path / "report.html"
    file.write_text(page_of(imrc.Report(run=result, sequence=sequence), commands=commands), encoding="utf-8")
    page = new_page(1200, 900, offline=True)
    asked, problems, dialogs = [], [], []
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(file.as_uri())
    charts = page.locator(".chart")
    assert charts.count() >= 11
    assert page.locator("pre").count() == 2
    marks = ".trace path, .heatmaplayer image"
    for number in range(charts.count()):
        expect(charts.nth(number).locator(marks).first).to_be_attached()
    assert (asked, problems, dialogs) == ([file.as_uri()], [], [])
    assert found_by_axe(page) == []
    widths = "[...document.querySelectorAll('.chart > div > div > svg.main-svg')].map(svg => svg.clientWidth)"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    # What is wider than the paper is cut off on it.
    assert set(page.evaluate(widths)) == {675}
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    for drawing in page.locator(".chart > div > div > svg.main-svg").all():
        expect(drawing).not_to_have_attribute("width", "675")
    assert min(page.evaluate(widths)) > 900
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
