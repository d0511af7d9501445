"""What a visitor has chosen: read from the link or the sidebar, corrected where needed, written to the link."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import imrc
from imrc import datasets
from imrc.core.presets import DEFAULT, PRESETS, VALUES, own_features
from imrc.core.settings import SETTINGS
from imrc.evaluation import SCENARIOS, RunSettings, largest_n
from imrc.features import WITH_FREQUENCIES, FeatureSpec


def plain(text: str) -> str:
    """Return text that Markdown shows literally: no links, images, formatting, colours, formulas or HTML."""
    escaped = re.sub(r"([\\`*_{}\[\]()#+!|<>~$:@&])", r"\\\1", text)
    # An address would still become a link; an invisible joiner after the scheme's letters prevents it.
    return re.sub(r"(?i)\b(https?|ftp|www)\b", lambda match: match[0] + "\u2060", escaped)


OWN = "your_file"
"""Name of a visitor's own sequence; it lives in the session and is never part of a link."""

PRESET_TITLES = {"paper": "As in the paper", "recommended": "Recommended"}
NUMBERS = ("n", "k", "b", "W", "repetitions", "seed")

CHOICE_NAMES = ("dataset", "features", "frequencies", "sigma2", "preset", "loss", "scenario", *NUMBERS)
"""Names of the values of a choice: in a link, and keys of its widgets in the sidebar."""


def loss_in_words(settings: RunSettings) -> str:
    """Return what follows the name of a preset whose loss is not its own.

    >>> loss_in_words(RunSettings(overrides={"loss": "0-1"})), loss_in_words(RunSettings())
    (', 0-1 rule', '')
    """
    return ", 0-1 rule" if dict(settings.overrides).get("loss") == "0-1" else ""


@dataclass(frozen=True)
class Choice:
    """A sequence (a name for `imrc.datasets.load` or `OWN`, cut to k tasks) and what to run on it.

    The settings' own k is None, because the sequence is made with k tasks.
    """

    dataset: str = datasets.DEFAULT
    k: int = SETTINGS["k"].default
    settings: RunSettings = field(default_factory=RunSettings)

    def values(self) -> dict[str, Any]:
        """Return plain values: what the widgets hold and what the link says."""
        features = self.settings.features
        return {
            "dataset": self.dataset,
            "features": features.kind,
            "frequencies": features.frequencies,
            "sigma2": features.sigma2,
            **{name: self.k if name == "k" else getattr(self.settings, name) for name in NUMBERS},
            "W": None if self.settings.learner.W == "all" else self.settings.learner.W,  # an empty field is "all"
            "preset": self.settings.preset,
            "loss": "log" if self.settings.preset == "paper" else self.settings.learner.loss,
            "scenario": self.settings.scenario,
        }

    def in_words(self) -> str:
        """Return the numbers and the preset in one line."""
        window = self.settings.learner.W
        parts = [f"n = {self.settings.n}", f"k = {self.k}", f"b = {self.settings.reach(self.k)}"]
        parts += [] if window in ("all", 2) else [f"W = {window}"]
        if self.settings.scenario != "continual":
            parts.append(SCENARIOS[self.settings.scenario].title.lower())
        return " · ".join([*parts, PRESET_TITLES[self.settings.preset] + loss_in_words(self.settings)])

    def to_query(self) -> dict[str, str]:
        """Return the values for the link; details only where they matter."""
        kind, values = self.settings.features.kind, self.values()
        left_out = {
            "frequencies": kind not in WITH_FREQUENCIES,
            "sigma2": kind != "rff",
            "scenario": values["scenario"] == "continual",
            "loss": values["loss"] == "log",
        }
        # Numbers are short, and read back as the same.
        texts = {name: "all" if value is None else str(value).removesuffix(".0") for name, value in values.items()}
        return {name: text for name, text in texts.items() if not left_out.get(name)}


def _quoted(value: object) -> str:
    """Return the beginning of a link's value in quotation marks, for display as plain text."""
    return plain(repr(str(value)[:40]))


def from_values(values: Mapping[str, Any], known: set[str]) -> tuple[Choice, dict[str, str]]:
    """Build a choice with every value in its range from anything a link or a widget may hold, such as strings.

    Also returned is a sentence for each corrected value, by its name. `known` are the datasets this visitor can use.
    """
    notes: dict[str, str] = {}

    def number(name: str, default: Any) -> Any:  # noqa: ANN401 - a number, or the default
        raw, kind = values.get(name, default), float if SETTINGS[name].real else int
        low, high = SETTINGS[name].limits or (-math.inf, math.inf)
        try:
            wanted = float(str(raw))
        except ValueError:
            wanted = math.nan
        value = default if math.isnan(wanted) else kind(min(max(wanted, low), high))
        if value != wanted:
            notes[name] = f"{name} = {_quoted(raw)} is not possible ({low:,} to {high:,}); {value} is used."
        return value

    def word(name: str, allowed: Iterable[str], default: str) -> Any:  # noqa: ANN401 - one of `allowed`
        raw = str(values.get(name, default))
        if raw in allowed:
            return raw
        notes[name] = f"{name} = {_quoted(raw)} is not known; {default} is used."
        return default

    dataset = word("dataset", known, datasets.DEFAULT)
    entry = None if dataset == OWN else datasets.entry(dataset)
    usual = {} if entry is None else {"k": entry.opens_with, "n": entry.labels}
    numbers = {name: number(name, usual.get(name, SETTINGS[name].default)) for name in NUMBERS if name != "W"}
    preset, loss = word("preset", PRESETS, DEFAULT), word("loss", SETTINGS["loss"].words, "log")
    features = FeatureSpec(
        word("features", SETTINGS["features"].words, own_features(preset).kind),
        number("frequencies", SETTINGS["frequencies"].default),
        number("sigma2", SETTINGS["sigma2"].default),
    )
    window, k = VALUES[preset]["W"], numbers.pop("k")
    settings = RunSettings(
        preset=preset,
        W=window if values.get("W") in (None, window) else number("W", window),
        features=features,
        overrides=(("loss", loss),) if preset == "recommended" and loss != "log" else (),
        scenario=word("scenario", SCENARIOS, "continual"),
        **numbers,
    )
    return Choice(dataset, k, settings), notes


def fit_to_dataset(choice: Choice, sequence: imrc.TaskSequence, notes: dict[str, str]) -> Choice:
    """Lower k, n and b to what the sequence can give, and say so in `notes`."""
    limit, tasks = largest_n(sequence), len(sequence)
    settings = choice.settings
    if choice.k > tasks:
        notes["k"] = f"There are at most {tasks:,} tasks: k = {tasks} is used, not {choice.k:,}."
    if 1 <= limit < settings.n:
        notes["n"] = (
            f"The smallest task has {limit:,} samples to learn from, and the rest is kept for testing: n = {limit} is "
            f"used, not {settings.n:,}."
        )
        settings = replace(settings, n=limit)
    elif settings.n < sequence.n_classes:
        notes["classes"] = (
            f"With n = {settings.n}, a task has too few samples to contain all {sequence.n_classes} classes."
        )
    if settings.b > tasks - 1:
        notes["b"] = (
            f"With {tasks} tasks, at most {tasks - 1} come before the newest: b = {tasks - 1} is used, not "
            f"{settings.b}."
        )
        settings = replace(settings, b=tasks - 1)
    return replace(choice, k=tasks, settings=settings)
