"""What a sweep is over: lists, files and their mistakes; which cells there are, left out, merged or done."""

import pytest

import imrc
from imrc.sweeps import ResultStore, SweepSpec, plan_sweep, run_sweep
from imrc.sweeps.cell import cell_key
from imrc.sweeps.plan import read_toml
from tests.sweeps.cells import small_spec


def test_every_combination_is_a_cell_of_its_own():
    spec = small_spec(
        datasets=("identical", "trend"), features=("identity", "standardised"), k=(4, 5), b=(0, 2), seeds=(0, 3)
    )
    plan = plan_sweep(spec)
    assert len(plan.cells) == len({cell.key for cell in plan.cells}) == 2 * 2 * 2 * 2 * 2 * 2 * 2 * 3
    assert plan.notes == ()
    assert plan.done == frozenset()
    for cell in plan.cells[::37]:
        sequence = imrc.datasets.load(cell.dataset, tasks=cell.tasks, seed=cell.settings.seed)
        assert cell.fingerprint == sequence.fingerprint
        assert cell.key == cell_key(sequence.fingerprint, cell.settings, cell.repetition)


def test_values_that_are_not_used_are_run_once_and_it_says_so():
    plan = plan_sweep(small_spec(n=5, W=(1, 2, 3), b=(1, 2), methods=("imrc", "majority", "logistic_recent")))
    # Presets recommended and paper: b and W; majority: nothing; the last b + 1 tasks: b.
    assert len(plan.cells) == 3 * (2 * 2 * 3 + 1 + 2)
    assert "Run once: combinations that are the same: majority does not use b, W or presets (33 cells)." in plan.notes
    assert (
        "Run once: combinations that are the same: logistic_recent does not use W or presets (30 cells)." in plan.notes
    )


def test_what_cannot_be_run_is_left_out_and_it_says_why():
    # All changes so far are the recommended preset's own window, and none of the paper's.
    plan = plan_sweep(small_spec(W=("all", None), methods="imrc"))
    assert {(cell.settings.preset, cell.settings.learner.W) for cell in plan.cells} == {
        ("recommended", "all"),
        ("paper", 2),
    }
    assert any(note.startswith("Left out: W = all with preset paper") for note in plan.notes)
    plan = plan_sweep(small_spec(presets="paper", n=(5, 201, 300), k=(4, 201), b=(3, 4)))
    assert len(plan.cells) == 3
    assert set(plan.notes) == {
        "Left out: k = 201 for identical, which has at most 200 tasks (18 cells).",
        "Left out: n = 201 for identical with 4 tasks, whose smallest task leaves 200 training samples (6 cells).",
        "Left out: n = 300 for identical with 4 tasks, whose smallest task leaves 200 training samples (6 cells).",
        "Lowered: b = 4 to 3 for identical with 4 tasks, because no more tasks can be revised (3 cells).",
        "Run once: combinations that are the same (3 cells).",
    }
    left_out = [int(note.split("(")[-1].split()[0]) for note in plan.notes if not note.startswith("Lowered")]
    assert sum(left_out) + len(plan.cells) == 3 * 2 * 2 * 3
    with pytest.raises(ValueError, match=r"No combination of the sweep is possible. Left out: n = 999 for identical"):
        plan_sweep(small_spec(n=999))


def test_without_k_each_dataset_has_its_own_number_of_tasks_and_must_be_here(real_data, monkeypatch, tmp_path):
    plan = plan_sweep(SweepSpec(datasets=("identical", "german"), n=5, repetitions=1, b=1))
    assert [(cell.dataset, cell.tasks) for cell in plan.cells] == [("identical", 20), ("german", 3)]
    monkeypatch.setenv("IMRC_DATA", str(tmp_path))
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path))
    with pytest.raises(imrc.datasets.NotAvailableError, match="usenet1"):
        plan_sweep(SweepSpec(datasets="usenet1", n=5))


def test_the_plan_knows_what_is_done(tmp_path):
    with ResultStore(tmp_path / "r.sqlite", create=True) as store:
        run_sweep(plan_sweep(small_spec(n=5), store), store)
        plan = plan_sweep(small_spec(repetitions=4), store)
        assert (len(plan.cells), len(plan.done), len(plan.waiting)) == (16, 6, 10)
        assert plan.in_words().startswith(
            "Plan: 2 n × 2 presets × 4 repetitions: 16 cells, 6 stored already, 10 to run"
        )
        assert plan_sweep(small_spec(n=5), store).in_words().endswith("6 stored already, 0 to run.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = ['identical']\nsede = 1", r"sweep.toml: unknown key 'sede'. Did you mean 'seeds'\? Known keys:"),
        ("n = 5", "sweep.toml: 'datasets' is missing. Name at least one"),
        ("datasets = 'usenet9'", "sweep.toml: datasets must be one of .*'usenet1'.*; got 'usenet9'"),
        ("datasets = []", "sweep.toml: datasets is empty"),
        ("datasets = 'identical'\nb = [1, -1]", r"sweep.toml: b, value 2 of 2, must be between 0 and 2000; got -1"),
        ("datasets = 'identical'\nrepetitions = [5]", r"sweep.toml: repetitions must be a whole number, got \[5\]"),
        ("datasets = 'identical'\npresets = 'best'", r"sweep.toml: presets must be one of 'paper', 'recommended'"),
        ("datasets = 'identical'\nmethods = ['imrc', 'svm']", r"methods, value 2 of 2, must be one of 'aue'"),
        ("datasets = 'identical'\nseeds = '0:x'", r"sweep.toml: seeds must be a whole number, got '0:x'"),
        ("datasets = 'identical'\n[reading]\ntarget = 'y'", "sweep.toml: target is for your own files"),
        ("datasets = 'identical'\n[reading]\ntarge = 'y'", "unknown key 'targe'. Did you mean 'target'"),
        ("datasets = [", r"sweep.toml is not a TOML file in UTF-8: "),
        (b"\xff\xfe\x00", "not a TOML file in UTF-8"),
        (None, "sweep.toml cannot be read"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_name_the_key(tmp_path, text, message):
    path = tmp_path / "sweep.toml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises((ValueError, TypeError), match=message):
        SweepSpec.from_values(read_toml(path), path.name)


def test_one_value_or_many_and_ranges_of_seeds(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text('datasets = "identical"\nn = [5, 5, 6]\nseeds = ["0:3", 7]\nmethods = ["mer:default", "mer"]\n')
    spec = SweepSpec.from_values(read_toml(path), path.name)
    assert spec == SweepSpec(datasets=("identical",), n=(5, 6), seeds=(0, 1, 2, 7), methods=("mer",))
