"""Results that come with the package, their cells beside the printed values, and their figures."""

import hashlib
import itertools
import pkgutil
import shlex
import sys
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import imrc
from imrc import datasets
from imrc.cli import parser
from imrc.core.learner import Learner
from imrc.core.settings import resolve_settings
from imrc.evaluation import RunSettings, comparison, largest_n
from imrc.evaluation.columns import arrays_of
from imrc.evaluation.run import run_all
from imrc.paper import cells, grid, method, shipped
from imrc.paper import printed as in_print
from imrc.paper.measure import TOLERANCE
from imrc.plots import printed_matrix
from imrc.report.worth import accounts_sentences


def test_every_file_is_there_and_every_command_is_understood():
    for name, about in shipped.index().items():
        assert (shipped.results_folder() / about["file"]).is_file(), name
        if about["command"].startswith("imrc "):
            parser().parse_args(shlex.split(about["command"])[1:])


def test_the_errors_of_sixes_and_nines_are_those_that_were_measured():
    content = (shipped.results_folder() / "six_or_nine.json").read_bytes()
    assert hashlib.sha256(content).hexdigest() == shipped.index()["six_or_nine"]["sha256"]
    grid = shipped.turning_digits()["cells"]
    assert len(grid) == 15
    for errors in grid.values():
        for name in ("single", "pooled", "forward", "forward_backward"):
            by_step, (mean, low, high) = errors[name]["mean"], errors[name]["overall"]
            assert len(by_step) == len(errors[name]["stderr"]) == 20
            assert mean == pytest.approx(np.mean(by_step), abs=2e-4)
            assert low <= mean <= high
            assert (errors[name]["above_best"] is None) == (name == errors["best"])


@pytest.mark.parametrize("name", list(get_args(shipped.Name)))
def test_tables_hold_finite_numbers_and_belong_to_datasets(name):
    table = shipped.table(name)
    numbers = table.select_dtypes("number")
    assert np.isfinite(numbers.drop(columns=["std", "stderr"], errors="ignore")).all(axis=None)
    column = {"lags": "sequence"}.get(name, "dataset")
    if column in table:
        known = {*in_print.datasets(), *in_print.with_settings(), *in_print.STAND_INS}
        assert set(table[column]) <= (set(datasets.names()) if name == "against" else known)


def test_the_shipped_comparison_is_the_one_that_was_measured():
    content = (shipped.results_folder() / "against.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == shipped.index()["against"]["sha256"]
    run = imrc.evaluate(datasets.load("identical"), n=10, methods=("pooled",), repetitions=10)
    assert [*shipped.comparison("identical")] == [*comparison.score_table(run)]
    found = shipped.comparison("identical").query("n == 10 and method == 'pooled'")
    np.testing.assert_allclose(found["average"], run.per_repetition("pooled"), atol=1e-5)


def test_runs_that_come_with_the_app_are_what_the_library_computes(tmp_path, monkeypatch):
    sequence, settings = datasets.load("six_or_nine"), RunSettings(n=4, b=2, repetitions=3)
    shipped_run, whole = grid.run(sequence, settings), run_all(sequence, grid.settings_of(4))
    for rule, errors in whole.errors.items():
        # Another processor may turn samples whose scores are nearly equal.
        turned = (errors != shipped_run.errors[rule]) & ~np.isnan(errors)
        assert turned.mean() < 0.02, rule
    grid.write(tmp_path / "grid.zip", {sequence.fingerprint: [grid.row_of(whole)]})
    with monkeypatch.context() as patch:
        patch.setattr(grid, "results_folder", lambda: tmp_path)
        patch.setattr(grid, "_rows", grid._rows.__wrapped__)
        kept = arrays_of(grid.run(sequence, settings))
    same = {kind: np.array_equal(values, arrays_of(whole)[kind], equal_nan=True) for kind, values in kept.items()}
    assert [kind for kind, equal in same.items() if not equal] == [("time_s", "")]
    for scenario, b in itertools.product(("continual", "adaptation", "next_task"), (0, 2, 5)):
        asked = RunSettings(n=4, b=b, scenario=scenario)
        held = [one.answering(asked.computed, sequence).seen_as(scenario) for one in (shipped_run, whole)]
        assert accounts_sentences(held[0]) == accounts_sentences(held[1])


def test_every_n_of_the_built_in_data_comes_with_the_app():
    assert (shipped.results_folder() / shipped.index()["grid"]["file"]).stat().st_size < 800_000
    for group, windows in (("built in", range(20)), ("synthetic", (0,))):
        for sequence in map(datasets.load, datasets.names(group)):
            sizes = range(4, min(50, largest_n(sequence)) + 1)
            rows = grid._rows(sequence.fingerprint)[:, :2].tolist()
            assert sorted(rows) == [[n, W] for n in sizes for W in windows], sequence.name
    assert (
        grid.run(sequence, RunSettings(n=10, seed=1)) is grid.run(sequence, RunSettings(n=10, preset="paper")) is None
    )


def test_one_row_per_cell():
    assert not shipped.table("errors").duplicated(["dataset", "n", "method", "error_kind"]).any()
    settings = shipped.table("settings")
    assert not settings.duplicated(["dataset", "n", "setting"]).any()
    # W = 2 with b = 3 was run for both tables.
    both = settings[settings["setting"].isin(["W2", "b3"])].pivot_table(
        index=["dataset", "n"], columns="setting", values="error"
    )
    both = both.dropna()
    assert len(both) >= 8
    assert both["W2"].tolist() == both["b3"].tolist()


def test_runs_agree_with_the_table_of_errors():
    errors = shipped.table("errors").set_index(["dataset", "n", "method", "error_kind"])["error"]
    for name in shipped.run_names():
        result = shipped.run(name)
        assert (result.settings.preset, result.settings.features.kind) == ("paper", "paper")
        for kind in ("average", "released"):
            shown = errors[result.name, result.settings.n, "imrc:paper", kind]
            assert result.headline(kind)["forward_backward"].mean == pytest.approx(shown, rel=1e-4), name


def test_shipped_numbers_are_what_the_command_gives(real_data):
    """One cell measured again: seeds, draws and methods are still those of the stored results."""
    result = imrc.evaluate(datasets.load("german"), n=10, preset="paper", features="paper", repetitions=10)
    row = shipped.table("errors").query("dataset == 'german' and n == 10 and method == 'imrc:paper'")
    for kind in ("average", "released"):
        stored = row[row["error_kind"] == kind].iloc[0]
        # Another processor may turn samples whose scores are nearly equal; other draws would differ by far more.
        measured = result.headline(kind)["forward_backward"]
        assert measured.mean == pytest.approx(stored["error"], abs=2 * stored["stderr"])
        assert measured.std == pytest.approx(stored["std"], rel=0.5)


def test_error_cells_have_all_printed_values():
    for n in (10, 50, 100, 150):
        table = cells.error_cells(n)
        assert len(table[~table["dataset"].isin(list(in_print.STAND_INS))]) == 12 * len(cells.METHODS)
        printed = table.set_index(["dataset", "column"])["printed"]
        for name in in_print.datasets():
            assert printed[name, "IMRC (paper)"] == printed[name, "IMRC (recommended)"]
            assert printed[name, "GEM"] == in_print.errors(name, n)["gem"][0]
        both = table[table["gap"].notna()]
        assert both["gap"].tolist() == (both["ours"] - both["printed"]).tolist()


def test_both_readings_of_the_error_are_counted():
    counts = {}
    for kind in ("average", "released"):
        table = pd.concat([cells.error_cells(n, kind) for n in (10, 50, 100, 150)]).dropna(subset="gap")
        for name, rows in (
            ("imrc", table[table["column"] == "IMRC (paper)"]),
            ("others", table[~table["column"].str.startswith("IMRC")]),
        ):
            counts[kind, name] = (int((rows["gap"].abs() <= TOLERANCE).sum()), len(rows))
    said, first = cells.both_readings(), cells.headline()
    assert said.endswith(f" {counts['average', 'imrc'][0]} and {counts['average', 'others'][0]}.")
    assert "reproduce {} of the paper's {} IMRC errors".format(*counts["released", "imrc"]) in first
    assert "and {} of {} of its rivals'".format(*counts["released", "others"]) in first
    absent = [datasets.entry(name).title for name in cells.absent()]
    assert f"{len(absent)} of 12 datasets are unavailable" in first
    assert all(title in cells.not_at_hand() for title in absent)


def test_covertype_in_one_run_is_what_the_table_of_errors_has():
    runs = cells.covertype_runs().set_index(["Representation", "Preset"])
    row = runs.loc[("paper", "paper")]
    errors = shipped.table("errors").query("dataset == 'covertype' and error_kind == 'average' and n == 10")
    errors = errors.set_index("method")
    assert row["Forward and backward"] == f"{errors.loc['imrc:paper', 'error']:.3f}"[1:]
    assert row["Alone"] == f"{errors.loc['imrc:paper:single', 'error']:.3f}"[1:]
    assert (row["Printed"], row["Repetitions"]) == (".08", errors.loc["imrc:paper", "repetitions"])


def test_every_grey_cell_has_its_reason():
    tables = [cells.error_cells(n, error) for n in (10, 50, 100, 150) for error in ("average", "released")]
    tables += [make(n) for make in (cells.setting_cells, cells.time_cells) for n in (10, 100)]
    for table in tables:
        grey = table["gap"].isna()
        assert (table["why"] != "").tolist() == grey.tolist()
        assert table.loc[table["ours"].isna(), "why"].str.startswith("not measured: ").all()
        listed = cells.reasons(table)
        for name in table.loc[grey, "title"].unique():
            assert listed["Dataset"].str.split(", ").map(lambda names, name=name: name in names).any(), name
        missing = listed[listed["Why"].str.startswith("not measured: the data")]
        assert (missing["How to get it"] != "").all()


def test_the_last_row_of_running_times_is_the_mean_of_those_above():
    table = cells.time_cells(10)
    last = table[table["dataset"] == ""].set_index("column")
    assert table["dataset"].tolist()[-len(last) :] == [""] * len(last)
    for column, row in last.iterrows():
        above = table[(table["dataset"] != "") & (table["column"] == column)]["ours"]
        assert row["ours"] == pytest.approx(above.mean())
        assert row["repetitions"] == above.notna().sum()
    printed = in_print.average_seconds()
    assert last.loc["IMRC, b = 3", "printed"] == printed["imrc"]
    for name, column in (("condor", "Condor"), ("driftsurf", "DriftSurf"), ("aue", "AUE")):
        assert last.loc[column, "printed"] == printed[name]
    assert cells.time_cells(100).query("dataset == ''")["printed"].isna().all()


def test_characteristics_stand_beside_print_and_are_what_the_files_hold(real_data):
    table = cells.characteristics().set_index("Dataset")
    both = ["2 | 2", "581,012 | 581,012", "1,936 | 1,936"]
    assert table.loc["Covertype", ["Classes", "Samples", "Tasks"]].tolist() == both
    assert table.loc["DomainNet", "Samples"] == "– | 6,256"
    assert (table["How to get it"] == "").tolist() == (table["Columns"] != "–").tolist()
    rows = shipped.table("characteristics").set_index("dataset")
    for name in ("german", "usenet1", "spam"):
        sequence = datasets.load(name)
        held = [sequence.n_classes, sequence.info["rows"], len(sequence), sequence.n_features]
        assert rows.loc[name, ["classes", "samples", "tasks", "columns"]].tolist() == held


def test_every_line_of_the_algorithm_names_functions_that_run(monkeypatch):
    """A step of preset `paper` calls each of them, in the order of the lines."""
    called = []
    names = list(dict.fromkeys(name for line in method.ALGORITHM for name in line.functions))
    codes = {pkgutil.resolve_name(name).__code__: name for name in names}
    random = np.random.default_rng(0)
    learner = Learner(resolve_settings("paper", b=3), 2)

    def watch(frame, event, _argument):
        if event == "call" and frame.f_code in codes:
            called.append(codes[frame.f_code])

    for step in range(4):
        X1 = np.column_stack([np.ones(8), random.normal(size=(8, 2))])
        sys.setprofile(watch if step == 3 else None)
        try:
            learner.step(X1, np.arange(8) % 2)
        finally:
            sys.setprofile(None)
    order = list(dict.fromkeys(called))
    assert set(order) == set(names)
    first = [name for name in names if name not in ("imrc.core.change.backward_change", "imrc.core.recursions.revise")]
    assert [name for name in order if name in first] == first
    for name in names:
        assert f"def {name.rsplit('.', 1)[1]}(" in method.source(name)


def test_matrix_colours_what_was_measured_and_writes_the_rest():
    table = cells.error_cells(10)
    figure = printed_matrix(table, title="t")
    grid, names = np.array(figure.data[0].z, dtype=float), list(figure.data[0].y)
    assert grid.shape == (14, len(cells.METHODS))  # the paper's datasets, and the two stand-ins
    gap = table.query("dataset == 'spam'")["gap"].to_numpy()
    assert grid[names.index("Spam")] == pytest.approx(np.nan_to_num(gap))  # measured, not printed: no colour
    assert np.isnan(grid[names.index("Yearbook")]).all()
    assert "(.13)" in np.concatenate([trace.text for trace in figure.data[1:]])
    assert figure.layout.coloraxis2.cmin == -figure.layout.coloraxis2.cmax
    times = cells.time_cells(10).query("dataset == 'german'")
    figure = printed_matrix(times, title="t", milliseconds=True)
    ratio = np.log10(times["ours"] / times["printed"]).fillna(0.0).to_numpy()
    assert np.array(figure.data[0].z)[0] == pytest.approx(ratio)
    assert "(303)" in figure.data[0].text[0][2]
