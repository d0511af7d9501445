"""Settings of a run, with one table of limits and help texts for the page, the command line and Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from imrc._checks import InputError, check_choice, check_int, check_names
from imrc.baselines import OwnMethod, parse_method
from imrc.baselines.own import PREFIX
from imrc.core.settings import (
    LIMITS,
    PRESET_VALUES,
    PRESETS,
    IMRCSettings,
    Window,
    check_window,
    own_features,
    resolve_settings,
)
from imrc.evaluation.scenarios import SCENARIO_NAMES, ScenarioName
from imrc.evaluation.splits import largest_n
from imrc.features import FeatureSpec
from imrc.tasks import MAX_TASKS, TaskSequence

MAX_REPETITIONS = 200
MAX_SEED = 2**31 - 1

OVERRIDES = tuple(one.name for one in fields(IMRCSettings) if one.name not in ("b", "W", "preset"))
"""Values of a preset that can be replaced."""


@dataclass(frozen=True)
class Parameter:
    """One number a person can set."""

    name: str
    label: str
    help: str
    low: int  # the dataset can narrow the range
    high: int
    default: int  # when nothing is said; the paper's where the preset decides
    by_preset: bool = False  # the preset decides when nothing is said


PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "n",
            "Samples n",
            "Training samples drawn from each task. The fewer, the more there is to gain from other tasks. "
            "The dataset limits it: samples for testing are set aside first.",
            1,
            10_000,
            10,
        ),
        Parameter(
            "k",
            "Tasks k",
            "Length of the sequence. Rotated digits and synthetic sequences are cut anew into k tasks; of others the "
            "first k are used.",
            2,
            MAX_TASKS,
            20,
        ),
        Parameter(
            "b",
            "Backward b",
            "At each step the b tasks before the newest are learnt again with what the newest one tells. "
            "0 is forward learning only. Time grows linearly with b.",
            *LIMITS["b"],
            3,
        ),
        Parameter(
            "W",
            "Window W",
            "The number of recent changes from which the size of a change is estimated. As in the paper: how many "
            "squared differences are averaged, eq. (7), 2 unless said otherwise. The recommended presets take the "
            "innovations of the last W steps, and all of them unless said otherwise.",
            *LIMITS["W"],
            2,
            by_preset=True,
        ),
        Parameter(
            "repetitions",
            "Repetitions",
            "How often the samples are split and drawn anew. Means, bands and standard errors are over repetitions.",
            1,
            MAX_REPETITIONS,
            10,
        ),
        Parameter(
            "seed",
            "Seed",
            "Every random choice (splits, draws, random features, synthetic data) follows from this number.",
            0,
            MAX_SEED,
            0,
        ),
    )
}


Method = str | tuple[Any, ...]
"""A name, or name and classifier, or name, classifier and what it learns."""


def _checked_methods(methods: Iterable[Method]) -> tuple[str, ...]:
    """Return the names of methods, each once; a single string is one name."""
    given = (methods,) if isinstance(methods, str) else methods
    made = [one if isinstance(one, str) else OwnMethod(*one) for one in given]
    # Of a saved result only the name of an own classifier is known.
    made = [OwnMethod(name) if name.startswith(PREFIX) and type(name) is str else name for name in made]
    names = tuple(dict.fromkeys(made))
    if not names:
        raise InputError("methods is empty: name at least one, for example 'imrc'.")
    if len({name for name in made if isinstance(name, OwnMethod)}) < sum(isinstance(one, OwnMethod) for one in made):
        raise InputError("Own classifiers need different names.")
    for name in names:
        if name != "imrc" and not isinstance(name, OwnMethod):
            parse_method(name)
    return names


@dataclass(frozen=True)
class RunSettings:
    """What is run on a sequence.

    Attributes
    ----------
    n : int
        Training samples per task.
    k : int or None
        First k tasks; None: all.
    b : int
        Backward steps.
    W : int, "all" or None
        Window of the change estimate, see `IMRCSettings`; None: the preset's. A value equal to the preset's is
        stored as None; `learner.W` is the value in use.
    preset : str
        Preset of the learner.
    features : FeatureSpec
        Representation of the instances, or its kind. None: the preset's, see `own_features`, which it becomes.
    repetitions : int
        Random splits and draws.
    seed : int
        Seed of the run.
    methods : tuple of str
        What to run; "imrc" gives the rules "single", "forward" and "forward_backward". Others are names of
        `imrc.baselines.registry`, with a profile after a colon if not the default one ("mer:argparse"), and pairs of a
        name and a scikit-learn classifier, which become `imrc.baselines.OwnMethod`.
    overrides : mapping
        Values that replace the preset's: any attribute of `IMRCSettings` but b, W and preset, see there.
    scenario : {"continual", "multi_task", "adaptation", "next_task"}
        What is learnt from what and which errors are averaged, see `imrc.evaluation.scenarios`. Only "multi_task"
        changes what is computed; b has no effect there.
    """

    n: int = 10
    k: int | None = None
    b: int = 3
    W: Window | None = None
    preset: str = "recommended"
    features: FeatureSpec = None  # type: ignore[assignment]  # never None once made
    repetitions: int = 10
    seed: int = 0
    methods: tuple[str, ...] = ("imrc",)
    overrides: tuple[tuple[str, Any], ...] = ()
    scenario: ScenarioName = "continual"

    def __post_init__(self) -> None:
        check_choice("scenario", self.scenario, SCENARIO_NAMES)
        for name in ("n", "b", "repetitions", "seed"):
            parameter = PARAMETERS[name]
            check_int(name, getattr(self, name), parameter.low, parameter.high)
        if self.k is not None:
            check_int("k", self.k, 1)
        preset = check_choice("preset", self.preset, PRESETS)
        if self.W is not None:
            W = check_window(self.W)
            object.__setattr__(self, "W", None if PRESET_VALUES[preset]["W"] == W else W)
        features = own_features(preset) if self.features is None else FeatureSpec.parse(self.features)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "methods", _checked_methods(self.methods))
        if isinstance(self.overrides, Mapping):
            object.__setattr__(self, "overrides", tuple(sorted(self.overrides.items())))
        check_names("overrides", dict(self.overrides), OVERRIDES)
        learner = resolve_settings(preset, b=self.b, W=self.W, **dict(self.overrides))
        object.__setattr__(self, "_learner", learner)

    @property
    def compared(self) -> tuple[str, ...]:
        """Methods besides IMRC."""
        return tuple(name for name in self.methods if name != "imrc")

    @property
    def learner(self) -> IMRCSettings:
        """The learner's settings: preset and overrides, resolved and checked once."""
        held: IMRCSettings = self.__dict__["_learner"]
        return held

    @property
    def computed(self) -> RunSettings:
        """The settings whose run holds the numbers of this one: scenarios that differ in what is averaged share it."""
        apart = self.scenario == "multi_task" and "imrc" in self.methods
        return self if apart or self.scenario == "continual" else replace(self, scenario="continual")

    def reach(self, tasks: int) -> int:
        """Return how many tasks before the newest are learnt again.

        Parameters
        ----------
        tasks : int
            Tasks of the run.

        Returns
        -------
        int

        Examples
        --------
        >>> RunSettings(b=3).reach(20), RunSettings(b=3).reach(2), RunSettings(scenario="multi_task").reach(20)
        (3, 1, 19)
        """
        return tasks - 1 if self.scenario == "multi_task" else min(self.b, tasks - 1)

    def fit_to(self, sequence: TaskSequence) -> TaskSequence:
        """Return the first k tasks.

        Parameters
        ----------
        sequence : TaskSequence
            Tasks to run on.

        Returns
        -------
        TaskSequence
            With k tasks.

        Raises
        ------
        ValueError
            If it has fewer than k tasks, or a task has too few samples for n; the message says what to change.
        """
        if self.k is not None and self.k > len(sequence):
            raise InputError(f"k = {self.k} tasks asked for, but {sequence.name} has {len(sequence)}.")
        shortened = sequence if self.k is None else sequence.head(self.k)
        limit = largest_n(shortened)
        smallest = int(shortened.sizes.argmin())
        if shortened.sizes[smallest] < 2:
            raise InputError(
                f"Task {shortened.labels[smallest]!r} (number {smallest + 1}) has {shortened.sizes[smallest]} sample; "
                "at least 2 are needed, one to learn from and one to test on. Merge or drop that task."
            )
        if self.n > limit:
            raise InputError(
                f"n = {self.n} training samples per task asked for, but task {shortened.labels[smallest]!r} "
                f"(number {smallest + 1}) leaves {limit} after its test samples are set aside. "
                f"Choose n <= {limit}."
            )
        return shortened

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads back."""
        return {**asdict(self), "methods": list(self.methods), "overrides": dict(self.overrides)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RunSettings:
        """Return settings from the values of `to_json`.

        Parameters
        ----------
        values : mapping
            Plain values, as read from JSON.

        Returns
        -------
        RunSettings
        """
        values = dict(values)
        values["features"] = FeatureSpec(**values["features"])
        values["methods"] = tuple(values["methods"])
        values["overrides"] = tuple(sorted(values["overrides"].items()))
        return cls(**values)


def window_argument(text: str) -> Window:
    """Return a window as somebody types it: "all" or a number.

    >>> window_argument("all"), window_argument("4")
    ('all', 4)
    """
    return "all" if text == "all" else int(text)
