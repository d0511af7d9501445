"""Whatever bytes come in: a table, or a message for people; never another exception."""

import gzip
import io
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imrc.datasets import DataError, cut_table, suggest
from imrc.datasets._features import read_idx, read_mat, read_npz
from imrc.features import make
from imrc.tables.read import read_bytes
from imrc.tables.table import Reading, clean_name, unique_names

QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
CELL = st.one_of(
    st.text(max_size=12),
    st.integers(-1000, 1000).map(str),
    st.floats(allow_nan=True).map(str),
    st.sampled_from(["", "NA", "1,5", '"', "2020-01-31", "31.12.2020", "=1", "true", "1e400", "0x1F", "½", "\x1a"]),
)


def readable(error: DataError) -> None:
    assert 10 < len(str(error)) < 1500


def try_all(data: bytes, *, cutting: bool = True) -> None:
    try:
        table = read_bytes(data, "any.csv", Reading())
    except DataError as error:
        readable(error)
        return
    suggestion = suggest(table)
    for label in {suggestion.label or table.names[0], table.names[-1]} if cutting else ():
        for way in ({"block": 3}, {"task": table.names[0]}):
            try:
                cut = cut_table(table, label=label, **way)
            except DataError as error:
                readable(error)
            else:
                features = make("identity", cut.sequence)
                assert all(np.isfinite(features.transform(task.X)).all() for task in cut.sequence)


@QUICK
@given(st.binary(max_size=300))
def test_random_bytes(data):
    try_all(data)


@QUICK
@given(st.text(alphabet="01,;\t|\"' \n\r.ax@%{}-:", max_size=200))
def test_text_made_of_separators(text):
    try_all(text.encode())


@QUICK
@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=25), st.sampled_from(",;\t"))
def test_tables_of_strange_cells(rows, separator):
    lines = [separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [["a", "b", "y"], *rows]]
    data = "\n".join(lines).encode("utf-8", errors="replace")
    try_all(data)
    try_all(gzip.compress(data), cutting=False)  # the same table once more


@pytest.fixture(scope="module")
def whole_files() -> list[bytes]:
    import pandas as pd

    frame = pd.DataFrame({"x": np.arange(40) % 7 / 2, "c": list("uvwx") * 10, "y": [0, 1] * 20})
    parquet, archive = io.BytesIO(), io.BytesIO()
    frame.to_parquet(parquet)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("t.csv", frame.to_csv(index=False))
    arff = b"@relation r\n@attribute x numeric\n@attribute c {u,v,w,x}\n@attribute y {0,1}\n@data\n"
    csv = frame.to_csv(index=False)
    return [parquet.getvalue(), archive.getvalue(), arff + csv.split("\n", 1)[1].encode(), csv.encode("utf-16")]


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(which=st.integers(0, 3), data=st.data())
def test_damaged_files(whole_files, which, data):
    content = bytearray(whole_files[which])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    try_all(bytes(content[:end]))


@QUICK
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"MATLAB 5.0 MAT-file", b"\0\0\x08\x02"]),
)
def test_array_readers_on_random_bytes(data, start):
    for read in (read_idx, read_npz, read_mat):
        try:
            read(start + data)
        except DataError as error:
            readable(error)


@QUICK
@given(st.lists(st.text(max_size=80), max_size=10))
def test_names_are_safe_and_distinct(names):
    cleaned = unique_names(names)
    assert len(set(cleaned)) == len(names)
    for name in cleaned:
        assert name
        assert not set("<>[]`$&\n\r\t") & set(name)
        assert name[0] not in "=@"
    for name in names:
        assert len(clean_name(name)) <= 60
        assert clean_name(clean_name(name)) == clean_name(name) or name.strip()[:1] in "=+-@"
