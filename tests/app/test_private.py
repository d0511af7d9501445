"""What the app needs of Streamlit beyond its public interface."""

import ast
from pathlib import Path

from streamlit.runtime.pages_manager import PagesManager

from pages.shell import streamlit_private

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
