"""The command ``imrc run``: learn a sequence and print errors, risks and effective sample sizes."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from imrc.commands.arguments import add_choice, add_sequence, add_setting, sequence_of
from imrc.commands.output import ProgressLine, print_as, print_table, warn
from imrc.core.presets import own_features
from imrc.core.settings import OVERRIDES, SETTINGS
from imrc.evaluation.effective import effective_samples, samples_text
from imrc.evaluation.measures import definitions
from imrc.evaluation.references import split_references, with_references
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import iter_run
from imrc.evaluation.scenarios import HEADLINES, REFERENCES, SCENARIOS
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Headline
from imrc.features import FeatureSpec
from imrc.wording import RULES, decimal, with_spread

if TYPE_CHECKING:
    from imrc.report import Decision

NUMBERS = ("n", "b", "W", "repetitions", "seed")
MAPPED = ("frequencies", "sigma2")
"""Numbers of a representation."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_settings(parser)
    parser.add_argument("--save", metavar="FILE.npz", help="save the whole result, for imrc.RunResult.load")
    add_predictions(parser)


def add_predictions(parser: argparse.ArgumentParser) -> None:
    """Add where the predictions go."""
    parser.add_argument(
        "--predictions",
        metavar="FILE.csv",
        help="write the prediction of each rule and method for each test row, with probabilities",
    )


def add_settings(parser: argparse.ArgumentParser, **usual: str) -> None:
    """Add the sequence and all settings of a run; `usual` says what becomes of those that have no default here."""
    add_sequence(parser)
    rest = parser.add_argument_group("other settings, which override the preset and the representation")
    for name in ("n", "b", "preset", "repetitions", "seed", "W", "features"):
        own: dict[str, Any] = {"default": None, "said": usual[name]} if name in usual else {}
        add_setting(parser if name in ("n", "b", "preset", "repetitions") else rest, name, **own)
    scenarios = {name: scenario.sentence for name, scenario in SCENARIOS.items()}
    add_choice(rest, "--scenario", scenarios, "what is judged", default="continual")
    for name in (*OVERRIDES, *MAPPED):
        add_setting(rest, name, default=None, said=SETTINGS[name].default)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings the arguments ask for, by the names of `RunSettings.of`."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    features = own_features(options.preset) if options.features is None else FeatureSpec(options.features)
    return {
        "preset": options.preset,
        "features": replace(features, **{name: given[name] for name in MAPPED if name in given}),
        "scenario": options.scenario,
        **{name: getattr(options, name) for name in NUMBERS},
        **{name: given[name] for name in OVERRIDES if name in given},
    }


def settings_of(options: argparse.Namespace) -> RunSettings:
    """Return the settings the arguments ask for; ValueError for a value out of range."""
    return RunSettings.of("imrc run", **given_settings(options))


def _rows_of(result: RunResult, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return one row per rule, errors and measures with standard errors; of IMRC's also risk and effective samples."""
    rows = []
    for name in names:
        row: dict[str, Any] = {"rule": name, "measure": result.measure()}
        for kind in HEADLINES:
            # Before learning a balanced error is not counted.
            headline = Headline.of(result.judged(name, kind))
            row[f"error_{kind}"], row[f"stderr_{kind}"] = headline.mean, headline.stderr
        for measure, found in result.measures()[name].items():
            row |= {measure: found.mean, f"stderr_{measure}": found.stderr}
        if name in RULES:
            worth = effective_samples(result, name)
            row |= {"risk": result.promised(name), "ess": worth.mean, "ess_low": worth.low, "ess_high": worth.high}
        rows.append(row)
    return rows


def _print(result: RunResult, rows: list[dict[str, Any]], decision: Decision) -> None:
    settings, kind = result.settings, result.scenario.kind
    print(
        f"{result.name}: {result.n_tasks} tasks, n = {settings.n}, b = {settings.reach(result.n_tasks)}, "
        f"{settings.repetitions} repetition{'s' * (settings.repetitions > 1)}, {result.time_s.sum():.2f} s"
    )
    shown = {"average": "average", "newest": "newest", "lag": "lag b"} if kind == "average" else {kind: kind}
    if kind != "average":
        print(result.scenario.sentence)
    if result.measure() != "error":
        print(
            f"Errors are {result.measure()}s: the mean of the error rates on “{result.rare_class}” and on all others."
        )
    cells = []
    for row in rows:
        rule, errors = row["rule"], [with_spread(row[f"error_{kind}"], row[f"stderr_{kind}"]) for kind in shown]
        promised = [decimal(row["risk"]), samples_text(effective_samples(result, rule))] if "risk" in row else ["", ""]
        cells.append([decision[rule].title, *errors, *promised])
    print_table(["rule", *shown.values(), "risk", "ESS"], cells)
    from imrc.report.worth import borrowing_note

    for text in (borrowing_note(effective_samples(result)), decision.sentence, decision.action, *decision.notes):
        if text:
            print(text.replace("*", ""))


def run(options: argparse.Namespace) -> int:
    """Run and print the result."""
    settings = settings_of(options)
    with ProgressLine() as line:
        line.show("reading")
        sequence = sequence_of(options)
        job, steps = with_references(settings), []
        for step in iter_run(sequence, job):
            steps.append(step)
            line.show(sequence.name, step.number, step.total)
        result, references = split_references(RunResult.from_steps(job, sequence, steps), settings)
    warn(sequence, settings.n)
    from imrc.report import Report

    decision = Report(run=result, sequence=sequence, references=references).decision
    if options.save:
        result.save(options.save)
    if options.predictions:
        result.predictions(sequence).to_csv(options.predictions, index=False)
    rules, others = _rows_of(result, result.rules), _rows_of(references, REFERENCES)
    told = {
        "dataset": result.name,
        "tasks": result.n_tasks,
        "scenario": settings.scenario,
        "measure": result.measure(),
        "settings": settings.to_json(),
        "borrowing": effective_samples(result).borrowing,
        "rules": rules,
        "references": others,
        "measures": definitions(),
        "decision": {
            "advised": decision.advice.advised,
            "verdict": decision.advice.verdict,
            "sentence": decision.sentence.replace("*", ""),
            "action": decision.action,
        },
    }
    print_as(options, [*rules, *others], told, lambda: _print(result, [*rules, *others], decision))
    return 0
