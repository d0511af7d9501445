"""Repetitions that were run one by one, put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from imrc.evaluation.lagtable import LagTable
from imrc.evaluation.results import COLUMNS, SUMS, TABLES, RunResult
from imrc.evaluation.settings import RunSettings


def _by_key(parts: Sequence[dict[str, Any]], join: Callable[[list[Any]], Any]) -> dict[str, Any]:
    # Repetitions kept by earlier versions lack some.
    return {key: join([part[key] for part in parts]) for key in parts[0] if all(key in part for part in parts)}


def _joined_table(tables: list[LagTable]) -> LagTable:
    return LagTable(np.concatenate([table.values for table in tables]))


def join_repetitions(results: Sequence[RunResult], settings: RunSettings) -> RunResult:
    """Return one result, that of `iter_run` with these settings, of repetitions that were run one by one, in order.

    Seconds per step are added up. ValueError: other sequences or methods, or another number of repetitions.
    """
    if not results or sum(len(part.majority.values) for part in results) != settings.repetitions:
        raise ValueError(f"The results do not hold the {settings.repetitions} repetitions of the settings.")
    first = results[0]
    for part in results:
        if part.fingerprint != first.fingerprint or list(part.error_tables) != list(first.error_tables):
            raise ValueError("Repetitions of different sequences or methods cannot be put together.")
    kept = {field.name: getattr(first, field.name) for field in fields(first)}
    kept |= {
        name: _by_key([getattr(part, name) for part in results], _joined_table)
        for name in (f"{kind}_tables" for kind in TABLES)
    }
    kept |= {name: _by_key([getattr(part, name) for part in results], np.concatenate) for name in (*COLUMNS, *SUMS)}
    kept["settings"] = settings
    if first.rare_counts is not None:
        kept["rare_counts"] = _joined_table([part.rare_counts for part in results if part.rare_counts is not None])
    kept["majority"] = _joined_table([part.majority for part in results])
    kept["time_s"] = np.sum([part.time_s for part in results], axis=0)
    return RunResult(**kept)
