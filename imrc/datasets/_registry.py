"""What there is to load: one entry per sequence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from imrc.datasets import digits, synthetic
from imrc.tasks import TaskSequence

Group = Literal["built in", "synthetic", "from the paper", "other real data"]


@dataclass(frozen=True)
class Entry:
    """One sequence that can be loaded by name.

    Attributes
    ----------
    name : str
        Name for `load`.
    title : str
        Name for people.
    group : {"built in", "synthetic", "from the paper", "other real data"}
        Where it is listed.
    summary : str
        One sentence.
    loader : callable
        ``loader(seed=..., **options) -> TaskSequence``.
    tasks : int
        Number of tasks when nothing is asked for.
    max_tasks : int
        The largest number of tasks.
    cuts_anew : bool
        True if the loader takes ``tasks=k`` and makes k tasks of all data; False if k means the first k tasks.
    seeded : bool
        True if the seed changes what is loaded.
    """

    name: str
    title: str
    group: Group
    summary: str
    loader: Callable[..., TaskSequence]
    tasks: int
    max_tasks: int
    cuts_anew: bool
    seeded: bool


def builtin_entries() -> dict[str, Entry]:
    """Return the entries that need no file and no network."""
    entries = [
        Entry(
            name="rotated_digits",
            title="Rotated digits",
            group="built in",
            summary="Real handwritten digits that turn from 0 to 180 degrees; is the digit 5 or more?",
            loader=digits.rotated_digits,
            tasks=20,
            max_tasks=digits.MAX_TASKS,
            cuts_anew=True,
            seeded=True,
        )
    ]
    titles = {
        "random_walk": "Drifting means (random walk)",
        "independent": "Independent tasks",
        "identical": "Identical tasks",
        "trend": "Trend",
        "mean_reverting": "Mean-reverting",
        "periodic": "Periodic",
        "abrupt": "One abrupt change",
    }
    entries += [
        Entry(
            name=kind,
            title=titles[kind],
            group="synthetic",
            summary=synthetic.DESCRIPTIONS[kind],
            loader=synthetic.loader(kind),
            tasks=20,
            max_tasks=200,
            cuts_anew=True,
            seeded=True,
        )
        for kind in synthetic.KINDS
    ]
    return {entry.name: entry for entry in entries}


def accepted_options(entry: Entry) -> set[str]:
    """Return the names of the options a loader takes, besides the seed."""
    function = synthetic.gaussian_tasks if entry.group == "synthetic" else entry.loader
    return set(inspect.signature(function).parameters) - {"seed", "kind"}
