"""The code that repeats a run, as a script and as a command, and the model that is learnt from all its samples."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from imrc.core.estimator import IMRC
from imrc.core.presets import own_features
from imrc.evaluation._threads import single_thread
from imrc.evaluation.settings import RunSettings
from imrc.features import FeatureSpec, Representation
from imrc.tasks import TaskSequence


def as_python(dataset: str, tasks: int, settings: RunSettings, file_options: Mapping[str, Any] | None = None) -> str:
    """Return a script that reproduces a run on a named dataset, or on a file with options of `read_table`.

    >>> print(as_python("identical", 5, RunSettings(n=4)))
    import imrc
    <BLANKLINE>
    sequence = imrc.datasets.load("identical", tasks=5, seed=0)
    result = imrc.evaluate(sequence, n=4, b=3, W="all", preset="recommended", repetitions=10, seed=0)
    for rule, error in result.headline().items():
        print(f"{rule:16s} {error.mean:.3f} ± {error.stderr:.3f}")
    """
    arguments = [f"{name}={value!r}".replace("'", '"') for name, value in _numbers(settings).items()]
    if settings.scenario != "continual":
        arguments.append(f'scenario="{settings.scenario}"')
    imports = "import imrc\n"
    usual = own_features(settings.preset)
    if settings.features != usual:
        arguments.append(f"features={_feature_code(settings.features)}")
        if settings.features != FeatureSpec(settings.features.kind):
            imports += "from imrc.features import FeatureSpec\n"
    arguments += [f"{name}={value!r}".replace("'", '"') for name, value in settings.overrides]
    load = _load(dataset, tasks, settings, file_options)
    # One repetition has no standard error.
    spread = " ± {error.stderr:.3f}" if settings.repetitions > 1 else ""
    return (
        f"{imports}\n"
        f"sequence = {load}\n"
        f"result = imrc.evaluate(sequence, {', '.join(arguments)})\n"
        "for rule, error in result.headline().items():\n"
        f'    print(f"{{rule:16s}} {{error.mean:.3f}}{spread}")'
    )


def _load(dataset: str, tasks: int, settings: RunSettings, file_options: Mapping[str, Any] | None) -> str:
    if file_options is None:
        return f'imrc.datasets.load("{dataset}", tasks={tasks}, seed={settings.seed})'
    options = "".join(f", {name}={value!r}" for name, value in file_options.items())
    return f"imrc.datasets.read_table({dataset!r}{options}).head({tasks})"


def model_as_python(
    dataset: str, tasks: int, settings: RunSettings, file_options: Mapping[str, Any] | None = None
) -> str:
    """Return a script that fits a model on all samples, keeps it and predicts, with the parameters of `as_python`.

    >>> print(model_as_python("identical", 5, RunSettings(b=2)))
    import imrc
    import joblib
    from imrc.evaluation import RunSettings, fit_model
    from imrc.features import FeatureSpec
    <BLANKLINE>
    sequence = imrc.datasets.load("identical", tasks=5, seed=0)
    features = FeatureSpec(kind="blended")
    settings = RunSettings(b=2, W=None, preset="recommended", seed=0, features=features, overrides={})
    model = fit_model(sequence, settings)  # all samples, one task after the other
    joblib.dump(model, "imrc-model.joblib")  # model = joblib.load("imrc-model.joblib") brings it back
    newest = sequence[-1]
    print(model.predict(newest.X[:10]), "predicted;", newest.y[:10], "true")
    """
    spec, usual = asdict(settings.features), asdict(FeatureSpec())
    spec = {name: value for name, value in spec.items() if name == "kind" or value != usual[name]}
    features = ", ".join(f"{name}={value!r}" for name, value in spec.items())
    arguments = ", ".join(f"{name}={getattr(settings, name)!r}" for name in ("b", "W", "preset", "seed"))
    made = f"RunSettings({arguments}, features=features, overrides={dict(settings.overrides)!r})"
    made = f"features = FeatureSpec({features})\nsettings = {made}".replace("'", '"')
    return (
        "import imrc\nimport joblib\nfrom imrc.evaluation import RunSettings, fit_model\n"
        "from imrc.features import FeatureSpec\n\n"
        f"sequence = {_load(dataset, tasks, settings, file_options)}\n"
        f"{made}\n"
        "model = fit_model(sequence, settings)  # all samples, one task after the other\n"
        'joblib.dump(model, "imrc-model.joblib")  # model = joblib.load("imrc-model.joblib") brings it back\n'
        "newest = sequence[-1]\n"
        'print(model.predict(newest.X[:10]), "predicted;", newest.y[:10], "true")'
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
        words += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else [value])]
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


def _feature_code(spec: FeatureSpec) -> str:
    if spec == FeatureSpec(spec.kind):
        return f'"{spec.kind}"'
    values = ", ".join(f"{name}={value!r}" for name, value in asdict(spec).items())
    return f"FeatureSpec({values})".replace("'", '"')


def fit_model(sequence: TaskSequence, settings: RunSettings) -> IMRC:
    """Learn all samples of a sequence with the settings of a run: preset, b, W, representation, seed, custom values.

    A run draws n samples per task and tests on others; here nothing is kept for a test. Random frequencies are those of
    the first repetition. The model takes arrays, or data frames by the names of the sequence's columns.
    """
    model = IMRC(
        b=settings.b,
        W=settings.W,
        preset=settings.learner.preset,
        features=Representation.of(settings.features, sequence),
        random_state=settings.seed,
        **dict(settings.overrides),
    )
    with single_thread():
        for task in sequence:
            model.partial_fit(task.X, task.y, classes=sequence.classes)
    return model
