"""The atlas: one card per sequence of tasks, from what `imrc.check` reports, and one page that shows them all."""

from __future__ import annotations

from imrc.atlas._cards import NOT_AT_HAND, TEMPORAL, card, of_file, sources
from imrc.atlas._page import page
