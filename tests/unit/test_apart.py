"""Files of strangers are read in a process of their own: same table, and no file ends or blocks anything else."""

import os

import numpy as np
import pytest

from imrc.datasets import DataError, open_table, open_upload, prepare_reading, sample_csv
from imrc.tables import _apart
from tests.unit.nasty_files import FRAME, million_rows, parquet, text

CSV = sample_csv(600)
pytestmark = pytest.mark.slow  # a process each


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


def test_a_file_that_keeps_a_processor_busy_ends_with_a_sentence():
    if os.name != "posix":
        pytest.skip("this system knows no limit on processor time")
    with pytest.raises(DataError, match=r"busy\.csv took longer than 1 seconds"):
        open_upload(b"a,b,c\n" + b"31.12.2020,1.234,yes\n" * 1_900_000, name="busy.csv", seconds=1)


def test_a_process_that_died_while_it_waited_is_replaced():
    prepare_reading()
    _apart._spare.kill()
    _apart._spare.wait()
    assert open_upload(CSV, name="a.csv").n_rows == 600
