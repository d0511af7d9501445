"""Three hundred files made by a grammar: each is read as it was meant, or a message names place and cause."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from imrc.datasets import DataError, cut_table
from imrc.tables.cells import Reading
from imrc.tables.read import read_bytes

FILES = 300
WORDS = {
    "utf-8": ("süß", "sauer", "größe"),
    "utf-8-sig": ("naïve", "été", "façon"),
    "utf-16": ("да", "süß", "東京"),
    "cp1252": ("süß", "sauer", "größe"),
}
DATES = {
    "%Y-%m-%d": "2020-03-{:02d}",
    "%d.%m.%Y": "{:02d}.03.2020",
    "%m/%d/%Y": "03/{:02d}/2020",
    "%d/%m/%y": "{:02d}/03/20",
    "%Y-%m-%dT%H:%M:%S": "2020-03-{:02d}T00:00:00",
    "%d %b %Y": "{} Mar 2020",
}
DEFECTS = ("none", "none", "none", "gap", "stray end", "short row", "no such day", "bad byte", "word", "one class")


@dataclass
class Made:
    """A file and what it says."""

    content: bytes
    words: tuple[str, ...]
    labels: list[str]
    numbers: np.ndarray
    days: list[int]
    defect: str
    row: int
    encoding: str


def number(value: float, style: str) -> str:
    """Write a number as people do."""
    if style == "plain":
        return f"{value:.2f}"
    if style == "comma":
        return f"{value:.2f}".replace(".", ",")
    english = f"{value:,.2f}"
    if style == "english":
        return english
    if style == "german":
        return english.translate(str.maketrans(",.", ".,"))
    if style == "swiss":
        return english.replace(",", "'")
    if style == "percent":
        return f"{value:.2f} %"
    return f"€ {value:.2f}"


def made(seed: int) -> Made:
    """Return the file of this number."""
    rng = np.random.default_rng([seed, 17])

    def one(options):
        return options[int(rng.integers(len(options)))]

    encoding, separator, end = one(list(WORDS)), one(",;\t"), one(["\n", "\r\n", "\r"])
    quoting, form, defect = one(["all", "needed"]), one(list(DATES)), one(DEFECTS)
    style = one(["plain", "comma", "english", "german", "swiss", "percent", "euro"])
    if style == "euro" and encoding in ("cp1251", "cp932", "gb18030"):
        style = "plain"  # the sign is not in them, or stands where another letter is expected
    if defect == "bad byte" and encoding != "utf-8":
        defect = "none"
    rows, words = int(rng.integers(24, 60)), WORDS[encoding]
    values = np.round(rng.uniform(1000, 99_999, rows), 2)
    days = [1 + (i * 28) // rows for i in range(rows)]
    labels = [words[int(rng.integers(2))] if defect != "one class" else words[i // 12 % 2] for i in range(rows)]
    labels[:4] = [words[0], words[1], words[0], words[1]] if defect != "one class" else labels[:4]
    row = int(rng.integers(6, rows - 1))
    numbers = values.copy()

    def cell(text: str) -> str:
        needed = quoting == "all" or any(mark in text for mark in (separator, '"', "\n"))
        return '"' + text.replace('"', '""') + '"' if needed else text

    lines = [separator.join(map(cell, ("value", "when", words[2], "label")))]
    for i in range(rows):
        cells = [number(values[i], style), DATES[form].format(days[i]), f'a"{i % 3}{separator}', labels[i]]
        if i == row and defect in ("gap", "word"):
            cells[0], numbers[i] = ("" if defect == "gap" else "broken"), np.nan
        if i == row and defect == "no such day":
            cells[1] = DATES[form].format(32)
        if i == row and defect == "short row":
            cells = cells[:2]
        lines.append(separator.join(map(cell, cells)) + (separator if i == row and defect == "stray end" else ""))
    content = (end.join(lines) + end).encode(encoding)
    if defect == "bad byte":
        lines[row + 1] = lines[row + 1].replace('""', "\x00", 1)
        content = (end.join(lines) + end).encode().replace(b"\0", b"\xe9", 1)
    return Made(content, words, labels, numbers, days, defect, row + 1, encoding)


@pytest.mark.slow
def test_every_file_is_read_as_it_was_meant_or_the_message_names_place_and_cause():
    seen = set()
    for seed in range(FILES):
        file = made(seed)
        seen.add((file.encoding, file.defect))
        what = (seed, file.encoding, file.defect, file.content[:200])
        message = ""
        try:
            table = read_bytes(file.content, "made.csv", Reading())
        except DataError as error:
            message = str(error)
        if message:
            cause = {
                "short row": f"row {file.row} has 2 cells",
                "no such day": rf"Column 'when', row {file.row}: .*32.*cannot be a date",
            }.get(file.defect, "no message was expected")
            assert re.search(cause, message), (what, message)
            continue
        assert file.defect not in ("short row", "no such day"), what
        notes = " ".join(table.notes)
        value, when, label = table.column("value"), table.column("when"), table.column("label")
        assert (value.kind, when.kind, label.kind) == ("number", "date", "category"), (what, notes)
        np.testing.assert_allclose(value.values, file.numbers, rtol=1e-12, err_msg=str(what))
        days = when.values.astype("datetime64[s]").astype("datetime64[D]").astype(str)
        assert days.tolist() == [f"2020-03-{day:02d}" for day in file.days], what
        assert [label.categories[code] for code in label.values] == file.labels, (what, notes)
        assert table.names[2] == file.words[2], what
        if file.defect == "word":
            assert f"'broken' in row {file.row}" in notes, what
        if file.defect == "bad byte":
            assert re.search(rf"line {file.row + 1} of it", notes), (what, notes)
        if file.defect == "stray end":
            assert "1 rows ended in one separator too many" in notes, what
        if file.defect == "one class":
            with pytest.raises(DataError, match="the file is sorted by 'label'"):
                cut_table(table, label="label", block=12)
        elif file.defect == "none":
            assert cut_table(table, label="label", block=12).sequence.n_classes == 2, what
    assert len(seen) > 25
