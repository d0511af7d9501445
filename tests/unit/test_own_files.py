"""A person's own table: what works, what is refused, and that every message can be understood."""

import io
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import imrc
from imrc.cli import main
from imrc.datasets import DataError, cut_table, open_table, read_table, suggest
from imrc.features import Representation, make, output_names
from imrc.tables.read import read_bytes
from imrc.tables.table import Reading
from tests.unit.nasty_files import CASES, FRAME, HTML, Bomb, Case, table

TECHNICAL = re.compile(
    r"Traceback|Error\b|Exception|pyarrow|Arrow|numpy\.|NoneType|dtype|0x[0-9a-f]{4}|object at|codec|\bnan\b|\[Errno"
)


def here(content: bytes | str, name: str = "data.csv"):
    """Read a file in this process, which is what its own process does."""
    return read_bytes(content.encode() if isinstance(content, str) else content, name, Reading())


def told(case: Case) -> tuple[str, str]:
    """Return "message" or "tasks", and everything a person would read."""
    try:
        content = case.make()
        opened = here(content, case.file) if len(content) < 64 << 20 else open_table(content)
        cut = cut_table(opened, **case.options)
    except DataError as error:
        return "message", str(error)
    use = [f"{column.name!r}: {column.note}" for column in cut.columns]
    sequence = cut.sequence
    assert len(sequence) == case.tasks, case.name
    assert sequence.n_features == case.features, case.name
    assert sequence.n_classes == case.classes, case.name
    mapped = make("identity", sequence)
    assert all(np.isfinite(mapped.transform(task.X)).all() for task in sequence)
    assert len(sequence.column_kinds) == sequence.n_features == len(sequence.feature_names)
    assert sequence.sizes.sum() == cut.rows_used
    assert cut.rows_used + sum(n for _, n in cut.dropped) + sum(n for _, n in cut.small_tasks) == cut.rows_read
    return "tasks", "\n".join([opened.format, *opened.notes, *cut.in_words(), *use])


LARGE = ("bomb", "million", "lies", "2,000 columns", "long words", "too", "20 MB")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] * any(word in case.name for word in LARGE))
        for case in CASES
    ],
)
def test_every_file_ends_in_tasks_or_in_a_message(case):
    kind, words = told(case)
    assert kind == ("tasks" if case.tasks else "message"), words
    for part in (*case.says, *case.told):
        assert part in words
    assert not Bomb.ran
    if kind == "message":
        assert 15 < len(words) < 700
        assert not TECHNICAL.search(words), words
        assert "\n" not in words
        assert words.rstrip()[-1] in ".)", words


def test_nothing_a_file_holds_can_act_as_markup_or_formula():
    rows = "".join(f"{HTML},[a](javascript:b),=1+1,{'`c`' if i % 2 else '$x^2$'},{i % 3}\n" for i in range(12))
    opened = open_table(f"{HTML},[l](http://e.invalid),=A1,y,@x\n{rows}".encode(), name="<b>.csv")
    cut = cut_table(opened, label="y", block=4)
    sequence = cut.sequence
    words = [*sequence.labels, *sequence.class_names, *sequence.feature_names, sequence.name, *opened.names]
    words += [*(cell for row in opened.preview for cell in row), *cut.in_words(), *map(str, sequence.classes)]
    assert not set("<>[]`$&") & set("".join(words))
    assert not [line for line in "\n".join(words).splitlines() if line[:1] in "=+-@"]
    assert sequence.n_classes == 2


def test_values_labels_and_order_are_exactly_those_of_the_file():
    csv = "day,temp,colour,rain\n2,1.5,red,no\n1,2.5,blue,yes\n2,,red,yes\n1,4.5,green,no\n1,0,blue,no\n2,7,green,yes\n"
    cut = cut_table(here(csv.encode()), label="rain", task="day", min_samples=3)
    first, second = cut.sequence
    assert cut.sequence.labels == ("1", "2")
    # Columns stand as they were read: a gap stays a gap, and words are numbered in the order of the alphabet.
    assert cut.sequence.feature_names == ("temp", "colour")
    assert cut.sequence.column_kinds == ("undeclared", "category")
    assert cut.sequence.categories == {1: ("blue", "green", "red")}
    np.testing.assert_array_equal(first.X, [[2.5, 0], [4.5, 1], [0, 0]])
    np.testing.assert_array_equal(second.X, [[1.5, 2], [np.nan, 2], [7, 1]])
    assert first.y.tolist() == ["yes", "no", "no"]
    assert "1 missing values are replaced by the median of the training rows of the first task" in cut.columns[2].note


def test_gaps_and_words_are_filled_with_what_the_first_task_shows():
    csv = "day,temp,colour,rain\n" + "1,1,blue,no\n1,3,blue,yes\n1,5,green,no\n2,,red,yes\n2,900,green,no\n2,7,,yes\n"
    sequence = read_table(csv.encode(), label="rain", task="day", min_samples=3)
    features = make("identity", sequence)
    assert output_names(features, sequence) == ("temp", "colour = blue", "colour = other")
    # 3 is the median of day 1; green was seen once there, red and no colour at all were not.
    np.testing.assert_array_equal(features.transform(sequence[1].X), [[3, 0, 1], [900, 0, 1], [7, 0, 1]])
    learnt = Representation.of("identity", sequence).learn(sequence[0].X[:2])
    assert output_names(learnt, sequence) == ("temp", "colour = blue")
    np.testing.assert_array_equal(learnt.transform(sequence[1].X), [[2, 0], [900, 0], [7, 0]])


def test_columns_without_a_scale_in_the_first_task_are_left_out():
    rows = "1,5,,0,2020-01-01,a\n1,5,,0,2020-01-03,b\n2,7,3,1,2020-02-01,a\n2,8,4,6,2020-02-01,b\n"
    sequence = read_table(f"t,constant,later,rare,day,y\n{rows}".encode(), label="y", task="t", min_samples=2)
    features = make("identity", sequence)
    # A column that is always 0 at first is kept: most columns of word counts are.
    assert output_names(features, sequence) == ("rare", "day")
    np.testing.assert_array_equal(features.transform(sequence[1].X), [[1, 31], [6, 31]])
    # Only 0 was seen, so the representation whose features are bounded takes it for 0 or 1 and bounds it.
    assert features.n_outputs == 2
    assert np.abs(make("automatic", sequence).transform(sequence[1].X)).max() <= 1.0


def learnt(sequence, features) -> imrc.IMRC:
    model = imrc.IMRC(features=features)
    for task in sequence:
        model.partial_fit(task.X, task.y, classes=sequence.classes)
    return model


def test_a_learner_takes_gaps_and_words_if_told_of_the_columns_and_says_so_if_not():
    csv = "x,c,y\n" + "1,u,a\n,v,b\n3,u,b\n4,v,a\n" * 3
    sequence = read_table(csv.encode(), label="y", block=4)
    with pytest.raises(ValueError, match="missing values"):
        learnt(sequence, None)
    model, mapped = learnt(sequence, Representation.of("identity", sequence)), make("identity", sequence)
    plain = imrc.IMRC(features="identity")
    for task in sequence:
        plain.partial_fit(mapped.transform(task.X), task.y, classes=sequence.classes)
    np.testing.assert_array_equal(model.coef_["forward"], plain.coef_["forward"])
    assert set(model.predict(sequence[0].X, task=0)) <= {"a", "b"}


def test_a_learner_takes_a_table_of_numbers_without_gaps_as_it_is():
    csv = "x,z,y\n" + "1,0,a\n2,1,b\n3,1,b\n4,0,a\n" * 3
    sequence = read_table(csv.encode(), label="y", block=4)
    one, other = (learnt(sequence, features) for features in (None, Representation.of("blended", sequence)))
    np.testing.assert_array_equal(one.coef_["forward"], other.coef_["forward"])


def test_csv_parquet_arff_and_frame_give_the_same_tasks():
    frame = pd.DataFrame({"x": np.arange(12) % 5 / 4, "c": ["u", "v", "w"] * 4, "y": [0, 1, 1, 0] * 3})
    parquet = io.BytesIO()
    frame.to_parquet(parquet)
    arff = "@relation r\n@attribute x numeric\n@attribute c {w,v,u}\n@attribute y {0,1}\n@data\n"
    sources = [
        frame,
        frame.to_csv(index=False).encode(),
        frame.to_csv(index=False, sep=";", decimal=",").encode("utf-16"),
        io.BytesIO(frame.to_csv(index=False, sep="\t").encode()),
        parquet.getvalue(),
        arff.encode() + frame.to_csv(index=False, header=False).encode(),
    ]
    prints = {read_table(source, label="y", block=4).fingerprint for source in sources}
    assert len(prints) == 1


def test_a_frame_is_not_changed():
    before = FRAME.copy(deep=True)
    read_table(FRAME, label="y", task="when", period="week")
    pd.testing.assert_frame_equal(FRAME, before)


def test_path_and_report(tmp_path):
    path = tmp_path / "my data.csv"
    path.write_text(table(14))
    sequence = read_table(path, label="y", block=4)
    assert sequence.name == "my data"
    assert any("2 rows left out" in line for line in sequence.info["report"])
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path / "nowhere.csv", label="y", block=4)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["my data.csv"]


def test_excluded_columns_and_tables_for_the_page():
    cut = cut_table(here(table().encode()), label="y", block=4, exclude=["x"])
    assert cut.sequence.feature_names == ("z",)
    shown_tasks = cut.task_table()
    assert shown_tasks["rows"].tolist() == [4, 4, 4]
    assert shown_tasks["class a"].tolist() == [2, 2, 2]
    assert cut.column_table()["used as"].tolist() == ["label", "numbers"]


@pytest.mark.parametrize(
    ("period", "labels"),
    [
        ("week", ("2020-12-28", "2021-01-04")),
        ("month", ("2020-12", "2021-01")),
        ("quarter", ("2020 Q4", "2021 Q1")),
        ("year", ("2020", "2021")),
        ("day", ("2020-12-31", "2021-01-07")),
    ],
)
def test_names_of_periods(period, labels):
    rows = "2020-12-31,1,a\n2020-12-31,2,b\n2021-01-07,3,a\n2021-01-07,4,b\n" * 2
    sequence = read_table(f"d,x,y\n{rows}".encode(), label="y", task="d", period=period)
    assert sequence.labels == labels


def test_wrong_kinds_of_argument_are_type_errors():
    with pytest.raises(TypeError, match="path, bytes"):
        open_table(17)  # type: ignore[arg-type]


def test_what_is_left_out_is_said_beside_every_output(tmp_path, capsys):
    rows = "".join(f"{i % 7},{i % 5},{'no' if i % 20 else 'yes'}\n" for i in range(130))
    path = tmp_path / "churn.csv"
    path.write_text("x,z,left\n" + rows)
    for command, n in (("check", []), ("run", ["-n", "1"])):
        for output in ([], ["--json"], ["--csv"]):
            few = [*n, "--repetitions", "1", *output]
            assert main([command, str(path), "--label", "3", "--block", "40", *few]) == 0
            said = capsys.readouterr().err
            assert "10 rows left out: rows left over after the last full block." in said
            assert "of the rows are of class 'no': always predicting that class is wrong in just" in said
            assert ("too few samples to contain all 2 classes" in said) == (command == "run")


def test_a_column_by_its_place():
    opened = open_table(b"x,7,y\n1,2,3\n")
    assert [opened.column(which).name for which in ("1", "3", "-1", "7", 0, -1)] == ["x", "y", "y", "7", "x", "y"]
    with pytest.raises(DataError, match="A number from 1 to 3 selects a column by its position"):
        opened.column("4")
    wide = open_table(",".join(f"c{i}" for i in range(100)).encode() + b"\n" + b"1," * 99 + b"1\n")
    with pytest.raises(DataError, match=r"The table has 100: 'c0', .*'c59' and 40 more"):
        wide.column("target")


# Cells and labels that other files do not hold


def column(*cells: str):
    """Return how a column of these cells is read, beside a column of numbers."""
    lines = ["c;n", *(f'"{cell}";{i + 10}' for i, cell in enumerate(cells))]
    return here("\n".join(lines)).column("c")


@pytest.mark.parametrize(
    ("cells", "first", "said"),
    [
        (["01/02/98", "13/02/98"], "1998-02-01T00:00:00", "'01/02/98' in row 1 is 1998-02-01"),
        (["31.12.68", "01.01.69"], "2068-12-31T00:00:00", "is 2068-12-31"),
        (["2020-01-05 10:11 PM", "2020-01-05 12:11 am"], "2020-01-05T22:11:00", ""),
        (["2020-01-05T10:00+02:00", "2020-01-05T11:00+02:00"], "2020-01-05T10:00:00", "in zone +02:00"),
        (["2020-01-05T10:00+02:00", "2020-01-05T11:00+01:00"], "2020-01-05T08:00:00", "several zones (+01:00, +02:00)"),
        (["2020-01-05T10:00Z", "2020-01-05T11:00"], "2020-01-05T10:00:00", "several zones (none, Z)"),
        ([*(f"2020-01-{day:02d}" for day in range(1, 20)), "later"], "2020-01-01T00:00:00", "'later' in row 20"),
    ],
)
def test_dates(cells, first, said):
    found = column(*cells)
    assert found.kind == "date", found.notes
    assert str(found.values.astype("datetime64[s]")[0]) == first
    assert said in " ".join(found.notes)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["12-34-5678", "98-76-5432"], ""),
        (["abc 2020", "def 2020"], ""),
        (["13/25/2020", "40/50/2020"], ""),
        (["1.5", "2,5", "1.2", "2,2"], "some numbers have decimal points, others decimal commas"),
    ],
)
def test_what_only_resembles_dates_or_numbers_stays_words(cells, said):
    found = column(*cells * 5)
    assert found.kind == "category"
    assert said in " ".join(found.notes)


def test_quarters_make_tasks_and_are_never_taken_for_the_label():
    rows = "".join(f"{i * 37 % 160 * 7.5},{i % 70},20{18 + i // 80}-Q{i // 20 % 4 + 1}\n" for i in range(160))
    opened = here(f"revenue,x,quarter\n{rows}")
    guessed = suggest(opened)
    assert (guessed.label, guessed.task, guessed.period) == (None, "quarter", "quarter")
    cut = cut_table(opened, label="revenue", task="quarter", threshold="median")
    assert cut.sequence.labels[:2] == ("2018 Q1", "2018 Q2")
    assert cut.sequence.class_names == ("above 596.25", "at most 596.25")
    for period, what in (("month", "one date per quarter"), ("decade", "period")):
        with pytest.raises(ValueError, match=what):
            cut_table(opened, label="revenue", task="quarter", period=period, threshold="median")
    with pytest.raises(DataError, match="A task per month cannot be made of"):
        cut_table(opened, label="revenue", block=20, period="month", threshold="median")


def test_tasks_of_one_class_each_are_refused_with_what_to_do():
    rows = "".join(f"{i // 4},{i % 3},c{i // 4}\n" for i in range(24))
    for way, said in (({"task": "t"}, "'t' already determines 'y'"), ({"block": 4}, "the file is sorted by 'y'")):
        with pytest.raises(DataError, match=said):
            cut_table(here(f"t,x,y\n{rows}"), label="y", **way)


@pytest.mark.parametrize("pair", ["+-", "?!", ["nil", "one"], ["missing", "present"]])
def test_marks_and_words_that_elsewhere_mean_missing_can_be_classes(pair):
    rows = "".join(f"{i % 5},{pair[i % len(pair)]}\n" for i in range(24))
    sequence = cut_table(here(f"x,y\n{rows}"), label="y", block=12).sequence
    assert set(sequence.class_names) == {"'" + word if word in "+-" else word for word in pair}


@pytest.mark.parametrize(
    ("header", "row", "label"),
    [
        ("x,z,y", lambda i: f"{i * 1.5},{i},{'ab'[i % 2]}", "y"),
        ("kind,x,z", lambda i: f"{'ab'[i % 2]},{i},{i * 1.5}", "kind"),
        ("shop,kind,z", lambda i: f"s{i % 3},{'ab'[i % 2]},{i * 1.5}", None),
        ("x,z,revenue", lambda i: f"{i},{i % 30},{i * 1.5}", None),
    ],
)
def test_the_label_is_left_open_when_in_doubt(header, row, label):
    assert suggest(here(header + "\n" + "\n".join(row(i) for i in range(60)))).label == label


def test_dates_of_typed_files_beyond_the_calendar_and_in_unknown_zones():
    days = pa.array([2**31 - 1, *range(11)], pa.int32()).cast(pa.date32())
    moments = pa.array([0, 3600 * 10**9 + 5 * 10**8] * 6, pa.timestamp("ns", tz="Mars/Olympus"))
    out = io.BytesIO()
    pq.write_table(pa.table({"d": days, "m": moments, "y": pa.array(["a", "b"] * 6)}), out)
    found = here(out.getvalue(), "t.parquet")
    assert found.column("d").missing == 1
    assert "lie outside the years 1 to 9999 (the first in row 1)" in found.notes[0]
    assert "'Mars/Olympus' is not known here" in found.notes[1]
    assert found.column("m").values[:2].tolist() == [0, 3600.5]
