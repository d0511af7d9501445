"""The command ``imrc fit``: learn a model from all rows, with the advised strategy, and save it."""

from __future__ import annotations

import argparse

from imrc._progress import ProgressLine
from imrc.commands.arguments import add_choice, sequence_of
from imrc.commands.output import print_as
from imrc.commands.run import add_settings, given_settings, settings_of
from imrc.evaluation.settings import STRATEGY_TITLES, RunSettings


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_settings(parser, n="the largest that leaves 100 rows, or half, of each task for testing")
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="file to write, for imrc predict")
    titles = {name: title for name, title in STRATEGY_TITLES.items() if name != "majority"}
    add_choice(parser, "--strategy", titles, "what to learn", said="what is advised")
    kept = "do not store training rows and labels in the model; it then cannot be updated"
    parser.add_argument("--no-update", action="store_true", help=kept)


def run(options: argparse.Namespace) -> int:
    """Learn by the strategy asked for or, without one, that which a check advises; save it, and print what it is."""
    from imrc.model import fit_model
    from imrc.report import check

    with ProgressLine() as line:
        sequence = sequence_of(options, line)
        if options.strategy is None:
            model = check(sequence, progress=line.of(sequence.name), **given_settings(options)).fit()
        else:
            line.show(f"{sequence.name}: learning {len(sequence)} tasks")
            options.n = options.n or RunSettings.n  # all rows are learnt from
            model = fit_model(sequence, strategy=options.strategy, settings=settings_of(options))
    model.save(options.output, updatable=not options.no_update)
    kept = (
        "without rows"
        if options.no_update
        else "with the newest rows, which updates need (--no-update leaves them out)"
    )
    told = {
        "model": options.output,
        **{name: getattr(model, name) for name in ("strategy", "label", "n_measured")},
        "classes": model.classes.tolist(),
        "columns": list(model.columns),
        "tasks": len(model.tasks),
        "rows": sum(model.rows),
        "updatable": not options.no_update,
    }
    print_as(
        options,
        [told],
        told,
        lambda: print(f"{model!r}\nSaved as {options.output}, {'without rows' if options.no_update else kept}."),
    )
    return 0
