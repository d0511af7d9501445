"""The one private part of Streamlit in use here; `tests/app/test_private.py` says what to do if it breaks."""

from __future__ import annotations

from streamlit.runtime.pages_manager import PagesManager


def pages_come_from_code_only() -> None:
    """Keep Streamlit from looking for pages in the folder `pages`; called before the first visitor comes.

    A folder of that name beside `app.py` makes Streamlit look for pages in there until the script has run once, and
    tell the first visitor of a fresh server who follows a direct link that the page does not exist. There is no option
    for that.
    """
    PagesManager.uses_pages_directory = False
