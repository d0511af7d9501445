"""Entries for the datasets of the catalogue, and what is on this computer of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from imrc._folders import cache_folder
from imrc.datasets import _files
from imrc.datasets._catalogue import CatalogueEntry, catalogue, facts
from imrc.datasets._mnist import MAX_TASKS
from imrc.datasets._published import READERS
from imrc.datasets._registry import Entry


@dataclass(frozen=True)
class Status:
    """What can be done with a dataset on this computer.

    Attributes
    ----------
    name : str
        Its name.
    loadable : bool
        Whether its files are here (they are checked when loaded).
    downloadable : bool
        Whether `download` can get them.
    size_bytes : int
        What a download gets; 0 if unknown.
    where : str
        "built in", "IMRC_DATA", "cache" or "".
    by_hand : str
        What to do without `download`, empty if nothing is missing.
    """

    name: str
    loadable: bool
    downloadable: bool
    size_bytes: int
    where: str
    by_hand: str

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

    Parameters
    ----------
    size_bytes : int
        Bytes; 0: not known.

    Returns
    -------
    str

    Examples
    --------
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
        max_tasks=MAX_TASKS if turned else entry.tasks,
        cuts_anew=turned,
        seeded=turned or entry.name == "utkfaces_grey",
    )


def published_entries() -> dict[str, Entry]:
    """Return one entry per dataset of the catalogue, the paper's first."""
    entries = sorted(catalogue().values(), key=lambda entry: not entry.paper)
    return {entry.name: _entry(entry) for entry in entries}
