"""Compiled functions: `njit` of Numba, with a place to keep what it compiles wherever this package is installed."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import tempfile
from pathlib import Path

import numba
from numba import njit


def _sample() -> None:
    """Stand for all functions of this package."""


def _own_folder() -> Path:
    """Return a folder for temporary files that nobody but this user can write to: compiled code is loaded from it."""
    if os.name == "posix":
        folder = Path(tempfile.gettempdir()) / f"imrc-compiled-{os.geteuid()}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
            return folder
    # Somebody else has made one of that name.
    return Path(tempfile.mkdtemp(prefix="imrc-compiled-"))


def _keep_somewhere() -> None:
    """Let Numba keep compiled code among temporary files where neither package nor user's cache can be written.

    It would refuse to compile anything otherwise, as for a service's own user or in a container that is read only.
    """
    try:
        njit(cache=True)(_sample)
    except RuntimeError:
        pass
    else:
        return
    folder = str(_own_folder())
    os.environ["NUMBA_CACHE_DIR"] = folder  # for worker processes
    setattr(numba.config, "CACHE_DIR", folder)  # noqa: B010 - made from the environment when Numba was loaded
    logging.getLogger("imrc").warning(
        "Compiled code cannot be kept beside the package or in this user's folder for caches, so it is kept in %s and "
        "compiled again, for some seconds, when that has been emptied. NUMBA_CACHE_DIR names another folder.",
        folder,
    )


_keep_somewhere()

__all__ = ["njit"]
