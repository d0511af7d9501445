"""Where cells run: in this process, in worker processes (joblib's loky), or on a Dask cluster."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import contextmanager
from typing import Any, Protocol

from imrc.sweeps.cell import Cell, Failure, Record, run_cell
from imrc.sweeps.errors import SchedulerError

Outcome = Record | Failure
_START_S = 30.0
_NO_WORKER_S = 60.0
"""How long a cluster may be without a single worker before the sweep gives up."""


class WorkerDied(Exception):
    """The worker of a cell ended before the cell did; whose fault it was is not known."""


class Pool(Protocol):
    """Something cells can be given to.

    Attributes
    ----------
    slots : int
        How many cells may be handed out at a time: one that runs and one that waits per worker, so that no worker
        waits for this process.
    tries_again : bool
        True: the pool itself runs the cells of a dead worker again, and tells of a death only when it gives up.
    """

    tries_again: bool

    @property
    def slots(self) -> int:
        """Cells handed out at a time."""

    def submit(self, cell: Cell) -> Any:  # noqa: ANN401 - each pool has its own handles
        """Start a cell, or queue it; return a handle."""

    def wait(self, handles: Collection[Any]) -> list[Any]:
        """Wait until at least one of the handles is finished; return those that are."""

    def outcome(self, handle: Any) -> Outcome:  # noqa: ANN401
        """Return what a finished handle gave; raise WorkerDied if its worker ended."""

    def restart(self) -> None:
        """Make the pool usable after a death."""

    def close(self, *, now: bool = False) -> None:
        """End the workers; `now`: in the middle of their cells."""


class HerePool:
    """Cells one after another in this process.

    Parameters
    ----------
    run : callable
        What is done with a cell.
    """

    slots = 1
    tries_again = False

    def __init__(self, run: Callable[[Cell], Outcome] = run_cell) -> None:
        self._run = run

    def submit(self, cell: Cell) -> Future[Outcome]:
        """Run the cell at once; return its future."""
        future: Future[Outcome] = Future()
        future.set_result(self._run(cell))
        return future

    def wait(self, handles: Collection[Future[Outcome]]) -> list[Future[Outcome]]:
        """Return all: they are finished."""
        return list(handles)

    def outcome(self, handle: Future[Outcome]) -> Outcome:
        """Return what the cell gave."""
        return handle.result()

    def restart(self) -> None:
        """Do nothing."""

    def close(self, *, now: bool = False) -> None:
        """Do nothing."""


def _start_worker(parent: int) -> None:
    """Prepare a worker process: Ctrl-C is the parent's business, and nothing is computed for a parent that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":

        def watch() -> None:
            while os.getppid() == parent:
                time.sleep(0.5)
            os._exit(1)

        threading.Thread(target=watch, name="imrc-parent", daemon=True).start()


@contextmanager
def _children_without_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C does not end before `_start_worker` runs in them; here it takes effect afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # with the first worker its start would take the block away again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which children take over
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessPool:
    """Cells in worker processes on this machine.

    Parameters
    ----------
    workers : int
        Processes.
    run : callable
        What a worker does with a cell.
    """

    tries_again = False

    def __init__(self, workers: int, run: Callable[[Cell], Outcome] = run_cell) -> None:
        self._workers = workers
        self._run = run
        self._executor = self._start()

    @property
    def slots(self) -> int:
        """Two per worker."""
        return 2 * self._workers

    def _start(self) -> Any:  # noqa: ANN401 - a class of joblib
        from joblib.externals.loky import ProcessPoolExecutor

        one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
        return ProcessPoolExecutor(self._workers, initializer=_start_worker, initargs=(os.getpid(),), env=one)

    def submit(self, cell: Cell) -> Future[Outcome]:
        """Queue a cell; return its future."""
        try:
            with _children_without_ctrl_c():
                future: Future[Outcome] = self._executor.submit(self._run, cell)
        except BrokenExecutor:
            # A worker ended between two cells; it is noticed here first.
            future = Future()
            future.set_exception(WorkerDied())
        return future

    def wait(self, handles: Collection[Future[Outcome]]) -> list[Future[Outcome]]:
        """Wait for the first."""
        return list(wait(handles, return_when=FIRST_COMPLETED).done)

    def outcome(self, handle: Future[Outcome]) -> Outcome:
        """Return the outcome of a future."""
        try:
            return handle.result()
        except (BrokenExecutor, CancelledError, WorkerDied) as error:
            raise WorkerDied from error

    def restart(self) -> None:
        """Start new workers; the old ones are ended."""
        self._executor.shutdown(wait=True, kill_workers=True)
        self._executor = self._start()

    def close(self, *, now: bool = False) -> None:
        """End the workers."""
        self._executor.shutdown(wait=True, kill_workers=now)


class ClusterPool:
    """Cells on the workers of a Dask cluster.

    Parameters
    ----------
    address : str
        Of the scheduler, for example ``tcp://192.0.2.1:8786``.
    run : callable
        What a worker does with a cell.

    Raises
    ------
    SchedulerError
        If Dask is not installed, or scheduler or workers cannot be reached.
    """

    tries_again = True

    def __init__(self, address: str, run: Callable[[Cell], Outcome] = run_cell) -> None:
        self._run = run
        try:
            import distributed
        except ImportError:
            raise SchedulerError(
                'Sweeps on a cluster need Dask, which is not installed: pip install "imrc[cluster]"'
            ) from None
        self._address = address
        self._dask: Any = distributed
        # Its own news of lost connections are tracebacks; what matters is said by SchedulerError.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            self._client = self._dask.Client(address, timeout=_START_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise SchedulerError(
                f"No Dask scheduler answers at {address} ({type(error).__name__}). Start one with: dask scheduler"
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=_START_S)
        except TimeoutError:
            self._client.close()
            raise SchedulerError(
                f"The scheduler at {address} has no workers. Start some with: dask worker {address} --nthreads 1"
            ) from None
        self._submitted = 0
        self._threads, self._counted_at = 0, float("-inf")
        self._alone_since: float | None = None

    def _count(self) -> int:
        """Threads of all workers; the scheduler is asked every two seconds, not for every cell."""
        if time.monotonic() > self._counted_at + 2.0:
            try:
                self._threads = sum(self._client.nthreads().values())
            except (OSError, RuntimeError) as error:
                raise self._gone() from error
            self._counted_at = time.monotonic()
        return self._threads

    @property
    def slots(self) -> int:
        """Two per thread of the workers there are now; they may come and go."""
        return 2 * max(1, self._count())

    def submit(self, cell: Cell) -> Any:  # noqa: ANN401 - a class of Dask
        """Send a cell to the scheduler; return its future."""
        self._submitted += 1
        # Keys are never used twice, so a cell that is run again is not answered from the scheduler's memory.
        return self._client.submit(self._run, cell, key=f"imrc-{cell.key}-{self._submitted}", pure=False)

    def wait(self, handles: Collection[Any]) -> list[Any]:
        """Wait for the first; give up if the cluster stays without workers."""
        while True:
            try:
                with self._client.as_current():
                    done = self._dask.wait(list(handles), timeout=2.0, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                done = set()
            except (OSError, RuntimeError, CancelledError) as error:
                raise self._gone() from error
            if done:
                self._alone_since = None
                return list(done)
            if self._client.status != "running":
                raise self._gone()
            if self._count() > 0:
                self._alone_since = None
            elif self._alone_since is None:
                self._alone_since = time.monotonic()
            elif time.monotonic() - self._alone_since > _NO_WORKER_S:
                raise SchedulerError(f"The cluster at {self._address} has lost all its workers. Start new ones.")

    def _gone(self) -> SchedulerError:
        return SchedulerError(f"The scheduler at {self._address} is gone.")

    def outcome(self, handle: Any) -> Outcome:  # noqa: ANN401
        """Return the outcome of a future."""
        if handle.status in ("cancelled", "lost"):
            raise self._gone()
        try:
            result: Outcome = handle.result(timeout=_START_S)
        except self._dask.KilledWorker as error:
            raise WorkerDied from error
        except (OSError, TimeoutError, CancelledError) as error:
            raise self._gone() from error
        except Exception as error:  # for example the worker has no imrc: run_cell itself returns what goes wrong
            return Failure(f"{type(error).__name__}: {error}")
        return result

    def restart(self) -> None:
        """Do nothing: the scheduler goes on with the workers it has."""

    def close(self, *, now: bool = False) -> None:
        """Leave the cluster; cells of this sweep that have not started are taken back."""
        self._client.close()
