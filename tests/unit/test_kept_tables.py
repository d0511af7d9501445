"""`imrc table --keep`: the paper's tables measured on this computer stand on page The paper."""

import numpy as np
import pandas as pd
import pytest

from imrc.cli import main
from imrc.paper import cells, kept, shipped


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("IMRC_STORE", str(tmp_path / "data" / "results.sqlite"))


def measured(error: float, **changes: object) -> pd.DataFrame:
    """One cell as `measure` gives it, with a column nobody keeps."""
    row = {
        "dataset": "yearbook", "n": 10, "method": "imrc:paper", "error_kind": "average", "error": error, "std": 0.01,
        "stderr": 0.003, "seconds": 0.1, "tasks": 126, "repetitions": 10, "seed": 0, "versions": "x",
        "date": "2026-11-22", "setting": "", "b": 3, "W": 2, "average": error, "released": error, "rank": 1.0,
    }  # fmt: skip
    return pd.DataFrame([row | changes])


def cell(title: str, n: int = 10) -> pd.Series:
    table = cells.error_cells(n, "average", ["imrc:paper"])
    return table.set_index("title").loc[title]


def test_without_a_file_there_is_what_comes_with_the_package():
    assert kept.own("errors") is None
    pd.testing.assert_frame_equal(kept.table("errors"), shipped.table("errors"))
    assert cells.measured_here() == []
    assert not kept.kept_folder().exists()


def test_a_dataset_that_was_missing_stands_beside_print():
    assert np.isnan(cell("Yearbook")["ours"])
    kept.keep(measured(0.14), "errors")
    assert cell("Yearbook")["ours"] == 0.14
    assert cell("Yearbook")["gap"] == pytest.approx(0.14 - cell("Yearbook")["printed"])
    assert cells.measured_here() == ["Yearbook"]
    assert "Yearbook" not in cells.missing()["Dataset"].tolist()
    # Measured again: the newer stands; other cells stay.
    kept.keep(measured(0.15, n=50), "errors")
    kept.keep(measured(0.12), "errors")
    assert (cell("Yearbook")["ours"], cell("Yearbook", 50)["ours"]) == (0.12, 0.15)
    assert len(kept.own("errors")) == 2


def test_own_results_replace_those_of_the_package():
    before = cell("Spam")["ours"]
    kept.keep(measured(before + 0.1, dataset="spam"), "errors")
    assert cell("Spam")["ours"] == pytest.approx(before + 0.1)
    assert len(kept.table("errors")) == len(shipped.table("errors"))


def test_settings_keep_rows_with_a_setting_only():
    kept.keep(pd.concat([measured(0.2, setting="W4", W=4), measured(0.3)]), "settings")
    assert kept.own("settings")["setting"].tolist() == ["W4"]
    table = cells.setting_cells(10).set_index(["title", "column"])
    assert table.loc[("Yearbook", "W = 4"), "ours"] == 0.2


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"dataset,n\nyearbook,10\n", b'"'])
def test_a_damaged_file_is_as_good_as_none(content):
    kept.kept_folder().mkdir(parents=True)
    (kept.kept_folder() / "errors.csv").write_bytes(content)
    pd.testing.assert_frame_equal(kept.table("errors"), shipped.table("errors"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-b", "5"], "-b 5"),
        (["-W", "4"], "-W 4"),
        (["-k", "3"], "-k 3"),
        (["--features", "automatic"], "--features automatic"),
        (["--error", "newest"], "not newest"),
        (["--kind", "window", "--preset", "recommended"], "--preset recommended"),
        ([], "random_walk is none of them"),
    ],
)
def test_what_the_page_does_not_have_is_refused_before_anything_runs(capsys, monkeypatch, arguments, named):
    monkeypatch.setattr("imrc.commands.table.measure", lambda *_, **__: pytest.fail("measured"))
    assert main(["table", "--datasets", "random_walk", "--keep", *arguments]) == 2
    assert named in capsys.readouterr().err


def test_the_command_keeps_what_it_prints(capsys, real_data):
    assert (
        main(["table", "--datasets", "usenet1", "--n", "10", "--repetitions", "2", "--error", "average", "--keep"]) == 0
    )
    assert f"Kept in {kept.kept_folder() / 'errors.csv'}" in capsys.readouterr().err
    row = kept.own("errors").set_index("method").loc["imrc:paper"]
    assert cell("Usenet1")["ours"] == row["error"]
    assert cell("Usenet1")["repetitions"] == 2


def test_a_table_that_is_not_kept_leaves_nothing(capsys, real_data):
    assert main(["table", "--datasets", "usenet1", "--n", "10", "--repetitions", "1"]) == 0
    assert not kept.kept_folder().exists()
