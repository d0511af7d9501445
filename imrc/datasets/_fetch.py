"""Downloads: only when asked for, with progress, checked, and never a half-written file in place."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from imrc._folders import cache_folder, replacing
from imrc.datasets import _catalogue
from imrc.datasets._catalogue import CatalogueEntry, RemoteFile, facts
from imrc.datasets.errors import ChecksumError, DownloadError

Progress = Callable[[str, int, int], None]
"""Called with file name, bytes so far, bytes in all (0 if unknown)."""

TIMEOUT_S = 30
_DISK_PROBLEMS = (errno.ENOSPC, errno.EACCES, errno.EPERM, errno.EROFS, errno.EDQUOT)
MAX_DOWNLOAD_BYTES = 2 << 30


Downloader = Callable[[str, str, object], object]
"""What fetches an address into a file, as pooch's downloaders do: called with both, and None."""

MakeDownloader = Callable[[RemoteFile, Progress | None], Downloader]
"""Gives the downloader of a file."""


class _Bar:
    """The progress object pooch expects, handing numbers on to a callback."""

    def __init__(self, name: str, callback: Progress | None, expected: int) -> None:
        self.total = expected
        self._name, self._callback, self._done, self._expected = name, callback, 0, expected

    def update(self, count: int) -> None:
        self._done += count
        if self._done > MAX_DOWNLOAD_BYTES:
            raise OSError("far larger than any published file")
        if self._callback is not None:
            total = int(self.total) or self._expected
            # pooch counts the last, shorter piece as a whole one.
            self._callback(self._name, min(self._done, total) if total else self._done, total)

    def reset(self) -> None:
        # pooch resets the bar and then reports everything once more; the callback has had it all already.
        self._done = 0
        self._callback = None

    def close(self) -> None:
        """Nothing to close."""


def _downloader(file: RemoteFile, progress: Progress | None) -> Downloader:
    import pooch

    downloader: Downloader = pooch.HTTPDownloader(
        progressbar=_Bar(file.name, progress, file.size_bytes), chunk_size=1 << 16, timeout=TIMEOUT_S
    )
    return downloader


def _fetch_once(url: str, file: RemoteFile, target: Path, downloader: Downloader) -> None:
    """Download, check and put in place, see `replacing`."""
    with replacing(target) as part:
        downloader(url, str(part), None)
        try:
            _catalogue.verify(file, part)
        except ChecksumError:
            size = part.stat().st_size
            raise DownloadError(
                f"{urlsplit(url).netloc} did not return the published file (it sent {size:,} bytes)"
            ) from None


def _fetch_file(file: RemoteFile, folder: Path, make: MakeDownloader, progress: Progress | None) -> list[str]:
    """Try the addresses of a file one after the other; return the problems, empty on success."""
    target = folder / file.path
    problems = []
    for url in file.urls:
        try:
            _fetch_once(url, file, target, make(file, progress))
        except Exception as error:  # network libraries raise many kinds; every one means: try the next address
            if isinstance(error, OSError) and error.errno in _DISK_PROBLEMS:
                raise
            problems.append(str(error) if isinstance(error, DownloadError) else _in_words(url, error))
        else:
            return []
    return problems


def _in_words(url: str, error: Exception) -> str:
    """Return why a download failed, in words for people."""
    host, status = urlsplit(url).netloc, getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"{host} answered with status {status}"
    if isinstance(error, OSError):  # connection, name and time-out errors of requests are all of this kind
        return f"{host} sent a file {error}" if "far larger" in str(error) else f"{host} cannot be reached"
    return f"{host}: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def download(
    name: str,
    *,
    progress: Progress | None = None,
    folder: str | Path | None = None,
    downloader: MakeDownloader | None = None,
) -> Path:
    """Download the files of a dataset into `folder`, by default the user's cache, and return that folder.

    Nothing is fetched that is there and right; every file is checked before it is moved to its place, so an interrupted
    download leaves nothing behind. DownloadError says how to get a file by hand. `progress` is called with (file name,
    bytes so far, bytes in all or 0); ``downloader(file, progress)`` returns a function (url, output file, None).
    """
    entry = facts(name)
    target = Path(folder).expanduser() if folder is not None else cache_folder()
    if not entry.downloadable:
        missing = _catalogue.look(entry)[1] or entry.sets()[0]
        raise DownloadError(f"{entry.title} cannot be downloaded.", _catalogue.by_hand(entry, missing))
    problems = []
    for files in entry.fetchable():
        failed = _fetch_set(files, target, downloader or _downloader, progress)
        if not failed:
            _fetch_optional(entry, target, downloader or _downloader)
            return target
        problems += failed
    raise DownloadError(
        f"{entry.title} could not be downloaded: {'; '.join(problems)}. Is this computer online?",
        f"By hand: {_catalogue.by_hand(entry, entry.fetchable()[0])}",
    )


def _fetch_set(
    files: tuple[RemoteFile, ...], target: Path, make: MakeDownloader, progress: Progress | None
) -> list[str]:
    for file in files:
        path = target / file.path
        try:
            if path.is_file():
                _catalogue.verify(file, path)
                continue
        except ChecksumError:
            pass  # a wrong file in the cache is replaced
        try:
            problems = _fetch_file(file, target, make, progress)
        except OSError as error:
            raise DownloadError(
                f"{target} cannot be written to ({_first_line(error)}). Set IMRC_CACHE to a folder that can."
            ) from None
        if problems:
            return problems
    return []


def _fetch_optional(entry: CatalogueEntry, target: Path, make: MakeDownloader) -> None:
    for file in entry.optional():
        if file.urls and _catalogue.find(file) is None:
            _fetch_file(file, target, make, None)
