"""Scenarios, settings of a run, how large it may be, and the code that repeats it.

Four scenarios say which tasks are learnt from, and which cells of the table of errors are averaged; the recursions are
the same in all of them. Three look at one and the same run in different ways; only learning all tasks at once is a run
of its own, because there every task is within reach of every other. `imrc.core.settings` explains the
settings and their limits.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from imrc._checks import InputError, check_choice, check_int, check_names
from imrc.baselines import OwnMethod, method_title, parse_method
from imrc.baselines.own import PREFIX
from imrc.core.presets import DEFAULT, VALUES, own_features
from imrc.core.rules_log import STORED_ROWS
from imrc.core.settings import OVERRIDES, SETTINGS, IMRCSettings, Window, documented, resolve_settings
from imrc.evaluation.splits import held_out, largest_n
from imrc.features import FeatureSpec, make
from imrc.tasks import TaskSequence
from imrc.wording import RULES

ScenarioName = Literal["continual", "multi_task", "adaptation", "next_task"]
SCENARIO_NAMES: tuple[ScenarioName, ...] = get_args(ScenarioName)
HeadlineKind = Literal["average", "newest", "lag", "released", "end", "before"]
HEADLINES: dict[HeadlineKind, str] = {
    "average": "mean over steps of the mean over the tasks seen",
    "newest": "mean over tasks of the error at the task's own step",
    "lag": "mean over tasks of the error after b more tasks (the last tasks: at the end)",
    "released": "mean over tasks of the error after b - 1 more tasks, as the authors' script prints",
    "end": "mean over tasks of the error after the last step",
    "before": "mean over tasks, from the second on, of the error on a task before it is learnt (test, then train)",
}
BORROWING = ("forward", "forward_backward")
"""Rules of IMRC that take from other tasks."""
REFERENCES = ("majority", "pooled")
"""Strategies that are none of IMRC's rules: methods of `imrc.baselines.registry`."""
STRATEGY_TITLES = {name: RULES.get(name) or method_title(name) for name in ("majority", "single", "pooled", *BORROWING)}
"""What a practitioner can do, the simplest first, as charts and tables call it."""
STRATEGIES = tuple(name for name in STRATEGY_TITLES if name != "majority")
"""What a model can be learnt by, the simplest first."""


@dataclass(frozen=True)
class Scenario:
    """Which tasks a rule is learnt from, and which are tested."""

    title: str
    field: str  # what the literature calls it
    sentence: str  # which tasks are learnt from and which are tested
    kind: HeadlineKind  # which cells of the table of errors are averaged
    rules: tuple[str, ...]  # the simplest first; the last is the main one

    @property
    def kinds(self) -> dict[HeadlineKind, str]:
        """Errors that tables show, with short titles: that of the scenario, and of continual learning two more."""
        if self.kind == "average":
            return {"average": "all tasks seen", "newest": "newest task", "lag": "after b more tasks"}
        return {self.kind: {"end": "all tasks", "newest": "newest task", "before": "before learning"}[self.kind]}

    @property
    def main(self) -> str:
        """The rule that uses most of what the scenario allows."""
        return self.rules[-1]


SCENARIOS: dict[ScenarioName, Scenario] = {
    "continual": Scenario(
        "All tasks so far",
        "continual learning",
        "Tasks arrive one by one. Each new task is learnt with the help of earlier ones, the last b are revised, and "
        "every task seen so far is tested.",
        "average",
        ("single", "forward", "forward_backward"),
    ),
    "multi_task": Scenario(
        "All tasks at once",
        "multi-task learning",
        "All tasks are available from the start. Each is learnt with the help of all others, and every task is tested.",
        "end",
        ("single", "forward_backward"),
    ),
    "adaptation": Scenario(
        "The newest task",
        "domain adaptation, many sources",
        "Only the newest task matters. It is learnt from its own samples and the tasks before it, and only this "
        "task is tested.",
        "newest",
        ("single", "forward"),
    ),
    "next_task": Scenario(
        "Tomorrow's task",
        "concept drift, test then train",
        "The next task is tested before it has any labels. Its rule comes from the tasks before it.",
        "before",
        ("single", "forward"),
    ),
}


def planned(scenario: ScenarioName, reference: str) -> str | None:
    """Return the rule whose comparison with `reference` is planned: the main one against each task alone."""
    main = SCENARIOS[scenario].main
    return {"single": main, main: "single"}.get(reference)


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
        raise InputError("Your own classifiers need different names.")
    for name in names:
        if name != "imrc" and not isinstance(name, OwnMethod):
            parse_method(name)
    return names


def _stated(preset: str, W: Window | None) -> Window | None:
    """Return a window, None in place of the preset's own."""
    return None if VALUES[preset]["W"] == W else W


def _computed(scenario: ScenarioName, methods: Iterable[str]) -> ScenarioName:
    """Return the scenario whose run has the numbers: scenarios that only average differently share one run."""
    return scenario if scenario == "multi_task" and "imrc" in methods else "continual"


@documented
@dataclass(frozen=True)
class RunSettings:
    """What to run on a sequence.

    Attributes
    ----------
    {n, b, W, preset, repetitions, seed}
    k : int or None
        First k tasks; None means all.
    features : FeatureSpec
        Representation of the instances, or its kind. None is replaced by the preset's (see `own_features`).
    methods : tuple of str
        What to run. "imrc" gives the rules "single", "forward" and "forward_backward". Other entries are
        names from `imrc.baselines.registry`, with a profile after a colon if it is not the default one
        ("mer:argparse"), or pairs of a name and a scikit-learn classifier, which become `imrc.baselines.OwnMethod`.
    overrides : mapping
        Values that replace those of the preset: any attribute of `IMRCSettings` except b, W and preset.
    scenario : {"continual", "multi_task", "adaptation", "next_task"}
        Which tasks are learnt from and which errors are averaged (see `imrc.evaluation.settings`). Only "multi_task"
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
        """Return settings from attributes and overrides by name; None keeps the preset's. Messages name `where`."""
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
        """Return how many tasks before the newest are revised in a run with this many tasks."""
        return tasks - 1 if self.scenario == "multi_task" else min(self.b, tasks - 1)

    def key(self, **changes: Any) -> tuple[Any, ...]:  # noqa: ANN401 - values of the attributes
        """Return a key that differs between runs with different numbers; `changes` are not checked."""
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
    """How many numbers a run may keep in memory, and how many seconds it may take."""

    cells: float = 250e6
    seconds: float = 3600.0

    @classmethod
    def parse(cls, text: str) -> RunLimits:
        """Return limits from text: gigabytes, a comma, minutes. InputError explains the form."""
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
    """Estimate how many numbers a run keeps in memory at its last step: rows, rules and errors of every repetition."""
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
    """Estimate how many numbers the diagnosis of a sequence keeps in memory."""
    width = make(features, sequence, seed).n_outputs + 1
    return float((_VECTORS * len(sequence) * sequence.n_classes + 3 * int(sequence.sizes.max())) * width)


_PACES = {"diagnosis": (1 / 30, 5e7), "alarm": (0.0, 6e5), "bounds": (0.0, 1e7)}
"""Seconds for a task, and features of rows in a second: of `assess`, `watch_story` and `plug_in`, on one core."""


def seconds_of(what: str, sequence: TaskSequence, features: FeatureSpec, seed: int = 0) -> float:
    """Estimate the seconds of a "diagnosis", an "alarm" or "bounds", as measured with up to 300 tasks."""
    for_task, in_second = _PACES[what]
    return len(sequence) * for_task + float(sequence.sizes.sum()) * make(features, sequence, seed).n_outputs / in_second


def changed_s(sequence: TaskSequence) -> float:
    """Estimate the seconds of `what_changed` on one core, as measured with up to 150,000 rows and 784 columns."""
    return float(sequence.sizes.sum()) * (sequence.n_features + 45) / 8e6


_NAMES = {"label": "target", "task": "by", "block": "every"}
"""What `imrc.tasks_from` and the command line call options of the reader of tables."""


def as_python(
    dataset: str,
    tasks: int,
    settings: RunSettings,
    file_options: Mapping[str, Any] | None = None,
    strategy: str | None = None,
) -> str:
    """Return a script that checks a dataset, or a file with options of its reader, learns a model and predicts.

    The model is learnt by a strategy, by default the advised one.
    """
    given, spec, imports = _numbers(settings), settings.features, "import imrc\n"
    if settings.scenario != "continual":
        given["scenario"] = settings.scenario
    if spec != own_features(settings.preset):
        given["features"] = spec
        if spec == FeatureSpec(spec.kind):
            given["features"] = spec.kind
        else:
            imports += "from imrc.features import FeatureSpec\n"
    given |= settings.overrides
    arguments = ", ".join(f"{name}={value!r}".replace("'", '"') for name, value in given.items())
    if file_options is None:
        load = f'imrc.datasets.load("{dataset}", tasks={tasks}, seed={settings.seed})'
    else:
        options = "".join(f", {_NAMES.get(name, name)}={value!r}" for name, value in file_options.items())
        load = f"imrc.tasks_from({dataset!r}{options}).head({tasks})"
    named = "" if strategy is None else f'"{strategy.replace("single", "alone")}"'
    said = "learnt from all rows" if named else "the advised strategy, learnt from all rows"
    return (
        f"{imports}\ntasks = {load}\n"
        f"report = imrc.check(tasks, {arguments})\n"
        "print(report)  # the numbers and sentences of the page\n"
        f"model = report.fit({named})  # {said}\n"
        'model.save("model.imrc")  # imrc.load("model.imrc") brings it back\n'
        'print(model.predict(tasks[-1].X[:10]), "predicted")'
    )


def as_command(dataset: str, tasks: int, settings: RunSettings, file_options: Mapping[str, Any] | None = None) -> str:
    """Return the command that reproduces a run, with the parameters of `as_python`.

    >>> print(as_command("identical", 5, RunSettings(n=4, preset="paper", overrides=(("lambda0", 0.5),))))
    imrc run identical -k 5 -n 4 -b 3 -W 2 --preset paper --repetitions 10 --seed 0 --lambda0 0.5
    """
    # A file name that begins with a dash would be read as an option.
    words = ["imrc", "run", f"./{dataset}" if dataset.startswith("-") else dataset]
    for name, value in (file_options or {}).items():
        if value == ():
            continue
        option = _NAMES.get(name, name).replace("_", "-")
        words += [f"--{option}", *map(str, value if isinstance(value, tuple) else [value])]
    words += ["-k", str(tasks)]
    for name, value in _numbers(settings).items():
        words += [f"-{name}" if len(name) == 1 else f"--{name}", str(value)]
    spec, usual = asdict(settings.features), asdict(own_features(settings.preset))
    spec["features"], usual["features"] = spec.pop("kind"), usual.pop("kind")
    changed = {name: value for name, value in spec.items() if value != usual[name]}
    if settings.scenario != "continual":
        changed["scenario"] = settings.scenario
    for name, value in {**changed, **dict(settings.overrides)}.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _numbers(settings: RunSettings) -> dict[str, Any]:
    """Return the settings that every description of a run states, with the resolved window."""
    stated = {name: getattr(settings, name) for name in ("n", "b", "W", "preset", "repetitions", "seed")}
    return {**stated, "W": settings.learner.W}
