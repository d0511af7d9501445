"""The command line gives the library's numbers and never a traceback for a mistake."""

from __future__ import annotations

import csv
import io
import json

import pytest

import imrc
from imrc.cli import app_file, main

RUN = ["run", "identical", "-k", "4", "-n", "5", "--repetitions", "2"]


def test_json_gives_the_numbers_of_evaluate(capsys):
    assert main([*RUN, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    result = imrc.evaluate(imrc.datasets.load("identical", tasks=4), n=5, repetitions=2)
    for row in printed["rules"]:
        assert row["error_average"] == result.headline()[row["rule"]].mean
        assert row["error_lag"] == result.headline("lag")[row["rule"]].mean
    assert printed["settings"]["n"] == 5


def test_csv_and_table(capsys):
    assert main([*RUN, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["rule"] for row in rows] == ["single", "forward", "forward_backward"]
    assert main(RUN) == 0
    output = capsys.readouterr()
    assert "identical: 4 tasks, n = 5" in output.out
    assert "task 4 of 4" in output.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "identical", "-n", "100000"], "n must be between 1 and 10000"),
        (["run", "identical", "-n", "5000"], "Choose n <= 200"),
        (["run", "rotated_digits", "-k", "61"], "tasks must be between 2 and 60"),
        (["run", "identical", "--seed", "-1"], "seed must be"),
    ],
)
def test_mistakes_end_with_status_2_and_a_message(capsys, arguments, message):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


@pytest.mark.parametrize("arguments", [["run", "nothing"], ["run", "identical", "-n", "many"], []])
def test_unreadable_arguments_end_with_status_2(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2


def test_app_is_found():
    assert app_file().name == "app.py"
    assert app_file().with_name("pages").is_dir()
