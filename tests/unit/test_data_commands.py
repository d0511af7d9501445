"""``imrc datasets`` and ``imrc table``, and the paper's column they make."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from imrc import datasets
from imrc.cli import main
from imrc.evaluation import paper_column
from imrc.evaluation.paper_column import paper_imrc_column


def test_list_of_datasets(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_DATA", str(tmp_path))
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    assert main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(datasets.names())
    assert next(line for line in lines if line.startswith("spam")).endswith("Not on this computer; download 0.2 MB.")
    assert main(["datasets", "--json"]) == 0
    listed = {facts["name"]: facts for facts in json.loads(capsys.readouterr().out)}
    assert listed["power_supply"]["samples"] == 29928
    assert listed["rotated_digits"]["loadable"] is True
    assert listed["clear"]["downloadable"] is False
    assert main(["datasets", "german"]) == 0
    assert "CC BY 4.0" in capsys.readouterr().out


def test_download_from_the_command_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_DATA", str(tmp_path))
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    asked = []

    def download(name, progress):
        progress("german.data-numeric", 51_000, 102_000)
        asked.append(name)

    monkeypatch.setattr(datasets, "download", download)
    assert main(["datasets", "german", "--download"]) == 0
    assert asked == ["german"]
    assert "51 kB of 0.1 MB" in capsys.readouterr().err
    assert main(["datasets", "--download"]) == 2
    assert "needs the name" in capsys.readouterr().err

    def refuse(name, progress):
        raise datasets.DownloadError("x.org cannot be reached.", "By hand: save it.")

    monkeypatch.setattr(datasets, "download", refuse)
    assert main(["datasets", "german", "--download"]) == 2
    assert "imrc: x.org cannot be reached. By hand: save it." in capsys.readouterr().err


def test_column_reproduces_and_says_so(real_data, capsys):
    arguments = ["table", "imrc-column", "--datasets", "usenet2", "-n", "100", "--repetitions", "4", "--csv"]
    assert main(arguments) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    row = table.iloc[0]
    assert (row["dataset"], row["n"], row["printed"], row["repetitions"], row["seeds"]) == (
        "usenet2",
        100,
        0.30,
        4,
        "0-3",
    )
    # The printed value is .30 with standard deviation .00; ours spreads by about .02 per draw.
    assert abs(row["difference"]) < 0.04
    again = paper_imrc_column(["usenet2"], [100], repetitions=4)
    assert again["error"].tolist() == table["error"].tolist()


@pytest.mark.parametrize(
    ("errors", "reproduced"),
    [
        ([0.30, 0.32, 0.31], True),  # within .02 of .32
        ([0.20, 0.22, 0.21], False),  # .11 away, hardly any spread
        ([0.10, 0.30, 0.50], True),  # .02 away and a wide spread
    ],
)
def test_verdict_on_reproduction(errors, reproduced):
    table = np.column_stack([np.zeros(3), np.zeros(3), errors])
    row = paper_column._row("usenet1", 10, table, [0, 1, 2])
    assert row["reproduced"] is reproduced
    assert row["difference"] == pytest.approx(np.mean(errors) - 0.32)
    half = np.sqrt(np.var(errors, ddof=1) / 3 + 0.03**2 / 50)
    assert row["two_stderr"] == pytest.approx(2 * half, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["yearbook"]}, "names must be one of"),
        ({"sizes": [20]}, "sizes"),
        ({"repetitions": 1}, "repetitions"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        paper_imrc_column(**{"names": ["usenet1"], **arguments})
