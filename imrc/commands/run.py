"""The command ``imrc run``: learn a sequence and print errors, risks and effective sample sizes."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from imrc._progress import ProgressLine, say
from imrc.commands.arguments import add_choice, add_sequence, add_setting, sequence_of
from imrc.commands.output import print_as, print_table
from imrc.core.presets import own_features
from imrc.core.settings import OVERRIDES, SETTINGS
from imrc.evaluation.measures import definitions, effective_samples, samples_text
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import run_all, split_references, with_references
from imrc.evaluation.settings import HEADLINES, REFERENCES, SCENARIOS, RunSettings
from imrc.evaluation.significance import Headline
from imrc.features import FeatureSpec
from imrc.wording import RULES, decimal, unmarked, with_spread

if TYPE_CHECKING:
    from imrc.report import Report

MAPPED = ("frequencies", "sigma2")
"""Numbers of a representation."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_settings(parser)
    parser.add_argument("--save", metavar="FILE.npz", help="save the whole result, for imrc.RunResult.load")
    add_predictions(parser)


def add_predictions(parser: argparse.ArgumentParser) -> None:
    """Add where the predictions go."""
    text = "write the prediction of each rule and method for each test row, with probabilities"
    parser.add_argument("--predictions", metavar="FILE.csv", help=text)


def add_settings(parser: argparse.ArgumentParser, **usual: str) -> None:
    """Add the sequence and all settings of a run; `usual` says what becomes of those that have no default here."""
    add_sequence(parser)
    rest = parser.add_argument_group("other settings, which override the preset and the representation")
    for name in ("n", "b", "preset", "repetitions", "seed", "W", "features"):
        own: dict[str, Any] = {"default": None, "said": usual[name]} if name in usual else {}
        add_setting(parser if name in ("n", "b", "preset", "repetitions") else rest, name, **own)
    scenarios = {name: scenario.sentence for name, scenario in SCENARIOS.items()}
    add_choice(
        rest, "--scenario", scenarios, "which tasks are learnt from, and which errors are averaged", default="continual"
    )
    for name in (*OVERRIDES, *MAPPED):
        add_setting(rest, name, default=None, said=SETTINGS[name].default)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings the arguments ask for, by the names of `RunSettings.of`."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    features = own_features(options.preset) if options.features is None else FeatureSpec(options.features)
    usual = ("preset", "scenario", "n", "b", "W", "repetitions", "seed")
    return {
        "features": replace(features, **{name: given[name] for name in MAPPED if name in given}),
        **{name: given.get(name) for name in usual},
        **{name: given[name] for name in OVERRIDES if name in given},
    }


def settings_of(options: argparse.Namespace) -> RunSettings:
    """Return the settings the arguments ask for; ValueError for a value out of range."""
    return RunSettings.of("imrc run", **given_settings(options))


def _row(result: RunResult, name: str) -> dict[str, Any]:
    """Return errors and measures of a rule with their standard errors; of IMRC's also risk and effective samples."""
    # Before learning a balanced error is not counted.
    found = {f"error_{kind}": Headline.of(result.judged(name, kind)) for kind in HEADLINES} | result.measures()[name]
    row: dict[str, Any] = {"rule": name, "measure": result.measure()}
    for what, value in found.items():
        row |= {what: value.mean, f"stderr_{what.removeprefix('error_')}": value.stderr}
    if name in RULES:
        worth = effective_samples(result, name)
        row |= {"risk": result.promised(name), "ess": worth.mean, "ess_low": worth.low, "ess_high": worth.high}
    return row


def _print(report: Report, rows: list[dict[str, Any]]) -> None:
    from imrc.report.worth import borrowing_note

    result, decision = report.run, report.decision
    kind, told = result.scenario.kind, repr(result).splitlines()[:2]
    shown = {"average": "average", "newest": "newest", "lag": "lag b"} if kind == "average" else {kind: kind}
    if kind != "average":
        told.append(result.scenario.sentence)
    if result.measure() != "error":
        told.append(f"Errors are means of the error rates on “{result.rare_class}” and on all others.")
    print("\n".join(told))
    cells = []
    for row in rows:
        errors = [with_spread(row[f"error_{kind}"], row[f"stderr_{kind}"]) for kind in shown]
        worth = (
            [decimal(row["risk"]), samples_text(effective_samples(result, row["rule"]))] if "risk" in row else [""] * 2
        )
        cells.append([decision[row["rule"]].title, *errors, *worth])
    print_table(["rule", *shown.values(), "risk", "ESS"], cells)
    for text in (borrowing_note(effective_samples(result)), decision.sentence, decision.action, *decision.notes):
        if text:
            print(unmarked(text))


def run(options: argparse.Namespace) -> int:
    """Run and print the result."""
    settings = settings_of(options)
    with ProgressLine() as line:
        sequence = sequence_of(options, line)
        both = run_all(
            sequence,
            with_references(settings),
            show=lambda step: line.show(sequence.name, step.number, step.total),
        )
    result, references = split_references(both, settings)
    from imrc.report import Report

    report = Report(run=result, sequence=sequence, references=references)
    for note in set(report.notes) - set(options.notes):
        say(f"imrc: {note}")
    if options.save:
        result.save(options.save)
    if options.predictions:
        result.predictions(sequence).to_csv(options.predictions, index=False)
    rules = [_row(result, name) for name in result.rules]
    others = [_row(references, name) for name in REFERENCES]
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
        "advice": report.to_dict()["advice"],
    }
    print_as(options, [*rules, *others], told, lambda: _print(report, [*rules, *others]))
    return 0
