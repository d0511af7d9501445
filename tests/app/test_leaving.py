"""Stop, closed tabs and failures on a real server: work ends, others go on."""

import time
from contextlib import ExitStack

import pytest

from imrc.solvers import cores
from tests.app.conftest import running_server
from tests.app.visitor import Visitor, visiting
from tests.benchmarks.visitors import study

LONG = {"dataset": "identical", "k": 60, "n": 100, "repetitions": 100, "preset": "paper", "features": "rff"}
FATAL_SEED, IDLE_SEED = 666, 1000
"""Agreed with `watched_server.py`: one fails, and those from the other on wait for a second at every step."""
SHORT = {"dataset": "identical", "k": 4, "n": 5, "repetitions": 2}
SECONDS = 3.0
"""How soon work must have ended: one step and a second, on a machine that does other things too."""

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def watched(compiled, tmp_path_factory):
    """Address of a server, and a function that returns what happened in the run with a seed: (second, what)."""
    log = tmp_path_factory.mktemp("server") / "runs.log"

    def happened(seed: int) -> list[tuple[float, str]]:
        lines = [line.split(" ", 2) for line in log.read_text().splitlines()] if log.exists() else []
        return [(float(at), what) for at, of, what in lines if int(of) == seed]

    with running_server("tests/app/watched_server.py", str(log), "run", "app.py") as url:
        with visiting(url, **SHORT) as first:
            first.see()  # loads the compiled solver
        yield url, happened


def under_way(visitor: Visitor) -> bool:
    return "Stop" in visitor.buttons


def wait_for_end(happened, seed: int) -> float:
    """Return when the run ended; fails if it does not."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if ends := [at for at, what in happened(seed) if what == "end"]:
            return ends[-1]
        time.sleep(0.05)
    raise AssertionError(f"still running: {happened(seed)[-1]}")


def test_closing_the_tab_ends_the_run(watched):
    url, happened = watched
    visitor = Visitor(url, **LONG, seed=1)
    visitor.send()
    visitor.receive(until=under_way)
    left = time.monotonic()
    visitor.close()
    assert wait_for_end(happened, 1) - left < SECONDS
    steps = len(happened(1))
    assert "done" not in [what for _, what in happened(1)]
    time.sleep(1.0)
    assert len(happened(1)) == steps  # and nothing goes on in secret


def test_stop_ends_the_run_and_shows_what_was_reached(watched):
    url, happened = watched
    with visiting(url, **{**LONG, "repetitions": 10}, seed=2) as visitor:
        visitor.send()
        visitor.receive(until=lambda visitor: under_way(visitor) and any("step" in what for _, what in happened(2)))
        pressed = time.monotonic()
        visitor.see("Stop")
        assert wait_for_end(happened, 2) - pressed < SECONDS
        assert "Stopped after" in visitor.alerts
        assert visitor.metrics["Error, forward"]


def test_a_new_run_ends_the_old_one(watched):
    url, happened = watched
    with visiting(url, **LONG, seed=3) as visitor:
        visitor.send()
        visitor.receive(until=under_way)
        pressed = time.monotonic()
        visitor.see("Run", **{"Tasks k": 3, "Seed": 4, "Repetitions": 1, "Samples n": 4})
        assert wait_for_end(happened, 3) - pressed < SECONDS
        assert visitor.link["seed"] == "4"
        assert visitor.metrics["Error, forward"]


def waits(visitor: Visitor) -> bool:
    return "Other runs are using all cores" in visitor.alerts


def test_no_more_run_than_there_are_places_and_whoever_leaves_makes_room(watched):
    url, happened = watched
    idle, seeds = {**LONG, "n": 5, "repetitions": 1}, range(IDLE_SEED, IDLE_SEED + cores())
    with ExitStack() as stack:
        first, *others = (stack.enter_context(visiting(url, **idle, seed=seed)) for seed in seeds)
        for visitor in (first, *others):
            visitor.send()
            visitor.receive(until=under_way)
        assert "end" not in [what for seed in seeds for _, what in happened(seed)]  # all at once
        # Two more come; one leaves before its turn and is not waited for.
        gone, last = (stack.enter_context(visiting(url, **idle, seed=seed)) for seed in (8000, 9000))
        for visitor in (gone, last):
            visitor.send()
            visitor.receive(until=waits)
        # What is kept is there for everybody meanwhile.
        stack.enter_context(visiting(url, **SHORT)).see(seconds=20)
        gone.close()
        first.close()
        last.receive(until=under_way)
        assert happened(8000) == []


def test_a_failure_shows_a_way_on_and_leaves_others_alone(watched):
    url, happened = watched
    with visiting(url, **SHORT, seed=8) as other, visiting(url, **SHORT, seed=FATAL_SEED) as unlucky:
        other.see()
        before = other.metrics
        unlucky.see()
        assert wait_for_end(happened, FATAL_SEED)
        assert "Something went wrong here" in unlucky.alerts
        # What failed, but nothing about this machine, and not a second time in the server's own words.
        assert "RuntimeError" in unlucky.alerts
        assert "/secret" not in unlucky.alerts
        assert unlucky.failures == []
        other.see("Run", **{"Seed": 9.0})
        assert other.metrics
        other.see("Run", **{"Seed": 8.0})
        assert other.metrics == before
        # Once more gives the same; starting over gives the default view.
        unlucky.see("Try again")
        assert "Something went wrong here" in unlucky.alerts
        unlucky.see("Start over")
        assert unlucky.failures == []
        assert "Something went wrong" not in unlucky.alerts
        assert unlucky.link == {}
        assert unlucky.metrics["Error, forward"]


@pytest.mark.first
@pytest.mark.timeout(180)
@pytest.mark.usefixtures("compiled")
def test_six_visitors_at_once_meet_no_error_and_only_their_own_numbers():
    """The long version is `tests/benchmarks/visitors.py`."""
    report = study(visitors=6, seconds=60, think=0.5, settings=3, turns=4)
    assert report.problems == []
    assert min(len(report.cached), len(report.fresh)) >= 6  # they did something, old and new
    assert max(megabytes for _, megabytes in report.memory_mb) < 1000
