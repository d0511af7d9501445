"""What is kept for all visitors: bounded by bytes, safe for many threads, made once."""

import threading
import time

import pytest

from pages.shell import keeping
from pages.shell.keeping import Kept


@pytest.fixture(autouse=True)
def _small(nothing_kept, monkeypatch):
    monkeypatch.setattr(keeping, "KEEP_BYTES", 300)


def test_several_who_ask_at_once_get_one_value_made_once():
    texts, made, got = Kept("texts", len), [], []

    def make() -> str:
        made.append(1)
        time.sleep(0.1)
        return "value"

    threads = [threading.Thread(target=lambda: got.append(texts.get_or_make("a", make))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert got == ["value"] * 5


def test_a_failure_is_not_kept_and_blocks_nobody():
    texts = Kept("texts", len)

    def fail() -> str:
        raise RuntimeError("no")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="no"):
            texts.get_or_make("a", fail)
    assert texts.get_or_make("a", lambda: "b") == "b"


def test_values_of_all_kinds_share_one_budget():
    names, others = Kept("names", len), Kept("others", len)
    names.put("a", "a" * 100)
    others.put("a", "b" * 150)
    assert (others.get("a"), names.get("a")) == ("b" * 150, "a" * 100)
    others.put("c", "c" * 100)  # what was used least recently goes, whichever kind it is of and whenever it was made
    assert others.get("a") is None
    assert names.get("a") is not None
    assert keeping.memory().cache.currsize == 200


def test_all_that_a_server_keeps_is_within_one_budget(app, monkeypatch):
    monkeypatch.setattr(keeping, "KEEP_BYTES", 300_000)
    for seed in range(4):
        app(dataset="random_walk", k="4", n="5", b="1", repetitions="2", seed=str(seed))
    assert 0 < keeping.memory().cache.currsize <= 300_000
