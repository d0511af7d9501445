"""What a visitor has chosen: read from the link or the sidebar, corrected where needed, written to the link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import imrc
from imrc import datasets
from imrc.core.settings import (
    INSTANCES,
    LIMITS,
    LOSSES,
    PRESET_VALUES,
    PRESETS,
    SOLVERS,
    IMRCSettings,
    own_features,
)
from imrc.evaluation import PARAMETERS, SCENARIOS, RunSettings, largest_n
from imrc.evaluation.scenarios import SCENARIO_NAMES
from imrc.features import FREQUENCIES, KINDS, SIGMA2, WITH_FREQUENCIES, FeatureSpec
from pages.ui.words import quoted

OWN = "your_file"
"""Name of a visitor's own sequence; it lives in the session and is never part of a link."""

PRESET_TITLES = {
    "recommended": "Recommended",
    "paper": "As in the paper",
    "custom": "Custom",
}
UI_PRESETS = (*PRESETS, "custom")
CUSTOM = ("lambda0", "instances", "solver", "max_iter")
"""Values that belong to the preset "custom"."""
RETIRED = {"recommended_01": "0-1", "recommended_2023": "log"}
"""Presets that links of version 1 may name, and the loss they had; the recommended one is in their place."""
NUMBERS = ("n", "k", "b", "W", "repetitions", "seed")

CHOICE_NAMES = ("dataset", "features", "frequencies", "sigma2", "preset", *CUSTOM, "loss", "scenario", *NUMBERS)
"""Names of the values of a choice: in a link, and keys of its widgets in the sidebar."""


def _exact(value: object) -> str:
    """Return a value for the link: short, and read back as the same number.

    >>> _exact(10.0), _exact(0.3), _exact(0.12345678), _exact("rff")
    ('10', '0.3', '0.12345678', 'rff')
    """
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)


def loss_in_words(settings: RunSettings) -> str:
    """Return what follows the name of a preset whose loss is not its own.

    >>> loss_in_words(RunSettings(overrides={"loss": "0-1"})), loss_in_words(RunSettings())
    (', 0-1 rule', '')
    """
    return ", 0-1 rule" if dict(settings.overrides).get("loss") == "0-1" else ""


@dataclass(frozen=True)
class Choice:
    """A sequence (a name for `imrc.datasets.load` or `OWN`, cut to k tasks) and what to run on it.

    The preset may be "custom": the paper's with other values in place. The settings' own k is None, because the
    sequence is made with k tasks.
    """

    dataset: str = datasets.DEFAULT
    k: int = PARAMETERS["k"].default
    preset: str = "recommended"
    settings: RunSettings = field(default_factory=RunSettings)

    def values(self) -> dict[str, Any]:
        """Return plain values: what the widgets hold and what the link says."""
        # The widgets of custom values show the paper's numbers until somebody changes them.
        learner = self.settings.learner if self.preset == "custom" else IMRCSettings()
        features = self.settings.features
        return {
            "dataset": self.dataset,
            "features": features.kind,
            "frequencies": features.frequencies,
            "sigma2": features.sigma2,
            **{name: self.k if name == "k" else getattr(self.settings, name) for name in NUMBERS},
            "W": None if self.settings.learner.W == "all" else self.settings.learner.W,  # an empty field is "all"
            "preset": self.preset,
            "lambda0": learner.lambda0,
            "instances": learner.instances,
            "solver": learner.solver,
            "max_iter": learner.max_iter,
            "loss": "log" if self.preset in ("paper", "custom") else self.settings.learner.loss,
            "scenario": self.settings.scenario,
        }

    def in_words(self) -> str:
        """Return the numbers and the preset in one line."""
        window = self.settings.learner.W
        parts = [f"n = {self.settings.n}", f"k = {self.k}", f"b = {self.settings.reach(self.k)}"]
        parts += [] if window in ("all", 2) else [f"W = {window}"]
        if self.settings.scenario != "continual":
            parts.append(SCENARIOS[self.settings.scenario].title.lower())
        return " · ".join([*parts, PRESET_TITLES[self.preset] + loss_in_words(self.settings)])

    def to_query(self) -> dict[str, str]:
        """Return the values for the link; details only where they matter."""
        values = self.values()
        if self.settings.features.kind not in WITH_FREQUENCIES:
            values.pop("frequencies")
        if self.settings.features.kind != "rff":
            values.pop("sigma2")
        if self.settings.scenario == "continual":
            values.pop("scenario")
        if values["loss"] == "log":
            values.pop("loss")
        if self.preset != "custom":
            for name in CUSTOM:
                values.pop(name)
        return {name: "all" if value is None else _exact(value) for name, value in values.items()}


def from_values(values: Mapping[str, Any], known: set[str]) -> tuple[Choice, dict[str, str]]:
    """Build a choice with every value in its range from anything a link or a widget may hold, such as strings.

    Also returned is one sentence for each value that was corrected, by the value's name. `known` are the datasets this
    visitor can use.
    """
    notes: dict[str, str] = {}

    def number(name: str, low: float, high: float, default: float, kind: type) -> Any:  # noqa: ANN401 - int or float
        raw = values.get(name, default)
        try:
            value = kind(str(raw).strip())
            if not low <= value <= high:  # also catches NaN
                raise ValueError
        except (ValueError, OverflowError):
            try:
                wanted = float(str(raw))
                value = default if math.isnan(wanted) else kind(min(max(wanted, low), high))
            except (ValueError, OverflowError):
                value = default
            notes[name] = f"{name} = {quoted(raw)} is not possible ({low:,} to {high:,}); {value} is used."
        return value

    def word(name: str, allowed: tuple[str, ...], default: str) -> str:
        raw = str(values.get(name, default))
        if raw in allowed:
            return raw
        notes[name] = f"{name} = {quoted(raw)} is not known; {default} is used."
        return default

    dataset = word("dataset", tuple(known), datasets.DEFAULT)
    numbers = {
        name: number(name, PARAMETERS[name].low, PARAMETERS[name].high, PARAMETERS[name].default, int)
        for name in NUMBERS
        if name != "W"
    }
    if "k" not in values and dataset != OWN:
        numbers["k"] = datasets.entry(dataset).opens_with
    usual_loss = RETIRED.get(str(values.get("preset")), "log")
    if values.get("preset") in RETIRED:
        notes["preset"] = f"The preset {values['preset']} is gone; recommended is used, with the {usual_loss} loss."
        values = {**values, "preset": "recommended"}
    preset, loss = word("preset", UI_PRESETS, "recommended"), word("loss", LOSSES, usual_loss)
    own_preset = "paper" if preset == "custom" else preset
    features = FeatureSpec(
        kind=word("features", KINDS, own_features(own_preset).kind),  # type: ignore[arg-type]  # one of KINDS
        frequencies=number("frequencies", *FREQUENCIES, FeatureSpec.frequencies, int),
        sigma2=number("sigma2", *SIGMA2, FeatureSpec.sigma2, float),
    )
    usual = PRESET_VALUES[own_preset]["W"]
    low, high = PARAMETERS["W"].low, PARAMETERS["W"].high
    W = usual if values.get("W") in (None, usual) else number("W", low, high, usual, int)
    overrides: dict[str, Any] = {}
    if preset == "custom":
        overrides = {
            "lambda0": number("lambda0", *LIMITS["lambda0"], IMRCSettings.lambda0, float),
            "instances": word("instances", INSTANCES, IMRCSettings.instances),
            "solver": word("solver", SOLVERS, IMRCSettings.solver),
            "max_iter": number("max_iter", *LIMITS["max_iter"], int(IMRCSettings.max_iter), int),
        }
    if preset == "recommended" and loss != "log":
        overrides["loss"] = loss
    k = numbers.pop("k")
    settings = RunSettings(
        preset=own_preset,
        W=W,
        features=features,
        overrides=tuple(sorted(overrides.items())),
        scenario=word("scenario", SCENARIO_NAMES, "continual"),  # type: ignore[arg-type]  # one of them
        **numbers,
    )
    return Choice(dataset, k, preset, settings), notes


def fit_to_dataset(choice: Choice, sequence: imrc.TaskSequence, notes: dict[str, str]) -> Choice:
    """Lower k, n and b to what the sequence can give, and say so in `notes`."""
    limit, tasks = largest_n(sequence), len(sequence)
    settings = choice.settings
    if choice.k > tasks:
        notes["k"] = f"There are at most {tasks:,} tasks: k = {tasks} is used, not {choice.k:,}."
    if 1 <= limit < settings.n:
        notes["n"] = (
            f"The smallest task has {limit:,} samples to learn from, the rest is kept for testing: n = {limit} is "
            f"used, not {settings.n:,}."
        )
        settings = replace(settings, n=limit)
    elif settings.n < sequence.n_classes:
        notes["classes"] = f"With n = {settings.n} samples a task cannot hold all {sequence.n_classes} classes."
    if settings.b > tasks - 1:
        notes["b"] = (
            f"With {tasks} tasks there are at most {tasks - 1} before the newest: b = {tasks - 1} is used, "
            f"not {settings.b}."
        )
        settings = replace(settings, b=tasks - 1)
    return replace(choice, k=tasks, settings=settings)
