"""A person's own file: read as it was meant, or refused with a message that can be understood."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import imrc
from imrc.cli import main
from imrc.datasets import DataError, cut_table, open_table, sample_csv, suggest
from imrc.features import Representation, make, output_names
from imrc.tables import Recipe, apart
from imrc.tables.read import read_bytes
from imrc.tables.table import Reading
from tests.conftest import run_python
from tests.unit import known_files as made
from tests.unit.hostile_files import ENDLESS, HOSTILE


def here(content: bytes | str, name: str = "f.csv", **reading):
    return read_bytes(content.encode() if isinstance(content, str) else content, name, Reading(**reading))


@pytest.mark.slow
@pytest.mark.first
@pytest.mark.parametrize("family", made.FAMILIES, ids=lambda family: family.__name__)
def test_files_of_known_answers(family):
    found = [(*made.judged(one, lambda content, name: open_table(content, name=name)), one.name) for one in family()]
    assert [one for one in found if one[0] not in ("right", "refused")] == []
    assert not made.Bomb.ran


def test_more_than_a_thousand_answers_are_known():
    counts = [len(list(family())) for family in made.FAMILIES]
    assert min(counts) > 10 < 1000 < sum(counts)


def test_the_same_table_comes_back_from_the_other_process():
    files = {"pumps.csv": sample_csv(600), "ä.csv": "a;b\n1,5;ß\n2;x\n".encode()}
    files["written.csv"] = made.with_column(["1.10", "1.1", "01.5"] * 12)
    for name, content in files.items():
        one, other = here(content, name), apart.read_apart(content, name, Reading())
        columns = [[vars(column).copy() for column in table.columns] for table in (one, other)]
        for mine, its in zip(*columns, strict=True):
            for part in ("values", "spelt"):
                np.testing.assert_array_equal(mine.pop(part), its.pop(part))
            assert json.dumps({**mine, "distinct": 0}) == json.dumps({**its, "distinct": 0})
        assert len({json.dumps({**vars(table), "columns": 0}) for table in (one, other)}) == 1
    with pytest.raises(DataError, match="row 2 has 3 cells"):
        apart.read_apart(b"x,y\n1,a\n2,b,c\n", "", Reading())


@pytest.mark.slow
def test_a_file_that_needs_too_much_ends_with_a_sentence_that_says_both_limits(monkeypatch):
    if not os.path.exists("/proc/self/stat"):
        pytest.skip("this system knows no limit on memory")
    monkeypatch.setattr(apart, "MEMORY_BYTES", 120 << 20)
    told = r"big\.csv is damaged, or needs too much .*120 MB of memory and 60 seconds.*Keep fewer"
    with pytest.raises(DataError, match=told):
        apart.read_apart(made.million_rows(), "big.csv", Reading())
    monkeypatch.setattr(apart, "MEMORY_BYTES", 1 << 30)
    monkeypatch.setattr(apart, "SECONDS", 0.2)
    with pytest.raises(DataError, match=r"busy\.csv took too long.*0.2 seconds"):
        apart.read_apart(b"a,b,c\n" + b"31.12.2020,1.234,yes\n" * 1_900_000, "busy.csv", Reading())


def read_hostile_files() -> None:
    """Read every hostile file, here or, where only a limit on memory ends that, in another process."""
    read_apart, apart.MEMORY_BYTES = apart.read_apart, 1 << 29
    for number, (name, content_of) in enumerate(HOSTILE.items()):
        imrc.tables.read_apart = read_apart if name in ENDLESS else read_bytes
        content = content_of()
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
                    assert main(["run", str(path), "--target", "1", "--every", "4"]) == 2
                assert "imrc: " in said.getvalue()
        assert time.process_time() - start < 60, name
        print(f"{name}: {words[:80]}")
    for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        assert resource.getrusage(whose).ru_maxrss < 1.2 * (1 << 20)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.first
def test_hostile_files_end_in_a_table_or_a_message(tmp_path):
    code = "from tests.unit.test_own_files import read_hostile_files; read_hostile_files()"
    run_python("-c", code, folder=tmp_path)


# The other reading


def test_the_other_reading_is_offered_and_taken():
    days = [f"{1 + i * 5 % 12:02d}/{1 + i * 7 % 12:02d}/2020" for i in range(made.ROWS)]
    first, other = (here(made.with_column(days), dayfirst=way).column("v").values for way in (None, False))
    assert here(made.with_column(days)).choices["dayfirst"] == (True, False)
    assert first[1] != other[1]
    assert pd.Timestamp(other[1], unit="s") == pd.Timestamp(2020, 6, 8)
    figures = made.with_column(["1.234", "5.678"] * 18)
    assert here(figures).choices["decimal"] == (".", ",")
    assert here(figures, decimal=",").column("v").values[0] == 1234
    names = made.written({"2019": ["1", "2"] * 9, "2020": ["3", "4"] * 9}).encode()
    assert here(names).choices["header"] == (False, True)
    assert here(names, header=True).names == ("2019", "2020")
    with pytest.raises(ValueError, match="decimal"):
        open_table(b"x,y\n1,2\n", decimal=":")
    assert any("sheet='b' was not used" in note for note in here(sample_csv(60), sheet="b").notes)
    assert any("header=False was not used" in note for note in here(made.parquet(made.FRAME), header=False).notes)


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
    sequence = imrc.tasks_from(path, target="y", by="day", period="quarter", dayfirst=False)
    assert any("the same as the first line" in note for note in sequence.info["report"])
    assert main(["check", *options, "--no-dayfirst"]) == 0
    assert "month/day/year" in capsys.readouterr().err


# What is used


def test_the_newest_tasks_are_kept_and_names_that_begin_alike_are_shortened():
    rows = "".join(f"campaign north {i // 6},{i % 5},{'ab'[i % 2]}\n" for i in range(420))
    cut = cut_table(here(f"t,x,y\n{rows}"), label="y", task="t", newest=60)
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


def test_months_are_suggested_before_weeks():
    for days, expected in ((range(400), "month"), (np.repeat(range(60), 20), "week"), (range(0, 4000, 40), "year")):
        dates = np.datetime64("2001-01-01") + np.array(days)
        rows = "".join(f"{day},{i % 7},{'ab'[i % 2]}\n" for i, day in enumerate(dates))
        assert suggest(here(f"when,x,y\n{rows}")).period == expected


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
    assert np.isnan(recipe.apply(bare.assign(pump=""), fill=True)[0][:, 0]).all()
    with pytest.raises(DataError, match="no column 'pressure'"):
        recipe.apply(bare.drop(columns=["pressure"]))
    with pytest.raises(DataError, match=r"'pressure', which .* had numbers .*'broken' in row 1"):
        recipe.apply(bare.assign(pressure="broken"))
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


def test_a_recipe_notes_times_that_it_turns_into_utc_and_a_file_has_points_where_it_declares_numbers():
    rows = [f"2020-{1 + i % 6:02d}-01T10:00+0{1 + i % 6 // 3}:00,{i * 7 % 5 + 1}.500,{'ab'[i % 2]}" for i in range(24)]
    cut = cut_table(here("\n".join(["when,x,y", *rows])), label="y", block=8, include=["when"])
    X, _, _, notes = cut.recipe.apply("\n".join(["when,x,y", *rows[:8]]).encode())
    np.testing.assert_array_equal(X, cut.sequence[0].X)
    assert any("(+01:00 and +02:00); all were turned into UTC" in note for note in notes)
    arff = "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n" + "1.234,a\n5.678,b\n" * 3
    assert here(arff, decimal=",").column("x").values[0] == 1.234
    half = here("x,s\n" + "".join(f"{i % 7},{(1, 3, 5, 5, 5)[i % 5]}\n" for i in range(24)))
    assert cut_table(half, label="s", block=8, threshold="median").sequence.class_names == ("above 3", "at most 3")


def test_a_recipe_keeps_whether_there_is_a_header():
    rows = b"".join(b"%d.5,%d,%s\n" % (i, i % 3, [b"red", b"blue"][i % 2]) for i in range(24))
    cut = cut_table(here(rows), label="column 3", block=8)
    X, y, _, _ = cut.recipe.apply(b"7.5,2,red\n")  # one row, which could hold names
    assert (X.tolist(), y.tolist()) == ([[7.5, 2]], ["red"])


def test_a_recipe_keeps_the_order_of_days_and_months_the_decimals_and_the_threshold():
    first = made.with_column([f"{1 + i % 28}/{1 + i % 12}/2020" for i in range(72)])
    first = first.replace(b"x,v,y", b"x,day,y")
    cut = cut_table(here(first), label="x", task="day", period="month", threshold="median", min_samples=2)
    assert cut.recipe.label["threshold"] == float(cut.sequence.class_names[0].removeprefix("above "))
    later = b"x,day,y\n" + b"9.5,3/4/2021,a\n0.5,5/6/2021,b\n"
    _, y, tasks, _ = cut.recipe.apply(later)
    assert tasks.tolist() == ["2021-04", "2021-06"]
    assert y.tolist() == list(cut.sequence.class_names)


# What is learnt from


def test_nothing_a_file_holds_can_act_as_markup_or_formula():
    rows = "".join(f"{made.HTML},[a](javascript:b),=1+1,{'`c`' if i % 2 else '$x^2$'},{i % 3}\n" for i in range(12))
    opened = open_table(f"{made.HTML},[l](http://e.invalid),=A1,y,@x\n{rows}".encode(), name="<b>.csv")
    cut = cut_table(opened, label="y", block=4)
    sequence = cut.sequence
    words = [*sequence.labels, *sequence.class_names, *sequence.feature_names, sequence.name, *opened.names]
    words += [*(cell for row in opened.preview for cell in row), *cut.in_words()]
    assert not set("<>[]`$&") & set("".join(words))
    assert not [line for line in "\n".join(words).splitlines() if line[:1] in "=+-@"]
    assert sequence.classes.tolist() == ["$x^2$", "`c`"]  # as in the file, to be compared with labels


def test_values_labels_and_order_are_exactly_those_of_the_file():
    csv = "day,temp,colour,rain\n2,1.5,red,no\n1,2.5,blue,yes\n2,,red,yes\n1,4.5,green,no\n1,0,blue,no\n2,7,green,yes\n"
    cut = cut_table(here(csv.encode()), label="rain", task="day", min_samples=3)
    first, second = cut.sequence
    assert cut.sequence.labels == ("1", "2")
    rows = cut.task_table()[["name", "rows", "class no", "class yes"]].to_numpy().tolist()
    assert rows == [["1", 3, 2, 1], ["2", 3, 1, 2]]
    assert cut.columns["used as"].tolist() == ["label", "task", "numbers", "words"]
    bare = cut_table(here(csv), label="rain", task="day", min_samples=3, exclude=[1])
    assert bare.sequence.feature_names == ("colour",)
    # Columns stand as they were read: a gap stays a gap, and words are numbered in the order of the alphabet.
    assert cut.sequence.feature_names == ("temp", "colour")
    assert cut.sequence.column_kinds == ("undeclared", "category")
    assert cut.sequence.categories == {1: ("blue", "green", "red")}
    np.testing.assert_array_equal(first.X, [[2.5, 0], [4.5, 1], [0, 0]])
    np.testing.assert_array_equal(second.X, [[1.5, 2], [np.nan, 2], [7, 1]])
    assert first.y.tolist() == ["yes", "no", "no"]
    told = "1 missing values are replaced by the median of the training rows of the first task"
    assert told in cut.columns["note"][2]


def test_gaps_and_words_are_filled_with_what_the_first_task_shows():
    csv = "day,temp,colour,rain\n" + "1,1,blue,no\n1,3,blue,yes\n1,5,green,no\n2,,red,yes\n2,900,green,no\n2,7,,yes\n"
    sequence = imrc.tasks_from(csv.encode(), target="rain", by="day", min_samples=3)
    features = make("identity", sequence)
    assert output_names(features, sequence) == ("temp", "colour = blue", "colour = other")
    # 3 is the median of day 1; green was seen once there, red and no colour at all were not.
    np.testing.assert_array_equal(features.transform(sequence[1].X), [[3, 0, 1], [900, 0, 1], [7, 0, 1]])
    learnt = Representation.of("identity", sequence).learn(sequence[0].X[:2])
    assert output_names(learnt, sequence) == ("temp", "colour = blue")
    np.testing.assert_array_equal(learnt.transform(sequence[1].X), [[2, 0], [900, 0], [7, 0]])
    # A learner that is told of the columns does the same.
    told, plain = imrc.IMRC(features=Representation.of("identity", sequence)), imrc.IMRC(features="identity")
    for task in sequence:
        told.partial_fit(task.X, task.y, classes=sequence.classes)
        plain.partial_fit(features.transform(task.X), task.y, classes=sequence.classes)
    np.testing.assert_array_equal(told.coef_["forward"], plain.coef_["forward"])
    with pytest.raises(ValueError, match="missing values"):
        imrc.IMRC().partial_fit(sequence[1].X, sequence[1].y, classes=sequence.classes)


def test_columns_without_a_scale_in_the_first_task_are_left_out():
    rows = "1,5,,0,2020-01-01,a\n1,5,,0,2020-01-03,b\n2,7,3,1,2020-02-01,a\n2,8,4,6,2020-02-01,b\n"
    sequence = imrc.tasks_from(f"t,constant,later,rare,day,y\n{rows}".encode(), target="y", by="t", min_samples=2)
    features = make("identity", sequence)
    # A column that is always 0 at first is kept: most columns of word counts are.
    assert output_names(features, sequence) == ("rare", "day")
    np.testing.assert_array_equal(features.transform(sequence[1].X), [[1, 31], [6, 31]])
    # Only 0 was seen, so the representation whose features are bounded takes it for 0 or 1 and bounds it.
    assert features.n_outputs == 2
    assert np.abs(make("automatic", sequence).transform(sequence[1].X)).max() <= 1.0


def test_path_and_report(tmp_path):
    path = tmp_path / "my data.csv"
    path.write_text(made.table(14))
    sequence = imrc.tasks_from(path, target="y", every=4)
    assert sequence.name == "my data"
    assert any("2 rows left out" in line for line in sequence.info["report"])
    with pytest.raises(DataError, match="cannot be read"):
        imrc.tasks_from(tmp_path / "nowhere.csv", target="y", every=4)
    with pytest.raises(TypeError, match="path, bytes"):
        open_table(17)  # type: ignore[arg-type]
    assert sorted(item.name for item in tmp_path.iterdir()) == ["my data.csv"]


def test_what_is_left_out_is_said_beside_every_output(tmp_path, capsys):
    rows = "".join(f"{i % 7},{i % 5},{'no' if i % 20 else 'yes'}\n" for i in range(130))
    path = tmp_path / "churn.csv"
    path.write_text("x,z,left\n" + rows)
    for command, n in (("check", []), ("run", ["-n", "1"])):
        for output in ([], ["--json"], ["--csv"]):
            few = [*n, "--repetitions", "1", *output]
            assert main([command, str(path), "--target", "3", "--every", "40", *few]) == 0
            said = capsys.readouterr().err
            assert "10 rows left out: rows left over after the last full block." in said
            assert "of the rows are of class 'no': always predicting that class is wrong in just" in said
            assert ("too few samples to contain all 2 classes" in said) == (command == "run")


def test_a_column_by_its_place():
    opened = open_table(b"x,7,y\n1,2,3\n")
    assert [opened.column(which).name for which in ("1", "3", "-1", "7", 0, -1)] == ["x", "y", "y", "7", "x", "y"]
    for which, places in (("4", "1 to 3"), (3, "0 to 2")):
        with pytest.raises(DataError, match=f"A number from {places} selects a column by its position"):
            opened.column(which)
    wide = open_table(",".join(f"c{i}" for i in range(100)).encode() + b"\n" + b"1," * 99 + b"1\n")
    with pytest.raises(DataError, match=r"The table has 100: 'c0', .*'c59' and 40 more"):
        wide.column("target")


def test_quarters_make_tasks_and_are_never_taken_for_the_label():
    rows = "".join(f"{i * 37 % 160 * 7.5},{i % 70},20{18 + i // 80}-Q{i // 20 % 4 + 1}\n" for i in range(160))
    opened = here(f"revenue,x,quarter\n{rows}".encode())
    assert [getattr(suggest(opened), one) for one in ("label", "task", "period")] == [None, "quarter", "quarter"]
    cut = cut_table(opened, label="revenue", task="quarter", threshold="median")
    names = *cut.sequence.labels[:2], *cut.sequence.class_names
    assert names == ("2018 Q1", "2018 Q2", "above 596.25", "at most 596.25")
    fewer = "".join(line for line in rows.splitlines(keepends=True) if "2018-Q3" not in line)
    gap = cut_table(here(f"r,x,q\n{fewer}"), label="r", task="q", threshold="median")
    assert [any("1 quarter has no task" in note for note in one.notes) for one in (cut, gap)] == [False, True]
    for period, what in (("month", "one date per quarter"), ("decade", "period")):
        with pytest.raises(ValueError, match=what):
            cut_table(opened, label="revenue", task="quarter", period=period, threshold="median")
    with pytest.raises(DataError, match="A task per month cannot be made of"):
        cut_table(opened, label="revenue", block=20, period="month", threshold="median")


def test_the_label_is_left_open_when_in_doubt():
    for header, line, label in (
        ("x,z,y", "{i}.5,{i},{ab}", "y"),
        ("kind,x,z", "{ab},{i},{i}.5", "kind"),
        ("shop,kind,z", "s{three},{ab},{i}.5", None),
        ("x,z,revenue", "{i},{i},{i}.5", None),
    ):
        rows = [line.format(i=i, ab="ab"[i % 2], three=i % 3) for i in range(60)]
        assert suggest(here("\n".join([header, *rows]))).label == label
