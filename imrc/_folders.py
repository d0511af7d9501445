"""Folders of this user; environment variables replace the ones the system suggests."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_cache_path, user_data_path


def named_by(variable: str) -> Path | None:
    """Return the path in an environment variable, None if it is empty or not set."""
    value = os.environ.get(variable, "").strip()
    return Path(value).expanduser() if value else None


def _put_in_place(part: Path, file: Path) -> None:
    # On Windows a file that somebody has open cannot be replaced: it is tried again for two seconds.
    for left in reversed(range(20)):
        try:
            os.replace(part, file)
        except PermissionError:
            if not left:
                raise
            time.sleep(0.1)
        else:
            return


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file, which replaces `path` in one step if the block succeeds, and is removed otherwise.

    Readers see the old file or the new one, never half of it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    try:
        yield Path(name)
        _put_in_place(Path(name), path)
    finally:
        with contextlib.suppress(OSError):
            Path(name).unlink(missing_ok=True)


def cache_folder() -> Path:
    """Return the folder downloads go to: IMRC_CACHE if set, else the system's folder for caches."""
    return named_by("IMRC_CACHE") or user_cache_path("imrc")


def default_store_path() -> Path:
    """Return where results are kept: ``$IMRC_STORE``, else a file in the user's folder for data. It creates nothing."""
    return named_by("IMRC_STORE") or user_data_path("imrc", appauthor=False) / "results.sqlite"
