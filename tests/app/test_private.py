"""What the app needs of Streamlit beyond its public interface."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.ui import streamlit_private

ROOT = Path(__file__).resolve().parents[2]

WHAT_TO_DO = """
Streamlit has changed how it looks for pages in a folder named `pages`. Start a server and open /compare as its very
first page. If that page shows, delete `pages_come_from_code_only`, this test and the call in app.py. If it does not,
look in streamlit/runtime/pages_manager.py for the new switch, or give the folder another name, which needs no switch.
"""


def test_streamlit_still_has_the_switch_for_pages_of_a_folder(tmp_path):
    # None: not decided yet, Streamlit looks into the folder. An attribute that nothing reads would not do that.
    script = tmp_path / "app.py"
    script.touch()
    (tmp_path / "pages").mkdir()
    assert "uses_pages_directory" in vars(PagesManager), WHAT_TO_DO
    before = PagesManager.uses_pages_directory
    try:
        PagesManager.uses_pages_directory = None
        PagesManager(str(script))
        assert PagesManager.uses_pages_directory is True, WHAT_TO_DO
        streamlit_private.pages_come_from_code_only()
        PagesManager(str(script))
        assert PagesManager.uses_pages_directory is False, WHAT_TO_DO
    finally:
        PagesManager.uses_pages_directory = before


def test_private_modules_of_streamlit_are_imported_in_one_file():
    public = {"streamlit", "streamlit.testing.v1", "streamlit.typing", "streamlit.starlette"}
    found = {}
    for file in [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            private = {name for name in names if name.startswith("streamlit") and name not in public}
            if private:
                found.setdefault(file.name, set()).update(private)
    assert found == {
        "streamlit_private.py": {
            "streamlit.runtime",
            *(f"streamlit.runtime.{name}" for name in ("pages_manager", "scriptrunner")),
        }
    }


def test_streamlit_still_drops_the_uploads_of_a_visitor():
    context = SimpleNamespace(session_id="a", uploaded_file_mgr=MemoryUploadedFileManager("/upload"))
    for session in "ab":
        context.uploaded_file_mgr.add_file(session, UploadedFileRec("1", "x.csv", "text/csv", b"x"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamlit_private, "get_script_run_ctx", lambda: context)
        streamlit_private.drop_uploads()
    assert list(context.uploaded_file_mgr.file_storage) == ["b"]


def test_streamlit_still_says_what_waits_to_be_read():
    files = MemoryUploadedFileManager("/upload")
    for number in "12":
        files.add_file("a", UploadedFileRec(number, "x.csv", "text/csv", b"four"))
    with pytest.MonkeyPatch.context() as patch:
        runtime = SimpleNamespace(instance=lambda: SimpleNamespace(uploaded_file_mgr=files))
        patch.setattr(streamlit_private, "Runtime", runtime)
        assert streamlit_private.waiting_bytes() == {"a": 8}


def test_the_helpers_of_the_pages_import_each_other_in_one_direction():
    folder = ROOT / "pages" / "ui"
    imports: dict[str, set[str]] = {}
    for file in folder.glob("*.py"):
        found = imports.setdefault(file.stem, set())
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):  # inside functions too
            if isinstance(node, ast.ImportFrom) and node.module == "pages.ui":
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pages.ui."):
                found.add(node.module.removeprefix("pages.ui."))
    order = list(TopologicalSorter(imports).static_order())  # CycleError names a circle
    assert order.index("data") < order.index("state") < order.index("stored") < order.index("sidebar")
