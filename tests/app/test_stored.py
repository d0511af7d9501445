"""Results kept by ``imrc sweep`` on the Explore page: listed, shown without computing, never in the way."""

import errno
import shutil

import pytest

import imrc
from imrc.evaluation.significance import with_error
from imrc.sweeps import ResultStore, SweepSpec, plan_sweep, run_sweep
from pages.shell import running
from tests.app.conftest import link, metrics, texts


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    spec = SweepSpec(
        datasets="random_walk", k=5, n=6, b=2, W=3, presets=("recommended", "paper"), features="standardised", seeds=4,
        repetitions=3, methods=("imrc", "majority"),
    )  # fmt: skip
    with ResultStore(path) as store:
        run_sweep(plan_sweep(spec, store), store)
    return path


@pytest.fixture
def kept(swept, tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("IMRC_STORE", str(path))
    shutil.copy(swept, path)
    return path


def picker(test):
    return [box for box in test.selectbox if box.key == "stored_run"]


def test_a_stored_run_shows_at_once_and_equals_the_computed_one(app, kept, monkeypatch):
    test = app(dataset="identical", k="4", n="5")
    (box,) = picker(test)
    assert len(box.options) == 2  # the compared method has no page of its own
    (paper,) = [option for option in box.options if "paper" in option]
    assert paper.startswith(
        "Drifting means (random walk): n = 6 · k = 5 · b = 2 · W = 3 · As in the paper · Standardised inputs"
    )
    assert paper.endswith("seed 4, 3 repetitions")

    compute = running._compute

    def compute_references(key, sequence, settings, until, *, beside):
        assert settings.methods != ("imrc",), "computed again"
        return compute(key, sequence, settings, until, beside=beside)

    monkeypatch.setattr(running, "_compute", compute_references)
    test = box.set_value(paper).run()
    assert not test.exception
    sequence = imrc.datasets.load("random_walk", tasks=5, seed=4)
    expected = imrc.evaluate(
        sequence, n=6, b=2, W=3, preset="paper", features="standardised", seed=4, repetitions=3
    ).headline()
    assert metrics(test)["Error, alone"] == with_error(expected["single"])
    assert metrics(test)["Error, forward and backward"] == with_error(expected["forward_backward"])
    query = link(test)
    set_to = {"dataset": "random_walk", "features": "standardised", "preset": "paper"}
    set_to |= {"n": "6", "k": "5", "b": "2", "W": "3", "seed": "4", "repetitions": "3"}
    assert {name: query[name] for name in set_to} == set_to
    assert test.number_input(key="n").value == 6
    assert picker(test)[0].value is None
    # Fewer repetitions of the same run are there too.
    test.number_input(key="repetitions").set_value(2)
    test = test.run()
    assert not test.exception
    fewer = imrc.evaluate(sequence, n=6, b=2, W=3, preset="paper", features="standardised", seed=4, repetitions=2)
    assert metrics(test)["Error, forward"] == with_error(fewer.headline()["forward"])


def test_data_that_changed_are_computed_anew_and_it_says_so(app, kept):
    with ResultStore(kept) as store:
        store._execute("UPDATE cells SET fingerprint = 'earlier'")
    test = app(dataset="identical", k="4", n="5")
    test = picker(test)[0].set_value(picker(test)[0].options[0]).run()
    assert not test.exception
    assert "differ from those of the stored result, so it was computed again" in texts(test)


def test_without_a_store_there_is_no_list(app, tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_STORE", str(tmp_path / "none.sqlite"))
    test = app(dataset="identical", k="4", n="5")
    assert not test.exception
    assert picker(test) == []
    assert not test.warning
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize("settings", ["{", "[]", "null", '{"n": 5}', '{"n": "x", "features": {}}', None])
def test_a_broken_store_is_one_line_and_the_page_is_there(app, kept, settings):
    if settings is None:
        kept.write_text("not a database, " * 100)
    else:
        with ResultStore(kept) as store:
            store._execute("UPDATE cells SET settings = ? WHERE preset = 'paper'", (settings,))
    test = app(dataset="identical", k="4", n="5")
    assert not test.exception
    assert metrics(test)["Error, alone"]
    (warning,) = test.warning
    assert "Stored results cannot be listed." in warning.value
    assert ("it is not a results store" if settings is None else "is damaged") in warning.value
    assert "\n" not in warning.value


@pytest.mark.parametrize(
    "failure", [PermissionError(errno.EACCES, "Permission denied"), RuntimeError("no home directory")], ids=type
)
def test_a_store_that_cannot_be_reached_hides_nothing(app, monkeypatch, failure):
    """In a folder that may not be entered, which permissions would not keep from the superuser; and without a home."""

    def place() -> None:
        raise failure

    monkeypatch.setattr(running, "default_store_path", place)
    test = app(dataset="identical", k="4", n="5")
    assert not test.exception
    assert str(failure) in texts(test).replace("\\", "")
    assert metrics(test)
