"""Results that come with the package, their cells beside the printed values, and their figures."""

from __future__ import annotations

import math
import shlex

import numpy as np
import pandas as pd
import pytest

import imrc
from imrc import datasets
from imrc.commands.main import _parser
from imrc.evaluation.comparison import imrc_key
from imrc.paper import cells, shipped
from imrc.paper.measure import TOLERANCE
from imrc.paper.printed import printed_datasets, printed_errors
from imrc.plots import ours_against_printed, printed_matrix


def test_every_file_is_there_and_every_command_is_understood():
    for name, about in shipped.index().items():
        assert (shipped.results_folder() / about["file"]).is_file(), name
        if about["command"].startswith("imrc "):
            _parser().parse_args(shlex.split(about["command"])[1:])


@pytest.mark.parametrize("name", ["errors", "settings", "lags", "growth"])
def test_tables_hold_finite_numbers_and_belong_to_datasets(name):
    table = shipped.table(name)
    numbers = table.select_dtypes("number")
    assert np.isfinite(numbers.drop(columns=["std", "stderr"], errors="ignore")).all(axis=None)
    column = {"lags": "sequence"}.get(name, "dataset")
    if column in table:
        assert set(table[column]) <= set(printed_datasets())


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
        assert len(table) == 12 * len(cells.METHODS)
        printed = table.set_index(["dataset", "column"])["printed"]
        for name in printed_datasets():
            assert printed[name, "IMRC (paper)"] == printed[name, "IMRC (recommended)"]
            assert printed[name, "GEM"] == printed_errors(name, n)["gem"][0]
        both = table[table["gap"].notna()]
        assert both["gap"].tolist() == (both["ours"] - both["printed"]).tolist()


def test_references_have_no_printed_value():
    table = cells.error_cells(10, "average", [imrc_key("paper"), "majority"])
    assert table.loc[table["column"] == "Majority class", "printed"].isna().all()


def test_agreement_counts_what_is_near():
    rows = [("IMRC (paper)", 0.31, 0.32), ("IMRC (paper)", 0.30, 0.40), ("GEM", 0.5, 0.2), ("GEM", math.nan, 0.2)]
    table = pd.DataFrame(rows, columns=["column", "ours", "printed"]).assign(dataset=["a", "b", "a", "b"])
    table["gap"] = table["ours"] - table["printed"]
    said = cells.agreement(table)
    assert "of 2 datasets" in said
    assert "IMRC with the paper's choices: **1 of 2** (median difference .055)" in said
    assert "the other methods: **0 of 1**" in said


def test_agreement_is_what_counts_as_reproduced():
    """One threshold: that of `imrc table`, said in the sentence and used for the count."""
    rows = [("IMRC (paper)", 0.30, 0.30 + gap) for gap in (TOLERANCE - 1e-6, TOLERANCE + 1e-6, -TOLERANCE + 1e-6)]
    table = pd.DataFrame(rows, columns=["column", "ours", "printed"]).assign(dataset="a")
    table["gap"] = table["ours"] - table["printed"]
    said = cells.agreement(table)
    assert "**2 of 3**" in said
    assert said.startswith(f"Within {TOLERANCE:.2f} of".replace("0.", "."))


def test_both_readings_of_the_error_are_counted():
    counts = {}
    for kind in ("average", "released"):
        for n in (10, 50, 100, 150):
            table = cells.error_cells(n, kind)
            near = table["gap"].abs() <= TOLERANCE
            imrc_own = table["column"] == "IMRC (paper)"
            others = ~table["column"].str.startswith("IMRC")
            for name, rows in (("imrc", imrc_own), ("others", others)):
                found = counts.setdefault((kind, name), [0, 0])
                found[0] += int(near[rows].sum())
                found[1] += int(table.loc[rows, "gap"].notna().sum())
    said = cells.both_readings()
    assert "in {} of {} cells with the error of the authors' script".format(*counts["released", "imrc"]) in said
    assert f"in {counts['average', 'imrc'][0]} with the average" in said
    assert f"in {counts['released', 'others'][0]} and {counts['average', 'others'][0]} of" in said
    assert counts["released", "imrc"][1] == counts["average", "imrc"][1]
    first = cells.headline()
    assert "in {} of {} cells, those".format(*counts["released", "imrc"]) in first
    assert "rivals in {} of {};".format(*counts["released", "others"]) in first
    assert f"{len(cells.missing())} of 12 datasets" in first


@pytest.mark.parametrize("kind", ["average", "released"])
def test_backward_learning_is_counted_in_every_cell(kind):
    errors = shipped.table("errors").query("error_kind == @kind").set_index(["method", "dataset", "n"])["error"]
    both, forward = errors["imrc:paper"], errors["imrc:paper:forward"]
    counts = (both < forward).sum(), len(both), (both > forward).sum()
    assert "does in {} of {} cells (all n, preset *paper*), and raises it in {}.".format(
        *counts
    ) in cells.backward_sentence(kind)


def test_missing_names_the_command():
    table = cells.missing()
    assert any(how.startswith("imrc datasets fetch covertype") for how in table["How to get it"])
    assert set(table["Dataset"]).isdisjoint({"Spam", "Usenet1"})


def test_matrix_colours_what_was_measured_and_writes_the_rest():
    table = cells.error_cells(10)
    figure = printed_matrix(table, title="t")
    grid = np.array(figure.data[0].z, dtype=float)
    assert grid.shape == (12, len(cells.METHODS))
    spam = list(figure.data[0].y).index("Spam")
    gap = table.query("dataset == 'spam'")["gap"].to_numpy()
    assert grid[spam] == pytest.approx(gap)
    assert np.isnan(grid[list(figure.data[0].y).index("Yearbook")]).all()
    assert "(.13)" in figure.data[1].text
    assert figure.data[0].zmid == 0.0


def test_times_are_coloured_by_their_ratio():
    table = cells.time_cells(10).query("dataset == 'german'")
    figure = printed_matrix(table, title="t", milliseconds=True)
    assert np.array(figure.data[0].z)[0] == pytest.approx(np.log10(table["ours"] / table["printed"]).to_numpy())
    assert "(303)" in figure.data[0].text[0][2]


def test_scatter_has_the_line_and_every_measured_cell():
    table = cells.error_cells(10)
    figure = ours_against_printed(table)
    assert list(figure.data[0].x) == list(figure.data[0].y)
    assert sum(len(trace.x) for trace in figure.data[1:]) == int(table["gap"].notna().sum())
