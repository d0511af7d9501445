"""Entry point of the command ``imrc``; the commands are in `imrc.commands`."""

from __future__ import annotations

import sys

from imrc.commands.main import app_file, main

__all__ = ["app_file", "main"]

if __name__ == "__main__":
    sys.exit(main())
