"""The commands ``imrc fit``, a model from all rows, and ``imrc predict``, the rows of the next file with classes."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from imrc._progress import ProgressLine, say
from imrc.commands.options import add_choice, add_settings_of_run, run_settings, sequence_of, tell
from imrc.commands.output import print_as
from imrc.evaluation.settings import STRATEGIES, STRATEGY_TITLES, RunSettings


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc fit``."""
    add_settings_of_run(parser, largest=True)
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="file to write, for imrc predict")
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
            line.show(f"{sequence.name}: learning {len(sequence)} tasks")
            model = fit_model(sequence, strategy=options.strategy, settings=RunSettings.of("imrc fit", **given))
    model.save(options.output, updatable=not options.no_update)
    told = {
        "model": options.output,
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
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="file to write the rows to (default: print them)")
    parser.add_argument("--task", metavar="NAME", default="next", help="task whose rule to use (default: the next one)")
    parser.set_defaults(notes=[])


def run_predict(options: argparse.Namespace) -> int:
    """Predict every row of the file, print or write it, and say how often each class was predicted by which rule."""
    from imrc.model import ReadingWarning, load, scored_in_words
    from imrc.tables import csv_text

    model = load(options.model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # said below, in the words of a command
        scored = model.predict_frame(Path(options.file), options.task)
    tell(options, model.notes)
    counts, sentence = scored_in_words(model, scored, options.task)
    if options.output is not None:
        Path(options.output).write_text(csv_text(scored), encoding="utf-8")
        told = {"file": options.output, "rows": len(scored), "strategy": model.strategy, "classes": counts}
        rows = [{"class": name, "rows": count} for name, count in counts.items()]
        print_as(options, rows, told, lambda: print(sentence))
        return 0
    say(f"imrc: {sentence}")
    if options.json:
        print_as(options, scored, {"rows": scored.to_dict("records")})
    else:
        print(csv_text(scored), end="")
    return 0
