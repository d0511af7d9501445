"""Compiled functions: `njit` of Numba, which refuses to compile anything where it can keep nothing."""

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
except RuntimeError:  # neither package nor user's cache can be written, as for a service's own user
    _folder = tempfile.mkdtemp(prefix="imrc-compiled-")  # this user's alone: compiled code is loaded from it
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = _folder  # for worker processes
    setattr(numba.config, "CACHE_DIR", _folder)  # noqa: B010 - made from the environment when Numba was loaded
    logging.getLogger("imrc").warning(
        "Neither the package folder nor your cache folder is writable, so imrc has to compile its code at every "
        "start, which takes some seconds. To avoid this, set NUMBA_CACHE_DIR to a writable folder."
    )

__all__ = ["njit"]
