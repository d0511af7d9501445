"""``imrc datasets``: list, info, fetch, check, sample."""

import csv
import io
import json

import pytest

from imrc import datasets
from imrc.cli import main


@pytest.mark.usefixtures("nothing_here")
def test_list_and_info_as_table_json_and_csv(capsys):
    def listed(*words: str) -> str:
        assert main(["datasets", *words]) == 0
        return capsys.readouterr().out

    lines = listed("list").splitlines()
    assert len(lines) == 1 + len(datasets.names())
    assert next(line for line in lines if line.startswith("spam")).endswith("Not on this computer; download 0.2 MB.")
    facts = {one["name"]: one for one in json.loads(listed("--json"))["datasets"]}
    assert facts["power_supply"]["samples"] == 29928
    assert (facts["rotated_digits"]["loadable"], facts["clear"]["downloadable"]) == (True, False)
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(listed("list", "--csv")))}
    assert (rows["power_supply"]["samples"], rows["rotated_digits"]["samples"]) == ("29928", "")
    told = listed("info", "german")
    assert "CC BY 4.0" in told
    assert "loadable        no" in told
    assert json.loads(listed("info", "german", "--json"))["licence"] == "CC BY 4.0"


def test_fetch(capsys, nothing_here, monkeypatch):
    asked = []

    def download(name, progress):
        progress("german.data-numeric", 51_000, 102_000)
        asked.append(name)
        if len(asked) > 1:
            raise datasets.DownloadError("x.org cannot be reached.", "By hand: save it.")
        return nothing_here

    monkeypatch.setattr(datasets, "download", download)
    assert main(["datasets", "fetch", "german"]) == 0
    assert asked == ["german"]
    output = capsys.readouterr()
    assert "51 kB of 0.1 MB" in output.err
    assert f"downloaded to {nothing_here}" in output.out
    assert main(["datasets", "fetch", "german"]) == 1, "a failure, not bad input"
    assert "imrc: x.org cannot be reached. By hand: save it." in capsys.readouterr().err
    assert main(["datasets", "fetch", "identical"]) == 0
    assert "already on this computer" in capsys.readouterr().out
    assert len(asked) == 2


def test_check_finds_what_is_ok_damaged_and_missing(capsys, nothing_here):
    file = datasets.facts("german").sets()[0][0]
    place = nothing_here / file.path
    assert main(["datasets", "check", "german"]) == 1
    assert "missing" in capsys.readouterr().out
    assert main(["datasets", "check"]) == 0, "what was never fetched is no failure when everything is checked"
    capsys.readouterr()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"1 2 3\n")
    assert main(["datasets", "check", "--json"]) == 1
    rows = {row["file"]: row for row in json.loads(capsys.readouterr().out)["files"]}
    assert rows[file.name]["state"] == "damaged"
    assert "Delete it" in rows[file.name]["message"]


def test_sample(tmp_path):
    assert main(["datasets", "sample", str(tmp_path / "pumps.csv")]) == 0
    assert (tmp_path / "pumps.csv").read_bytes() == datasets.sample_csv()
