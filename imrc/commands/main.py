"""The parser of ``imrc``, and what its exit status means."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import imrc
from imrc._checks import InputError, did_you_mean
from imrc._progress import say

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
    "sweep": "run many settings, on one machine or many, and keep every result",
    "bench": "compare learners, including your own, on the next task, with a file per learner and one table",
    "atlas": "draw one card per sequence: how it changes, what its past is worth, who makes the fewest errors",
    "watch": "sound an alarm, with exit status 3, when new tasks no longer resemble earlier ones",
}
"""What each command does; its module in `imrc.commands` is loaded only for its own options, and to run it."""


class _Parser(argparse.ArgumentParser):
    """A parser that asks what was meant where an option or a word is not known."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hint = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
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
        groups = self._action_groups[2:]
        hidden = [action for group in groups for action in group._group_actions]
        for part in (*groups, *hidden):
            for name in ("title", "description", "help"):
                setattr(part, name, argparse.SUPPRESS if name == "help" else None)
        if hidden:
            self.epilog = f"{self.epilog or ''}\n--help-all shows {len(hidden)} more options."


def _anywhere() -> argparse.ArgumentParser:
    """Return a parser of the options that may stand before or after any command."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--debug", action="store_true", help="if there is a bug in imrc, print the traceback")
    return parser


def parser(*names: str, short: bool = False) -> argparse.ArgumentParser:
    """Return the parser of ``imrc``, with the options of the commands named or, without a name, of all."""
    whole = _Parser(
        prog="imrc",
        description="Incremental minimax risk classifiers for evolving classification tasks.",
        parents=[_anywhere()],
    )
    whole.add_argument("--version", action="version", version=f"imrc {imrc.__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND")
    for name, words in COMMANDS.items():
        own = commands.add_parser(name, help=words)
        if name in (names or COMMANDS):
            _module(name).add_options(own)
            if short:
                own.shorten()
            if name != "app":
                formats = own.add_mutually_exclusive_group()
                formats.add_argument("--json", action="store_true", help="print JSON instead of text")
                formats.add_argument("--csv", action="store_true", help="print comma-separated values instead of text")
    return whole


def _module(name: str) -> Any:  # noqa: ANN401 - a module with `add_options` and `run`
    return importlib.import_module(f"imrc.commands.{name}")


def _show_what_can_be_shown() -> None:
    """Let characters that the terminal cannot show be replaced: a result must not be lost after it was computed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (0 done, 2 bad input, 1 failure, 3 alarm of ``watch``)."""
    _show_what_can_be_shown()
    common, rest = _anywhere().parse_known_args(arguments)
    # The first word is the command: before it only flags can stand.
    command = next((word for word in rest if not word.startswith("-")), "no command")
    known = parser(command, short="--help-all" not in rest)
    options = known.parse_args(["--help" if word == "--help-all" else word for word in rest], common)
    if options.command is None:
        known.print_help()
        return 0
    try:
        return int(_module(options.command).run(options))
    except (InputError, FileNotFoundError) as error:
        say(f"imrc: {error}")
        # Where a download fails nothing was wrong with what was asked for.
        return FAILURE if isinstance(error, imrc.datasets.DownloadError) else BAD_INPUT
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
        if options.debug:
            traceback.print_exc()
        say(_bug_report(error, debug=options.debug))
    return FAILURE


def _bug_report(error: Exception, *, debug: bool) -> str:
    how = "the lines above" if debug else "what it prints when run again with --debug"
    return (
        f"imrc: {type(error).__name__}: {error}\n"
        "This is a bug in imrc, not a mistake in what you asked for. Please report it where you got imrc from, with "
        f"your command, {how}, and these versions: imrc {imrc.__version__}, Python {platform.python_version()}, "
        f"{platform.system()}."
    )
