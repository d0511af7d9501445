"""What there is to load, one entry per sequence, and what is on this computer of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

from imrc._folders import cache_folder
from imrc.datasets import _files, digits, synthetic
from imrc.datasets._catalogue import CatalogueEntry, catalogue, facts
from imrc.datasets._mnist import MAX_TASKS
from imrc.datasets._published import READERS
from imrc.tasks import TaskSequence

Group = Literal["built in", "synthetic", "from the paper", "other real data"]


@dataclass(frozen=True)
class Entry:
    """One sequence that can be loaded by name."""

    name: str
    title: str  # for people
    group: Group  # where it is listed
    summary: str
    loader: Callable[..., TaskSequence]  # ``loader(seed=..., **options) -> TaskSequence``
    tasks: int  # when nothing is asked for
    opens_with: int  # tasks the app opens it with: all, or the first ones of a very long sequence
    max_tasks: int
    cuts_anew: bool  # the loader makes ``tasks=k`` of all data; else k means the first k tasks
    seeded: bool  # whether the seed changes what is loaded


_TITLES: dict[synthetic.Kind, str] = {
    "random_walk": "Drifting means (random walk)",
    "independent": "Independent tasks",
    "identical": "Identical tasks",
    "trend": "Trend",
    "mean_reverting": "Mean-reverting",
    "periodic": "Periodic",
    "abrupt": "One abrupt change",
}


@lru_cache(maxsize=1)
def entries() -> dict[str, Entry]:
    """Return all entries by name: built in, synthetic, and those of the catalogue, the paper's first."""
    made = partial(Entry, tasks=20, opens_with=20, cuts_anew=True, seeded=True)
    words = "Real handwritten digits that turn from 0 to 180 degrees; is the digit 5 or more?"
    turned, most = digits.rotated_digits, digits.MAX_TASKS
    found = [made("rotated_digits", "Rotated digits", "built in", words, turned, max_tasks=most)]
    for kind, words in synthetic.DESCRIPTIONS.items():
        drawn = partial(synthetic.gaussian_tasks, kind)
        found.append(made(kind, _TITLES[kind], "synthetic", words, drawn, max_tasks=200))
    found += [_entry(entry) for entry in sorted(catalogue().values(), key=lambda entry: not entry.paper)]
    return {entry.name: entry for entry in found}


def accepted_options(entry: Entry) -> set[str]:
    """Return the names of the options a loader takes, besides the seed."""
    return set(inspect.signature(entry.loader).parameters) - {"seed", "kind"}


@dataclass(frozen=True)
class Status:
    """What can be done with a dataset on this computer."""

    name: str
    loadable: bool  # its files are here (they are checked when loaded)
    downloadable: bool  # `download` can get them
    size_bytes: int  # of a download; 0 if unknown
    where: str  # "built in", "IMRC_DATA", "cache" or ""
    by_hand: str  # what to do without `download`, empty if nothing is missing

    @property
    def in_words(self) -> str:
        """One short sentence for people."""
        if self.loadable:
            return {"built in": "Built in.", "IMRC_DATA": "On this computer.", "cache": "Downloaded."}[self.where]
        if self.downloadable:
            return f"Not on this computer; download {size_in_words(self.size_bytes)}."
        return "Not on this computer, and cannot be downloaded as it is needed here."


def size_in_words(size_bytes: int) -> str:
    """Return a size for people.

    >>> size_in_words(397055), size_in_words(0)
    ('0.4 MB', 'of unknown size')
    """
    if size_bytes <= 0:
        return "of unknown size"
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e5 else f"{max(size_bytes / 1e3, 1):.0f} kB"


def published_status(name: str) -> Status:
    """Return what is on this computer of a dataset of the catalogue; nothing is read or downloaded."""
    entry = facts(name)
    state = _files.availability(entry)
    where = ""
    if state.complete:
        where = "cache" if state.files[0][1] == cache_folder() / state.files[0][0].path else "IMRC_DATA"
    return Status(
        name=name,
        loadable=state.complete,
        downloadable=entry.downloadable,
        size_bytes=entry.size_bytes,
        where=where,
        by_hand="" if state.complete else _files.by_hand(entry, state.missing),
    )


def _entry(entry: CatalogueEntry) -> Entry:
    turned = entry.name == "rotated_mnist"
    return Entry(
        name=entry.name,
        title=entry.title,
        group="from the paper" if entry.paper else "other real data",
        summary=entry.summary,
        loader=partial(READERS[entry.reader], entry),
        tasks=entry.tasks,
        opens_with=entry.opens_with,
        max_tasks=MAX_TASKS if turned else entry.tasks,
        cuts_anew=turned,
        seeded=turned or entry.name == "utkfaces_grey",
    )
