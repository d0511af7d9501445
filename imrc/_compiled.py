"""Compiled functions: `njit` of Numba, which needs a folder for compiled code."""

import atexit
import logging
import os
import shutil
import tempfile

import numba
from numba import njit


def _sample() -> None:
    """Stand for all functions of this package."""


try:
    njit(cache=True)(_sample)
except RuntimeError:  # neither the package nor the user's cache is writable, as for the user of a service
    _folder = tempfile.mkdtemp(prefix="imrc-compiled-")  # this user's alone: compiled code is loaded from it
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = _folder  # for worker processes
    setattr(numba.config, "CACHE_DIR", _folder)  # noqa: B010 - made from the environment when Numba was loaded
    logging.getLogger("imrc").warning(
        "Neither the package folder nor your cache folder is writable, so imrc has to compile its code at every "
        "start, which takes a few seconds. To avoid this, set NUMBA_CACHE_DIR to a writable folder."
    )

__all__ = ["njit"]
