"""Compiled functions: `njit` of Numba, with a place to keep what it compiles wherever this package is installed."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile

import numba
from numba import njit


def _sample() -> None:
    """Stand for all functions of this package."""


def _keep_somewhere() -> None:
    """Let Numba keep compiled code in a folder of this process if it may not beside the package nor for the user.

    It would refuse to compile anything otherwise, as for a service's own user or in a container that is read only. The
    folder is made for this user alone, because compiled code is loaded from it again: worker processes are told of it,
    and it goes with the process that made it.
    """
    try:
        njit(cache=True)(_sample)
    except RuntimeError:
        pass
    else:
        return
    folder, owner = tempfile.mkdtemp(prefix="imrc-compiled-"), os.getpid()
    os.environ["NUMBA_CACHE_DIR"] = folder
    setattr(numba.config, "CACHE_DIR", folder)  # noqa: B010 - made from the environment when Numba was loaded

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    logging.getLogger("imrc").warning(
        "Compiled code cannot be kept beside the package or in this user's folder for caches, so it is compiled anew "
        "in every start, which takes some seconds. Name a folder that may be written in NUMBA_CACHE_DIR to keep it."
    )


_keep_somewhere()

__all__ = ["njit"]
