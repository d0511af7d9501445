"""The results store: what goes in comes out, files that cannot be used are refused in words, writers share it."""

import itertools
import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import imrc
from imrc.core.learner import Learner
from imrc.evaluation import RunSettings, evaluate
from imrc.sweeps import COLUMNS, ResultStore, StoreError, default_store_path, plan_sweep, run_sweep
from imrc.sweeps.cell import cell_key, code_version
from imrc.sweeps.store import APPLICATION_ID
from tests.sweeps.cells import assert_same_result, contents, serial, small_spec, trivial


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    serial(path, small_spec(methods=("imrc", "majority"), seeds=(0, 1))).close()
    return path


@pytest.fixture
def copied(filled, tmp_path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "results.sqlite"))


def test_a_stored_run_equals_the_computed_one_and_what_is_missing_gives_nothing(filled):
    sequence = imrc.datasets.load("identical", tasks=4, seed=1)
    with ResultStore(filled) as store:
        for preset, repetitions in itertools.product(("recommended", "paper"), (1, 3)):
            settings = RunSettings(n=6, preset=preset, features="blended", seed=1, repetitions=repetitions)
            stored = store.result(sequence.fingerprint, settings)
            computed = evaluate(sequence, n=6, preset=preset, features="blended", seed=1, repetitions=repetitions)
            assert_same_result(stored, computed)
            assert repr(stored.headline()) == repr(computed.headline())
        assert store.result(sequence.fingerprint, RunSettings(n=6, seed=1, repetitions=4)) is None
        assert store.result(sequence.fingerprint, RunSettings(n=6, seed=1, repetitions=3, b=1)) is None
        assert store.result(sequence.head(3).fingerprint, RunSettings(n=6, seed=1, repetitions=3)) is None


def test_frame_has_one_row_per_cell_and_rule_with_the_numbers_of_the_run(filled):
    with ResultStore(filled) as store:
        table = store.frame(n=5, preset="paper", seed=0)
        assert tuple(table.columns) == COLUMNS
        result = evaluate(
            imrc.datasets.load("identical", tasks=4), n=5, preset="paper", features="blended", repetitions=3
        )
        for rule in result.error_tables:
            rows = table[table["rule"] == rule]
            assert rows["repetition"].tolist() == [1, 2, 3]
            assert rows["average"].tolist() == result.per_repetition(rule).tolist()
            assert rows["lag"].tolist() == result.per_repetition(rule, "lag").tolist()
            assert rows["risk"].tolist() == result.risk_tables[rule].average().tolist()
        assert len(store.frame(method="majority", repetition=[1, 3])) == 2 * 2 * 2
        assert store.frame(method="majority")["W"].isna().all()
        assert store.frame(dataset="spam").empty
        with pytest.raises(ValueError, match="'sede' is not a column of the results, which are dataset, "):
            store.frame(sede=1)


@pytest.mark.parametrize(("ending", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_export_round_trip(filled, tmp_path, ending, read):
    with ResultStore(filled) as store:
        table = store.frame(method="imrc")
        assert store.export(tmp_path / f"out.{ending}", method="imrc") == len(table)
        back = read(tmp_path / f"out.{ending}")
        assert list(back.columns) == list(table.columns)
        numbers = table.select_dtypes("number").columns
        # pandas before 3 reads text to about fourteen digits.
        found, expected = (frame[numbers].to_numpy(float, na_value=np.nan) for frame in (back, table))
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        words = table.columns.difference(numbers)
        assert back[words].to_numpy().tolist() == table[words].to_numpy().tolist()
        with pytest.raises(ValueError, match=r"must end in \.csv or \.parquet; got 'out\.xlsx'"):
            store.export(tmp_path / "out.xlsx")
        with pytest.raises(ValueError, match="There is no folder"):
            store.export(tmp_path / "nowhere" / f"out.{ending}")


def test_values_a_method_does_not_use_do_not_change_its_key():
    base = RunSettings(methods=("mer",))
    same = [replace(base, W=5), replace(base, b=0), replace(base, preset="paper"), replace(base, repetitions=2)]
    assert {cell_key("f", settings, 0) for settings in same} == {cell_key("f", base, 0)}
    assert cell_key("f", replace(base, methods=("mer:argparse",)), 0) != cell_key("f", base, 0)
    recommended, paper = RunSettings(), RunSettings(preset="paper")
    assert cell_key("f", replace(recommended, W="all"), 0) == cell_key("f", recommended, 0)
    assert cell_key("f", replace(recommended, W=5), 0) != cell_key("f", recommended, 0)
    assert cell_key("f", replace(paper, W=5), 0) != cell_key("f", paper, 0)
    # Custom values that are the preset's own are the same cell.
    assert cell_key("f", replace(paper, overrides=(("lambda0", 1.0),)), 0) == cell_key("f", paper, 0)


def test_another_version_of_a_method_or_of_the_package_changes_the_key_and_nothing_of_a_machine(monkeypatch):
    # Neither the Python that runs nor its hash seed is in it: stores are shared by machines and years.
    with monkeypatch.context() as patch:
        patch.setattr("imrc.__version__", "1.0")
        settings = RunSettings(n=10, b=3, preset="recommended", methods=("logistic_recent",), features="rff")
        assert cell_key("f", settings, 0) == "1a8b34aaf73e4bce57c6683c37f1b95b7e9e3ee303de154c7c28eb705eb5d8f8"

    def keys() -> dict[str, str]:
        return {name: cell_key("f", RunSettings(methods=(name,)), 0) for name in ("imrc", "mer", "gem")}

    for owner, name, changed in (
        (Learner, "version", {"imrc"}),
        (imrc.baselines.registry["mer"], "version", {"mer"}),
        (imrc, "__version__", {"imrc", "mer", "gem"}),
    ):
        before = keys()
        monkeypatch.setattr(owner, name, 99)
        assert {name for name, key in keys().items() if before[name] != key} == changed
    assert code_version("mer") == code_version("mer:argparse")


def test_old_code_is_kept_but_not_current(copied):
    with ResultStore(copied) as store:
        total = len(store.frame())
        store._execute("DELETE FROM cells WHERE repetition = 1 AND n = 5 AND preset = 'paper'")
        store._execute("UPDATE cells SET code = 'earlier' WHERE n = 6 AND method = 'imrc'")
        assert len(store.frame(current=False)) == total - 2 * 3
        assert len(store.frame()) == total - 2 * 3 - 2 * 2 * 3 * 3
        assert set(store.frame(method="imrc")["n"]) == {5}


def changed(path: Path, statement: str) -> tuple | None:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchone()


def refused(path: Path, match: str) -> None:
    before = path.read_bytes() if os.path.isfile(path) else None
    with pytest.raises(StoreError, match=match), ResultStore(path) as store:
        len(store), store.frame(), contents(store)
    assert (path.read_bytes() if os.path.isfile(path) else None) == before


def test_files_that_are_no_store_or_a_damaged_one_are_refused_and_left_alone(tmp_path, copied):
    text, foreign, whole = tmp_path / "notes.txt", tmp_path / "photos.db", copied.read_bytes()
    text.write_text("Dear diary, " * 1000)
    changed(foreign, "CREATE TABLE photos (name TEXT)")
    refused(text, "notes.txt is not an SQLite database, so it is not a results store")
    refused(foreign, "photos.db is a database of another program")
    for place in (tmp_path, tmp_path / "typo.sqlite", tmp_path / "missing" / "r.sqlite"):
        refused(place, "cannot be opened. It must be a file in an existing folder")
    assert changed(copied, "PRAGMA application_id") == (APPLICATION_ID,)
    changed(copied, "PRAGMA user_version = 99")
    refused(copied, r"made by another release of imrc \(format 99; this one uses 2\)")
    for content in (whole[:4096] + os.urandom(len(whole) - 4096), whole[: len(whole) // 2]):
        copied.write_bytes(content)
        refused(copied, r"results.sqlite is damaged. Move it away")


def test_damaged_arrays_are_noticed(copied):
    with ResultStore(copied) as store:
        run = imrc.datasets.load("identical", tasks=4).fingerprint, RunSettings(n=6, features="blended", repetitions=3)
        store._execute("UPDATE cells SET content = substr(content, 1, 500)")
        with pytest.raises(StoreError, match=r"A result in .* is damaged"):
            store.result(*run)
    for _ in range(2):
        store.close()
    with pytest.raises(StoreError, match="closed"):
        len(store)


@contextmanager
def unprivileged():
    """Files protected from writing are protected from the superuser only if it lays its rights down."""
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)


def test_a_read_only_store_is_read_and_not_written(filled):
    folder = Path(tempfile.mkdtemp())
    with ResultStore(filled) as store:
        rows = len(store.frame())
    try:
        path = folder / "results.sqlite"
        shutil.copy(filled, path)
        path.chmod(0o444)
        folder.chmod(0o555)
        with unprivileged():
            with ResultStore(path) as store:
                assert len(store.frame()) == rows
                cell = plan_sweep(small_spec()).cells[0]
                with pytest.raises(StoreError, match="cannot be written"):
                    store.put(cell, trivial(cell))
            refused(filled, "cannot be opened. It must be a file in an existing folder")
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_full_disk_keeps_what_is_there(copied):
    with ResultStore(copied) as store:
        before = len(store)
        pages = store._execute("PRAGMA page_count")[0][0]
        store._execute(f"PRAGMA max_page_count = {pages + 2}")
        plan = plan_sweep(small_spec(n=7), store)
        with pytest.raises(StoreError, match=r"is full. Free some space .* Finished cells are kept"):
            run_sweep(plan, store)
        kept = len(store)
        store._execute("PRAGMA max_page_count = 1000000")
        plan = plan_sweep(small_spec(n=7), store)
        assert len(plan.done) == kept - before
        run_sweep(plan, store)
        assert len(store) == before + len(plan.cells)


def test_place_of_the_store(monkeypatch, tmp_path):
    monkeypatch.setenv("IMRC_STORE", str(tmp_path / "mine.sqlite"))
    assert default_store_path() == tmp_path / "mine.sqlite"
    monkeypatch.delenv("IMRC_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    if sys.platform == "linux":
        assert default_store_path() == tmp_path / "imrc" / "results.sqlite"
        monkeypatch.delenv("XDG_DATA_HOME")
        assert default_store_path() == tmp_path / ".local" / "share" / "imrc" / "results.sqlite"
    assert list(tmp_path.iterdir()) == []
