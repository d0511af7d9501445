"""The runs that compared methods need with the settings shown, and those of them that are there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import imrc
from imrc.baselines import PUBLISHED
from imrc.evaluation import RunResult, RunSettings
from pages.shell import data, state
from pages.shell.running import store

PRESETS = ("recommended", "paper")
"""Presets of IMRC that are always compared."""

DEFAULT_METHODS = ("pooled", "majority", "logistic_seen", "forest", *(name for name in PUBLISHED if name != "mer"))
"""Those of the shipped comparison: MER takes as long as all others together."""


def changes(settings: RunSettings, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return what the runs of IMRC and of the methods named change in the settings.

    Custom values belong to none of them, nor does a scenario: what is averaged is chosen on the page of the comparison,
    so that one run serves all. The loss is that of the page where a preset has a choice, as are b and W.
    """
    loss = tuple(pair for pair in settings.overrides if pair[0] == "loss")
    alone: dict[str, Any] = {"overrides": (), "scenario": "continual"}
    presets = ({"preset": one, "overrides": loss if one == "recommended" else ()} for one in PRESETS)
    found = [*({"methods": ("imrc",)} | preset for preset in presets), *({"methods": (name,)} for name in names)]
    return [alone | one for one in found]


def jobs(settings: RunSettings, names: Iterable[str]) -> list[RunSettings]:
    """Return the runs of IMRC and of the methods named."""
    return [replace(settings, **change) for change in changes(settings, names)]


def there(sequence: imrc.TaskSequence, runs: Iterable[RunSettings]) -> list[RunResult]:
    """Return the results of those runs that are in the store, with their visitor's names."""
    found = (store().get(state.key_of(sequence, run)) for run in runs)
    return [data.named(result, sequence) for result in found if result is not None]


def stored(sequence: imrc.TaskSequence, settings: RunSettings) -> tuple[RunResult, ...]:
    """Return the runs of the comparison that are there already; none unless a method beside IMRC is among them."""
    # By key: settings of runs that nobody asked for need not be made.
    keys = (state.key_of(sequence, settings, **change) for change in changes(settings, DEFAULT_METHODS))
    found = [data.named(result, sequence) for key in keys if (result := store().get(key)) is not None]
    return tuple(found) if any(result.settings.methods != ("imrc",) for result in found) else ()
