"""Progress and remarks on stderr."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable

from imrc.wording import duration

_EVERY_S, _EVERY_IN_LOGS_S = 0.1, 10.0
"""Shortest time between two updates: a terminal is slow, and thousands of steps a second are possible."""


def say(text: str) -> None:
    """Print a remark on stderr, beside any output."""
    print(text, file=sys.stderr, flush=True)


class ProgressLine:
    """Progress on stderr: one line rewritten in place on a terminal, a line every few seconds elsewhere.

    Use it as a context manager, so that an error or Ctrl-C leaves a clean line for the message.
    """

    def __init__(self) -> None:
        self.is_seen = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._width, self._written = 0, -math.inf
        self._done, self._total, self._since = 0, 0, 0.0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0

    def show(self, what: str, done: int = 0, total: int = 0, unit: str = "task") -> None:
        """Show the current activity, its progress and, at its pace since the first, how long it will still take."""
        now = time.monotonic()
        if done <= self._done or total != self._total:
            self._since = now
        self._done, self._total = done, total
        text, elapsed = what, now - self._since
        if total > 1:
            text += f", {unit} {done} of {total}"
            if 0 < done < total and elapsed > 1.0:
                text += f", {duration(elapsed / done * (total - done))} left"
        self.write(text, last=0 < done == total)

    def write(self, text: str, *, last: bool = False) -> None:
        """Write a text into the line; skip it if the one before is too recent and this is not the last."""
        now, pause = time.monotonic(), _EVERY_S if self.is_seen else _EVERY_IN_LOGS_S
        if now - self._written < pause and not last:
            return
        self._written = now
        if not self.is_seen:
            say(text)
            return
        # A line that wraps cannot be rewritten in place.
        text = text[: max(shutil.get_terminal_size().columns - 1, 20)]
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = max(self._width, len(text))

    def of(self, name: str) -> Callable[[float, str], None]:
        """Return what shows the share of a work that is done."""
        return lambda share, what: self.write(f"{name}: {share:.0%}, {what}", last=share >= 1.0)

    def say(self, text: str) -> None:
        """Print a sentence above the line; it stays."""
        self.clear()
        say(text)
