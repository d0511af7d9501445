"""Progress on stderr: one line on a terminal, a few lines in a log."""

import io
import sys

import pytest

from imrc._progress import ProgressLine


@pytest.fixture
def clock(monkeypatch):
    """Let a test say how late it is."""
    now = [0.0]
    monkeypatch.setattr("imrc._progress.time.monotonic", lambda: now[0])
    return now


def test_a_log_gets_a_line_now_and_then_and_the_last_one(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressLine() as line:
        for task in range(1, 101):
            clock[0] = 0.5 * task
            line.show("spam", task, 100)
    assert sys.stderr.getvalue().split("\n") == [
        "spam, task 1 of 100",
        "spam, task 21 of 100, 38 s left",
        "spam, task 41 of 100, 29 s left",
        "spam, task 61 of 100, 19 s left",
        "spam, task 81 of 100, 9 s left",
        "spam, task 100 of 100",
        "",
    ]


def test_a_terminal_gets_one_line_that_fits_and_is_wiped_out(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    with ProgressLine() as line:
        for step in range(20):
            clock[0] = 0.03 * step
            line.show(f"a file with a name that is longer than the line, part {step}")
        line.say("Something to keep.")
        line.write("more", last=True)
    said = sys.stderr.getvalue()
    shown = [part for part in said.replace("\n", "\r").split("\r") if part.strip()]
    assert shown == ["a file with a name that is longer than "] * 5 + ["Something to keep.", "more"]
    assert said.count("\n") == 1
    assert said.endswith("\r    \r")
