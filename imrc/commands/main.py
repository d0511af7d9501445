"""The parser of ``imrc``, and what its exit status means."""

from __future__ import annotations

import argparse
import errno
import io
import ipaddress
import os
import platform
import socket
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import imrc
from imrc._checks import InputError
from imrc.commands import assess, datasets, plan, run, sweep, table, watch
from imrc.datasets import DownloadError
from imrc.evaluation.limits import RunLimits

BAD_INPUT = 2
FAILURE = 1
_COMMANDS = {
    "run": run,
    "assess": assess,
    "plan": plan,
    "datasets": datasets,
    "table": table,
    "sweep": sweep,
    "watch": watch,
}


def app_file() -> Path:
    """Return the app's main script: beside the package in a checkout, inside it when installed."""
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
    app.add_argument("--port", type=_port, default=8501, help="port on this machine, 1 to 65535 (default: %(default)s)")
    app.add_argument("--address", default="127.0.0.1", help="address to listen on (default: this machine only)")
    app.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name people reach the server by, again for each; requests under other names are refused. With the "
        "default address the names of this machine itself are allowed, with another every name until one is given",
    )
    app.add_argument(
        "--limit",
        metavar="GB,MINUTES",
        type=_limit,
        help="memory and time above which a run is refused (default: 2,60)",
    )
    app.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    for command in _COMMANDS.values():
        command.add_parser(commands)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535; got {text!r}")
    return int(text)


def _limit(text: str) -> str:
    try:
        RunLimits.parse(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _check_address(address: str, port: int) -> bool:
    """Return whether an address can be reached from this machine only; raise InputError if it cannot be listened on."""
    failed: OSError | UnicodeError = OSError()
    try:
        places = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        places, failed = [], error
    for family, kind, protocol, _, place in places:
        try:
            with socket.socket(family, kind, protocol) as probe:
                if os.name == "posix":
                    # As servers do: a port that one has just left is free.
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
        except OSError as error:
            failed = error
        else:
            return ipaddress.ip_address(str(place[0]).partition("%")[0]).is_loopback
    number = getattr(failed, "errno", None)
    if number == errno.EADDRINUSE:
        raise InputError(f"Port {port} is in use. Choose another with --port.") from failed
    if number == errno.EACCES:
        raise InputError(f"Port {port} may not be used by this user. Choose one from 1024 on with --port.") from failed
    raise InputError(
        f"{address!r} is not an address of this machine. Use 127.0.0.1 for this machine only, or 0.0.0.0 for all of "
        "its addresses."
    ) from failed


def _start_app(options: argparse.Namespace) -> int:
    script = app_file()
    local = _check_address(options.address, options.port)
    command = [sys.executable, "-m", "streamlit", "run", script.name, "--server.port", str(options.port)]
    command += ["--server.address", options.address, "--server.headless", str(options.no_browser).lower()]
    # Its own welcome goes with offers on the page, to whoever develops with it, that no visitor has asked for.
    command += ["--logger.hideWelcomeMessage", "true"]
    hosts, shown = list(options.allow_host), options.address
    if local:
        hosts += ["localhost", "127.0.0.1", "::1", options.address]
    else:
        # The address it tells people. Without one Streamlit asks a service outside under which address it is seen.
        wildcard = ipaddress.ip_address(socket.getaddrinfo(options.address, None)[0][4][0]).is_unspecified
        shown = hosts[0] if hosts else "localhost" if wildcard else options.address
        command += ["--browser.serverAddress", shown]
        print(
            f"imrc: whoever reaches port {options.port} of this machine can now use the explorer, without a password; "
            "docs/deploy.md shows how to put one before it.",
            file=sys.stderr,
            flush=True,
        )
    place = f"[{shown}]" if ":" in shown else shown
    print(f"The explorer: http://{place}:{options.port} (Ctrl-C ends it)", flush=True)
    os.environ["IMRC_HOSTS"] = ",".join(hosts)
    if options.limit is not None:
        os.environ["IMRC_LIMIT"] = options.limit
    # Streamlit reads its configuration from the folder it is started in.
    os.chdir(script.parent)
    if os.name == "posix":
        # Become the server: whoever stops this command stops the server, and nothing is left behind.
        os.execv(sys.executable, command)  # noqa: S606 - no shell, fixed command
    return subprocess.run(command, check=False).returncode  # noqa: S603 - no shell, fixed command


def _show_what_can_be_shown() -> None:
    """Let characters that the terminal cannot show be replaced: a result must not be lost after it was computed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (0 done, 2 bad input, 1 failure, 3 alarm of ``watch``)."""
    _show_what_can_be_shown()
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
