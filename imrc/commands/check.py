"""The command ``imrc check``: whether tasks evolve, whether borrowing pays, what to do, and how many labels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from imrc import planning
from imrc._checks import InputError
from imrc._progress import ProgressLine, say
from imrc.commands.arguments import add_choice, sequence_of
from imrc.commands.output import print_as, print_table
from imrc.commands.run import add_predictions, add_settings, given_settings
from imrc.planning import PLACES, Plan
from imrc.wording import decimal


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.description = (
        "Report in a few lines whether the tasks evolve, which strategy has the lowest error, what to do, and what "
        "the past is worth. Notes say how a file was read."
    )
    add_settings(parser, n="the largest that leaves 100 rows, or half, of each task for testing")
    parser.add_argument("--evidence", action="store_true", help="also print the evidence on how tasks change")
    labels = parser.add_argument_group("how many labels")
    labels.add_argument("--labels", action="store_true", help="also run other n (takes several times as long)")
    labels.add_argument("--ess", type=float, help="target number of effective samples: print which n, k or b reach it")
    labels.add_argument("--error", type=float, help="target error, instead of --ess; implies --labels")
    add_choice(labels, "--of", PLACES, "whose", said="of the task that the scenario tests")
    add_predictions(parser)
    parser.add_argument("--html", metavar="FILE.html", help="write the report with all charts to one file")
    parser.add_argument("--latex", metavar="FILE.tex", help="write the table of errors for LaTeX")


def run(options: argparse.Namespace) -> int:
    """Check a sequence and print the report."""
    # Loaded here: nobody waits for it who asks for help or mistypes an option.
    from imrc.diagnostics import words
    from imrc.diagnostics.assessment import lag_rows
    from imrc.report import check

    if options.ess is not None and options.error is not None:
        raise InputError("Give --ess or --error, not both: each says what is wanted.")
    with ProgressLine() as line:
        sequence = sequence_of(options, line)
        labels = options.labels or options.error is not None
        report = check(sequence, labels=labels, progress=line.of(sequence.name), **given_settings(options))
    for note in set(report.notes) - set(options.notes):
        say(f"imrc: {note}")
    plan = None
    if options.ess is not None or options.error is not None:
        plan = report.planned(ess=options.ess, error=options.error, of=options.of)
    if options.html:
        report.save(options.html)
    if options.latex:
        Path(options.latex).write_text(report.to_latex() + "\n", encoding="utf-8")
    if options.predictions:
        report.predictions().to_csv(options.predictions, index=False)
    evidence = report.diagnosis if options.evidence else None

    def text() -> None:
        # Notes stand on stderr.
        print("\n".join(one for one in str(report).splitlines() if not one.endswith("report.notes")))
        if evidence is not None:
            print(words.report(evidence, report.n))
        if plan is not None:
            _print(plan, options.error)

    rows = report.errors if evidence is None else lag_rows(evidence)
    print_as(options, rows, report.to_dict() | ({} if plan is None else {"plan": _as_json(plan, options.error)}), text)
    return 0


def _as_json(plan: Plan, error: float | None) -> dict[str, Any]:
    return {
        "of": plan.of,
        "rho": plan.rate._asdict(),
        "wish": {"ess": plan.wish, "error": error},
        "ways": {way.vary: {**vars(way), "sentence": planning.way_sentence(plan, way)} for way in plan.ways},
        "advice": planning.more_sentence(plan),
    }


def _print(plan: Plan, error: float | None) -> None:
    wanted = f"{plan.wish:,.1f} effective samples"
    print(f"Wanted: {wanted if error is None else f'an error of {decimal(error)}, that is {wanted}'}")
    print_table(["by", "takes"], [[way.vary, planning.way_sentence(plan, way)] for way in plan.ways], left=2)
    print(planning.more_sentence(plan))
