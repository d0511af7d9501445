"""The command line gives the library's numbers and never a traceback for a mistake."""

import csv
import io
import json
import subprocess
import sys
from unittest.mock import Mock

import pytest

import imrc
from imrc.cli import main
from tests.conftest import run_python

RUN = ["run", "identical", "-k", "4", "-n", "5", "--repetitions", "2"]


def test_json_csv_table_and_what_is_saved_have_the_numbers_of_check(capsys, tmp_path):
    report = imrc.check(imrc.datasets.load("identical", tasks=4), n=5, repetitions=2)
    errors = report.errors.set_index("strategy")["error"].to_dict()
    assert main([*RUN, "--json", "--save", str(tmp_path / "result.npz")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["rule"]: row["error_average"] for row in printed["rules"] + printed["references"]} == errors
    for row in printed["rules"]:
        assert row["error_lag"] == report.run.headline("lag")[row["rule"]].mean
    assert (printed["schema"], printed["version"], printed["settings"]["n"]) == ("imrc.run", 1, 5)
    assert imrc.RunResult.load(tmp_path / "result.npz").headline() == report.run.headline()
    assert main([*RUN, "--csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert {row["rule"]: float(row["error_average"]) for row in rows} == errors
    assert main(RUN) == 0
    output = capsys.readouterr()
    assert "identical: 4 tasks, n = 5" in output.out
    assert "task 4 of 4" in output.err
    assert f"{report.decision.sentence}\n{report.decision.action}\n".replace("*", "") in output.out


SWEEP = ["sweep", "--datasets", "identical", "-k", "4", "-n", "5", "--jobs", "1"]
OF_FILES = [
    (["FILE"], "needs --target and either --by or --every, for example --target 'state' --by 'date'"),
    (["FILE", "--target", "state"], "needs --target and either --by or --every"),
    (["FILE", "--target", "nothing", "--every", "60"], "nothing"),
    (["FILE", "--target", "state", "--every", "60", "-k", "99"], "k must be between 1 and 10"),
    (["FILE", "--target", "state", "--every", "9999"], "A block of 9,999 rows is longer than the 600 rows"),
    (["identical", "--target", "state"], "--target is for your own files"),
]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "identical", "-n", "100000"], "n must be between 1 and 10000"),
        (["run", "identical", "-n", "5000"], "Choose n <= 200"),
        (["run", "rotated_digits", "-k", "61"], "tasks (k) must be between 2 and 60"),
        (["run", "identical", "--seed", "-1"], "seed must be"),
        (["datasets", "info", "grman"], "Did you mean 'german'?"),
        (["datasets", "fetch"], "imrc datasets fetch NAME"),
        (["check", "identical", "--ess", "9", "--error", ".1"], "Give --ess or --error"),
        (["table", "--datasets", "nothing"], "datasets must be one of"),
        (["table", "--datasets", "identical", "--n", "0"], "n must be between 1 and 10000"),
        (["table", "--datasets", "identical", "--n", "5000"], "Choose n <="),
        (["table", "--methods", "nobody"], "method must be one of"),
        (["table", "--repetitions", "0"], "repetitions must be"),
        (["sweep"], "Name at least one with --datasets"),
        ([*SWEEP, "-n", "0"], "the command: n must be between 1 and 10000; got 0"),
        (["sweep", "--datasets", "FILE"], "needs --target and either --by or --every"),
        ([*SWEEP, "--datasets", "identical", "gone.csv"], "'gone.csv' is neither a file on this computer"),
        ([*SWEEP, "--jobs", "0"], "--jobs must be between 1 and 1024"),
        ([*SWEEP, "--scheduler", "tcp://127.0.0.1:1"], "--jobs applies to this machine only"),
        (["run", "idetical"], "Did you mean 'identical'?"),
        (["run", "identical", "-n", "many"], "possible: 1 to 10,000."),
        (["run", "identical", "-W", "al"], "Did you mean 'all'?"),
        (["run", "identical", "--preset", "recommnded"], "Did you mean 'recommended'?"),
        (["run", "identical", "--repetitons=3"], "Did you mean '--repetitions'?"),
        (["table", "--kind", "eror"], "Did you mean 'errors'?"),
        (["chek", "identical"], "Did you mean 'check'?"),
        (["run", "identical", "--methods", "x"], "unrecognized arguments: --methods x.\n"),
        (["run", "identical", "--predictions", "p.json"], "must end in .csv or .txt; got 'p.json'"),
        (["datasets", "sample", "FILE"], "exists already. Choose another name, or delete it first."),
        (["atlas", "--only", "nope"], "--only must be one of 'abrupt', "),
        (["bench", "--learner", "logistik"], "evolving_forest. Did you mean 'logistic'?"),
        (["bench", "--learner", "mine:Nothing"], "neither module:Learner on Python's path nor one of majority, "),
        (["bench", "--learner", "json:JSONEncoder"], "has no predict"),
        *(([command, *words], message) for command in ("run", "check") for words, message in OF_FILES),
    ],
)
def test_mistakes_end_with_status_2_and_say_what_was_meant(capsys, monkeypatch, own_file, arguments, message):
    monkeypatch.setenv("IMRC_STORE", str(own_file.with_name("store.sqlite")))
    try:
        status = main([str(own_file) if word == "FILE" else word for word in arguments])
    except SystemExit as stop:  # arguments that cannot be read
        status = stop.code
    assert status == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_the_short_help_leaves_to_another_what_few_people_need(capsys):
    for word in ("--help", "--help-all"):
        with pytest.raises(SystemExit, match="0"):
            main(["check", word])
        shown = capsys.readouterr().out
        assert all(option in shown for option in ("--target", "--every", "-n N", "--html", "--json"))
        assert ("--lambda0" in shown) == (word == "--help-all") != ("--help-all shows" in shown)


@pytest.mark.parametrize("words", [["--help"], [], ["datasets"], ["watch", "--help"], ["check", "--help-all"]])
def test_help_and_lists_load_nothing_that_takes_long(words):
    code = (
        "import sys\nfrom imrc.cli import main\n"
        "try:\n    status = main(sys.argv[1:])\nexcept SystemExit as stop:\n    status = stop.code\n"
        "heavy = {'numba', 'pandas', 'plotly', 'sklearn', 'imrc.paper', 'imrc.sweeps'} & set(sys.modules)\n"
        "assert not heavy, heavy\nsys.exit(status)"
    )
    done = run_python("-c", code, *words)
    assert done.stderr == ""
    assert done.stdout.startswith("name" if words == ["datasets"] else "usage: imrc")


@pytest.fixture
def own_file(tmp_path):
    path = tmp_path / "pumps.csv"
    path.write_bytes(imrc.datasets.sample_csv(600))
    return path


def test_own_file_in_blocks_is_assessed(capsys, own_file):
    given = ["--target", "state", "--every", "60", "-n", "5", "--repetitions", "1"]
    assert main(["check", str(own_file), *given, "--evidence", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    result = imrc.diagnostics.assess(imrc.tasks_from(own_file, target="state", every=60))
    expected = {"lag": result.variogram.lags, "gamma": result.variogram.gamma, "pacf": result.pacf.mean}
    for column, values in expected.items():
        assert [float(row[column]) for row in rows if row[column]] == values.tolist()


WRITING = "run FILE --save", "check FILE --predictions", "fit FILE -o", "predict m FILE -o", "predict FILE x -o"
SWEPT = "sweep --datasets FILE --target state --every 60 --export"


@pytest.mark.parametrize("words", [*WRITING, "check FILE --latex", "watch FILE --state", SWEPT])
def test_a_file_to_write_is_checked_before_anything_is_read(capsys, own_file, words):
    folder = own_file.parent
    given = [str(own_file) if word == "FILE" else word for word in words.split()]
    told = {own_file: "would be lost", folder: "is a folder. Add a", folder / "gone" / "x.csv": "There is no folder"}
    for place, said in told.items():
        assert main([*given, str(place)]) == 2
        assert said in capsys.readouterr().err
    assert own_file.read_bytes() == imrc.datasets.sample_csv(600)
    assert [*folder.iterdir()] == [own_file]


@pytest.mark.parametrize(
    ("place", "words", "error"),
    [
        ("imrc.core.learner.Learner.step", RUN, ValueError("no such axis")),
        ("imrc.tables.read_apart", ["run", "pumps.csv", "--target", "state", "--every", "60"], KeyError("mean")),
        ("imrc.sweeps.plan.largest_n", [*SWEEP, "--store", "store.sqlite"], KeyError("n")),
    ],
)
def test_a_bug_is_no_bad_input(capsys, monkeypatch, own_file, place, words, error):
    monkeypatch.setattr(place, Mock(side_effect=error))
    monkeypatch.chdir(own_file.parent)
    for given in (words, ["--debug", *words], [*words, "--debug"]):
        assert main(given) == 1
        told = capsys.readouterr().err
        assert f"imrc: {type(error).__name__}: {error}" in told
        for part in ("This is a bug in imrc", f"imrc {imrc.__version__}, Python"):
            assert part in told
        assert ("Traceback (most recent call last)" in told) == ("--debug" in given) != ("with --debug" in told)


def test_what_ends_a_run_is_said_on_a_clean_line(capsys, monkeypatch):
    for error, said in ((MemoryError, "does not have enough memory for that."), (KeyboardInterrupt, "imrc: stopped")):
        monkeypatch.setattr("imrc.core.learner.Learner.step", Mock(side_effect=error))
        assert main(RUN) == 1
        assert capsys.readouterr().err.endswith(f"{said}\n")


@pytest.mark.slow
def test_output_may_be_cut_off():
    code = "import sys; from imrc.cli import main; sys.exit(main(['datasets', '--json']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_one_repetition_has_no_standard_error(capsys):
    assert main([*RUN[:-1], "1"]) == 0
    printed = capsys.readouterr().out
    assert "Error, one repetition: " in printed
    assert not [word for word in ("nan", "±") if word in printed]
