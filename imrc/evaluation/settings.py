"""Settings of a run; `imrc.core.settings` says what its numbers mean and which are possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from imrc._checks import InputError, check_choice, check_int, check_names
from imrc.baselines import OwnMethod, parse_method
from imrc.baselines.own import PREFIX
from imrc.core.presets import DEFAULT, VALUES, own_features
from imrc.core.rules_log import STORED_ROWS
from imrc.core.settings import OVERRIDES, SETTINGS, IMRCSettings, Window, documented, resolve_settings
from imrc.evaluation.scenarios import SCENARIO_NAMES, ScenarioName
from imrc.evaluation.splits import held_out, largest_n
from imrc.features import FeatureSpec, make
from imrc.tasks import TaskSequence

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
        raise InputError("methods is empty. Name at least one, for example 'imrc'.")
    if len({name for name in made if isinstance(name, OwnMethod)}) < sum(isinstance(one, OwnMethod) for one in made):
        raise InputError("Own classifiers need different names.")
    for name in names:
        if name != "imrc" and not isinstance(name, OwnMethod):
            parse_method(name)
    return names


def _stated(preset: str, W: Window | None) -> Window | None:
    """Return a window, None in place of the preset's own."""
    return None if VALUES[preset]["W"] == W else W


def _computed(scenario: ScenarioName, methods: Iterable[str]) -> ScenarioName:
    """Return the scenario whose run holds the numbers: those that differ in what is averaged share one run."""
    return scenario if scenario == "multi_task" and "imrc" in methods else "continual"


@documented
@dataclass(frozen=True)
class RunSettings:
    """What is run on a sequence.

    Attributes
    ----------
    {n, b, W, preset, repetitions, seed}
    k : int or None
        First k tasks; None: all.
    features : FeatureSpec
        Representation of the instances, or its kind. None: replaced by that of the preset, see `own_features`.
    methods : tuple of str
        What to run. "imrc" gives the rules "single", "forward" and "forward_backward". Other entries are
        names from `imrc.baselines.registry`, with a profile after a colon if it is not the default one
        ("mer:argparse"), or pairs of a name and a scikit-learn classifier, which become `imrc.baselines.OwnMethod`.
    overrides : mapping
        Values that replace those of the preset: any attribute of `IMRCSettings` except b, W and preset.
    scenario : {"continual", "multi_task", "adaptation", "next_task"}
        Which tasks are learnt from and which errors are averaged, see `imrc.evaluation.scenarios`. Only "multi_task"
        changes what is computed, and b has no effect there.
    """

    n: int = SETTINGS["n"].default
    k: int | None = None
    b: int = SETTINGS["b"].default
    W: Window | None = None
    preset: str = DEFAULT
    features: FeatureSpec = None  # type: ignore[assignment]  # never None once made
    repetitions: int = SETTINGS["repetitions"].default
    seed: int = SETTINGS["seed"].default
    methods: tuple[str, ...] = ("imrc",)
    overrides: tuple[tuple[str, Any], ...] = ()
    scenario: ScenarioName = "continual"

    def __post_init__(self) -> None:
        check_choice("scenario", self.scenario, SCENARIO_NAMES)
        for name in ("n", "repetitions", "seed", "preset"):
            SETTINGS[name].check(getattr(self, name))
        if self.k is not None:
            check_int("k", self.k, 1)
        features = own_features(self.preset) if self.features is None else FeatureSpec.parse(self.features)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "methods", _checked_methods(self.methods))
        object.__setattr__(self, "overrides", tuple(sorted(dict(self.overrides).items())))
        check_names("overrides", dict(self.overrides), OVERRIDES)
        learner = resolve_settings(self.preset, b=self.b, W=self.W, **dict(self.overrides))
        object.__setattr__(self, "_learner", learner)
        object.__setattr__(self, "W", _stated(self.preset, learner.W))

    @classmethod
    def of(cls, where: str, **options: Any) -> RunSettings:  # noqa: ANN401 - checked here
        """Return settings from attributes and overrides by their names, those that are None left at the preset's.

        `where` is what the options were given to, for the message about one that does not exist.
        """
        named = [one.name for one in fields(cls) if one.name != "overrides"]
        check_names(where, options, (*named, *OVERRIDES))
        given = {name: options.pop(name) for name in named if name in options}
        if not isinstance(given.get("methods", ""), str):
            given["methods"] = tuple(given["methods"])
        return cls(**given, overrides=tuple((name, value) for name, value in options.items() if value is not None))

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
        """The settings of a run that contains the numbers of this one."""
        scenario = _computed(self.scenario, self.methods)
        return self if scenario == self.scenario else replace(self, scenario=scenario)

    def reach(self, tasks: int) -> int:
        """Return how many tasks before the newest are revised in a run with this many tasks.

        >>> RunSettings(b=3).reach(20), RunSettings(b=3).reach(2), RunSettings(scenario="multi_task").reach(20)
        (3, 1, 19)
        """
        return tasks - 1 if self.scenario == "multi_task" else min(self.b, tasks - 1)

    def key(self, **changes: Any) -> tuple[Any, ...]:  # noqa: ANN401 - values of the attributes
        """Return what tells runs with other numbers apart, with `changes` to these settings; nothing is checked.

        >>> RunSettings().key(preset="paper", W=2) == RunSettings(preset="paper", scenario="adaptation").key()
        False
        >>> RunSettings().key(b=1) == RunSettings(b=1, scenario="adaptation").key()
        True
        """
        values = {one.name: getattr(self, one.name) for one in fields(self)} | changes
        values["W"] = _stated(values["preset"], values["W"])
        values["scenario"] = _computed(values["scenario"], values["methods"])
        return tuple(values.values())

    def fit_to(self, sequence: TaskSequence) -> TaskSequence:
        """Return the first k tasks; ValueError if there are fewer, or one has too few samples for n."""
        if self.k is not None and self.k > len(sequence):
            raise InputError(f"k = {self.k} tasks were asked for, but {sequence.name} has {len(sequence)}.")
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
                f"n = {self.n} training samples per task were asked for, but task {shortened.labels[smallest]!r} "
                f"(number {smallest + 1}) leaves {limit} after its test samples are set aside. "
                f"Choose n <= {limit}."
            )
        return shortened

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads back."""
        return {**asdict(self), "methods": list(self.methods), "overrides": dict(self.overrides)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RunSettings:
        """Return settings from the values of `to_json`."""
        values = dict(values)
        values["features"] = FeatureSpec(**values["features"])
        values["methods"] = tuple(values["methods"])
        values["overrides"] = tuple(sorted(values["overrides"].items()))
        return cls(**values)


_VECTORS = 20
"""Vectors as long as a mean vector for each task that is revised, and copies of all means in a diagnosis."""


@dataclass(frozen=True)
class RunLimits:
    """How many numbers a run may hold at once, and how many seconds it may take."""

    cells: float = 250e6
    seconds: float = 3600.0

    @classmethod
    def parse(cls, text: str) -> RunLimits:
        """Return limits from what somebody typed: gigabytes, and minutes after a comma; InputError says how."""
        try:
            gigabytes, minutes = (float(part) for part in text.split(","))
            if not (0.0 < gigabytes <= 1e6 and 0.0 < minutes <= 1e6):
                raise ValueError
        except ValueError:
            raise InputError(
                f"The limit {text!r} is not understood. Give gigabytes and minutes, separated by a comma. With 2,60, "
                "runs that need more than 2 GB or 60 minutes are refused."
            ) from None
        return cls(gigabytes * 1e9 / 8, minutes * 60.0)


def run_cells(sequence: TaskSequence, settings: RunSettings) -> float:
    """Return about how many numbers a run holds at once, at its last step: of every repetition rows, rules, errors."""
    sequence = settings.fit_to(sequence)
    tasks, n, compared = len(sequence), settings.n, len(settings.compared)
    revised = settings.reach(tasks) + 1
    width = make(settings.features, sequence, settings.seed).n_outputs + 1
    cells = compared * tasks * (tasks + n * width)
    if "imrc" in settings.methods:
        rows = n * (tasks if settings.learner.instances == "all" else revised)
        if settings.learner.loss == "log":
            rows = min(n * tasks, max(n * revised, STORED_ROWS))
        cells += revised * (_VECTORS * sequence.n_classes + held_out(int(sequence.sizes.max()))) * width
        cells += 3 * rows * width + min(rows, STORED_ROWS) ** 2 + 4 * revised * tasks
    return float(settings.repetitions * cells)


def diagnosis_cells(sequence: TaskSequence, features: FeatureSpec, seed: int = 0) -> float:
    """Return about how many numbers the diagnosis of a sequence holds at once."""
    width = make(features, sequence, seed).n_outputs + 1
    return float((_VECTORS * len(sequence) * sequence.n_classes + 3 * int(sequence.sizes.max())) * width)
