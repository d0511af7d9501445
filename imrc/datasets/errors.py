"""Problems with data that a person can understand and mend."""

from __future__ import annotations

from imrc._checks import InputError


class DataError(InputError):
    """Data that cannot be used; the message says what is wrong, where (row, column) and what to do.

    Examples
    --------
    >>> raise DataError("The file is empty.")
    Traceback (most recent call last):
    imrc.datasets.errors.DataError: The file is empty.
    """


class NotAvailableError(DataError):
    """A data set of the catalogue whose files are not on this computer (or only in part)."""


class ChecksumError(DataError):
    """A file whose bytes are not the published ones: damaged, cut short, or another file."""


class DownloadError(DataError):
    """A download that did not succeed; the message says how to get the file by hand.

    Parameters
    ----------
    reason : str
        What went wrong in one or two short sentences; kept as an attribute.
    by_hand : str
        How to get the file without this program; ends the message.
    """

    def __init__(self, reason: str, by_hand: str = "") -> None:
        super().__init__(f"{reason} {by_hand}".strip())
        self.reason = reason
