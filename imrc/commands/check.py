"""The commands ``imrc check``, what to do and why, ``run``, errors and risks, ``fit``, a model, and ``predict``."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imrc import planning
from imrc._checks import InputError
from imrc._progress import ProgressLine, say
from imrc.commands.options import (
    add_choice,
    add_settings_of_run,
    print_as,
    print_table,
    run_settings,
    sequence_of,
    tell,
)
from imrc.evaluation.measures import definitions, effective_samples, samples_text
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import run_all, split_references, with_references
from imrc.evaluation.settings import HEADLINES, REFERENCES, STRATEGIES, STRATEGY_TITLES, RunSettings
from imrc.evaluation.significance import Headline
from imrc.wording import RULES, decimal, unmarked, with_spread

if TYPE_CHECKING:
    from imrc.report import Report

_PREDICTIONS = "write each rule's prediction for each test row, with probabilities"


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc check``."""
    parser.description = (
        "Report in a few lines whether the tasks evolve, which strategy has the lowest error, what to do, and what "
        "the past is worth. Notes explain how a file was read."
    )
    add_settings_of_run(parser, largest=True)
    parser.add_argument("--evidence", action="store_true", help="also print the evidence on how tasks change")
    labels = parser.add_argument_group("how many labels")
    labels.add_argument("--labels", action="store_true", help="also run other n (takes several times as long)")
    labels.add_argument("--ess", type=float, help="target number of effective samples: print which n, k or b reach it")
    labels.add_argument("--error", type=float, help="target error, instead of --ess; implies --labels")
    add_choice(labels, "--of", planning.PLACES, "whose", said="of the task that the scenario tests")
    parser.add_argument("--predictions", type=Path, metavar="FILE.csv", help=_PREDICTIONS)
    parser.add_argument("--html", type=Path, metavar="FILE.html", help="write the report with all charts to one file")
    parser.add_argument("--latex", type=Path, metavar="FILE.tex", help="write the table of errors for LaTeX")


def run_check(options: argparse.Namespace) -> int:
    """Check a sequence and print the report."""
    # Loaded here: nobody waits for it who asks for help or mistypes an option.
    from imrc.diagnostics import words
    from imrc.diagnostics.assessment import lag_rows
    from imrc.report import check

    if options.ess is not None and options.error is not None:
        raise InputError("Give --ess or --error, not both.")
    with ProgressLine() as line:
        sequence = sequence_of(options, line)
        labels = options.labels or options.error is not None
        report = check(sequence, labels=labels, progress=line.of(sequence.name), **run_settings(options))
    tell(options, report.notes)
    wished = options.ess is not None or options.error is not None
    plan = report.planned(ess=options.ess, error=options.error, of=options.of) if wished else None
    if options.html:
        report.save(options.html)
    if options.latex:
        options.latex.write_text(report.to_latex() + "\n", encoding="utf-8")
    if options.predictions:
        report.predictions().to_csv(options.predictions, index=False)
    evidence, told = report.diagnosis if options.evidence else None, report.to_dict()
    ways = {} if plan is None else {way.vary: planning.way_sentence(plan, way) for way in plan.ways}
    if plan is not None:
        told["plan"] = {
            "of": plan.of,
            "rho": plan.rate._asdict(),
            "wish": {"ess": plan.wish, "error": options.error},
            "ways": {way.vary: {**vars(way), "sentence": ways[way.vary]} for way in plan.ways},
            "advice": planning.more_sentence(plan),
        }

    def text() -> None:
        # Notes are on stderr.
        print("\n".join(one for one in str(report).splitlines() if not one.endswith("report.notes")))
        if evidence is not None:
            print(words.report(evidence, report.n))
        if plan is not None:
            error = "" if options.error is None else f"an error of {decimal(options.error)}, that is "
            print(f"Wanted: {error}{plan.wish:,.1f} effective samples")
            print_table(["by", "takes"], [*ways.items()], left=2)
            print(planning.more_sentence(plan))

    print_as(options, report.errors if evidence is None else lag_rows(evidence), told, text)
    return 0


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc run``."""
    add_settings_of_run(parser)
    parser.add_argument("--save", type=Path, metavar="FILE.npz", help="save the whole result, for imrc.RunResult.load")
    parser.add_argument("--predictions", type=Path, metavar="FILE.csv", help=_PREDICTIONS)


def run_run(options: argparse.Namespace) -> int:
    """Run and print the result."""
    settings = RunSettings.of("imrc run", **run_settings(options))
    with ProgressLine() as line:
        sequence = sequence_of(options, line)
        job = with_references(settings)
        both = run_all(sequence, job, show=lambda step: line.show(sequence.name, step.number, step.total))
    result, references = split_references(both, settings)
    from imrc.report import Report

    report = Report(run=result, sequence=sequence, references=references)
    tell(options, report.notes)
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
    rows = [*rules, *others]
    print_as(options, rows, told, lambda: _print(report, rows))
    return 0


def _row(result: RunResult, name: str) -> dict[str, Any]:
    """Return errors and measures of a rule with their standard errors; of IMRC's also risk and effective samples."""
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

    result, decision, kind = report.run, report.decision, report.run.scenario.kind
    shown = {"average": "average", "newest": "newest", "lag": "lag b"} if kind == "average" else {kind: kind}
    told = repr(result).splitlines()[:2] + [result.scenario.sentence] * (kind != "average")
    if result.measure() != "error":
        told.append(f"Errors are means of the error rates on “{result.rare_class}” and on all others.")
    print("\n".join(told))
    cells = []
    for row in rows:
        errors = [with_spread(row[f"error_{kind}"], row[f"stderr_{kind}"]) for kind in shown]
        is_ours, rule = "risk" in row, row["rule"]
        worth = [decimal(row["risk"]), samples_text(effective_samples(result, rule))] if is_ours else ["", ""]
        cells.append([decision[rule].title, *errors, *worth])
    print_table(["rule", *shown.values(), "risk", "ESS"], cells)
    texts = borrowing_note(effective_samples(result)), decision.sentence, decision.action, *decision.notes
    print("\n".join(unmarked(text) for text in texts if text))


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc fit``."""
    add_settings_of_run(parser, largest=True)
    parser.add_argument("-o", "--output", type=Path, metavar="MODEL", required=True, help="file for imrc predict")
    titles = {name: STRATEGY_TITLES[name] for name in STRATEGIES}
    add_choice(parser, "--strategy", titles, "what to learn", said="what is advised")
    kept = "do not store training rows and labels in the model; it then cannot be updated"
    parser.add_argument("--no-update", action="store_true", help=kept)


def run_fit(options: argparse.Namespace) -> int:
    """Learn by the strategy given or, without one, by the one that a check advises; save the model and print it."""
    from imrc.model import fit_model
    from imrc.report import check

    given = run_settings(options)
    with ProgressLine() as line:
        sequence = sequence_of(options, line)
        if options.strategy is None:
            model = check(sequence, progress=line.of(sequence.name), **given).fit()
        else:
            if {"n", "repetitions"} & given.keys():
                line.say("imrc: with --strategy, -n and --repetitions have no effect, because nothing is compared.")
            line.show(f"{sequence.name}: learning {len(sequence)} tasks")
            model = fit_model(sequence, strategy=options.strategy, settings=RunSettings.of("imrc fit", **given))
    model.save(options.output, updatable=not options.no_update)
    told = {
        "model": str(options.output),
        **{name: getattr(model, name) for name in ("strategy", "label", "n_measured")},
        "classes": model.classes.tolist(),
        "columns": list(model.columns),
        "tasks": len(model.tasks),
        "rows": sum(model.rows),
        "updatable": not options.no_update,
    }
    kept = "with the newest rows, which updates need (--no-update leaves them out)"
    saved = f"{model!r}\nSaved as {options.output}, {'without rows' if options.no_update else kept}."
    print_as(options, [told], told, lambda: print(saved))
    return 0


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc predict``."""
    parser.add_argument("model", metavar="MODEL", help="model file, written by imrc fit")
    parser.add_argument("file", metavar="FILE", help="file with the same columns as the first one, in any order")
    rows = "file to write the rows to (default: print them)"
    parser.add_argument("-o", "--output", dest="predictions", type=Path, metavar="FILE.csv", help=rows)
    parser.add_argument("--task", metavar="NAME", default="next", help="task whose rule to use (default: the next one)")
    parser.set_defaults(notes=[])


def run_predict(options: argparse.Namespace) -> int:
    """Predict every row of the file, print or write it, and say how often each class was predicted by which rule."""
    from imrc.model import ReadingWarning, load, scored_in_words
    from imrc.tables import csv_text

    model = load(options.model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # said below, in the words of a command
        table = model.recipe.read(Path(options.file))
        scored = model.predict_frame(table, options.task)
    tell(options, model.notes)
    found, sentence = scored_in_words(model, scored, options.task)
    if options.predictions is not None:
        # With a byte-order mark, Excel reads it as UTF-8.
        options.predictions.write_text(csv_text(scored, table), encoding="utf-8-sig")
        told = {"file": str(options.predictions), "rows": len(scored), "strategy": model.strategy}
        told |= {"classes": found["rows"].to_dict(), "expected": found["expected"].to_dict()}
        print_as(options, found, told, lambda: print(sentence))
        return 0
    say(f"imrc: {sentence}")
    if options.json:
        print_as(options, scored, {"rows": scored.to_dict("records")})
    else:
        print(csv_text(scored), end="")
    return 0
