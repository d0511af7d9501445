"""Show text from visitors' files and links literally, whatever it contains."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Return text that Markdown shows literally: no links, images, formatting, colours, formulas or HTML."""
    escaped = re.sub(r"([\\`*_{}\[\]()#+!|<>~$:@&])", r"\\\1", text)
    # An address would still become a link; an invisible joiner after the scheme's letters prevents it.
    return re.sub(r"(?i)\b(https?|ftp|www)\b", lambda match: match[0] + "\u2060", escaped)


def quoted(value: object) -> str:
    r"""Return the beginning of a link's value in quotation marks, for display as plain text.

    >>> print(quoted("<b>"))
    '\<b\>'
    """
    return plain(repr(str(value)[:40]))
