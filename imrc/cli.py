"""The command ``imrc``: its parser, and what its exit status means; the commands are in `imrc.commands`."""

from __future__ import annotations

import argparse
import codecs
import importlib
import io
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from typing import Any

try:
    import imrc
    from imrc._checks import InputError, did_you_mean
    from imrc._progress import say
except KeyboardInterrupt:  # loading takes a moment, and whoever stops the command then wants no traceback either
    sys.exit("\nimrc: stopped")

BAD_INPUT = 2
FAILURE = 1
COMMANDS = {
    "app": "start the app in the browser",
    "check": "report whether tasks evolve, whether borrowing from the past pays, and what to do",
    "run": "learn a sequence and print errors, risks and effective sample sizes",
    "fit": "learn a model from all rows, with the advised strategy",
    "predict": "predict the class and probabilities of each row of a file with a model",
    "datasets": "list, describe, download or verify datasets",
    "table": "measure the paper's tables here and show the printed values beside them",
    "sweep": "run many combinations of settings, on one machine or many, and keep every result",
    "bench": "compare learners, including your own, on the next task, with a file per learner and one table",
    "atlas": "draw one card per sequence: how it changes, what its past is worth, which method makes the fewest errors",
    "watch": "sound an alarm, with exit status 3, when new tasks no longer resemble earlier ones",
}
"""What each command does; its module is loaded only for its own options, and to run it."""
_MODULES = {"run": "check", "fit": "check", "predict": "check", "atlas": "bench"}
"""Modules of `imrc.commands` with a command of another name; each has the functions ``add_NAME`` and ``run_NAME``."""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the right word for an option or a value that it does not know."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hint = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions, 0.7)
            self.error(f"unrecognized arguments: {' '.join(unknown)}.{hint}")
        return options, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - any type of an option
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += f".{did_you_mean(value, map(str, action.choices or ()))}"
            raise

    def shorten(self) -> None:
        """Leave options in groups of their own, which few people need, to the help of ``--help-all``."""
        hidden = 0
        for group in self._action_groups[2:]:
            group.title = group.description = None
            hidden += len(group._group_actions)
            for action in group._group_actions:
                action.help = argparse.SUPPRESS
        if hidden:
            self.epilog = f"{self.epilog or ''}\n--help-all shows {hidden} more options."


def parser(*names: str, short: bool = False) -> argparse.ArgumentParser:
    """Return the parser of ``imrc``, with the options of the commands named or, without a name, of all."""
    whole = _Parser(prog="imrc", description="Incremental minimax risk classifiers for evolving classification tasks.")
    whole.add_argument("--debug", action="store_true", help="if there is a bug in imrc, print the traceback")
    whole.add_argument("--version", action="version", version=f"imrc {imrc.__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND")
    for name, words in COMMANDS.items():
        own = commands.add_parser(name, help=words)
        if name in (names or COMMANDS):
            _function(f"add_{name}")(own)
            if short:
                own.shorten()
            if name != "app":
                formats = own.add_mutually_exclusive_group()
                formats.add_argument("--json", action="store_true", help="print JSON instead of text")
                formats.add_argument("--csv", action="store_true", help="print comma-separated values instead of text")
    return whole


def _function(name: str) -> Any:  # noqa: ANN401
    command = name.partition("_")[2]
    return getattr(importlib.import_module(f"imrc.commands.{_MODULES.get(command, command)}"), name)


def _plain(error: Any) -> tuple[str, int]:  # noqa: ANN401 - of any coding; here only of encoding
    """Write a minus sign as a hyphen where it cannot be shown, and a question mark for anything else."""
    lost = error.object[error.start : error.end].replace("−", "-")
    return lost.encode("ascii", "replace").decode(), error.end


codecs.register_error("plain", _plain)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (0 done, 2 bad input, 1 failure, 3 alarm of ``watch``)."""
    for stream in (sys.stdout, sys.stderr):
        # A result must not be lost because the terminal cannot show one of its characters.
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="plain")
    given = sys.argv[1:] if arguments is None else arguments
    words = ["--help" if word == "--help-all" else word for word in given if word != "--debug"]
    # The first word is the command: before it only flags can stand.
    command = next((word for word in words if not word.startswith("-")), "no command")
    try:
        known = parser(command, short="--help-all" not in given)
        options = known.parse_args(words)
        options.debug = "--debug" in given
        if options.command is None:
            known.print_help()
            return 0
        if "json" in options:  # not of the app, whose start does not wait for what this loads
            importlib.import_module("imrc.commands.options").check_outputs(options)
        return int(_function(f"run_{options.command}")(options))
    except (InputError, FileNotFoundError) as error:
        say(f"imrc: {error}")
        # A download that fails is no mistake in what was asked for.
        return FAILURE if isinstance(error, imrc.datasets.DownloadError) else BAD_INPUT
    except FileExistsError as error:
        say(f"imrc: {str(error.filename)!r} exists already. Choose another name, or delete it first.")
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read the output has gone, as in "imrc datasets list | head"; the rest has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(f"imrc: {error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    except MemoryError:
        say("imrc: This computer does not have enough memory for that.")
    except KeyboardInterrupt:
        say("\nimrc: stopped")
    except Exception as error:  # everything that blames the input was caught above
        if "--debug" in given:
            traceback.print_exc()
        say(
            f"imrc: {type(error).__name__}: {error}\nThis is a bug in imrc, not a mistake in what you asked for. "
            "Please report it where you got imrc from, with your command, "
            f"{'the lines above' if '--debug' in given else 'what it prints when run again with --debug'}, and these "
            f"versions: imrc {imrc.__version__}, Python {platform.python_version()}, {platform.system()}."
        )
    return FAILURE


if __name__ == "__main__":
    sys.exit(main())
