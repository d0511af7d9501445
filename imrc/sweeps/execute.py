"""Running a sweep: cells in this process, in worker processes or on a Dask cluster, and the loop that keeps them."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cachetools.func import ttl_cache

from imrc.sweeps.cell import Cell, Failure, Record, run_cell
from imrc.sweeps.plan import SweepPlan
from imrc.sweeps.store import ResultStore

Outcome = Record | Failure
Workers = tuple[Executor, Callable[[], int]]
"""What runs cells, and how many may be handed out at a time: per worker one that runs and one that waits."""

_START_S = 30.0
_NO_WORKER_S = 60.0
"""How long a cluster may be without a single worker before the sweep gives up."""


class SchedulerError(RuntimeError):
    """Workers on other machines that cannot be reached or were all lost; finished cells are kept."""


@dataclass
class SweepReport:
    """How far a sweep is, and in the end what it did.

    Attributes
    ----------
    total : int
        Cells of the plan.
    ran, stored_before, shared : int
        Cells run now; cells that were there; cells another sweep finished in the meantime.
    failed : list of (Cell, Failure)
        Cells that could not be finished.
    seconds_left : float
        What the rest takes at the speed since the first cell; NaN before the second.
    cell : Cell or None
        The one just finished.
    """

    total: int
    ran: int = 0
    stored_before: int = 0
    shared: int = 0
    failed: list[tuple[Cell, Failure]] = field(default_factory=list)
    seconds_left: float = float("nan")
    cell: Cell | None = None

    @property
    def done(self) -> int:
        """Cells that are in the store."""
        return self.ran + self.stored_before + self.shared


class _Here(Executor):
    """One cell after another in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - as Executor
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


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
def _without_ctrl_c() -> Iterator[None]:
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


@contextmanager
def _processes(count: int) -> Iterator[Workers]:
    """Start worker processes on this machine; they end with the block, also in the middle of a cell."""
    from joblib.externals.loky import ProcessPoolExecutor

    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
    executor = ProcessPoolExecutor(count, initializer=_start_worker, initargs=(os.getpid(),), env=one)
    try:
        with _without_ctrl_c():
            executor.submit(int)  # the first call starts all processes
        yield executor, lambda: 2 * count
    finally:
        # Told to kill its workers, the executor's thread fails at a cell it has not yet looked at; that takes a moment.
        unseen, deadline = getattr(executor, "_work_ids", None), time.monotonic() + 1.0
        while unseen is not None and not unseen.empty() and time.monotonic() < deadline:
            time.sleep(0.001)
        executor.shutdown(wait=True, kill_workers=True)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    """Use the workers of a Dask scheduler; cells that have not started when the block ends are taken back."""
    try:
        from distributed import Client
    except ImportError:
        raise SchedulerError(
            'Sweeps on a cluster need Dask, which is not installed: pip install "imrc[cluster]"'
        ) from None
    make_client: Any = Client  # Dask has no types
    # Its own news of lost connections are tracebacks; what matters is said by SchedulerError.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = make_client(address, timeout=_START_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerError(
            f"No Dask scheduler answers at {address} ({type(error).__name__}). Start one with: dask scheduler"
        ) from None
    seen_at, gone = time.monotonic(), f"The scheduler at {address} is gone."

    @ttl_cache(maxsize=1, ttl=2.0)  # workers come and go; the scheduler is not asked for every cell
    def threads() -> int:
        try:
            return sum(client.nthreads().values())
        except OSError as error:  # before the client itself has noticed
            raise SchedulerError(gone) from error

    def slots() -> int:
        nonlocal seen_at
        if client.status != "running":
            raise SchedulerError(gone)
        if threads() > 0:
            seen_at = time.monotonic()
        elif time.monotonic() > seen_at + _NO_WORKER_S:
            raise SchedulerError(f"The cluster at {address} has lost all its workers. Start new ones.")
        return 2 * max(1, threads())

    try:
        try:
            client.wait_for_workers(1, timeout=_START_S)
        except TimeoutError:
            raise SchedulerError(
                f"The scheduler at {address} has no workers. Start some with: dask worker {address} --nthreads 1"
            ) from None
        # Not pure: a cell that is run again is not answered from the scheduler's memory.
        yield client.get_executor(pure=False), slots
    except SchedulerError:
        raise
    except (OSError, RuntimeError, CancelledError) as error:
        # What the store says is none of the scheduler's business; a cell that nobody here took back is.
        if client.status == "running" and not isinstance(error, CancelledError):
            raise
        raise SchedulerError(gone) from error
    finally:
        client.close()


def _outcome(future: Future[Outcome]) -> Outcome | None:
    """Return what a cell gave, None if its worker ended."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except CancelledError:
        raise
    except Exception as error:  # of the worker, for example it has no imrc: `run_cell` returns what goes wrong in it
        return Failure(f"{type(error).__name__}: {error}")


def _finished(
    queue: deque[Cell], start: Callable[[], contextlib.AbstractContextManager[Workers]],
    run: Callable[[Cell], Outcome], skip: Callable[[Cell], bool],
) -> Generator[tuple[Cell, Outcome | None], None, None]:  # fmt: skip
    """Run cells; yield each with what it gave, in the order in which they finish, or with None if it was skipped.

    Only a few cells are handed out at a time, and what a cell gave is not kept here, so memory does not depend on how
    many there are. The caller may reorder the queue in the meantime.
    """
    while queue:
        lost: list[Cell] = []
        with start() as (executor, slots):
            running: dict[Future[Outcome], Cell] = {}
            while running or (queue and not lost):
                limit = slots()
                while queue and not lost and len(running) < limit:
                    cell = queue.popleft()
                    if skip(cell):
                        yield cell, None
                        continue
                    try:
                        running[executor.submit(run, cell)] = cell
                    except BrokenExecutor:
                        lost.append(cell)
                for future in wait(running, timeout=2.0, return_when=FIRST_COMPLETED).done:
                    cell, outcome = running.pop(future), _outcome(future)
                    if outcome is None:
                        lost.append(cell)
                    else:
                        yield cell, outcome
                    del future, outcome  # what is kept here is an array kept
        # A dead worker takes all with it, and nobody knows which cell was to blame: each gets a worker of its own.
        for cell in lost:
            with _processes(1) as (executor, _):
                outcome = _outcome(executor.submit(run, cell))
            yield cell, outcome or Failure("Its worker ended, and so did one of its own (out of memory, or killed)")


def run_sweep(
    plan: SweepPlan,
    store: ResultStore,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[SweepReport], None] | None = None,
    run: Callable[[Cell], Outcome] = run_cell,
) -> SweepReport:
    """Run the waiting cells of a plan; each is in the store before the next one is looked at.

    The numbers do not depend on where cells run or in which order. Stopped at any moment, the same call goes on where
    this one stopped. Only this process writes to the store; workers need no access to it.

    Parameters
    ----------
    plan : SweepPlan
        From `make_plan`.
    store : ResultStore
        Where finished cells are kept. Other sweeps may write to it at the same time; what they finish is not run again.
    jobs : int
        Worker processes on this machine; 1: cells run in this process.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers are used instead.
    progress : callable, optional
        Called after every cell, with the report so far.
    run : callable
        What is done with a cell; workers must be able to import it.

    Returns
    -------
    SweepReport
        With the cells that failed; the others went on.

    Raises
    ------
    StoreError
        If a result cannot be written.
    SchedulerError
        If the cluster cannot be reached, or is lost.
    """
    report = SweepReport(len(plan.cells), stored_before=len(plan.done))
    queue = deque(plan.waiting)
    jobs = min(jobs, len(queue))

    def start() -> contextlib.AbstractContextManager[Workers]:
        if scheduler is not None:
            return _cluster(scheduler)
        return contextlib.nullcontext((_Here(), lambda: 1)) if jobs == 1 else _processes(jobs)

    first_at: float | None = None
    with contextlib.closing(_finished(queue, start, run, lambda cell: cell.key in store)) as outcomes:
        for cell, outcome in outcomes:
            if outcome is None:
                report.shared += 1
            elif isinstance(outcome, Failure):
                report.failed.append((cell, outcome))
            elif store.put(cell, outcome):
                report.ran += 1
            else:
                # Another sweep works on the same cells side by side: leave them to it, go on elsewhere.
                report.shared += 1
                queue.rotate(-random.randrange(len(queue) + 1))  # noqa: S311 - not a secret
            now = time.monotonic()
            report.cell = cell
            done = report.ran + len(report.failed) - 1
            if first_at is None:
                first_at = now  # workers start and compile before: that says nothing about the speed
            elif done > 0:
                report.seconds_left = (now - first_at) / done * (report.total - report.done - len(report.failed))
            if progress is not None:
                progress(report)
    return report
