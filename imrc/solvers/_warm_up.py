"""Compile everything once, with news for somebody who waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from imrc._checks import check_choice

Kernels = Literal["subgradient", "log loss"]


def _subgradient() -> None:
    from imrc.solvers._batch import prepare_instances, run_subgradient

    zeros = np.zeros(4)
    run_subgradient(prepare_instances(np.ones((2, 2))), zeros, zeros, 2, 1, zeros, zeros)


def _log_loss() -> None:
    from imrc.solvers.log_loss import solve_log_loss

    solve_log_loss(np.ones((2, 2)), np.array([0, 1]), np.full(2, 0.5), 1.0, np.zeros((2, 2)), primal=True, max_iter=2)


STAGES: dict[Kernels, tuple[str, Callable[[], None], float]] = {
    "subgradient": ("subgradient method", _subgradient, 4.5),
    "log loss": ("rule for log loss", _log_loss, 6.5),
}
"""Per group: name, what to call, seconds it takes on the machine of the benchmarks (shares of the progress bar)."""


def warm_up(
    progress: Callable[[float, str], None] | None = None, kernels: Sequence[Kernels] = ("subgradient", "log loss")
) -> float:
    """Compile the kernels, or load them from the cache, and return the seconds: some ten at first, later half a second.

    Compiled code is kept next to the package, or in the user's cache folder where that is read-only.
    ``progress(fraction, text)`` is called before each stage and at the end with 1.0; the exact method needs no kernels.
    """
    started = time.perf_counter()
    stages = [STAGES[check_choice("kernels", group, tuple(STAGES))] for group in kernels]
    total = sum(weight for _, _, weight in stages)
    done = 0.0
    for name, stage, weight in stages:
        if progress is not None:
            progress(done / total, f"Compiling: {name}")
        stage()
        done += weight
    if progress is not None:
        progress(1.0, "Compiled")
    return time.perf_counter() - started
