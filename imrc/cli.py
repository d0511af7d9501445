"""Entry point of the command ``imrc``; the commands are in `imrc.commands`."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (0 done, 2 bad input, 1 failure)."""
    try:
        # Loading takes a second or more, and whoever stops the command then wants no traceback either.
        from imrc.commands.main import main as run

        return run(arguments)
    except KeyboardInterrupt:
        print("\nimrc: stopped", file=sys.stderr)  # noqa: T201 - a command line prints
        return 1


__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
