"""What can go wrong outside of a cell, said so that a person can mend it."""

from __future__ import annotations


class StoreError(RuntimeError):
    """A results store that cannot be read or written; the message says which, why, and what to do."""


class SchedulerError(RuntimeError):
    """Workers on other machines that cannot be reached or were all lost; finished cells are kept."""
