"""A model answers raw rows by the names of their columns, with the rule of its strategy, and is kept as it is."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import imrc
from imrc._checks import DataError, InputError
from imrc.baselines import registry
from imrc.cli import main
from imrc.evaluation import RunSettings
from imrc.evaluation.run import single_thread
from imrc.features import Representation
from imrc.model import STRATEGIES, ReadingWarning, fit_model
from imrc.model._file import LAYOUT, pack
from imrc.tables import csv_text


def months(count: int = 4, start: int = 0, rows: int = 25) -> pd.DataFrame:
    """Return rows of some months: words, numbers with gaps, a second date, an identifier; the label follows `sun`."""
    generator, row = np.random.default_rng(start), np.tile(np.arange(rows), count)
    month, sun = np.repeat(np.arange(start, start + count), rows), generator.normal(size=len(row))
    return pd.DataFrame(
        {
            "day": [f"2023-{m + 1:02d}-{r + 1:02d}" for m, r in zip(month, row, strict=True)],
            "sun": np.where(row % 9 == 4, np.nan, sun.round(3)),
            "site": np.array(["north", "south", "east"])[generator.integers(0, 3, len(row))],
            "built": [f"{1 + r % 28}/3/20{10 + r % 9}" for r in row],
            "rain": np.where(sun + 0.2 * month * generator.normal(size=len(row)) > 0, "no", "yes"),
        }
    )


def sequence_of(frame: pd.DataFrame) -> imrc.TaskSequence:
    return imrc.tasks_from(frame, target="rain", by="day", period="month")


def made(strategy: str = "forward", preset: str = "recommended", **more) -> imrc.Model:
    return fit_model(sequence_of(months()), strategy=strategy, settings=RunSettings(preset=preset, b=2, **more))


@pytest.fixture(scope="module")
def model() -> imrc.Model:
    return made()


def stored(model: imrc.Model, **options) -> bytes:
    file = io.BytesIO()
    model.save(file, **options)
    return file.getvalue()


def again(model: imrc.Model, **options) -> imrc.Model:
    return imrc.load(io.BytesIO(stored(model, **options)))


# The rule


@pytest.mark.parametrize("preset", ["recommended", "paper"])
def test_each_strategy_has_the_rule_of_the_learner_that_is_evaluated(preset):
    sequence, run = sequence_of(months()), RunSettings(preset=preset, b=2, seed=3)
    learner = imrc.IMRC(preset=preset, b=2, random_state=3, features=Representation.of(run.features, sequence))
    with single_thread():  # as runs and models do
        for task in sequence:
            learner.partial_fit(task.X, task.y, classes=sequence.classes)
    X = sequence[3].X
    models = {name: fit_model(sequence, strategy=name, settings=run) for name in STRATEGIES}
    for rule in ("single", "forward", "forward_backward"):
        for task in range(4):
            expected = learner.predict_proba(X, task, rule)
            np.testing.assert_array_equal(models[rule].predict_proba(X, task), expected)
            np.testing.assert_array_equal(models[rule].predict_proba(X, sequence.labels[task]), expected)
    for rule in ("forward", "forward_backward"):  # of the task to come
        np.testing.assert_array_equal(models[rule].predict_proba(X), learner.predict_proba(X, "next"))
    np.testing.assert_array_equal(models["single"].predict_proba(X), learner.predict_proba(X, 3, "single"))
    pooled = registry["pooled"](n_classes=2, n_features=learner.features_.n_outputs, random_state=0)
    for number, task in enumerate(sequence):
        pooled.partial_fit_task(number, learner.features_.transform(task.X), sequence.encoded(number))
    answers = sequence.classes[pooled.predict(learner.features_.transform(X))]
    for task in ("next", 0, -1):
        assert models["pooled"].predict(X, task).tolist() == answers.tolist()


def test_a_rule_by_hand():
    """Alone and pooled, of a column that separates: the newest task turns the rule round, all tasks together do not."""
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5)
    y = np.array(["left", "left", "right", "right"] * 5)
    turned = np.array(["right", "right", "left", "left"] * 5)
    sequence = imrc.TaskSequence([imrc.Task(X, y)] * 3 + [imrc.Task(X, turned)])
    alone, pooled = (
        fit_model(sequence, strategy=one, settings=RunSettings(features="identity")) for one in STRATEGIES[:2]
    )
    rows = [[-1.5], [1.5]]
    assert alone.predict(rows).tolist() == ["right", "left"]
    assert alone.predict(rows, task=0).tolist() == pooled.predict(rows).tolist() == ["left", "right"]
    assert pooled.predict(rows, task="4").tolist() == ["left", "right"]


def test_the_model_says_what_it_is(model):
    told = repr(fit_model(sequence_of(months()), strategy="pooled", settings=RunSettings(), n_measured=12))
    assert told.splitlines() == [
        "Model: Pooled; predicts rain: no and yes",
        "  from 3 columns: sun, site and built",
        "  learnt from 4 tasks, 2023-01 to 2023-04, 100 rows",
        "  advice measured at n = 12, model learnt from 25 a task",
    ]
    with pytest.raises(InputError, match="strategy must be one of"):
        made("majority")
    for task, message in (("2023-9", "Did you mean"), (4, "between -4 and 3"), (1.5, "whole number")):
        with pytest.raises(InputError, match=message):
            model.predict(months(1), task=task)


# Raw rows


def test_rows_are_read_by_name_in_any_order_from_anything(model, tmp_path):
    frame = months(1, start=4)  # one month alone
    expected = model.predict_proba(frame)
    frame.to_csv(tmp_path / "next.csv", index=False)
    frame.to_csv(tmp_path / "next.txt", sep="\t", index=False)
    X = model.recipe.apply(frame)[0]
    bare = frame[["sun", "site", "built"]]
    for rows in (
        frame[frame.columns[::-1]], bare, bare.to_numpy(), bare.to_numpy().tolist(), X, tmp_path / "next.csv",
        str(tmp_path / "next.txt"), (tmp_path / "next.csv").read_bytes(), model.recipe.read(frame),
    ):  # fmt: skip
        np.testing.assert_array_equal(model.predict_proba(rows), expected)
    assert model.predict(frame).tolist() == model.classes[expected.argmax(axis=1)].tolist()
    np.testing.assert_allclose(model.predict_proba(frame.iloc[[7]]), expected[[7]], rtol=1e-12)
    with pytest.raises(DataError, match="no column 'site', which the first file had"):
        model.predict(frame.drop(columns="site"))
    with pytest.raises(InputError, match="an array with the columns sun, site and built; got ndarray of shape"):
        model.predict(X[:, :2])


def test_new_words_gaps_and_dates_mean_what_they_did(model):
    frame = months(1, start=4)
    usual = model.predict_proba(frame)
    gap, new, rare = (frame.copy() for _ in range(3))
    gap["sun"] = np.nan
    new["site"], rare["site"] = "west", "overseas"
    with pytest.warns(ReadingWarning, match=r"1 new word \('west'\) counts as other"):
        one = model.predict_proba(new)
    assert len(model.notes) == 1
    with pytest.warns(ReadingWarning, match="overseas"):
        np.testing.assert_array_equal(model.predict_proba(rare), one)
    filled = gap.assign(sun=np.nanmedian(months()["sun"][:25]))  # the median of the first task
    np.testing.assert_array_equal(model.predict_proba(gap), model.predict_proba(filled))
    assert model.notes == ()
    dates = frame.assign(built=pd.to_datetime(frame["built"], dayfirst=True))
    np.testing.assert_array_equal(model.predict_proba(dates), usual)
    assert not np.array_equal(model.predict_proba(frame.assign(built="28/12/2018")), usual)


def test_true_and_false_are_the_same_in_python_and_in_files(tmp_path):
    frame = months().assign(rain=lambda f: f["rain"] == "yes", wet=lambda f: f["sun"] > 0)
    model = fit_model(sequence_of(frame), strategy="pooled", settings=RunSettings())
    next_month = frame.tail(25)
    next_month.to_csv(tmp_path / "next.csv", index=False)  # True in place of true
    np.testing.assert_array_equal(model.predict_proba(tmp_path / "next.csv"), model.predict_proba(next_month))
    here, there = (again(model).update(rows, name="a") for rows in (next_month, tmp_path / "next.csv"))
    np.testing.assert_array_equal(here.predict_proba(frame), there.predict_proba(frame))


def test_a_model_of_arrays_takes_arrays_and_frames_with_their_names():
    sequence = imrc.datasets.load("random_walk", tasks=3, samples=30, features=2)
    bare = fit_model(sequence, strategy="forward", settings=RunSettings())
    X = sequence[2].X
    np.testing.assert_array_equal(bare.predict_proba(X), bare.predict_proba(pd.DataFrame(X)))
    with pytest.raises(InputError, match="missing or infinite value at row 1, column 0"):
        bare.predict([[0.0, 1.0], [np.nan, 1.0]])
    with pytest.raises(InputError, match=r"got list of shape \(2,\)"):
        bare.predict([0.0, 1.0])
    named = imrc.TaskSequence(sequence.tasks, feature_names=("a", "b"))
    model = fit_model(named, strategy="forward", settings=RunSettings())
    np.testing.assert_array_equal(
        model.predict_proba(pd.DataFrame(X[:, ::-1], columns=["b", "a"])), bare.predict_proba(X)
    )
    np.testing.assert_array_equal(again(model).predict_proba(X), model.predict_proba(X))


def test_the_rows_given_come_back_with_the_answers(model, tmp_path):
    frame = months(1, start=4).assign(customer=[f"C{row:05d}" for row in range(25)], note="=1+1")
    scored = model.predict_frame(frame)
    assert list(scored.columns[-3:]) == ["predicted rain", "probability of no", "probability of yes"]
    pd.testing.assert_frame_equal(scored[frame.columns], frame)
    assert scored["predicted rain"].tolist() == model.predict(frame).tolist()
    assert model.predict_frame(scored).columns[-1] == "probability of yes (new)"
    many = pd.concat([frame] * 250, ignore_index=True)
    many["customer"] = [f"C{row:05d}" for row in range(len(many))]  # more words than are listed of a column learnt from
    many.to_csv(tmp_path / "many.csv", index=False)
    from_file = model.predict_frame(tmp_path / "many.csv")
    assert from_file["customer"].tolist() == many["customer"].tolist()
    assert csv_text(from_file).splitlines()[1].split(",")[6] == "'=1+1"


HARD = [("<=50K", ">50K"), ("+", "-"), ("=R&B", "R＆B"), ("(0, 5]", "(0, 5)"), ("x" * 240, "x" * 240 + " [y]")]


@pytest.mark.parametrize("labels", HARD, ids=["markup", "signs", "look alike", "brackets", "long"])
def test_labels_are_those_of_the_table_and_words_mean_the_same_in_the_next(labels):
    rain, sites = {"no": labels[0], "yes": labels[1]}, {"north": "<a>", "south": "‹a›", "east": "[a]"}
    frame, later = (months(count).replace({"rain": rain, "site": sites}) for count in (4, 5))
    for table in (frame, frame.to_csv(index=False).encode()):
        sequence, last = imrc.tasks_from(table, target="rain", by="day", period="month"), later.tail(25)
        model = again(fit_model(sequence, strategy="forward", settings=RunSettings(b=2)))
        assert sequence.classes.tolist() == model.classes.tolist() == sorted(labels)
        assert len(set(names := model.class_names)) == 2 > max(map(len, names)) / 40
        assert (names, set("<>[]&") & set("".join(names))) == (sequence.class_names, set())
        scored = model.predict_frame(table)
        assert scored["rain"].tolist() == frame["rain"].tolist()
        assert (scored["predicted rain"] == frame["rain"]).mean() > 0.6
        assert list(scored.columns[-2:]) == [f"probability of {name}" for name in names]
        codes = model.recipe.apply(frame)[0][:, 1]
        for _, alone in frame.groupby("site"):  # a word is known where the others are not
            assert model.recipe.apply(alone)[0][:, 1].tolist() == codes[alone.index].tolist()
        here, there = again(model).update(last, last["rain"]), model.update(last)
        np.testing.assert_array_equal(here.predict_proba(frame), there.predict_proba(frame))


def test_a_model_of_an_earlier_version_knows_words_as_they_are_shown():
    shown, frame = (months().assign(rain=lambda f, sign=sign: sign + f["rain"]) for sign in "‹<")
    model = fit_model(sequence_of(shown), strategy="forward", settings=RunSettings(b=2))
    model.recipe.label.pop("names")
    assert again(model).class_names == ("‹no", "‹yes")
    assert again(model).recipe.apply(frame)[1].tolist() == shown["rain"].tolist()


# Updates


@pytest.mark.parametrize("preset", ["recommended", "paper"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_saved_predicts_and_learns_on_to_the_last_bit(strategy, preset):
    here, frame = made(strategy, preset), months(3, start=6)
    there = again(here)
    np.testing.assert_array_equal(there.predict_proba(frame), here.predict_proba(frame))
    for start in (4, 5):
        month = months(1, start)
        here.update(month, month["rain"])
        there = again(there).update(month)  # labels of the column
    assert repr(there) == repr(here)
    assert here.tasks[-1] == "2023-06"
    for task in ("next", *range(6)):
        np.testing.assert_array_equal(there.predict_proba(frame, task), here.predict_proba(frame, task))
    whole = fit_model(sequence_of(pd.concat([months(), months(1, 4), months(1, 5)])), strategy=strategy,
                      settings=RunSettings(preset=preset, b=2))  # fmt: skip
    np.testing.assert_array_equal(whole.predict_proba(frame), here.predict_proba(frame))


def test_updates_that_cannot_be_are_refused(model):
    month = months(1, start=4)
    before = stored(model)
    for rows, labels, message in (
        (month, ["maybe", "no"] + ["no"] * 23, "Row 1 has the unknown label 'maybe'; .* are 'no' and 'yes'"),
        (month, ["no"], r"one label per row: there are 25 rows, and labels have shape \(1,\)"),
        (month.drop(columns="rain"), None, r"no labels in a column 'rain'. Pass them: update\(rows, labels\)"),
        (month.assign(rain=["no", "", *["no"] * 23]), None, "Row 2 has no label"),
        (months(2, start=4), None, "belong to 2 tasks"),
        (months(1, start=3), None, "learnt task '2023-04' already. For more rows of it, give them a new name="),
    ):
        with pytest.raises(InputError, match=message):
            model.update(rows, labels)
    assert stored(model) == before
    lean = again(model, updatable=False)
    assert not lean.updatable
    assert "cannot be updated" in repr(lean)
    assert len(stored(lean)) < len(before) / 4
    np.testing.assert_array_equal(lean.predict_proba(month), model.predict_proba(month))
    with pytest.raises(InputError, match="updatable=False"):
        lean.update(month)


# Files


SAVED = stored(made())
ROWS = months(1, start=4)
ANSWERS = imrc.load(io.BytesIO(SAVED)).predict_proba(ROWS)


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_file_ends_in_a_sentence_or_is_the_same_model(data):
    content = bytearray(SAVED)
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=3)):
            content[place] ^= data.draw(st.integers(1, 255))
    try:
        loaded = imrc.load(io.BytesIO(bytes(content)))
    except InputError:
        return
    # A byte of the archive that nothing depends on.
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), ANSWERS)


def changed(change, compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return the file with its description changed, as somebody could who means harm."""
    with np.load(io.BytesIO(SAVED)) as file:
        arrays = {name: file[name] for name in file.files}
    told = json.loads(arrays["header"].tobytes())
    change(told, arrays)
    arrays["header"] = np.frombuffer(json.dumps(told).encode(), np.uint8)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array)
    return file.getvalue()


NESTED = '{"many":"list","most":null,"of":[' * 400 + "]}" * 400
HOSTILE = {
    "another schema": lambda told, arrays: told.update(schema="else"),
    "an unknown class": lambda told, arrays: told["model"]["of"].update(_map={"made": "Popen", "of": {"args": "ls"}}),
    "an unknown function": lambda told, arrays: told["model"]["of"].update(_map={"known": "system"}),
    "a method replaced": lambda told, arrays: told["model"]["of"]["_learner"]["of"].update(step="x"),
    "another map": lambda told, arrays: told["model"]["of"].update(_map={"made": "Identity", "of": {"width": 10**9}}),
    "an attribute too many": lambda told, arrays: told["model"]["of"].update(more=1),
    "no attributes": lambda told, arrays: told.update(model={"made": "Model", "of": {}}),
    "an unknown strategy": lambda told, arrays: told["model"]["of"].update(strategy="best"),
    "an array that is not there": lambda told, arrays: told["model"]["of"].update(classes={"array": 10**6}),
    "nested without end": lambda told, arrays: told.update(model=json.loads(NESTED)),
    "objects": lambda told, arrays: arrays.update({"0": np.array([print, len], dtype=object)}),
    "other sizes": lambda told, arrays: arrays.update({name: one[:1] for name, one in arrays.items() if one.ndim}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_means_harm_ends_in_a_sentence(name):
    with pytest.raises(InputError, match="not a model saved by imrc, or it is damaged"):
        imrc.load(io.BytesIO(changed(HOSTILE[name])))


def test_other_files_and_other_versions_end_in_a_sentence(tmp_path, model):
    assert imrc.load(io.BytesIO(changed(lambda told, arrays: None))).tasks == model.tasks
    with pytest.raises(InputError, match="damaged"):  # a small file that unpacks to a large one
        imrc.load(io.BytesIO(changed(lambda told, arrays: None, zipfile.ZIP_DEFLATED)))
    for key, value in (("version", "9.0.0"), ("layout", 0)):
        with pytest.raises(InputError, match=r"saved by imrc .* learn the model again"):
            imrc.load(io.BytesIO(changed(lambda told, arrays, key=key, value=value: told.update({key: value}))))
    for content in (b"", b"PK\x03\x04", b"a,b\n1,2\n", b"PK\x05\x06" + bytes(18)):  # a zip without files
        (tmp_path / "x.imrc").write_bytes(content)
        with pytest.raises(InputError, match=r"x\.imrc is not a model"):
            imrc.load(tmp_path / "x.imrc")
    with pytest.raises(FileNotFoundError):
        imrc.load(tmp_path / "none.imrc")
    model.save(tmp_path / "x.imrc")
    assert [one.name for one in tmp_path.iterdir()] == ["x.imrc"]


def test_whoever_changes_what_is_held_raises_the_number_of_the_layout():
    held = set()

    def look(value):
        if isinstance(value, dict) and "made" in value:
            held.add((value["made"], *value["of"]))
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(one)

    for strategy, preset in (("pooled", "recommended"), ("forward", "recommended"), ("forward_backward", "paper")):
        look(pack(made(strategy, preset), []))
    told = hashlib.sha256(repr(sorted(held)).encode()).hexdigest()[:8]
    assert (LAYOUT, told) == (7, "c815d948"), "raise LAYOUT in imrc/model/_file.py: old files no longer match"


# The command line


def test_what_is_advised_is_learnt(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    months(6, rows=28).to_csv("first.csv", index=False)
    report = imrc.check(imrc.tasks_from("first.csv", target="rain", by="day", period="month"), b=1, repetitions=5)
    model = report.fit()
    assert (model.strategy, model.n_measured) == (report.advice.advised, report.n)
    words = ["--target", "rain", "--by", "day", "--period", "month", "-b", "1", "--repetitions", "5", "-o", "m.imrc"]
    assert main(["fit", "first.csv", *words]) == 0
    assert repr(model) in capsys.readouterr().out
    np.testing.assert_array_equal(imrc.load("m.imrc").predict_proba("first.csv"), model.predict_proba("first.csv"))


@pytest.mark.slow
def test_fit_and_predict_at_the_shell(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ahead = months(1, start=4).assign(site="west").drop(columns="rain")
    forms = ("%d.%m.%Y", "%Y-%m", "%Y Q%q", "Q%q %Y", "%Y-W%W", "%Y-%m-%d %H:%M")
    for frame, name in ((months(), "first.csv"), (ahead, "next.csv")):
        when = pd.PeriodIndex(frame["day"], freq="D")
        own = {form: when.strftime(form) for form in forms}
        own |= {"day": own["%d.%m.%Y"], "amount": ["4,0", "4,50", "-1.234,5", " -", "+2,00"] * (len(frame) // 5)}
        own |= {"spaced": "  x "} if name == "next.csv" else {"amount": ["4,5", "-2,25"] * 50}
        frame.assign(**own).to_csv(name, index=False, sep=";", decimal=",")
    fit = ["fit", "first.csv", "--target", "rain", "--by", "day", "--period", "month", "-o", "m.imrc"]
    assert main([*fit, "--strategy", "forward", "-n", "99", "--json", "--no-update"]) == 0
    output = capsys.readouterr()
    assert "with --strategy, -n and --repetitions have no effect" in output.err
    told = json.loads(output.out)
    assert (told["strategy"], told["rows"], told["updatable"]) == ("forward", 100, False)
    assert main(["predict", "m.imrc", "next.csv", "-o", "scored.csv"]) == 0
    output = capsys.readouterr()
    assert "('west') counts as other" in output.err
    tables = (pd.read_csv(name, sep=";", dtype=str, keep_default_na=False) for name in ("next.csv", "scored.csv"))
    given, rows = (table.to_dict("records") for table in tables)
    answers = [row["predicted rain"] for row in rows]
    counts = " and ".join(f"{(n := answers.count(name))} {name} ({4 * n}.0 %)" for name in ("no", "yes"))
    rule = "the rule for the next task, after 2023-04 (strategy: forward)"
    assert output.out.startswith(f"25 rows were predicted by {rule}: {counts}. ")
    with pytest.warns(ReadingWarning):
        shares = imrc.load("m.imrc").predict_proba("next.csv")
    assert output.out.endswith("probabilities: {:.1f} no and {:.1f} yes.\n".format(*shares.sum(axis=0)))
    assert [row["probability of yes"] for row in rows] == [f"{share:.4f}".replace(".", ",") for share in shares[:, 1]]
    for name in ("day", "sun", "site", "amount", "spaced", *forms):
        assert [row[name] for row in rows] == [row[name] for row in given]
    assert main(["predict", "m.imrc", "next.csv", "--task", "2023-02"]) == 0
    assert capsys.readouterr().out.count("\n") == 26
    for words, message in (
        (["predict", "first.csv", "next.csv"], "first.csv is not a model"),
        (["predict", "m.imrc", "none.csv"], "cannot be read"),
        (["predict", "m.imrc", "next.csv", "--task", "2023-2"], "Did you mean '2023-02'"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err
