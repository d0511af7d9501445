"""Files of strangers are read in a process of their own: same table, and no file ends or blocks anything else."""

import os
import threading
import time

import numpy as np
import pytest

from imrc.datasets import DataError, open_table, open_upload, prepare_reading, sample_csv
from imrc.tables import _apart
from tests.unit.nasty_files import FRAME, million_rows, parquet, text

CSV = sample_csv(600)


def test_the_same_table_comes_back():
    for content, name in ((CSV, "pumps.csv"), (parquet(FRAME), "t.parquet"), (text("a;b\n1,5;ß\n2;x\n")(), "ä.csv")):
        here, there = open_table(content, name=name), open_upload(content, name=name)
        facts = ("name", "names", "n_rows", "format", "notes", "preview", "sha256")
        assert [getattr(here, fact) for fact in facts] == [getattr(there, fact) for fact in facts]
        for one, other in zip(here.columns, there.columns, strict=True):
            assert (one.kind, one.categories, one.distinct, one.missing, one.notes) == (
                (other.kind, other.categories, other.distinct, other.missing, other.notes)
            )
            assert one.values.dtype == other.values.dtype
            np.testing.assert_array_equal(one.values, other.values)


def test_messages_come_back():
    with pytest.raises(DataError, match="row 2 has 3 cells"):
        open_upload(b"x,y\n1,a\n2,b,c\n", name="a.csv")


def test_a_file_that_needs_more_memory_ends_with_a_sentence():
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("this system knows no limit on memory")
    with pytest.raises(DataError, match=r"big\.csv .*more than 40 MB of memory.*Keep fewer rows"):
        open_upload(million_rows(), name="big.csv", memory=40 << 20)
    assert open_upload(CSV, name="a.csv").n_rows == 600


def test_a_file_that_takes_too_long_ends_with_a_sentence_and_others_are_read_meanwhile(monkeypatch):
    # A process that never answers stands for a file that takes for ever.
    sleeping = [_apart.sys.executable, "-c", "import time; time.sleep(600)"]
    start, first = _apart.subprocess.Popen, []

    def popen(command, **options):
        if threading.current_thread() is not threading.main_thread():
            first.append(command)
            command = sleeping
        return start(command, **options)

    monkeypatch.setattr(_apart.subprocess, "Popen", popen)
    said = []

    def slow():
        try:
            open_upload(CSV, name="slow.csv", seconds=3)
        except DataError as error:
            said.append(str(error))

    thread = threading.Thread(target=slow)
    thread.start()
    begin = time.monotonic()
    while not first and time.monotonic() < begin + 20:
        time.sleep(0.01)
    assert open_upload(CSV, name="a.csv").n_rows == 600
    assert thread.is_alive()
    thread.join(30)
    assert said
    assert "slow.csv took longer than 3 seconds" in said[0]


def test_a_file_that_keeps_a_processor_busy_ends_with_a_sentence():
    if os.name != "posix":
        pytest.skip("this system knows no limit on processor time")
    with pytest.raises(DataError, match=r"busy\.csv took longer than 1 seconds"):
        open_upload(b"a,b,c\n" + b"31.12.2020,1.234,yes\n" * 1_900_000, name="busy.csv", seconds=1)


def test_a_process_that_dies_is_a_message_and_the_next_file_is_read():
    prepare_reading()
    _apart._spare.kill()
    _apart._spare.wait()
    assert open_upload(CSV, name="a.csv").n_rows == 600
    prepare_reading()
    waiting = _apart._spare
    prepare_reading()
    assert _apart._spare is waiting
    taken = []

    def dies(*arguments):
        taken.append(arguments[0])
        arguments[0].kill()
        return exchanged(*arguments)

    exchanged = _apart._exchanged
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_apart, "_exchanged", dies)
        with pytest.raises(DataError, match=r"a\.csv is damaged, or needs more"):
            open_upload(CSV, name="a.csv")
    assert taken == [waiting]
    assert waiting.returncode is not None
