"""The process that reads one file for `imrc.tables.open_upload`: bytes in, a table or a message out, then it ends.

Started as ``python -m imrc.tables._child``. Nothing is unpickled on either side: a line of JSON says what follows, and
arrays travel as their bytes.
"""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import asdict, replace
from typing import IO, Any

import numpy as np

from imrc._checks import DataError
from imrc.tables._columns import Column
from imrc.tables._open import Table, open_table

_ADDRESSES = 12 << 30
IDLE_SECONDS = 900
"""A process nobody has given a file for so long ends."""


def send_table(stream: IO[bytes], table: Table) -> None:
    """Write a table to a stream: one line of JSON, then the values of each column."""
    columns = [asdict(replace(column, values=None)) for column in table.columns]  # type: ignore[arg-type]
    for told, column in zip(columns, table.columns, strict=True):
        told["values"] = column.values.dtype.str
    facts = {**asdict(replace(table, columns=())), "columns": columns}
    stream.write(json.dumps(facts).encode() + b"\n")
    for column in table.columns:
        stream.write(np.ascontiguousarray(column.values).view(np.uint8).data)


def _filled(stream: IO[bytes], dtype: str, rows: int) -> np.ndarray[Any, Any]:
    values = np.empty(rows, dtype=np.dtype(dtype))
    view, done = values.view(np.uint8).data, 0
    while done < len(view):
        count = stream.readinto(view[done:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        done += count
    return values


def _tuples(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def receive_table(stream: IO[bytes]) -> Table:
    """Read what `send_table` wrote; raise the DataError that came in place of a table.

    EOFError if the stream ends before the table does.
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    facts = json.loads(line)
    if "message" in facts:
        raise DataError(facts["message"])
    columns = []
    for told in facts.pop("columns"):
        values = _filled(stream, told.pop("values"), facts["n_rows"])
        columns.append(Column(values=values, **{name: _tuples(value) for name, value in told.items()}))
    return Table(columns=tuple(columns), **{name: _tuples(value) for name, value in facts.items()})


def _limit(memory: int, seconds: int) -> None:
    """Limit addresses and processor time where the system can.

    Memory in use is watched from outside: what is set aside but never touched counts as addresses and costs nothing.
    """
    try:
        import resource
    except ImportError:  # Windows: the limit on time remains, which the parent process keeps
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    processor = seconds + math.ceil(used.ru_utime + used.ru_stime)  # starting does not count
    for limit, most, at_last in (
        (resource.RLIMIT_AS, memory + _ADDRESSES, memory + _ADDRESSES),
        # At the first the process ends of the signal that tells the parent why; where both are one, of any.
        (resource.RLIMIT_CPU, processor, processor + 5),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        try:
            resource.setrlimit(limit, (most, at_last))
        except (OSError, ValueError):  # a lower limit stands already, or the system has none of this kind
            continue


def _wait(stream: IO[bytes]) -> None:
    """Return when there is something to read; end the process if that takes too long."""
    if os.name == "posix":
        import select

        if not select.select([stream], [], [], IDLE_SECONDS)[0]:
            sys.exit()


def main() -> None:
    """Read one file from standard input and write its table to standard output."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get into the answer
    import pyarrow.parquet  # noqa: F401 - loaded before the file comes, so that reading it starts at once

    open_table(b"day;x;c;y\n2020-01-31;1,5;u;a\n2020-02-01;2,5;v;b\n", name="first.csv")
    source = sys.stdin.buffer
    _wait(source)
    line = source.readline()
    if not line:
        return
    asked = json.loads(line)
    _limit(asked["memory"], asked["seconds"])
    try:
        data = source.read(asked["bytes"])
        send_table(answer, open_table(data, name=asked["name"]))
    except DataError as error:
        answer.write(json.dumps({"message": str(error)}).encode() + b"\n")
    answer.close()


if __name__ == "__main__":
    main()
