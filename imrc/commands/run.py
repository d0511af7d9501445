"""The command ``imrc run``: learn a sequence and print errors, risks and effective sample sizes."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from imrc.commands.arguments import add_sequence, sequence_of
from imrc.commands.output import ProgressLine, add_formats, print_csv, print_json, print_table, warn
from imrc.core.settings import CHANGES, INSTANCES, LOSSES, PRESETS, SOLVERS, own_features
from imrc.evaluation.decision import REFERENCES, Decision, decide, reference_settings, usual_answer
from imrc.evaluation.effective import effective_samples
from imrc.evaluation.measures import definitions, measure_columns
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import iter_run
from imrc.evaluation.scenarios import HEADLINES, SCENARIOS, HeadlineKind
from imrc.evaluation.settings import PARAMETERS, RunSettings, window_argument
from imrc.evaluation.significance import Headline
from imrc.evaluation.words import borrowing_note, samples_text
from imrc.features import KINDS, FeatureSpec
from imrc.wording import decimal, with_spread

NUMBERS = ("n", "b", "W", "repetitions", "seed")
CUSTOM = ("lambda0", "instances", "solver", "max_iter", "change", "loss", "rate")
SHOWN: dict[HeadlineKind, str] = {"average": "average", "newest": "newest", "lag": "lag b"}
"""Errors in the table for people."""


def _iterations(text: str) -> int | str:
    return text if text == "by_n" else int(text)


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse gives its sub-parsers no public type
    """Add the command to the sub-parsers of ``imrc``."""
    parser = commands.add_parser("run", help="learn a sequence and print errors, risks and effective sample sizes")
    add_sequence(parser)
    for name in NUMBERS:
        parameter = PARAMETERS[name]
        parser.add_argument(
            *((f"-{name}", f"--{name}") if len(name) == 1 else (f"--{name}",)),
            type=window_argument if name == "W" else int,
            default=None if parameter.by_preset else parameter.default,
            help=f"{parameter.help} Range {parameter.low} to {parameter.high}"
            + (" or all; default: the preset's." if parameter.by_preset else f", default {parameter.default}."),
        )
    parser.add_argument("--preset", choices=PRESETS, default="recommended", help="choices (default: %(default)s)")
    parser.add_argument(
        "--features",
        choices=KINDS,
        help="representation (default: the preset's, blended for recommended, else automatic)",
    )
    parser.add_argument(
        "--scenario",
        choices=SCENARIOS,
        default="continual",
        help="what is judged. "
        + " ".join(f"{name}: {scenario.sentence}" for name, scenario in SCENARIOS.items())
        + " (default: %(default)s)",
    )
    custom = parser.add_argument_group("overrides of the preset and the representation")
    custom.add_argument("--lambda0", type=float, help="size of the uncertainty set, 0 to 100 (paper: 1)")
    custom.add_argument("--instances", choices=INSTANCES, help="instances X of problem (3) (paper: own)")
    custom.add_argument("--solver", choices=SOLVERS, help="method for problem (3) (paper: subgradient)")
    custom.add_argument("--max-iter", type=_iterations, metavar="K", help="iterations (paper: 2000), or by_n")
    custom.add_argument("--change", choices=CHANGES, help="window of eq. (7) backwards (paper: released)")
    custom.add_argument("--loss", choices=LOSSES, help="rule of preset recommended: log (default) or 0-1, with bounds")
    custom.add_argument(
        "--rate", type=float, help="only this rate of change d²/sigma² for preset recommended, 0 to 100"
    )
    custom.add_argument("--frequencies", type=int, help="random Fourier features: frequencies N (default: 200)")
    custom.add_argument("--sigma2", type=float, help="random Fourier features on raw inputs: sigma² (default: 10)")
    parser.add_argument("--save", metavar="FILE.npz", help="save the whole result, for imrc.RunResult.load")
    add_formats(parser)


def settings_of(options: argparse.Namespace) -> RunSettings:
    """Return the settings the arguments ask for; ValueError for a value out of range."""
    spec = {name: getattr(options, name) for name in ("frequencies", "sigma2") if getattr(options, name) is not None}
    features = own_features(options.preset) if options.features is None else FeatureSpec(options.features)
    overrides = {name: getattr(options, name) for name in CUSTOM if getattr(options, name) is not None}
    return RunSettings(
        preset=options.preset,
        features=replace(features, **spec),
        overrides=tuple(sorted(overrides.items())),
        scenario=options.scenario,
        **{name: getattr(options, name) for name in NUMBERS},
    )


def _numbers_of(result: RunResult, method: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind in HEADLINES:
        # Before learning a balanced error is not counted.
        headline = Headline.of(result.judged(method, kind))
        found[f"error_{kind}"], found[f"stderr_{kind}"] = headline.mean, headline.stderr
    return found | measure_columns(result.measures()[method])


def reference_rows(references: RunResult) -> list[dict[str, Any]]:
    """Return one row per reference of a decision: errors and measures with standard errors."""
    measure = references.measure()
    return [
        {"rule": name, "measure": measure, **_numbers_of(references, method)} for name, method in REFERENCES.items()
    ]


def rows_of(result: RunResult) -> list[dict[str, Any]]:
    """Return one row per rule: errors and measures with standard errors, minimax risk, effective samples."""
    rows = []
    for rule in result.rules:
        row: dict[str, Any] = {"rule": rule, "measure": result.measure(), **_numbers_of(result, rule)}
        row["risk"] = result.promised(rule)
        worth = effective_samples(result, rule)
        row["ess"], row["ess_low"], row["ess_high"] = worth.mean, worth.low, worth.high
        rows.append(row)
    return rows


def _print(result: RunResult, references: RunResult, decision: Decision) -> None:
    settings, kind = result.settings, result.scenario.kind
    print(
        f"{result.name}: {result.n_tasks} tasks, n = {settings.n}, b = {settings.reach(result.n_tasks)}, "
        f"{settings.repetitions} repetition{'s' * (settings.repetitions > 1)}, {result.time_s.sum():.2f} s"
    )
    shown = SHOWN
    if kind != "average":
        shown = {kind: kind}
        print(result.scenario.sentence)
    if result.measure() != "error":
        print(f"Errors are {result.measure()}s: the mean of the error rates on “{result.rare_class}” and on all else.")
    rows = []
    for row in (*rows_of(result), *reference_rows(references)):
        rule = row["rule"]
        promised = [decimal(row["risk"]), samples_text(effective_samples(result, rule))] if "risk" in row else ["", ""]
        errors = [with_spread(row[f"error_{kind}"], row[f"stderr_{kind}"]) for kind in shown]
        rows.append([decision[rule].title, *errors, *promised])
    print_table(["rule", *shown.values(), "risk", "ESS"], rows)
    for text in (borrowing_note(effective_samples(result)), decision.sentence, decision.action, *decision.notes):
        if text:
            print(text.replace("*", ""))


def run(options: argparse.Namespace) -> int:
    """Run and print the result."""
    settings = settings_of(options)
    with ProgressLine() as line:
        line.show("reading")
        sequence = sequence_of(options)
        runs = []
        for job, what in ((settings, ""), (reference_settings(settings), ", references")):
            steps = []
            for step in iter_run(sequence, job):
                steps.append(step)
                line.show(sequence.name + what, step.number, step.total)
            runs.append(RunResult.from_steps(job, sequence, steps))
    warn(sequence, settings.n)
    result, references = runs
    decision = decide(result, result.name, references=references, usual=usual_answer(sequence))
    if options.save:
        result.save(options.save)
    if options.json:
        print_json(
            {
                "dataset": result.name,
                "tasks": result.n_tasks,
                "scenario": settings.scenario,
                "measure": result.measure(),
                "settings": settings.to_json(),
                "borrowing": effective_samples(result).borrowing,
                "rules": rows_of(result),
                "references": reference_rows(references),
                "measures": definitions(),
                "decision": {
                    "advised": decision.advice.advised,
                    "verdict": decision.advice.verdict,
                    "sentence": decision.sentence.replace("*", ""),
                    "action": decision.action,
                },
            }
        )
    elif options.csv:
        print_csv([*rows_of(result), *reference_rows(references)])
    else:
        _print(result, references, decision)
    return 0
