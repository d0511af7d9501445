"""Sequences of tasks: built in, synthetic with known truth, the paper's datasets by name, and your own tables.

Files are looked for in this order: built in, the folder ``$IMRC_DATA``, the user's cache. Nothing is downloaded unless
`download` is called.
"""

from __future__ import annotations

from typing import Any

from imrc._checks import DataError, check_choice, check_int, check_names
from imrc.datasets._catalogue import (
    ChecksumError,
    DownloadError,
    Entry,
    Group,
    NotAvailableError,
    RemoteFile,
    Status,
    catalogue,
    entries,
    facts,
    size_in_words,
    status_of,
)
from imrc.datasets._fetch import download
from imrc.datasets.digits import rotated_digits
from imrc.datasets.synthetic import gaussian_tasks
from imrc.tables import Cut, Table, cut_table, open_table, sample_csv, suggest
from imrc.tasks import TaskSequence

__all__ = ["DataError", "NotAvailableError", "download", "gaussian_tasks", "load", "names", "rotated_digits", "status"]

DEFAULT = "six_or_nine"
"""The sequence a visitor sees first."""


def names(group: Group | None = None) -> list[str]:
    """Return the names `load` knows, all or those of one group.

    `status` tells you whether the files of a published dataset are on this computer.

    Parameters
    ----------
    group : str or None
        One of the groups of the list, for example "synthetic"; by default all.

    Examples
    --------
    >>> names()[0], "usenet1" in names("from the paper")
    ('six_or_nine', True)
    """
    return [name for name, entry in entries().items() if group is None or entry.group == group]


def status(name: str) -> Status:
    """Return whether a dataset can be loaded here, and how to get it if not; nothing is read or downloaded."""
    if entry(name).group in ("built in", "synthetic"):
        return Status(name, loadable=True, downloadable=False, size_bytes=0, where="built in", by_hand="")
    return status_of(facts(name))


def entry(name: str) -> Entry:
    """Return the facts about one sequence; ValueError lists what there is."""
    return entries()[check_choice("name", name, entries())]


def load(name: str, *, seed: int = 0, **options: Any) -> TaskSequence:  # noqa: ANN401 - loaders differ
    """Return a sequence by name.

    Parameters
    ----------
    name : str
        One of `names()`.
    seed : int
        For sequences that are drawn or turned at random; others ignore it.
    **options
        ``tasks=k`` (for all sequences), and options of the sequence's own function.

    Raises
    ------
    ValueError
        For an unknown name or a value out of range; the message lists what is possible.
    NotAvailableError
        If its files are not on this computer; the message explains how to get them.
    ChecksumError
        If a file is damaged or is a different file.
    TypeError
        For an option the sequence does not have.

    Examples
    --------
    >>> load("identical", tasks=5, samples=20)
    TaskSequence('identical', 5 tasks, 100 samples, 6 features, 2 classes)
    """
    chosen = entry(name)
    seed = check_int("seed", seed, 0)
    check_names(name, options, sorted(chosen.accepted - {"seed"} | {"tasks"}))
    if chosen.seeded:
        options["seed"] = seed
    if "tasks" in chosen.accepted:  # cut anew, or a long file of which only these are read
        return chosen.loader(**options)
    tasks = options.pop("tasks", None)
    sequence = chosen.loader(**options)
    return sequence if tasks is None else sequence.head(check_int("tasks (k)", tasks, 1, len(sequence)))
