"""What is kept for all visitors: bounded by bytes, safe for many threads, made once; and the upkeep of the server."""

import gc
import threading
import time
import weakref

import numpy as np
import pandas as pd
import pytest

import imrc
from pages.ui import assessing, data, drawings, running, upkeep
from pages.ui.keeping import KEEP_BYTES, Budget, OneLarge, Store, server_budget, size_in_memory


def sized(limit: int) -> Store[str, str]:
    return Store(limit, len)


def test_the_least_recently_used_go_first():
    store = sized(300)
    for name in "abcde":
        store.put(name, name * 100)
    assert len(store) == 3
    assert store.size == 300
    assert store.get("b") is None
    assert store.get("c") == "c" * 100  # used: the next to go is another
    store.put("f", "f" * 200)
    assert store.get("d") is None
    assert store.get("c") is not None
    assert store.size == 300


def test_the_newest_stays_even_if_it_is_too_large():
    store = sized(300)
    store.put("a", "a" * 100)
    store.put("b", "b" * 1000)
    assert store.get("a") is None
    assert store.get("b") is not None
    store.put("c", "c")
    assert store.get("b") is None
    assert store.size == len(store) == 1


def test_what_is_there_already_stays():
    store = sized(300)
    first = store.put("a", "x" * 10)
    assert store.put("a", "y" * 10) is first
    assert store.size == 10


def test_many_threads_keep_count():
    store: Store[int, str] = Store(500, len)

    def use(number: int) -> None:
        for i in range(300):
            key = (number * i) % 20
            store.put(key, "x" * (10 + key))
            kept = store.get(key)
            assert kept is None or len(kept) == 10 + key

    threads = [threading.Thread(target=use, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = [value for key in range(20) if (value := store.get(key)) is not None]
    assert store.size == sum(map(len, kept)) <= 500
    assert len(kept) == len(store)


def test_several_who_ask_at_once_get_one_value_made_once():
    store, made, got = sized(300), [], []

    def make() -> str:
        made.append(1)
        time.sleep(0.1)
        return "value"

    threads = [threading.Thread(target=lambda: got.append(store.get_or_make("a", make))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert got == ["value"] * 5


def test_a_failure_is_not_kept_and_blocks_nobody():
    store = sized(300)

    def fail() -> str:
        raise RuntimeError("no")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="no"):
            store.get_or_make("a", fail)
    assert store.get_or_make("a", lambda: "b") == "b"


def test_size_follows_what_values_hold():
    sequence = imrc.datasets.load("trend", tasks=4, seed=0)
    numbers = sum(task.X.nbytes + task.y.nbytes for task in sequence)
    assert numbers < size_in_memory(sequence) < 2 * numbers + 100_000
    frame = pd.DataFrame({"a": np.zeros(1000), "b": ["a long text that takes memory"] * 1000})
    assert size_in_memory([frame, frame]) > 8000 + 29_000
    assert size_in_memory([frame, frame]) < 1.1 * size_in_memory(frame)

    class Slotted:
        __slots__ = ("values",)

    slotted = Slotted()
    slotted.values = np.zeros(1000)
    assert size_in_memory(slotted) > 8000


def test_freezing_can_be_switched_off(monkeypatch):
    monkeypatch.setenv(upkeep.SWITCH, "0")
    monkeypatch.setattr(upkeep, "_settled", 0)
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("froze"))
    upkeep.settle()


def test_what_visitors_leave_behind_is_still_collected_when_libraries_are_not():
    class Left:
        pass

    try:
        upkeep.settle()
        left = Left()
        left.itself = left
        gone = weakref.ref(left)
        upkeep.settle()
        del left
        gc.collect()
        assert gone() is None
    finally:
        gc.unfreeze()


def test_stores_of_one_budget_share_it():
    budget = Budget(300)
    names: Store[str, str] = Store(budget, len)
    others: Store[str, str] = Store(budget, len)
    names.put("a", "a" * 100)
    others.put("a", "b" * 150)
    assert (names.get("a"), others.get("a")) == ("a" * 100, "b" * 150)
    others.put("c", "c" * 100)  # what was used least recently goes, whichever store it is in
    assert (len(names), len(others)) == (0, 2)
    assert budget.size == names.size + others.size == 250


def test_all_stores_of_a_server_share_one_budget(app):
    app(dataset="identical", k="4", n="5", b="1", repetitions="2")
    stores = [running.store(), drawings.store(), data._sequences(), assessing._assessments(), assessing._plug_ins()]
    assert sum(len(store) > 0 for store in stores) >= 3
    assert sum(store.size for store in stores) == server_budget().size <= KEEP_BYTES


def test_one_large_value_is_kept_while_it_is_used():
    made: list[str] = []

    def make(name: str):
        return lambda: (made.append(name), np.zeros(1000))[1]

    large: OneLarge[str, np.ndarray] = OneLarge(idle_s=0.3)
    first = large.get_or_make("a", make("a"))
    assert large.get_or_make("a", make("a")) is first
    gone = weakref.ref(first)
    del first
    large.get_or_make("b", make("b"))
    assert gone() is None
    gone = weakref.ref(large.get_or_make("b", make("b")))
    deadline = time.monotonic() + 10
    while gone() is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert gone() is None  # nobody used it
    assert made == ["a", "b"]


def test_a_large_value_that_cannot_be_made_blocks_nobody():
    large: OneLarge[str, str] = OneLarge(idle_s=60)
    with pytest.raises(RuntimeError):
        large.get_or_make("a", lambda: (_ for _ in ()).throw(RuntimeError("no")))
    assert large.get_or_make("a", lambda: "value") == "value"
    large.drop()


def test_after_a_page_memory_goes_back_and_what_was_kept_out_is_searched(monkeypatch):
    class Session:
        pass

    session = Session()
    session.itself = session
    gone = weakref.ref(session)
    given_back = threading.Event()
    monkeypatch.setattr(upkeep, "_GIVE_BACK_S", 0.05)
    monkeypatch.setattr(upkeep, "_SEARCH_S", 0.0)
    monkeypatch.setattr(upkeep, "_searched", 0.0)
    monkeypatch.setattr(upkeep, "_waiting", threading.Lock())
    monkeypatch.setattr(upkeep, "_settled", 0)
    monkeypatch.setattr(upkeep, "give_back", given_back.set)
    upkeep.settle()  # the session is there while libraries are loaded
    del session
    assert given_back.wait(30)
    assert gone() is None
    # One timer at a time, and one again after the next page.
    given_back.clear()
    before = threading.active_count()
    monkeypatch.setattr(upkeep, "_GIVE_BACK_S", 0.5)
    for _ in range(5):
        upkeep.settle()
    assert threading.active_count() <= before + 1
    assert given_back.wait(30)
