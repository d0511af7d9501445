"""Whatever file a visitor uploads, the page shows a table or a message; never a failure."""

import numpy as np
import pytest

from tests.unit.nasty_files import CASES, HTML, table

HUGE = 2_000_000
"""Bytes above which a file takes long; the library's own tests read those."""
SLOW = (
    "million", "bomb", "too many rows", "too large", "20 MB", "lies about", "3,000 tasks", "long words", "2,000 col",
)  # fmt: skip


def damaged(rng: np.random.Generator) -> tuple[str, bytes]:
    """Return a good table with some bytes changed, cut or doubled."""
    data = bytearray(table(30, header=["x,z,y", f"{HTML},z,y", ""][rng.integers(3)]).encode())
    for _ in range(rng.integers(1, 12)):
        data[rng.integers(len(data))] = rng.integers(256)
    cut = rng.integers(1, len(data)) if rng.random() < 0.3 else len(data)
    name = ["a.csv", "b.parquet", "c.arff", "d.zip", "../../e.csv", f"{HTML}.csv", "😀" * 100, ".", "x.csv.gz"]
    return name[rng.integers(len(name))], bytes(data[:cut]) * int(rng.integers(1, 3))


@pytest.fixture
def page(app):
    return app(dataset="identical", k="3", n="4", repetitions="1").switch_page("pages/your_data/page.py").run()


def upload(page, name: str, content: bytes) -> None:
    page.file_uploader(key="own_upload").set_value((name, content, "text/csv"))
    page.run()
    assert not page.exception, (name, content[:200])
    # A message or a table, and never more of a message than a person reads.
    assert page.error or page.selectbox(key="own_label")
    assert all(len(error.value) < 3000 for error in page.error)


@pytest.mark.timeout(180)
def test_damaged_files_on_the_page(page):
    rng = np.random.default_rng(500)
    for _ in range(15):
        upload(page, *damaged(rng))


@pytest.mark.timeout(180)
def test_files_of_every_other_nasty_kind_on_the_page(page):
    cases = [case for case in CASES if not any(word in case.name for word in SLOW)]
    for case in cases[::5]:
        content = case.make()
        if len(content) < HUGE:
            upload(page, case.file, content)
