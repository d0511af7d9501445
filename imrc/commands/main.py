"""The parser of ``imrc``, and what its exit status means."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import imrc
from imrc._checks import InputError
from imrc.commands import assess, datasets, run, sweep, table
from imrc.datasets import DownloadError

BAD_INPUT = 2
FAILURE = 1
_COMMANDS = {"run": run, "assess": assess, "datasets": datasets, "table": table, "sweep": sweep}


def app_file() -> Path:
    """Return the app's main script: beside the package in a checkout, inside it when installed.

    Raises
    ------
    FileNotFoundError
        If neither is there.
    """
    package = Path(imrc.__file__).resolve().parent
    for candidate in (package.parent / "app.py", package / "_app" / "app.py"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError("The app's files are missing; install imrc again or run it from its repository.")


def _anywhere() -> argparse.ArgumentParser:
    """Return a parser of the options that may stand before or after any command."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--debug", action="store_true", help="on a bug in imrc, print the traceback")
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="imrc",
        description="Incremental minimax risk classifiers for evolving classification tasks.",
        parents=[_anywhere()],
    )
    parser.add_argument("--version", action="version", version=f"imrc {imrc.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    app = commands.add_parser("app", help="start the explorer in the browser")
    app.add_argument("--port", type=int, default=8501, help="port on this machine (default: %(default)s)")
    app.add_argument("--address", default="127.0.0.1", help="address to listen on (default: this machine only)")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    for command in _COMMANDS.values():
        command.add_parser(commands)
    return parser


def _start_app(options: argparse.Namespace) -> int:
    script = app_file()
    command = [sys.executable, "-m", "streamlit", "run", script.name, "--server.port", str(options.port)]
    command += ["--server.address", options.address, "--server.headless", str(options.no_browser).lower()]
    # Streamlit reads its configuration from the folder it is started in.
    os.chdir(script.parent)
    if os.name == "posix":
        # Become the server: whoever stops this command stops the server, and nothing is left behind.
        os.execv(sys.executable, command)  # noqa: S606 - no shell, fixed command
    return subprocess.run(command, check=False).returncode  # noqa: S603 - no shell, fixed command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (0 done, 2 bad input, 1 failure)."""
    common, rest = _anywhere().parse_known_args(arguments)
    options = _parser().parse_args(rest, common)
    try:
        return _start_app(options) if options.command == "app" else _COMMANDS[options.command].run(options)
    except DownloadError as error:  # nothing was wrong with what was asked for
        print(f"imrc: {error}", file=sys.stderr)
        return FAILURE
    except (InputError, FileNotFoundError) as error:
        print(f"imrc: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read the output has gone, as in "imrc datasets list | head"; the rest has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except OSError as error:
        print(f"imrc: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", file=sys.stderr)
        return FAILURE
    except MemoryError:
        print("imrc: There is not enough memory on this computer for that.", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        print("\nimrc: stopped", file=sys.stderr)
        return FAILURE
    except Exception as error:  # everything that blames the input was caught above
        if options.debug:
            traceback.print_exc()
        print(_bug_report(error, debug=options.debug), file=sys.stderr)
        return FAILURE


def _bug_report(error: Exception, *, debug: bool) -> str:
    how = "the lines above" if debug else "what it prints when run again with --debug"
    return (
        f"imrc: {type(error).__name__}: {error}\n"
        "This is a bug in imrc, not a mistake in what you asked for. Please report it where you got imrc from, with "
        f"your command, {how}, and these versions: imrc {imrc.__version__}, Python {platform.python_version()}, "
        f"{platform.system()}."
    )
