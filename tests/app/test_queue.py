"""Large runs wait for a click or are refused; runs of many visitors wait for each other."""

import threading
import time

import pytest

from pages.ui import assessing, comparing, queue, running
from pages.ui.queue import Line
from tests.app.conftest import texts

LARGEST = {
    "dataset": "random_walk", "k": "2000", "n": "1", "b": "1999", "repetitions": "200", "features": "rff",
    "frequencies": "1000",
}  # fmt: skip
SMALL = {"dataset": "identical", "k": "4", "n": "5", "b": "1", "repetitions": "2"}


def test_a_link_to_a_run_that_is_far_too_large_runs_nothing(app, monkeypatch):
    monkeypatch.setattr(running, "iter_run", lambda *_, **__: pytest.fail("a run was started"))
    test = app(**LARGEST)
    assert not test.exception
    (message,) = [error.value for error in test.error]
    assert "too large for this server" in message
    assert "GB of memory" in message
    assert "Fewer repetitions or tasks k" in message
    assert not [button for button in test.button if button.label == "Start this run"]


def test_a_link_to_a_comparison_that_is_far_too_large_runs_nothing(app, monkeypatch):
    monkeypatch.setenv(queue.LIMIT, "0.0001,2")
    monkeypatch.setattr(comparing, "iter_run", lambda *_, **__: pytest.fail("a run was started"))
    test = app(**SMALL)
    test = test.switch_page("pages/views/compare.py").run()
    assert not test.exception
    assert len([error for error in test.error if "too large for this server" in error.value]) == 1


def test_a_diagnosis_that_is_far_too_large_is_not_begun(app, monkeypatch):
    monkeypatch.setenv(queue.LIMIT, "0.00001,2")
    monkeypatch.setattr(assessing, "assess", lambda *_, **__: pytest.fail("a diagnosis was begun"))
    test = app(**SMALL).switch_page("pages/views/evolving.py").run()
    assert not test.exception
    assert "This diagnosis is too large for this server" in texts(test)


def test_a_link_to_a_large_run_waits_for_a_click(app, monkeypatch):
    monkeypatch.setenv(queue.LIMIT, "0.002,2")
    started = []
    original = running.iter_run

    def counted(sequence, settings, **options):
        started.append(settings.preset)
        return original(sequence, settings, **options)

    monkeypatch.setattr(running, "iter_run", counted)
    test = app(**SMALL)
    assert not test.exception
    assert started == []
    assert "A large run is prepared" in texts(test)
    assert "of memory and 1 second" in texts(test)
    (start,) = [button for button in test.button if button.label == "Start this run"]
    start.click().run()
    assert started[0] == "recommended"
    assert "A large run is prepared" not in texts(test).partition("paper")[0]
    # Its result is kept: nobody is asked twice.
    before = len(started)
    test.run()
    assert len(started) == before


def test_a_usual_run_starts_by_itself(app, monkeypatch):
    started = []
    original = running.iter_run
    monkeypatch.setattr(running, "iter_run", lambda *a, **options: (started.append(a), original(*a, **options))[1])
    test = app(**SMALL)
    assert not test.exception
    assert started
    assert "A large run" not in texts(test)


class Runs:
    """Threads that hold a place in a line until they are told to leave."""

    def __init__(self, line: Line) -> None:
        self.line, self.inside, self.places, self.leave = line, [], {}, {}
        self.threads: list[threading.Thread] = []

    def start(self, name: str, visitor: str | None = None, size: float = 1.0) -> None:
        self.leave[name] = threading.Event()

        def run() -> None:
            with self.line.turn(visitor or name, size, lambda first: self.places.__setitem__(name, first)):
                self.places.pop(name, None)
                self.inside.append(name)
                self.leave[name].wait(20)
                self.inside.remove(name)

        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()
        self.until(lambda: name in self.inside or name in self.places)

    def end(self, name: str) -> None:
        self.leave[name].set()
        self.until(lambda: name not in self.inside)

    @staticmethod
    def until(what) -> None:
        deadline = time.monotonic() + 10
        while not what():
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def runs():
    made = Runs(Line(places=2, room=10.0))
    yield made
    for event in made.leave.values():
        event.set()
    for thread in made.threads:
        thread.join(5)


def test_no_more_run_than_there_are_places_and_the_first_comes_first(runs):
    for name in "abcd":
        runs.start(name)
    assert sorted(runs.inside) == ["a", "b"]
    assert runs.places == {"c": 2, "d": 3}
    runs.end("b")
    runs.until(lambda: "c" in runs.inside)
    runs.until(lambda: runs.places == {"d": 2})
    runs.end("a")
    runs.until(lambda: "d" in runs.inside)


def test_one_run_of_a_visitor_at_a_time(runs):
    runs.start("first", "ann")
    runs.start("second", "ann")
    runs.start("other", "bob")
    assert sorted(runs.inside) == ["first", "other"]
    runs.end("first")
    runs.until(lambda: "second" in runs.inside)


def test_runs_that_need_too_much_together_follow_one_another(runs):
    runs.start("large", size=8.0)
    runs.start("larger", size=9.0)
    runs.start("small")
    # The small one would fit, but then the larger one might never have its turn.
    assert runs.inside == ["large"]
    runs.end("large")
    runs.until(lambda: sorted(runs.inside) == ["larger", "small"])
    runs.start("huge", size=99.0)
    runs.end("larger")
    runs.end("small")
    runs.until(lambda: runs.inside == ["huge"])  # alone


def test_whoever_gives_up_waiting_leaves_the_line(runs):
    runs.start("a")
    runs.start("b")

    class GoneError(Exception):
        pass

    def gone(_first: int) -> None:
        raise GoneError

    with pytest.raises(GoneError), runs.line.turn("c", 1.0, gone):
        pytest.fail("there was no place")
    runs.start("d")
    assert runs.places == {"d": 2}


def test_a_failure_gives_the_place_back(runs):
    for _ in range(3):
        with pytest.raises(RuntimeError), runs.line.turn("a", 1.0, lambda _: pytest.fail("no place")):
            raise RuntimeError
