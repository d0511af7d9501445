"""The atlas draws what a report says; the benchmark looks at no task before it is predicted."""

import gzip
import json

import numpy as np
import pytest

import imrc
from imrc import bench
from imrc._checks import InputError
from imrc.atlas import card, page, sources
from imrc.cli import main


def write_pima(folder, last="12.5,blue"):
    """Write a table of words, numbers and gaps in the place of one of the seven."""
    generator, rows = np.random.default_rng(0), ["size,colour,task,label"]
    for task in range(6):
        for _ in range(40):
            label = generator.integers(2)
            size = "" if generator.random() < 0.1 else f"{generator.normal(label + task / 4):.3f}"
            rows.append(f"{size},{generator.choice(['red', 'green'])},{task},c{label}")
    rows[-1] = f"{last},5,c0"
    (folder / "pima.csv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    write_pima(tmp_path)
    monkeypatch.setenv("IMRC_TEMPORAL", str(tmp_path))
    return tmp_path


class Records:
    """Says how many tasks it has learnt."""

    def __init__(self):
        self.learnt = []

    def partial_fit(self, X, y):
        self.learnt.append(len(y))

    def predict(self, X):
        return np.full(len(X), len(self.learnt))


def test_tasks_are_predicted_before_they_are_learnt_and_columns_do_not_look_at_them(folder):
    sequence = bench.coded("pima", 0)
    assert (len(sequence.tasks), sequence.first, sequence.tasks[0][0].shape) == (6, 3, (40, 3))
    recorded = Records()
    wrong = [wrong for _, wrong, _ in bench.predicted(recorded, sequence)]
    assert (recorded.learnt, wrong) == ([40] * 6, [40, 40, 40])  # 3, 4 and 5 are no labels
    write_pima(folder, "1e9,never seen")
    for (X, _), (other, _) in zip(sequence.tasks[:-1], bench.coded("pima", 0).tasks, strict=False):
        np.testing.assert_array_equal(X, other)


def test_the_faults_of_the_printed_moons_are_in_its_copy_only():
    fresh, printed = bench.coded("moons", 0), bench.coded("moons_printed", 0)
    assert [len(one) for _, one in fresh.tasks] == [200] * 11
    assert [len(one) for _, one in printed.tasks] == [220] * 10
    lengths = [np.sort((rows**2).sum(axis=1)) for rows in np.split(np.concatenate([X for X, _ in printed.tasks]), 11)]
    np.testing.assert_allclose(lengths[0], lengths[10])  # the same points, turned
    assert np.abs(lengths[0] - np.sort((fresh.tasks[10][0] ** 2).sum(axis=1))).max() > 0.01


def test_a_strangers_learner_is_in_the_table(folder, monkeypatch, capsys):
    (folder / "mine.py").write_text("from sklearn.tree import DecisionTreeClassifier as Learner\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(bench, "SEEDS", 3)
    told = ["bench", "--sequences", "pima", "moons", "-o", str(folder / "bench"), "--learner"]
    assert main([*told, "mine:Learner", "majority", "--json"]) == 0
    assert "mine:Learner" in {row["learner"] for row in json.loads(capsys.readouterr().out)["rows"]}
    table = bench.table([folder / "bench"])  # without those that come with imrc, which saw the real file
    errors = table[table["sequence"] == "pima"].set_index("learner")["error"]
    assert errors["mine:Learner"] < errors["majority"]
    saved = json.loads((folder / "bench" / "mine.Learner.json").read_text(encoding="utf-8"))
    assert len(saved["sequences"]["moons"]["wrong"]) == bench.SEEDS
    assert saved["versions"]["imrc"] == imrc.__version__
    with pytest.raises(InputError, match="no results yet"):
        bench.table([folder / "empty"])


def test_intervals_over_rows_and_tasks_and_ranks(folder):
    found = bench.summary({"rows": [10, 30], "wrong": [[5, 3], [3, 5]], "log_loss": [0.5, None], "seconds": 1})
    assert found["error"] == 8 / 40
    np.testing.assert_allclose(found["over_rows"], 1.96 * np.sqrt(0.2 * 0.8 / 40))
    np.testing.assert_allclose(found["over_tasks"], 1.96 * np.sqrt((2**2 + 2**2) * 2) / 40)
    for name, wrong, tasks in (("a", 1, "x"), ("b", 2, "x"), ("c", 0, "other")):
        of = {"hash": tasks, "rows": [9, 9], "wrong": [[wrong, wrong]], "log_loss": [None], "seconds": 0}
        told = {"schema": "imrc.bench", "version": 1, "learner": name, "sequences": {"pima": of}}
        (folder / f"{name}.json").write_text(json.dumps(told), encoding="utf-8")
    table = bench.table([folder])
    assert dict(zip(table["learner"], table["mean_rank"], strict=True)) == {"a": 1.0, "b": 2.0}


@pytest.mark.slow
def test_a_card_says_what_check_says_and_others_are_kept(folder, capsys):
    source = next(one for one in sources() if one.facts["name"] == "pima")
    found = card(source)
    report = imrc.check(source.load(), n=10, repetitions=5, progress=False)
    assert list(found["at"]) == ["10"]
    for row in report.errors.to_dict("records"):
        np.testing.assert_allclose(found["at"]["10"]["errors"][row["strategy"]]["error"], row["error"], atol=1e-4)
    assert found["hash"] == report.run.fingerprint[:16]
    assert found["command"] == "imrc check pima.csv.gz --target label --by task --min-samples 15"
    shown = page([found | {"title": "<b>Pima</b>"}])
    assert "&lt;b&gt;Pima" in shown
    assert f"{found['at']['10']['errors']['pooled']['error']:.3f}"[1:] in shown
    cards = {"schema": "imrc.atlas", "version": 1, "cards": {"pima": found | {"date": "2001-02-03"}}}
    (folder / "cards.json").write_text(json.dumps(cards), encoding="utf-8")
    assert main(["atlas", "-o", str(folder), "--only"]) == 0
    assert "0 cards computed" in capsys.readouterr().out
    assert "2001-02-03" in (folder / "atlas.html").read_text(encoding="utf-8")
