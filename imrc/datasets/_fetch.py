"""Downloads: only when asked for, with progress, checked, and never a half-written file in place."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from imrc._folders import cache_folder, replacing
from imrc._types import Progress
from imrc.datasets import _catalogue
from imrc.datasets._catalogue import ChecksumError, DownloadError, RemoteFile, facts

Downloader = Callable[[RemoteFile, str, Path, Progress], object]
"""Gets a file from an address into a path."""

TIMEOUT_S = 30
MAX_DOWNLOAD_BYTES = 2 << 30
_DISK_PROBLEMS = (errno.ENOSPC, errno.EACCES, errno.EPERM, errno.EROFS, errno.EDQUOT)


def over_http(file: RemoteFile, url: str, target: Path, progress: Progress) -> None:
    """Get a file piece by piece."""
    import requests

    with requests.get(url, stream=True, timeout=TIMEOUT_S) as answer, target.open("wb") as out:
        answer.raise_for_status()
        total, done = int(answer.headers.get("content-length", file.size_bytes)), 0
        for piece in answer.iter_content(1 << 16):
            done += out.write(piece)
            if done > MAX_DOWNLOAD_BYTES:
                raise OSError("far larger than any published file")
            # Of a packed answer the length is that of what was sent.
            progress(file.name, min(done, total) if total else done, total)


def _fetch_file(file: RemoteFile, folder: Path, get: Downloader, progress: Progress) -> list[str]:
    """Try the addresses of a file one after the other; return the problems, empty on success."""
    problems = []
    for url in file.urls:
        host = urlsplit(url).netloc
        try:
            with replacing(folder / file.path) as part:
                get(file, url, part, progress)
                size = part.stat().st_size
                _catalogue.verify(file, part)
        except ChecksumError:
            problems.append(f"{host} did not return the published file (it sent {size:,} bytes)")
        except Exception as error:  # network libraries raise many kinds; every one means: try the next address
            if isinstance(error, OSError) and error.errno in _DISK_PROBLEMS:
                raise DownloadError(
                    f"{folder} cannot be written to ({_first_line(error)}). Set IMRC_CACHE to a folder that can."
                ) from None
            problems.append(f"{host}{_in_words(error)}")
        else:
            return []
    return problems


def _in_words(error: Exception) -> str:
    """Return why a download failed, in words for people, after the name of the other side."""
    if (status := getattr(getattr(error, "response", None), "status_code", None)) is not None:
        return f" answered with status {status}"
    if isinstance(error, OSError):  # connection, name and time-out errors of requests are all of this kind
        return f" sent a file {error}" if "far larger" in str(error) else " cannot be reached"
    return f": {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def download(
    name: str,
    *,
    progress: Progress = lambda *_: None,
    folder: str | Path | None = None,
    downloader: Downloader = over_http,
) -> Path:
    """Download the files of a dataset into `folder`, by default the user's cache, and return that folder.

    Files are checked before they are moved to their place, so an interrupted download leaves nothing behind.
    DownloadError says how to get a file by hand. `progress` gets (file name, bytes so far, bytes in all or 0).
    """
    entry, problems = facts(name), []
    target = Path(folder).expanduser() if folder is not None else cache_folder()
    if not entry.downloadable:
        missing = _catalogue.look(entry)[1] or entry.sets()[0]
        raise DownloadError(f"{entry.title} cannot be downloaded.", _catalogue.by_hand(entry, missing))
    for files in entry.fetchable():
        # A wrong file in the cache is replaced.
        wanted = (file for file in files if not _is_there(file, target / file.path))
        failed = next(filter(None, (_fetch_file(file, target, downloader, progress) for file in wanted)), [])
        if not failed:
            for file in entry.optional():
                if _catalogue.find(file) is None:
                    _fetch_file(file, target, downloader, progress)
            return target
        problems += failed
    raise DownloadError(
        f"{entry.title} could not be downloaded: {'; '.join(problems)}. Is this computer online?",
        f"By hand: {_catalogue.by_hand(entry, entry.fetchable()[0])}",
    )


def _is_there(file: RemoteFile, path: Path) -> bool:
    with contextlib.suppress(ChecksumError):
        if path.is_file():
            _catalogue.verify(file, path)
            return True
    return False
