"""What a change of a setting costs beside the run: settings built, files looked for, files of the project passed."""

import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from imrc import IMRCSettings, RunSettings
from pages.shell import state
from tests.app.conftest import ROOT

SETTINGS = {RunSettings.__post_init__.__code__: "runs", IMRCSettings.__post_init__.__code__: "learners"}


@pytest.fixture
def counted():
    """Count calls while something runs, in every thread: of `SETTINGS`, of functions by file."""
    calls: Counter[str] = Counter()

    def note(frame, event, _argument) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith((f"{ROOT}/imrc/", f"{ROOT}/pages/", f"{ROOT}/app.py")):
            calls[code.co_filename] += 1
            calls[SETTINGS.get(code, code.co_name)] += 1

    def count(act) -> Counter[str]:
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            act()
        finally:
            threading.setprofile(None)
            sys.setprofile(None)
        return calls

    return count


def test_a_change_builds_few_settings_looks_for_few_files_and_passes_few_files(app, counted, monkeypatch):
    test = app(dataset="random_walk", k="6", n="5", repetitions="2")
    looked, is_file = [], Path.is_file
    # Streamlit looks for the scripts of the pages.
    monkeypatch.setattr(Path, "is_file", lambda path: (path.suffix != ".py" and looked.append(path)) or is_file(path))
    state.here.clear()
    test.number_input(key="n").set_value(7)  # with its run: smaller b and k are in the one before
    calls = counted(test.run)
    assert test.session_state["visit"].choice.settings.n == 7
    assert calls["runs"] <= 3
    assert calls["learners"] <= 3
    assert len(looked) <= 50  # at most once for every file of every dataset, and not again with the next click
    assert len([name for name in calls if name.endswith(".py")]) <= 45
    looked.clear()
    test.run()
    assert len(looked) <= 3
