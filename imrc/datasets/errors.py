"""Errors about data, with messages that say what to do."""

from __future__ import annotations

from imrc._checks import DataError

__all__ = ["ChecksumError", "DataError", "DownloadError", "NotAvailableError"]


class NotAvailableError(DataError):
    """A dataset of the catalogue whose files are missing on this computer, all or some."""


class ChecksumError(DataError):
    """A file whose bytes are not the published ones: damaged, incomplete, or a different file."""


class DownloadError(DataError):
    """A download that did not succeed: the `reason` in a sentence or two, and how to get the file `by_hand`."""

    def __init__(self, reason: str, by_hand: str = "") -> None:
        super().__init__(f"{reason} {by_hand}".strip())
        self.reason = reason
