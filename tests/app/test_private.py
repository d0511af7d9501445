"""What the app needs of Streamlit beyond its public interface."""

from streamlit.runtime.pages_manager import PagesManager

from pages.shell import streamlit_private

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
