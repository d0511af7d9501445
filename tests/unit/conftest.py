"""What all unit tests share."""

import pytest

from imrc.tables.read import read_bytes


@pytest.fixture(autouse=True)
def read_here(monkeypatch):
    """Read files in this process: what its own process adds has its own tests, which call `apart.read_apart`."""
    monkeypatch.setattr("imrc.tables.read_apart", read_bytes)
