"""The command ``imrc fit``: learn a model from all rows, with the advised strategy, and save it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from imrc.commands.arguments import add_choice, sequence_of
from imrc.commands.output import ProgressLine, print_as, warn
from imrc.commands.run import add_settings, given_settings, settings_of
from imrc.evaluation.scenarios import STRATEGY_TITLES
from imrc.evaluation.settings import RunSettings
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    from imrc.model import Model


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_settings(parser, n="the largest that leaves 100 rows, or half, of each task for testing")
    parser.add_argument(
        "-o", "--output", metavar="MODEL", required=True, help="file to write the model to, for imrc predict"
    )
    titles = {name: title for name, title in STRATEGY_TITLES.items() if name != "majority"}
    add_choice(parser, "--strategy", titles, "what to learn", said="what is advised")
    kept = "do not store training rows and labels in the model; it then cannot be updated"
    parser.add_argument("--no-update", action="store_true", help=kept)


def run(options: argparse.Namespace) -> int:
    """Learn, save, and print what was learnt."""
    with ProgressLine() as line:
        line.show("reading")
        sequence = sequence_of(options)
        line.show(f"{sequence.name}: learning {len(sequence)} tasks")
        model = _fitted(sequence, options, line)
    warn(sequence)
    model.save(options.output, updatable=not options.no_update)
    told = {
        "model": options.output,
        "strategy": model.strategy,
        "label": model.label,
        "classes": model.classes.tolist(),
        "columns": list(model.columns),
        "tasks": len(model.tasks),
        "rows": sum(model.rows),
        "n_measured": model.n_measured,
        "updatable": not options.no_update,
    }
    kept = (
        "without rows"
        if options.no_update
        else "including the newest rows, which updates need (--no-update leaves them out)"
    )
    print_as(options, [told], told, lambda: print(f"{model!r}\nSaved as {options.output}, {kept}."))
    return 0


def _fitted(sequence: TaskSequence, options: argparse.Namespace, line: ProgressLine) -> Model:
    """Return the model of the strategy asked for or, without one, of the strategy that a check advises."""
    from imrc.model import fit_model
    from imrc.report import check

    if options.strategy is None:
        shown = lambda share, what: line.write(f"{sequence.name}: {share:.0%}, {what}")  # noqa: E731 - as check has it
        return check(sequence, progress=shown, **given_settings(options)).fit()
    options.n = options.n or RunSettings.n  # all rows are learnt from
    return fit_model(sequence, strategy=options.strategy, settings=settings_of(options))
