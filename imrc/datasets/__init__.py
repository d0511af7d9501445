"""Sequences of tasks: built in, synthetic with known truth, and (by name) the ones of the paper."""

from __future__ import annotations

from typing import Any

from imrc._checks import check_choice, check_int
from imrc.datasets._registry import Entry, accepted_options, builtin_entries
from imrc.datasets.digits import rotated_digits
from imrc.datasets.synthetic import gaussian_tasks
from imrc.tasks import TaskSequence

__all__ = ["DEFAULT", "Entry", "entry", "gaussian_tasks", "load", "names", "rotated_digits"]

DEFAULT = "rotated_digits"
"""The sequence a visitor sees first."""


def _entries() -> dict[str, Entry]:
    return builtin_entries()


def names() -> list[str]:
    """Return the names `load` knows.

    Examples
    --------
    >>> names()[0]
    'rotated_digits'
    """
    return list(_entries())


def entry(name: str) -> Entry:
    """Return the facts about one sequence; raise ValueError for an unknown name."""
    entries = _entries()
    return entries[check_choice("name", name, entries)]


def load(name: str, *, seed: int = 0, **options: Any) -> TaskSequence:  # noqa: ANN401 - loaders differ
    """Load a sequence by name.

    Parameters
    ----------
    name : str
        One of `names()`.
    seed : int
        For sequences that are drawn or turned at random; others ignore it.
    **options
        ``tasks=k`` (all sequences) and what the sequence's own function takes.

    Returns
    -------
    TaskSequence

    Raises
    ------
    ValueError
        For an unknown name or a value out of range; the message lists what is possible.
    TypeError
        For an option the sequence does not have.

    Examples
    --------
    >>> load("identical", tasks=5, samples=20)
    TaskSequence('identical', 5 tasks, 100 samples, 6 features, 2 classes)
    """
    chosen = entry(name)
    seed = check_int("seed", seed, 0)
    known = accepted_options(chosen) | {"tasks"}
    unknown = set(options) - known
    if unknown:
        raise TypeError(f"{name} has no option {sorted(unknown)[0]!r}; it takes {', '.join(sorted(known))}.")
    if chosen.cuts_anew:
        return chosen.loader(seed=seed, **options)
    tasks = options.pop("tasks", None)
    sequence = chosen.loader(**({"seed": seed} if chosen.seeded else {}), **options)
    return sequence if tasks is None else sequence.head(check_int("tasks", tasks, 1, len(sequence)))
