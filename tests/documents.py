"""Output against what a document shows of it: the same words, and learnt numbers as near as other processors allow.

A processor that adds in another order can turn a sample whose scores are nearly equal; the last digit of an error, and
what follows from it, is then another one. Two standard errors are far more than that.
"""

import re

_TIMES = re.compile(r"\d[\d,.]*\s*(?:ms|s|min|h)\b")
# A decimal number, a rounded one after "about", or the labels that were predicted; * marks the smallest of a row.
_LEARNT = re.compile(r"\*?(?P<sign>[+-]?)(?P<digits>\d*\.\d+)|(?<=about )(?P<about>\d+)|(?P<labels>\[[01 ]+\])")


def _split(line: str) -> tuple[str, list[str]]:
    """Return a line without its numbers, times and spaces, and its numbers."""
    line = _TIMES.sub("TIME", line)
    found = [match[0].removeprefix("*") for match in _LEARNT.finditer(line)]
    return re.sub(r"\s+", " ", _LEARNT.sub("NUMBER", line)).strip(), found


def _near(output: str, shown: str, error: float) -> bool:
    if shown.startswith("["):
        pairs = list(zip(output.strip("[]").split(), shown.strip("[]").split(), strict=True))
        return sum(one != other for one, other in pairs) <= len(pairs) // 6
    unit = 10.0 ** -len(shown.partition(".")[2])
    return abs(float(output) - float(shown)) <= max(2 * error, 0.1 * abs(float(shown)), unit) + 1e-9


def assert_as_shown(output: str, shown: str) -> None:
    """Compare line by line: words exactly, times not at all, numbers within two of the line's standard errors.

    Numbers far from any error (samples, p-values, distances) may differ by a tenth, or by one in their last digit.
    """
    output, shown = output.strip(), shown.strip()
    lines, shown_lines = output.splitlines(), shown.splitlines()
    assert len(lines) == len(shown_lines), f"{len(lines)} lines, {len(shown_lines)} shown:\n{output}"
    # A table of standard deviations says over how many repetitions.
    over = re.search(r"mean ± std over (\d+) repetitions", shown)
    to_errors = 1.0 if over is None else float(over[1]) ** -0.5
    for line, shown_line in zip(lines, shown_lines, strict=True):
        (words, numbers), (shown_words, shown_numbers) = _split(line), _split(shown_line)
        assert words == shown_words, f"{line!r}, shown {shown_line!r}"
        error = to_errors * max(map(float, re.findall(r"± (\d*\.\d+)", shown_line)), default=0.0)
        for number, shown_number in zip(numbers, shown_numbers, strict=True):
            assert _near(number, shown_number, error), f"{number}, shown {shown_number}: {line!r}, shown {shown_line!r}"
