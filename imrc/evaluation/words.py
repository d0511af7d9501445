"""Results in words: numbers with their uncertainty, summaries, and code that reproduces a run."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from imrc.core.settings import own_features
from imrc.evaluation.effective import EffectiveSamples
from imrc.evaluation.results import RunResult
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Difference, Headline
from imrc.features import FeatureSpec
from imrc.wording import capital, decimal, fewest, listed, p_cell, signed, with_spread

if TYPE_CHECKING:
    import pandas as pd

UNTUNED = (
    "The methods compared run with published default hyper-parameters, of their authors or of the nearest public code; "
    "they were not tuned to these data."
)
"""Caveat shown wherever methods are compared."""


def with_error(headline: Headline) -> str:
    """Return mean ± standard error; the mean alone if there was one repetition.

    >>> with_error(Headline(0.405, 0.0134, 0.006))
    '.405 ± .006'
    """
    return with_spread(headline.mean, headline.stderr) or decimal(headline.mean)


def interval_words(difference: Difference) -> str:
    """Return a difference with the interval it is judged by; the difference alone if there was one repetition.

    >>> interval_words(Difference(-0.066, 0.02, 0.006, -0.0801, -0.052, 0.001, clear=True))
    '−.066 (−.080 to −.052)'
    """
    text = signed(difference.mean)
    if math.isfinite(difference.low):
        text += f" ({signed(difference.low)} to {signed(difference.high)})"
    return text.replace("-", "−")


def samples_text(worth: EffectiveSamples) -> str:
    """Return effective samples with their interval, as every page, report and table shows them.

    >>> samples_text(EffectiveSamples(21.64, 19.9, 23.4, 10.0)), samples_text(EffectiveSamples(10.0, 10.0, 10.0, 10.0))
    ('21.6 (19.9 to 23.4)', '10.0')
    """
    interval = interval_text(worth)
    return f"{worth.mean:,.1f}" + (f" ({interval})" if " to " in interval else "")


def interval_text(worth: EffectiveSamples) -> str:
    """Return the interval of effective samples, or why there is none.

    >>> [interval_text(EffectiveSamples(21.6, low, 23.4, 10.0)) for low in (19.9, 23.39, float("nan"))]
    ['19.9 to 23.4', 'the same in all repetitions', 'one repetition']
    """
    if not math.isfinite(worth.low):
        return "one repetition"
    low, high = f"{worth.low:,.1f}", f"{worth.high:,.1f}"
    return "the same in all repetitions" if low == high else f"{low} to {high}"


def borrowing_note(worth: EffectiveSamples) -> str:
    """State how large a part the past has; empty if it is used throughout.

    >>> borrowing_note(EffectiveSamples(12.0, 11.0, 13.0, 10.0, borrowing=0.25))
    'Averaged over the steps, learning with other tasks has a weight of 25 %, learning from own samples alone 75 %.'
    """
    if worth.borrowing >= 1:
        return ""
    if worth.borrowing <= 0:
        return "Borrowing was switched off in every step; tasks count with their own samples."
    share = min(max(round(100 * worth.borrowing), 1), 99)  # never rounded to none or to all
    alone = f"learning from own samples alone {100 - share} %"
    return f"Averaged over the steps, learning with other tasks has a weight of {share} %, {alone}."


def theorem_4_sentence(run: EffectiveSamples, theorem: EffectiveSamples, full: float, result: RunResult) -> str:
    """Compare Theorem 4 at the ratio measured on all samples (`full`: all succeeding tasks) with a run, and explain."""
    learner, n = result.settings.learner, result.settings.n
    estimate = (
        f"the run has to find the rate of change while it learns, from the {n} samples drawn of each task so far"
        if learner.tracking == "rate"
        else f"the run estimates variances and changes by equation (7) from {n} samples of each task, where noise "
        "counts as change, and the component that changes most decides"
    )
    off = ", and it borrows in part only" if run.borrowing < 1 and run.mean < theorem.mean else ""
    reach = result.settings.reach(result.n_tasks)
    limit = f" (without that limit Theorem 4 gives {full:,.1f})" if reach < result.n_tasks - 1 else ""
    return (
        f"**Theorem 4** at the ratio measured on all samples gives {theorem.mean:,.1f} (interval {theorem.low:,.1f} to "
        f"{theorem.high:,.1f}, from that of the ratio). Both are means over the tasks with at most {reach} "
        f"step{'s' * (reach != 1)} back{limit}; they differ because {estimate}{off}."
    )


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


def plain_errors_note(rare: str) -> str:
    """Say what errors of single tasks are where a run is judged by the balanced error; `rare` names the rare class."""
    return f"Errors of single tasks are shares of all answers: one task has too few of “{rare}” for a balanced error."


def _fair(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[Any], pd.Series[Any]]:
    """Return the methods without the oracle, the best of them, and the reference."""
    fair = table[table["method"] != "oracle"]
    return fair, fair.iloc[0], table[table["verdict"] == "reference"].iloc[0]


def comparison_summary(table: pd.DataFrame, title: str) -> str:
    """Return one sentence on which method makes the fewest errors and how the others compare, in Markdown."""
    fair, best, reference = _fair(table)
    numbers = with_error(Headline(best["error"], best["std"], best["stderr"]))
    first = f"On *{title}*, **{best['title']}** makes {fewest(best['measure'])} ({numbers})."
    verdicts = fair[fair["verdict"] != "reference"]["verdict"]
    if not len(verdicts):
        return first
    if (verdicts == "untested").any():
        return f"{first} With one repetition no difference can be tested."
    counts = {
        "clearly better": int((verdicts == "better").sum()),
        "clearly worse": int((verdicts == "worse").sum()),
        "not to be told apart from it": int((verdicts == "no clear difference").sum()),
    }
    parts = [f"{count} {'are' if count > 1 else 'is'} {what}" for what, count in counts.items() if count]
    others = f"{len(verdicts)} others" if len(verdicts) > 1 else "one other"
    return f"{first} Of {others}, compared with **{reference['title']}**, {listed(parts)}."


def winner_sentence(table: pd.DataFrame) -> str:
    """Say by how much the method with the fewest errors beats the reference, at what cost; empty if it is it."""
    fair, best, reference = _fair(table)
    is_reference = best["method"] == reference["method"]
    if is_reference and len(fair) < 2:
        return ""
    other = fair.iloc[1] if is_reference else reference
    what = "fewer errors" if best["measure"] == "error" else f"a lower {best['measure']}"
    verb = f"makes {what} than the next," if is_reference else f"makes {what} than"
    tested = other if is_reference else best
    gap = {"no clear difference": "; that may be noise", "untested": ""}.get(tested["verdict"], "")
    low, high = (-tested["high"], -tested["low"]) if is_reference else (tested["low"], tested["high"])
    difference = best["error"] - other["error"]
    interval = f" ({signed(low)} to {signed(high)})" if math.isfinite(low) else ""
    text = f"{best['title']} {verb} {other['title']}: {signed(difference)}{interval}{gap}. "
    costs = [
        _times(best[column], other[column], noun)
        for column, noun in (("seconds", "time per task"), ("state", "memory"))
        if other[column] > 0 and best[column] > 0
    ]
    return (text + (f"It takes {' and '.join(costs)}." if costs else "")).replace("-", "−")


def _times(cost: float, other: float, noun: str) -> str:
    """Return a cost as a multiple of another.

    >>> [_times(cost, 10.0, "memory") for cost in (30.0, 2.5, 10.5)]
    ['3.0 times the memory', '25 % of the memory', 'about the same memory']
    """
    ratio = cost / other
    if 0.9 < ratio < 1.1:
        return f"about the same {noun}"
    return f"{ratio:,.1f} times the {noun}" if ratio > 1 else f"{100 * ratio:.2g} % of the {noun}"


def comparison_view(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison for display: values with their uncertainty, columns with titles."""
    import pandas as pd

    rows = list(table.to_dict("records"))
    view = pd.DataFrame(
        {
            "Method": [row["title"] for row in rows],
            capital(rows[0]["measure"]): [with_spread(row["error"], row["stderr"]) for row in rows],
            "Paper": [with_spread(row.get("printed", math.nan), row.get("printed_std", math.nan), 2) for row in rows],
            "Mean rank": [row["rank"] for row in rows],
            "Against reference": [row["verdict"] for row in rows],
            "p, corrected": [p_cell(row["p"]) for row in rows],
            "All tasks seen": [decimal(row["average"]) for row in rows],
            "Newest task": [decimal(row["newest"]) for row in rows],
            "ms per task": [1000.0 * row["seconds"] for row in rows],
            "Numbers kept": [round(row["state"]) for row in rows],
            "Before learning": [with_spread(row["before"], math.nan) for row in rows],
        }
    )
    # Drop empty columns.
    return view.loc[:, [column for column in view if not (view[column] == "").all()]]


def significance_note(table: pd.DataFrame, repetitions: int) -> str:
    """Return how differences were tested and what the result covers."""
    if repetitions < 2:
        return "One repetition: no test is possible. Choose at least 5 repetitions to compare methods."
    note = (
        f"Paired t intervals over {repetitions} repetitions, level .05. Forward and backward against single-task "
        f"learning of one preset is the planned comparison; the others among the {len(table) - 1} are corrected by "
        "Holm's method. Repetitions redraw samples of the same data, so this is about this dataset and n, not about "
        "other data."
    )
    return note if repetitions >= 5 else f"{note} With {repetitions} repetitions only large differences can show."
