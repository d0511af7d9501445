"""Small files that unpack to much: what reading them takes at most, in memory and time."""

import gzip
import io
import json
import lzma
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PEAK_MB = 600
SECONDS = 50


def written(**columns) -> bytes:
    """Return a Parquet file that does not say how its columns were held in memory."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd", store_schema=False)
    return out.getvalue()


def shared(value: bytes | str, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), pa.array([value]))


def nested() -> bytes:
    """Three rows of lists with twenty million numbers each."""
    ends = pa.array([0, 20_000_000, 40_000_000, 60_000_000], pa.int32())
    lists = pa.ListArray.from_arrays(ends, pa.array(np.zeros(60_000_000, dtype=np.int8)))
    return written(lists=lists, x=pa.array([1, 2, 3]), y=pa.array([0, 1, 0]))


def sparse(attributes: list[str], row: str, rows: int, end: str = "\n") -> bytes:
    head = ["@relation t", *(f"@attribute {line}" for line in attributes), "@data"]
    return (end.join(head) + end + (row + end) * rows).encode()


FILES = {
    "nested Parquet": nested,
    "long bytes in Parquet": lambda: written(b=shared(b"x" * (1 << 24), 500), y=pa.array(np.arange(500) % 2)),
    "long text in Parquet": lambda: written(b=shared("x" * (1 << 24), 70_000), y=pa.array(np.arange(70_000) % 2)),
    "sparse ARFF, long value": lambda: sparse(["a {" + "x" * 1_000_000 + ",b}", "y {u,v}"], "{1 v}", 200_000),
    "sparse ARFF, old line ends": lambda: sparse([f"a{j} numeric" for j in range(3000)], "{1 1}", 60_000, "\r"),
    "stray separator": lambda: gzip.compress(b"a,b,\n" + b"1,2\n" * (15 << 20), 1),
    "old line ends": lambda: gzip.compress(b"a,b\n" + b"1,2\r" * (15 << 20), 1),
    "only separators": lambda: gzip.compress(b",\n" * (100 << 20), 1),
    "many rows that do not fit": lambda: b"a,b,c\n" + b"1,2\n" * 1_500_000,
    "rows with a stray end": lambda: b"a,b\n" + b"1,2,\n" * 1_000_000,
    "5,000 empty columns": lambda: b",".join(b"c%d" % j for j in range(5000)) + b"\n" + (b"," * 4999 + b"\n") * 600,
    "more of them": lambda: b",".join(b"c%d" % j for j in range(5000)) + b"\n" + (b"," * 4999 + b"\n") * 12_000,
    "xz": lambda: lzma.compress(b"0,1\n" * (75 << 20), preset=0),
    "text in columns": lambda: b"x   y   z\n" + b"1   2   3\n4   5   6\n" * 400_000,
    "UTF-16": lambda: ("x,y\n" + "1,é\n2,b\n" * 2_500_000).encode("utf-16"),
}

MEASURE = """
import json, sys, time
from imrc._checks import DataError
from imrc.tables._open import open_table
open_table(b"day,x,y\\n2020-01-01,1,a\\n2020-01-02,2,b\\n")
told = {}
for path in sys.argv[1:]:
    open("/proc/self/clear_refs", "w").write("5")
    data, start = open(path, "rb").read(), time.perf_counter()
    try:
        words = str(open_table(data, name="f").n_rows)
    except DataError as error:
        words = str(error)
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    told[path] = (int(peak.split()[1]) / 1024, time.perf_counter() - start, words)
    del data
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="peaks are measured on Linux only")
def test_no_file_takes_much_memory_or_time(tmp_path):
    paths = {}
    for number, (name, make) in enumerate(FILES.items()):
        paths[name] = tmp_path / str(number)
        paths[name].write_bytes(make())
        assert paths[name].stat().st_size < 64 << 20
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environment |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", MEASURE, *map(str, paths.values())],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    told = json.loads(done.stdout)
    for name, path in paths.items():
        peak, seconds, words = told[str(path)]
        print(f"{name}: {peak:.0f} MB, {seconds:.1f} s, {words[:60]}")
        assert peak < PEAK_MB, (name, peak, words)
        assert seconds < SECONDS, (name, seconds)
    assert "2,000,000 rows" in told[str(paths["stray separator"])][2]
    assert told[str(paths["nested Parquet"])][2] == "3"
    assert told[str(paths["5,000 empty columns"])][2] == "600"
    assert "more than a million letters" in told[str(paths["long text in Parquet"])][2]
