"""The atlas: one card per sequence of tasks, from what `imrc.check` reports, and one page that shows them all."""

from __future__ import annotations

from imrc.atlas._cards import MOST_TASKS, NOT_AT_HAND, REPETITIONS, SIZES, TEMPORAL, card, sources, temporal
from imrc.atlas._page import page
