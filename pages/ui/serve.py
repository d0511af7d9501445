"""Start the server with one setting Streamlit has no option for: ``python -m pages.ui.serve run app.py``.

A folder named ``pages`` beside the main script makes Streamlit look for pages in it until the script has run once. The
first visitor of a fresh server who follows a direct link would then be told that the page does not exist.
"""

from __future__ import annotations

import sys

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

if __name__ == "__main__":
    PagesManager.uses_pages_directory = False
    sys.exit(main(prog_name="streamlit"))
