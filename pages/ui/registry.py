"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageEntry:
    """One page.

    Attributes
    ----------
    file : str
        Script, relative to the folder of app.py. One level below ``pages/``: Streamlit's automatic discovery would
        serve scripts directly in ``pages/`` without the frame.
    title, icon, url_path : str
        What navigation shows, and the address.
    default : bool
        Whether this is the landing page.
    """

    file: str
    title: str
    icon: str
    url_path: str
    default: bool = False


PAGES: tuple[PageEntry, ...] = (
    PageEntry("pages/views/explore.py", "Explore", ":material/grid_on:", "explore", default=True),
    PageEntry("pages/views/ess.py", "Effective sample size", ":material/stacked_line_chart:", "effective-sample-size"),
    PageEntry("pages/views/evolving.py", "Evolving?", ":material/troubleshoot:", "evolving"),
    PageEntry("pages/views/compare.py", "Compare", ":material/leaderboard:", "compare"),
    PageEntry("pages/views/how_it_works.py", "How it works", ":material/school:", "how-it-works"),
    PageEntry("pages/views/your_data.py", "Your data", ":material/upload_file:", "your-data"),
    PageEntry("pages/views/the_paper.py", "The paper", ":material/article:", "the-paper"),
)
