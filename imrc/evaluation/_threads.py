"""Linear algebra in one thread while a run computes: sums must not depend on how many cores a machine has."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _thread_pools() -> Any:  # noqa: ANN401 - a class of threadpoolctl
    # Finding the libraries takes some 10 ms, so it is done once, after those that bring thread pools are loaded.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _let_this_thread_decide() -> None:
    """Let this thread change limits: threadpoolctl heeds one thread at a time and ignores all others silently."""
    for library in _thread_pools().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


class _SingleThread:
    """Limits that hold while at least one run computes; runs may overlap in threads."""

    def __init__(self) -> None:
        self._running = 0
        self._lock = threading.Lock()
        self._limits: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
            if self._running == 1:
                _let_this_thread_decide()
                self._limits = _thread_pools().limit(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if self._running == 0:
                    _let_this_thread_decide()
                    self._limits.restore_original_limits()
                    _let_this_thread_decide()  # and whoever comes next after it


single_thread = _SingleThread()
