"""All pages, in the order of the navigation: a new one is a folder with a script, and an entry here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageEntry:
    """One page: its script, what navigation and the browser's tab show, its address and an earlier one.

    `runs`: it shows a run, so that the settings of a run have an effect on it; `roomy`: its sidebar starts closed.
    """

    file: str
    title: str
    url_path: str
    earlier: str = ""
    default: bool = False
    runs: bool = True
    roomy: bool = False


PAGES: tuple[PageEntry, ...] = (
    PageEntry("pages/result/page.py", "Result", "result", "explore", default=True),
    PageEntry("pages/learn/page.py", "Learn", "learn", "how-it-works", runs=False, roomy=True),
    PageEntry("pages/your_data/page.py", "Your data", "your-data", runs=False),
    PageEntry("pages/evolving/page.py", "Is it evolving?", "is-it-evolving", "evolving"),
    PageEntry("pages/why_it_helps/page.py", "Why it helps", "why-it-helps", "effective-sample-size"),
    PageEntry("pages/against_others/page.py", "Against others", "against-others", "compare"),
    PageEntry("pages/the_paper/page.py", "The paper", "the-paper", runs=False, roomy=True),
)
