"""Copy as Python and Copy as command repeat the numbers of the page exactly, for every control."""

import contextlib
import io
import json
import math
import shlex

import pytest

import imrc
from imrc.cli import main
from imrc.evaluation import effective_samples
from pages.shell.running import kept_runs
from pages.shell.state import key_of

SMALL = {"dataset": "random_walk", "k": "5", "n": "6", "repetitions": "2"}


def page_result(test):
    visit = test.session_state["visit"]
    settings = visit.choice.settings
    found = kept_runs.get(key_of(visit.sequence(), settings))
    return found if found.settings == settings else found.seen_as(settings.scenario)


def copies(test):
    code = {block.language: block.value for block in test.main.code}
    return code["python"], code["bash"]


def same_everywhere(test, capsys, folder):
    result = page_result(test)
    python, command = copies(test)
    namespace: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(folder):
        exec(compile(python, "copied", "exec"), namespace)
    copied = namespace["report"].run
    assert copied.headline() == result.headline()
    for rule in result.error_tables:
        assert (copied.per_repetition(rule) == result.per_repetition(rule)).all()
    words = shlex.split(command)
    assert words[0] == "imrc"
    capsys.readouterr()
    assert main([*words[1:], "--json"]) == 0
    rows = {row["rule"]: row for row in json.loads(capsys.readouterr().out)["rules"]}
    for kind in ("average", "newest", "lag"):
        for rule, headline in result.headline(kind).items():
            assert rows[rule][f"error_{kind}"] == headline.mean
            assert rows[rule][f"stderr_{kind}"] == headline.stderr
    for rule in rows:
        ess = effective_samples(result, rule).mean
        assert rows[rule]["ess"] == (None if math.isnan(ess) else ess)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"n": "9", "k": "4", "b": "1", "W": "4", "seed": "7", "repetitions": "3"},
        {"loss": "0-1", "features": "standardised"},
        {"dataset": "trend", "k": "6", "n": "20", "scenario": "next_task"},
        {"loss": "0-1", "b": "1"},
        {"preset": "paper", "features": "rff", "frequencies": "37", "sigma2": "0.7"},
        {"preset": "paper", "features": "rff_median", "frequencies": "20"},
        {"dataset": "rotated_digits", "k": "6", "n": "5", "seed": "3"},
    ],
    ids=lambda changes: ", ".join(f"{name}={value}" for name, value in changes.items()) or "defaults",
)
def test_copies_repeat_the_page(app, capsys, tmp_path, changes):
    same_everywhere(app(**{**SMALL, **changes}), capsys, tmp_path)


def test_copies_of_a_published_dataset(app, capsys, tmp_path, real_data):
    same_everywhere(app(dataset="german", n="10", repetitions="2", preset="paper", features="paper"), capsys, tmp_path)


def test_copies_of_a_file_of_ones_own(app, capsys, tmp_path, monkeypatch):
    test = app(**SMALL).switch_page("pages/your_data/page.py").run()
    test.button(key="own_sample").click().run()
    test.multiselect(key="own_exclude").set_value(["flow"]).run()
    test.button(key="own_use").click().run()
    test = test.switch_page("pages/result/page.py").run()
    # The copied code names the file, as it lies in the visitor's own folder.
    (tmp_path / "pumps.csv").write_bytes(imrc.datasets.sample_csv())
    monkeypatch.chdir(tmp_path)
    assert "--target state --by date" in copies(test)[1]
    same_everywhere(test, capsys, tmp_path)
