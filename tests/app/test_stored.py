"""Results kept by ``imrc sweep``: shown without computing, never in the way."""

import errno
import shutil

import pytest

import imrc
from imrc.evaluation import RunSettings
from imrc.evaluation.significance import with_error
from imrc.paper import grid
from imrc.sweeps import ResultStore, SweepSpec, plan_sweep, run_sweep
from pages.shell import exporting, running
from tests.app.conftest import metrics, texts

RUN = {"n": 6, "b": 2, "W": 3, "preset": "paper", "features": "standardised", "seed": 4, "repetitions": 3}
LINK = {name: str(value) for name, value in {"dataset": "random_walk", "k": 5, **RUN}.items()}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    spec = SweepSpec(
        datasets="random_walk", k=5, n=6, b=2, W=3, presets=("recommended", "paper"), features="standardised", seeds=4,
        repetitions=3, methods=("imrc", "majority"),
    )  # fmt: skip
    with ResultStore(path, create=True) as store:
        run_sweep(plan_sweep(spec, store), store)
    return path


@pytest.fixture
def kept(swept, tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("IMRC_STORE", str(path))
    shutil.copy(swept, path)
    return path


@pytest.mark.usefixtures("kept")
def test_a_stored_run_shows_at_once_and_equals_the_computed_one(app, monkeypatch):
    compute = running._compute

    def compute_references(key, sequence, settings, *rest, **more):
        assert settings.methods != ("imrc",), "computed again"
        return compute(key, sequence, settings, *rest, **more)

    monkeypatch.setattr(running, "_compute", compute_references)
    sequence = imrc.datasets.load("random_walk", tasks=5, seed=4)
    test = app(**LINK)
    for repetitions in (3, 2):  # fewer repetitions of the same run are there too
        test.number_input(key="repetitions").set_value(repetitions)
        test = test.run()
        expected = imrc.evaluate(sequence, **RUN | {"repetitions": repetitions}).headline()
        for rule, name in (("single", "alone"), ("forward", "forward"), ("forward_backward", "forward and backward")):
            assert metrics(test)[f"Error, {name}"] == with_error(expected[rule])


def test_what_comes_with_the_app_needs_no_run_until_more_than_errors_is_asked_for(app, monkeypatch):
    monkeypatch.setattr(running, "_compute", lambda *_, **__: pytest.fail("a run was started"))
    test, sequence = app(repetitions="2"), imrc.datasets.load("six_or_nine")
    for name, value in (("n", 6), ("b", 1), ("W", 3)):
        test.number_input(key=name).set_value(value).run()
    held = grid.run(sequence, RunSettings(n=6, W=3)).answering(RunSettings(n=6, b=1, W=3, repetitions=2), sequence)
    for rule, name in (("single", "alone"), ("forward_backward", "forward and backward")):
        assert metrics(test)[f"Error, {name}"] == with_error(held.headline()[rule])
    assert "These errors come with the app, computed by" in " ".join(one.proto.help for one in test.caption)
    monkeypatch.undo()
    assert "<html" in exporting._html(test.session_state["visit"].report[1], lambda: sequence)
    test.switch_page("pages/why_it_helps/page.py").run()
    assert "promise" in texts(test)


@pytest.mark.parametrize(
    "failure", [None, PermissionError(errno.EACCES, "Permission denied"), RuntimeError("no home directory")], ids=type
)
def test_a_store_that_is_broken_or_cannot_be_reached_changes_nothing(app, kept, monkeypatch, failure):
    """In a folder that may not be entered, which permissions would not keep from the superuser; and without a home."""

    def place() -> None:
        raise failure

    kept.write_text("not a database, " * 100)
    if failure is not None:
        monkeypatch.setattr(running, "default_store_path", place)
    test = app(**LINK)
    assert metrics(test)["Error, alone"]


def test_a_server_finds_the_solver_compiled_and_loads_it_without_another_process(nothing_kept, compiled, monkeypatch):
    monkeypatch.setattr("subprocess.run", None)
    running.compile_early()
    assert running.solver().done
