"""Compile everything once, with news for somebody who waits."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def _layout() -> None:
    from imrc.solvers._scores import prepare

    prepare(np.ones((2, 2)), True)


def _subgradient() -> None:
    from imrc.solvers._batch import prepare_instances, run_subgradient

    zeros = np.zeros(4)
    run_subgradient(prepare_instances(np.ones((2, 2))), zeros, zeros, 2, 1, zeros, zeros)


def _exact() -> None:
    from imrc.solvers._exact import prepare_exact, solve_exact

    solve_exact(prepare_exact(np.ones((2, 2))), np.zeros(4), np.zeros(4), 2)


STAGES: tuple[tuple[str, Callable[[], None], float], ...] = (
    ("layout of instances", _layout, 1.0),
    ("subgradient method", _subgradient, 4.0),
    ("exact method", _exact, 5.4),
)
"""Name, what to call, seconds it takes on the machine of the benchmarks (shares of the progress bar)."""


def warm_up(progress: Callable[[float, str], None] | None = None) -> float:
    """Compile every kernel, or load it from the cache.

    The first call in a fresh installation takes some ten seconds, later ones, in new processes too, less than one:
    numba keeps compiled code next to the package, or in the user's cache folder where that is read-only.

    Parameters
    ----------
    progress : callable or None
        Called as ``progress(fraction, text)`` before each stage and at the end with 1.0.

    Returns
    -------
    float
        Seconds it took.

    Examples
    --------
    >>> news = []
    >>> seconds = warm_up(lambda fraction, text: news.append(fraction))
    >>> news[0], news[-1]
    (0.0, 1.0)
    """
    started = time.perf_counter()
    total = sum(weight for _, _, weight in STAGES)
    done = 0.0
    for name, stage, weight in STAGES:
        if progress is not None:
            progress(done / total, f"Compiling: {name}")
        stage()
        done += weight
    if progress is not None:
        progress(1.0, "Compiled")
    return time.perf_counter() - started
