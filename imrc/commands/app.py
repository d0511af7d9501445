"""The command ``imrc app``: the explorer in the browser."""

from __future__ import annotations

import argparse
import errno
import ipaddress
import os
import socket
import subprocess
import sys
from pathlib import Path

import imrc
from imrc._checks import InputError, check_int
from imrc._progress import say


def add_app(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``imrc app``."""
    parser.description = (
        "Start the app. Requests under host names that are not this machine's own are refused. With another --address, "
        "every name is accepted until you give one with --allow-host."
    )
    parser.add_argument("--port", type=int, default=8501, help="port to listen on, 1 to 65535 (default: %(default)s)")
    parser.add_argument("--address", default="127.0.0.1", help="address to listen on (default: this machine only)")
    host = "a host name that the server accepts; repeat the option for more"
    parser.add_argument("--allow-host", metavar="NAME", action="append", default=[], help=host)
    refused = "gigabytes and minutes above which a run is refused (default: 2,60)"
    parser.add_argument("--limit", metavar="GB,MINUTES", help=refused)
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")


def app_file() -> Path:
    """Return the app's main script: beside the package in a checkout, inside it when installed."""
    package = Path(imrc.__file__).resolve().parent
    for candidate in (package.parent / "app.py", package / "_app" / "app.py"):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError("The files of the app are missing. Install imrc again, or run it from its repository.")


def _listened(address: str, port: int) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the number of an address; raise InputError if it cannot be listened on."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.create_server((address, port), family=family) as server:
            return ipaddress.ip_address(server.getsockname()[0].partition("%")[0])
    except (OSError, UnicodeError) as error:
        told = {
            errno.EADDRINUSE: f"Port {port} is in use. Choose another with --port.",
            errno.EACCES: f"You have no permission to use port {port}. Choose 1024 or higher with --port.",
        }
        unknown = f"{address!r} is not an address of this machine. Use 127.0.0.1 for this machine only, or 0.0.0.0 for "
        raise InputError(told.get(getattr(error, "errno", None) or 0, f"{unknown}all of its addresses.")) from error


def run_app(options: argparse.Namespace) -> int:
    """Become the server of the explorer."""
    if options.limit is not None:
        from imrc.evaluation.settings import RunLimits  # loads much that the app loads again

        RunLimits.parse(options.limit)
        os.environ["IMRC_LIMIT"] = options.limit
    check_int("--port", options.port, 1, 65_535)
    script = app_file()
    number = _listened(options.address, options.port)
    hosts, shown = list(options.allow_host), options.address
    flags = {"port": options.port, "address": options.address, "headless": str(options.no_browser).lower()}
    command = [sys.executable, "-m", "streamlit", "run", script.name]
    command += [word for name, value in flags.items() for word in (f"--server.{name}", str(value))]
    # Its own welcome goes with offers on the page, to whoever develops with it, that no visitor has asked for.
    command += ["--logger.hideWelcomeMessage", "true"]
    if number.is_loopback:  # reached from this machine only
        hosts += ["localhost", "127.0.0.1", "::1", options.address]
    else:
        # The address it tells people. Without one Streamlit asks a service outside under which address it is seen.
        shown = hosts[0] if hosts else "localhost" if number.is_unspecified else options.address
        command += ["--browser.serverAddress", shown]
        say(
            f"imrc: anybody who reaches port {options.port} of this machine can now use the explorer, without a "
            f"password. To add one, see docs/deploy.md."
        )
    place = f"[{shown}]" if ":" in shown else shown
    print(f"The explorer: http://{place}:{options.port} (Ctrl-C ends it)", flush=True)
    os.environ["IMRC_HOSTS"] = ",".join(hosts)
    # Streamlit reads its configuration from the folder it is started in.
    os.chdir(script.parent)
    if os.name == "posix":
        # Become the server: whoever stops this command stops the server, and nothing is left behind.
        os.execv(sys.executable, command)  # noqa: S606 - no shell, fixed command
    return subprocess.run(command, check=False).returncode  # noqa: S603 - no shell, fixed command
