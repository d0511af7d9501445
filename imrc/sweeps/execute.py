"""Running a sweep: cells in this process, in worker processes or on a Dask cluster, and the loop that keeps them.

A worker that dies costs the cells it had: they are reported, and run again when the sweep is started again.
"""

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
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cachetools.func import ttl_cache

from imrc.sweeps.cell import Cell, Failure, Record, run_cell
from imrc.sweeps.plan import SweepPlan
from imrc.sweeps.store import ResultStore

Outcome = Record | Failure
Workers = tuple[Callable[[Callable[[Cell], Outcome], Cell], "Future[Outcome]"], Callable[[], int]]
"""What hands a cell to a worker, and how many may be handed out: per worker one that runs and one that waits."""

_START_S = 30.0


class SchedulerError(RuntimeError):
    """A cluster that cannot be reached, has no workers, or is gone; finished cells are kept."""


@dataclass
class SweepReport:
    """How far a sweep is, and in the end what it did: numbers of cells."""

    total: int
    ran: int = 0
    stored_before: int = 0
    shared: int = 0  # another sweep finished them in the meantime
    failed: list[tuple[Cell, Failure]] = field(default_factory=list)
    seconds_left: float = float("nan")  # at the speed since the first cell
    cell: Cell | None = None  # the one just finished

    @property
    def done(self) -> int:
        """Cells that are in the store."""
        return self.ran + self.stored_before + self.shared


def _here(run: Callable[[Cell], Outcome], cell: Cell) -> Future[Outcome]:
    """Run a cell in this process."""
    future: Future[Outcome] = Future()
    future.set_result(run(cell))
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


def _worker() -> Any:  # noqa: ANN401 - joblib has no types
    """Start one worker process, behind an executor of its own."""
    from joblib.externals.loky import ProcessPoolExecutor

    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
    executor = ProcessPoolExecutor(1, initializer=_start_worker, initargs=(os.getpid(),), env=one)
    # What is ignored here the new process ignores from its first moment on, before it has imported anything.
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        executor.submit(int)  # the first call starts the process
    finally:
        if main:
            signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    return executor


@contextmanager
def _processes(count: int) -> Iterator[Workers]:
    """Start worker processes on this machine; they end with the block, also in the middle of a cell.

    One that dies takes the cells with it that were handed to it, not those of the others.
    """
    workers = [_worker() for _ in range(count)]
    given: list[list[Future[Outcome]]] = [[] for _ in workers]

    def submit(run: Callable[[Cell], Outcome], cell: Cell) -> Future[Outcome]:
        for futures in given:
            futures[:] = [future for future in futures if not future.done()]
        place = min(range(count), key=lambda i: len(given[i]))
        try:
            future: Future[Outcome] = workers[place].submit(run, cell)
        except BrokenExecutor:
            workers[place] = _worker()
            future = workers[place].submit(run, cell)
        given[place].append(future)
        return future

    try:
        yield submit, lambda: 2 * count
    finally:
        for worker in workers:
            # Told to kill its worker, an executor's thread fails at a cell it has not yet looked at: a moment's wait.
            unseen, deadline = getattr(worker, "_work_ids", None), time.monotonic() + 1.0
            while unseen is not None and not unseen.empty() and time.monotonic() < deadline:
                time.sleep(0.001)
            worker.shutdown(wait=True, kill_workers=True)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    """Use the workers of a Dask scheduler; cells that have not started when the block ends are taken back."""
    try:
        from distributed import Client
    except ImportError:
        raise SchedulerError(
            'Sweeps on a cluster need Dask, which is not installed: pip install "imrc[cluster]"'
        ) from None
    # Its own news of lost connections are tracebacks; what matters is said by SchedulerError.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = Client(  # type: ignore[no-untyped-call, unused-ignore]
            address, timeout=_START_S, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise SchedulerError(
            f"No Dask scheduler answers at {address} ({type(error).__name__}). Start one with: dask scheduler"
        ) from None
    gone = f"The scheduler at {address} is gone."

    @ttl_cache(maxsize=1, ttl=2.0)  # workers come and go; the scheduler is not asked for every cell
    def slots() -> int:
        try:
            return 2 * max(1, int(sum(client.nthreads().values())))
        except OSError as error:  # before the client itself has noticed
            raise SchedulerError(gone) from error

    try:
        try:
            client.wait_for_workers(1, timeout=_START_S)
        except TimeoutError:
            raise SchedulerError(
                f"The scheduler at {address} has no workers. Start some with: dask worker {address} --nthreads 1"
            ) from None
        # Not pure: a cell that is run again is not answered from the scheduler's memory.
        yield client.get_executor(pure=False).submit, slots
    except (OSError, RuntimeError, CancelledError) as error:
        # What the store says is none of the scheduler's business; a cell that nobody here took back is.
        if client.status == "running" and not isinstance(error, CancelledError):
            raise
        raise SchedulerError(gone) from error
    finally:
        client.close()


def _outcome(future: Future[Outcome]) -> Outcome:
    """Return what a cell gave."""
    try:
        return future.result()
    except CancelledError:
        raise
    except BrokenExecutor:
        return Failure("Its worker ended (out of memory, or killed)")
    except Exception as error:  # of the worker, for example it has no imrc: `run_cell` returns what goes wrong in it
        return Failure(f"{type(error).__name__}: {error}")


def _finished(
    queue: deque[Cell], workers: Workers, run: Callable[[Cell], Outcome], stored: Callable[[str], bool]
) -> Generator[tuple[Cell, Outcome | None], None, None]:
    """Run cells; yield each with what it gave, in the order in which they finish, or with None if it is stored by now.

    Only a few cells are handed out at a time, and what a cell gave is not kept here, so memory does not depend on how
    many there are. The caller may reorder the queue in the meantime.
    """
    submit, slots = workers
    running: dict[Future[Outcome], Cell] = {}
    while queue or running:
        limit = slots()
        while queue and len(running) < limit:
            cell = queue.popleft()
            if stored(cell.key):
                yield cell, None
            else:
                running[submit(run, cell)] = cell
        for future in wait(running, timeout=2.0, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), _outcome(future)


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
    first_at: float | None = None
    workers: contextlib.AbstractContextManager[Workers] = contextlib.nullcontext((_here, lambda: 1))
    if queue and scheduler is not None:
        workers = _cluster(scheduler)
    elif queue and jobs > 1:  # also for a single cell: the last time it may have ended its worker
        workers = _processes(min(jobs, len(queue)))
    with workers as given, contextlib.closing(_finished(queue, given, run, store.__contains__)) as outcomes:
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
