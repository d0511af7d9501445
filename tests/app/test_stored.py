"""Results kept by ``imrc sweep``: shown without computing, never in the way."""

import errno
import shutil

import pytest

import imrc
from imrc.evaluation.significance import with_error
from imrc.sweeps import ResultStore, SweepSpec, plan_sweep, run_sweep
from pages.shell import running
from tests.app.conftest import metrics

RUN = {"n": 6, "b": 2, "W": 3, "preset": "paper", "features": "standardised", "seed": 4, "repetitions": 3}
LINK = {name: str(value) for name, value in {"dataset": "random_walk", "k": 5, **RUN}.items()}


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
        assert not test.exception
        expected = imrc.evaluate(sequence, **RUN | {"repetitions": repetitions}).headline()
        for rule, name in (("single", "alone"), ("forward", "forward"), ("forward_backward", "forward and backward")):
            assert metrics(test)[f"Error, {name}"] == with_error(expected[rule])


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
    assert not test.exception
    assert metrics(test)["Error, alone"]
