"""The code that repeats a run, as a script and as a command, and the script that learns a model."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from imrc.core.presets import own_features
from imrc.evaluation.settings import RunSettings
from imrc.features import FeatureSpec


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
    head, arguments = _head(dataset, tasks, settings, file_options)
    # One repetition has no standard error.
    spread = " ± {error.stderr:.3f}" if settings.repetitions > 1 else ""
    return (
        f"{head}"
        f"result = imrc.evaluate(sequence, {arguments})\n"
        "for rule, error in result.headline().items():\n"
        f'    print(f"{{rule:16s}} {{error.mean:.3f}}{spread}")'
    )


def _head(dataset: str, tasks: int, settings: RunSettings, file_options: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return the lines of a script that load the tasks, and the arguments of a run on them."""
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
        options = "".join(f", {name}={value!r}" for name, value in file_options.items())
        load = f"imrc.datasets.read_table({dataset!r}{options}).head({tasks})"
    return f"{imports}\nsequence = {load}\n", arguments


def model_as_python(
    dataset: str, tasks: int, settings: RunSettings, strategy: str, file_options: Mapping[str, Any] | None = None
) -> str:
    """Return a script that checks the tasks, learns a model by a strategy, keeps it and predicts.

    >>> print(model_as_python("identical", 5, RunSettings(n=4), "pooled"))
    import imrc
    <BLANKLINE>
    sequence = imrc.datasets.load("identical", tasks=5, seed=0)
    report = imrc.check(sequence, n=4, b=3, W="all", preset="recommended", repetitions=10, seed=0)
    print(report)
    model = report.fit("pooled")  # from all rows; by default, with the advised strategy
    model.save("model.imrc")  # imrc.load("model.imrc") brings it back
    print(model.predict(sequence[-1].X[:10]), "predicted")
    """
    head, arguments = _head(dataset, tasks, settings, file_options)
    return (
        f"{head}"
        f"report = imrc.check(sequence, {arguments})\n"
        "print(report)\n"
        f'model = report.fit("{"alone" if strategy == "single" else strategy}")  '
        "# from all rows; by default, with the advised strategy\n"
        'model.save("model.imrc")  # imrc.load("model.imrc") brings it back\n'
        'print(model.predict(sequence[-1].X[:10]), "predicted")'
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
