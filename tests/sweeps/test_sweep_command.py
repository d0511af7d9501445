"""The command ``imrc sweep``: tables, files, plans, mistakes, and what the documentation shows."""

import csv
import io
import json
import re
import shlex
from pathlib import Path

import pytest

import imrc
from imrc.cli import main
from imrc.sweeps import ResultStore, SweepSpec
from imrc.sweeps import cell as cell_module
from imrc.sweeps.plan import read_toml
from tests.conftest import ROOT
from tests.documents import assert_as_shown

SMALL = ["sweep", "--datasets", "identical", "-k", "4", "-n", "5", "--repetitions", "2", "--jobs", "1"]


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "data" / "results.sqlite"
    monkeypatch.setenv("IMRC_STORE", str(path))
    return path


def test_json_and_csv_give_the_numbers_of_evaluate(capsys, kept):
    assert main([*SMALL, "--json"]) == 0
    output = capsys.readouterr()
    assert "2 cells, 0 stored already, 2 to run" in output.err
    assert f"Results: {kept}" in output.err
    rows = json.loads(output.out)["rows"]
    expected = imrc.evaluate(imrc.datasets.load("identical", tasks=4), n=5, repetitions=2)
    assert {row["rule"]: row["error_average"] for row in rows} == {
        rule: pytest.approx(headline.mean, rel=1e-9) for rule, headline in expected.headline().items()
    }
    assert main([*SMALL, "--csv"]) == 0
    output = capsys.readouterr()
    assert "2 cells, 2 stored already, 0 to run" in output.err
    again = list(csv.DictReader(io.StringIO(output.out)))
    assert [float(row["error_lag"]) for row in again] == pytest.approx([row["error_lag"] for row in rows], rel=1e-9)
    assert [row["stderr_average"] for row in again] != [""] * 3


def test_a_file_with_flags_in_place_of_what_it_says(capsys, tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text('datasets = "identical"\nk = 4\nn = [5, 6]\nmethods = ["imrc", "majority"]\nrepetitions = 2\n')
    assert main(["sweep", "--file", str(file), "-n", "7", "--json", "--jobs", "1"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {(row["n"], row["method"]) for row in rows} == {(7, "imrc"), (7, "majority")}


def test_files_of_ones_own_beside_datasets(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pumps.csv").write_bytes(imrc.datasets.sample_csv(600))
    Path("sweep.toml").write_text(
        'datasets = ["pumps.csv", "identical"]\nn = 5\n[reading]\ntarget = "state"\nevery = 50\n'
    )
    few = ["--repetitions", "1", "-k", "4"]
    assert main(["sweep", "--file", "sweep.toml", "--every", "60", *few, "--jobs", "2", "--json"]) == 0
    output = capsys.readouterr()
    told = json.loads(output.out)
    found = {row["dataset"]: row["error_average"] for row in told["rows"] if row["rule"] == "forward_backward"}
    pumps = imrc.tasks_from("pumps.csv", target="state", every=60).head(4)
    assert told["notes"] == list(pumps.info["warnings"])
    assert all(f"  {note}\n" in output.err for note in told["notes"])
    for name, tasks in (("pumps.csv", pumps), ("identical", imrc.datasets.load("identical", tasks=4))):
        expected = imrc.evaluate(tasks, n=5, repetitions=1, features="blended").headline()["forward_backward"].mean
        assert found[name] == pytest.approx(expected, rel=1e-12)


def test_a_dry_run_runs_nothing(capsys, kept):
    assert main([*SMALL, "--dry-run", "--json", "-W", "1", "2", "--methods", "imrc", "majority"]) == 0
    output = capsys.readouterr()
    plan = json.loads(output.out)
    note = "Run once: combinations that are the same: majority does not use b, W or presets (2 cells)."
    assert plan == {"schema": "imrc.sweep", "version": 1, "cells": 6, "stored": 0, "notes": [note]}
    with ResultStore(kept) as store:
        assert len(store) == 0


def test_a_store_that_cannot_be_used_is_said(capsys, tmp_path):
    (tmp_path / "notes.txt").write_text("Some notes. " * 100)
    told = {"notes.txt": (1, f"imrc: The results store {tmp_path}"), "gone/r.sqlite": (2, "imrc: There is no folder")}
    for place, (status, said) in told.items():
        assert main([*SMALL, "--store", str(tmp_path / place)]) == status
        assert capsys.readouterr().err.startswith(said)


def test_failed_cells_are_listed_and_end_with_status_1(capsys, monkeypatch):
    evaluate = cell_module.run_all

    def fail_sometimes(sequence, settings, *, only, **options):
        if only == (1,):
            raise ValueError("no such luck")
        return evaluate(sequence, settings, only=only, **options)

    monkeypatch.setattr(cell_module, "run_all", fail_sometimes)
    assert main(SMALL) == 1
    output = capsys.readouterr()
    assert "Failed: identical, imrc:recommended, n = 5, seed 0, repetition 2: ValueError: no such luck" in output.err
    assert "imrc: 1 of 2 cells failed. Run the same command again to retry them." in output.err
    assert "imrc (recommended)" in output.out
    assert "Traceback" not in output.err
    assert main(["--debug", *SMALL]) == 1
    assert "in fail_sometimes" in capsys.readouterr().err


def test_the_examples_of_the_documentation_do_what_it_shows(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how-to" / "sweep.md").read_text(encoding="utf-8")
    command, shown = re.search(r"```text\n\$ imrc (sweep .*?)\n(.*?)```", page, re.DOTALL).groups()
    assert main([*shlex.split(command), "--jobs", "1"]) == 0
    output = capsys.readouterr()
    here = r"about .*? with \d+ workers?|Results: .*"
    said = "\n".join(line for line in output.err.splitlines() if ", cell " not in line)
    assert_as_shown(re.sub(here, "", f"{said}\n{output.out}"), re.sub(here, "", shown))
    (tmp_path / "sweep.toml").write_text(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    assert SweepSpec.from_values(read_toml(tmp_path / "sweep.toml")).seeds == (0, 1, 2, 3)
