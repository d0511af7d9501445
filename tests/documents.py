"""Output against what a document shows of it: the same words, and learnt numbers as near as other processors allow."""

from __future__ import annotations

import re

import pytest

# Times are anything; of predicted labels one may turn; decimal numbers, and rounded ones after "about", are learnt.
_MEASURED = re.compile(
    r"(?P<time>\d[\d,.]*\s*(?:ms|s|min|h)\b)|(?P<labels>\[[01 ]+\])|\*?(?P<learnt>[+-]?\d*\.\d+|(?<=about )\d+)"
)


def assert_as_shown(output: str, shown: str) -> None:
    """Compare words exactly, times not at all, and learnt numbers to a fifth or .03, whichever is more.

    A processor that adds in another order can turn a sample whose scores are nearly equal; the last digits of an error,
    and what follows from it, are then others.
    """
    words, wanted = (re.sub(r"\s+", " ", _MEASURED.sub("#", text)).strip() for text in (output, shown))
    assert words == wanted
    numbers, expected = (
        [float(m["learnt"]) for m in _MEASURED.finditer(text) if m["learnt"]] for text in (output, shown)
    )
    assert numbers == pytest.approx(expected, rel=0.2, abs=0.03)
