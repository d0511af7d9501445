"""The rule to use from now on, learnt from all rows so far, which predicts from raw rows of the next file."""

from __future__ import annotations

from imrc.model._file import load
from imrc.model._model import STRATEGIES, Model, ReadingWarning, fit_model, scored_in_words

__all__ = ["ReadingWarning"]
