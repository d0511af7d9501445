"""Query strings nobody should be punished for: valid, out of range, in strange letters, long, repeated, hostile."""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

import numpy as np

from imrc import datasets
from imrc.core.settings import LOSSES
from imrc.features import KINDS
from pages.ui.choice import RETIRED, UI_PRESETS, Choice, from_values

HTML = "<img src=x onerror=alert(1)>"
STRANGE = (
    "", " ", "0", "-1", "1e308", "1e999", "nan", "-inf", "0x10", "1_000", "٣", "½", "1.5", "True", "None", "null",
    "../../etc/passwd", "..\\..\\windows\\system32", "/etc/passwd", "file:///etc/passwd", "C:\\secret.csv",
    HTML, "<script>alert(1)</script>", "'; DROP TABLE x; --", "{{7*7}}", "${7*7}", "%00", "\x00", "\x1b[31m",
    "\u202egnp", "![x](http://example.invalid/a.png)", "[click](javascript:alert(1))", "**bold**", "$x^2$", ":red[x]",
    "`code`", "😀" * 20, "ä" * 300, "x" * 50_000, "9" * 5_000, "-" * 1_000, "[]", "{}", "[1, 2]", '{"k": 3}', "\ud7ff",
    "\ufffd", "your_file", "rotated_digits ", "ROTATED_DIGITS", "__class__", "self", "dataset=identical&k=3",
)  # fmt: skip
EXTRA_KEYS = (
    "embed",
    "embed_options",
    "page",
    "__proto__",
    "choice",
    "own_sequence",
    "stopped",
    "n ",
    "N",
    HTML,
    "k[]",
)


def _valid(rng: np.random.Generator, name: str) -> str:
    words = {
        "dataset": list(datasets.names()),
        "features": list(KINDS),
        "preset": [*UI_PRESETS, *RETIRED],
        "loss": list(LOSSES),
    }
    if name in words:
        return str(words[name][rng.integers(len(words[name]))])
    return str(rng.integers(1, 30))


def keys() -> list[str]:
    """Return every key a link of this app can have."""
    custom, _ = from_values({"preset": "custom", "features": "rff"}, set(datasets.names()))
    other, _ = from_values({"loss": "0-1", "scenario": "next_task"}, set(datasets.names()))
    return list(dict.fromkeys([*Choice().to_query(), *custom.to_query(), *other.to_query()]))


def strange_links(count: int, seed: int) -> Iterator[str]:
    """Yield query strings, without the question mark."""
    rng = np.random.default_rng(seed)
    known = keys()
    for _ in range(count):
        pairs = []
        for _ in range(rng.integers(0, 12)):
            name = EXTRA_KEYS[rng.integers(len(EXTRA_KEYS))] if rng.random() < 0.1 else known[rng.integers(len(known))]
            kind = rng.random()
            if kind < 0.4:
                value = _valid(rng, name)
            elif kind < 0.85:
                value = STRANGE[rng.integers(len(STRANGE))]
            else:  # letters from all of Unicode but the halves of pairs, which no address can hold
                value = "".join(chr(c) for c in rng.integers(1, 0xD800, rng.integers(0, 30)))
            pairs.append((name, value))
        # Some links are typed by hand and not encoded.
        yield urlencode(pairs) if rng.random() < 0.8 else "&".join(f"{quote(k)}={v}" for k, v in pairs)
