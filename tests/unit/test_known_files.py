"""Files of known answers, and hostile ones: every one is read as it was meant, or ends in a message."""

from __future__ import annotations

import collections
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imrc.cli import main
from imrc.datasets import DataError, cut_table, open_table, read_table, sample_csv, suggest
from imrc.tables import Recipe, apart
from imrc.tables.read import read_bytes
from imrc.tables.table import Reading
from tests.unit.hostile_files import HOSTILE
from tests.unit.known_files import ROWS, judged, known_files, with_column, written
from tests.unit.nasty_files import FRAME, million_rows, parquet, text

ROOT = Path(__file__).parents[2]


def here(content: bytes, name: str = "f.csv", **reading):
    """Read a file in this process, which is what its own process does."""
    return read_bytes(content, name, Reading(**reading))


@pytest.mark.slow
def test_files_of_known_answers():
    found, odd = collections.Counter(), []
    for known in known_files():
        verdict, words = judged(known, here)
        found[verdict] += 1
        odd += [] if verdict in ("right", "refused") else [(verdict, known.family, known.name, words[:200])]
    count = sum(found.values())
    print({verdict: f"{times / count:.1%}" for verdict, times in found.items()}, count, *odd, sep="\n")
    assert count >= 600
    assert found["right"] + found["refused"] >= 0.97 * count, odd
    assert found["silent"] == 0, odd
    assert found["noted"] + found["wrongly refused"] <= 0.02 * count, odd


def same(one, other) -> None:
    facts = ("name", "names", "n_rows", "format", "notes", "preview", "choices")
    assert [getattr(one, fact) for fact in facts] == [getattr(other, fact) for fact in facts]
    for mine, its in zip(one.columns, other.columns, strict=True):
        for fact in ("kind", "categories", "distinct", "missing", "notes", "period", "decimal", "dayfirst", "choices"):
            assert getattr(mine, fact) == getattr(its, fact)
        np.testing.assert_array_equal(mine.values, its.values)
        assert (mine.written is None) == (its.written is None)
        if mine.written is not None:
            np.testing.assert_array_equal(mine.written.values, its.written.values)


def test_the_same_table_comes_back_from_the_other_process():
    made = [(sample_csv(600), "pumps.csv"), (parquet(FRAME), "t.parquet"), (text("a;b\n1,5;ß\n2;x\n")(), "ä.csv")]
    made.append((with_column(["1.10", "1.1", "01.5"] * 12), "written.csv"))
    for content, name in made:
        same(here(content, name), open_table(content, name=name))
    with pytest.raises(DataError, match="row 2 has 3 cells"):
        open_table(b"x,y\n1,a\n2,b,c\n")


def test_options_that_do_not_apply_to_a_file_are_noted():
    assert any("sheet='b' was not used" in note for note in here(sample_csv(60), sheet="b").notes)
    assert any("header=False was not used" in note for note in here(parquet(FRAME), header=False).notes)


@pytest.mark.slow
def test_a_file_that_needs_too_much_ends_with_a_sentence_that_says_both_limits(monkeypatch):
    if not os.path.exists("/proc/self/stat"):
        pytest.skip("this system knows no limit on memory")
    monkeypatch.setattr(apart, "MEMORY_BYTES", 120 << 20)
    with pytest.raises(
        DataError, match=r"big\.csv is damaged, or needs too much .*120 MB of memory and 60 seconds.*Keep fewer"
    ):
        open_table(million_rows(), name="big.csv")
    monkeypatch.setattr(apart, "MEMORY_BYTES", 1 << 30)
    monkeypatch.setattr(apart, "SECONDS", 0.2)
    with pytest.raises(DataError, match=r"busy\.csv took too long.*0.2 seconds"):
        open_table(b"a,b,c\n" + b"31.12.2020,1.234,yes\n" * 1_900_000, name="busy.csv")


def read_hostile_files() -> None:
    """Read every hostile file; in a process of its own, so that only readers count as its children."""
    for number, (name, make) in enumerate(HOSTILE.items()):
        content = make()
        assert len(content) < 64 << 20, name
        start, path = time.process_time(), Path("hostile.csv")
        try:
            words = f"{open_table(content, name='hostile.csv').n_rows} rows"
        except DataError as error:
            words = str(error)
            assert 15 < len(words) < 700, words
            if number % 8 == 0:  # the command line reads in the same way
                path.write_bytes(content)
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    assert main(["run", str(path), "--label", "1", "--block", "4"]) == 2
                assert "imrc: " in said.getvalue()
        assert time.process_time() - start < 60, name
        print(f"{name}: {words[:80]}")
    if hasattr(resource, "RUSAGE_CHILDREN"):
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1.2 * (1 << 20)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_hostile_files_end_in_a_table_or_a_message(tmp_path):
    code = "from tests.unit.test_known_files import read_hostile_files; read_hostile_files()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in [str(ROOT), *sys.path] if path)}
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


# The other reading


def test_the_other_reading_is_offered_and_taken():
    days = [f"{1 + i * 5 % 12:02d}/{1 + i * 7 % 12:02d}/2020" for i in range(ROWS)]
    first, other = (here(with_column(days), dayfirst=way).column("v").values for way in (None, False))
    assert here(with_column(days)).choices["dayfirst"] == (True, False)
    assert first[1] != other[1]
    assert pd.Timestamp(other[1], unit="s") == pd.Timestamp(2020, 6, 8)
    figures = with_column(["1.234", "5.678"] * 18)
    assert here(figures).choices["decimal"] == (".", ",")
    assert here(figures, decimal=",").column("v").values[0] == 1234
    names = written({"2019": ["1", "2"] * 9, "2020": ["3", "4"] * 9}).encode()
    assert here(names).choices["header"] == (False, True)
    assert here(names, header=True).names == ("2019", "2020")
    with pytest.raises(ValueError, match="decimal"):
        open_table(b"x,y\n1,2\n", decimal=":")


def test_every_decision_is_said_by_commands_in_json_and_in_the_report(tmp_path, capsys):
    path = tmp_path / "us.csv"
    rows = [f"{1 + i * 5 % 12:02d}/{1 + i * 7 % 12:02d}/2020,{i % 5},{'ab'[i * 5 % 7 % 2]}" for i in range(96)]
    path.write_text("\n".join(["day,x,y", *rows[:20], "day,x,y", *rows[20:]]))
    options = [str(path), "--target", "y", "--by", "day", "--period", "quarter", "--repetitions", "1"]
    assert main(["check", *options, "--json"]) == 0
    said = capsys.readouterr()
    for words in ("dayfirst=False reads them as month/day/year", "the same as the first line"):
        assert said.err.count(words) == 1
        assert any(words in note for note in json.loads(said.out)["notes"])
    sequence = read_table(path, label="y", task="day", period="quarter", dayfirst=False)
    assert any("the same as the first line" in note for note in sequence.info["report"])
    assert main(["check", *options, "--no-dayfirst"]) == 0
    assert "month/day/year" in capsys.readouterr().err


# What is used


def test_the_newest_tasks_are_kept_and_names_that_begin_alike_are_shortened():
    rows = "".join(f"campaign north {i // 6},{i % 5},{'ab'[i % 2]}\n" for i in range(420))
    cut = cut_table(here(f"t,x,y\n{rows}".encode()), label="y", task="t", newest=60)
    assert cut.sequence.labels == tuple(str(j) for j in range(10, 70))
    assert ("tasks before the newest 60 of 70", 60) in cut.dropped
    assert any("All task names begin with 'campaign north '" in note for note in cut.notes)


def test_columns_that_look_like_identifiers_are_off_unless_they_are_asked_for():
    rows = "".join(f"{1000 + i * 37 % 97},k{i:03d},{i},{i % 5},{'ab'[i % 2]}\n" for i in range(60))
    table = here(f"customer_id,key,n,x,y\n{rows}".encode())
    cut = cut_table(table, label="y", block=20)
    assert cut.sequence.feature_names == ("x",)
    assert "identifier" in " ".join(cut.in_words())
    kept = cut_table(table, label="y", block=20, include=["customer_id"], words=["n"]).sequence
    assert kept.feature_names == ("customer_id", "n", "x")


@pytest.mark.parametrize(
    ("days", "expected"),
    [(np.arange(400), "month"), (np.repeat(np.arange(60), 20), "week"), (np.arange(0, 4000, 40), "year")],
)
def test_months_are_suggested_before_weeks(days, expected):
    dates = (np.datetime64("2001-01-01") + days).astype(str)
    rows = "".join(f"{day},{i % 7},{'ab'[i % 2]}\n" for i, day in enumerate(dates))
    assert suggest(here(f"when,x,y\n{rows}".encode())).period == expected


# The next file


def recipe_of(**options) -> Recipe:
    cut = cut_table(here(sample_csv()), label="state", task="date", period="week", **options)
    return Recipe.from_dict(json.loads(json.dumps(cut.sequence.info["recipe"])))


def test_a_recipe_reads_the_same_file_into_the_same_tasks():
    recipe, cut = recipe_of(), cut_table(here(sample_csv()), label="state", task="date", period="week")
    X, y, tasks, notes = recipe.apply(sample_csv())
    np.testing.assert_array_equal(X, np.concatenate([task.X for task in cut.sequence]))
    assert y.tolist() == np.concatenate([task.y for task in cut.sequence]).tolist()
    assert list(dict.fromkeys(tasks.tolist())) == list(cut.sequence.labels)
    assert notes == []


def test_a_recipe_reads_the_next_file_in_the_same_way():
    recipe = recipe_of(exclude=["flow"])
    lines = sample_csv(60).decode().splitlines()
    next_file = "\n".join([line.replace(",A,", ",Z,") for line in lines]).encode()
    X, _, tasks, notes = recipe.apply(next_file)  # one week only, and a new word
    assert X.shape == (60, 4)
    assert set(tasks) == {"2023-01-02"}
    assert X[:, 0].max() == 3
    assert any("1 new word ('Z') counts as other" in note for note in notes)
    assert np.isnan(X).any()
    assert not np.isnan(recipe.apply(next_file, fill=True)[0]).any()
    bare = pd.read_csv(pd.io.common.BytesIO(next_file)).drop(columns=["state", "date"])
    X_bare, labels, tasks, _ = recipe.apply(bare)
    assert labels is None
    assert set(tasks) == {""}
    np.testing.assert_array_equal(X_bare, X)
    with pytest.raises(DataError, match="no column 'pressure'"):
        recipe.apply(bare.drop(columns=["pressure"]))
    with pytest.raises(DataError, match="does not know this recipe"):
        Recipe.from_dict({"version": 2})


def test_a_recipe_knows_numbers_that_are_names_and_labels_of_one_number_written_in_two_ways():
    rows = "".join(f"{100 + i % 3},{i % 7},{['1.1', '1.10', '2'][i % 3]}\n" for i in range(24))
    cut = cut_table(here(f"shop,x,v\n{rows}".encode()), label="v", block=8, words=["shop"])
    assert cut.sequence.column_kinds[0] == "category"
    assert set(cut.sequence.class_names) == {"1.1", "1.10", "2"}
    X, y, _, notes = cut.recipe.apply(b"shop,x,v\n101,5,1.10\n102.0,,1.1\n999,1,2\n")
    np.testing.assert_array_equal(X, [[1, 5], [2, np.nan], [3, 1]])
    assert y.tolist() == ["1.10", "1.1", "2"]
    assert any("'999'" in note for note in notes)


def test_a_recipe_keeps_whether_there_is_a_header():
    rows = b"".join(b"%d.5,%d,%s\n" % (i, i % 3, [b"red", b"blue"][i % 2]) for i in range(24))
    cut = cut_table(here(rows), label="column 3", block=8)
    X, y, _, _ = cut.recipe.apply(b"7.5,2,red\n")  # one row, which could hold names
    assert (X.tolist(), y.tolist()) == ([[7.5, 2]], ["red"])


def test_a_recipe_keeps_the_order_of_days_and_months_the_decimals_and_the_threshold():
    first = with_column([f"{1 + i % 28}/{1 + i % 12}/2020" for i in range(72)])
    first = first.replace(b"x,v,y", b"x,day,y")
    cut = cut_table(here(first), label="x", task="day", period="month", threshold="median", min_samples=2)
    assert cut.recipe.label["threshold"] == float(cut.sequence.class_names[0].removeprefix("above "))
    later = b"x,day,y\n" + b"9.5,3/4/2021,a\n0.5,5/6/2021,b\n"
    _, y, tasks, _ = cut.recipe.apply(later)
    assert tasks.tolist() == ["2021-04", "2021-06"]
    assert y.tolist() == list(cut.sequence.class_names)
