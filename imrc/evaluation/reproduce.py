"""The code that repeats a run: a script, from the data to what a model predicts, and a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from imrc.core.presets import own_features
from imrc.evaluation.settings import RunSettings
from imrc.features import FeatureSpec

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

    The model is learnt by a strategy, None: the advised one.

    >>> print(as_python("identical", 5, RunSettings(n=4)))
    import imrc
    <BLANKLINE>
    tasks = imrc.datasets.load("identical", tasks=5, seed=0)
    report = imrc.check(tasks, n=4, b=3, W="all", preset="recommended", repetitions=10, seed=0)
    print(report)
    model = report.fit()  # the advised strategy, learnt from all rows
    model.save("model.imrc")  # imrc.load("model.imrc") brings it back
    print(model.predict(tasks[-1].X[:10]), "predicted")
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
        "print(report)\n"
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
