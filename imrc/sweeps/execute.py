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
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Any

from imrc.sweeps.cell import Cell, Failure, Record, run_cell
from imrc.sweeps.plan import SweepPlan
from imrc.sweeps.store import ResultStore

Outcome = Record | Failure
Run = Callable[[Cell], Outcome]
Workers = tuple[Callable[[Run, Cell], "Future[Outcome]"], int]
"""What hands a cell to a worker, and how many may be handed out at a time."""

_START_S = 30.0
_SENT = 1000  # cells that a Dask scheduler has at a time, for workers that come and go


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
    cell: Cell | None = None  # the one just finished

    @property
    def done(self) -> int:
        """Cells that are in the store."""
        return self.ran + self.stored_before + self.shared


def _here(run: Run, cell: Cell) -> Future[Outcome]:
    """Run a cell in this process."""
    future: Future[Outcome] = Future()
    future.set_result(run(cell))
    return future


def _end_with(parent: int) -> None:
    """End this worker process when its parent is gone: nobody takes what it computes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, name="imrc-parent", daemon=True).start()


def _pool(count: int) -> Any:  # noqa: ANN401 - joblib has no types
    from joblib.externals.loky import ProcessPoolExecutor

    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
    pool = ProcessPoolExecutor(count, initializer=_end_with, initargs=(os.getpid(),), env=one)
    # The first call starts the processes. Ctrl-C is ignored meanwhile, and by them from their first moment on.
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        pool.submit(int)
    finally:
        if main:
            signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    return pool


@contextlib.contextmanager
def _processes(count: int) -> Iterator[Workers]:
    """Start worker processes on this machine; they end with the block, also in the middle of a cell.

    Where one ends, all do, with the cells handed to them; the next cell starts new ones.
    """
    pool = _pool(count)

    def submit(run: Run, cell: Cell) -> Future[Outcome]:
        nonlocal pool
        with contextlib.suppress(BrokenExecutor):
            return pool.submit(run, cell)  # type: ignore[no-any-return]
        pool = _pool(count)
        return pool.submit(run, cell)  # type: ignore[no-any-return]

    try:
        yield submit, 2 * count  # one that runs and one that waits
    finally:
        time.sleep(0.05)  # told to kill its workers, the pool's thread fails at a cell it has not yet looked at
        pool.shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    """Use the workers of a Dask scheduler, which gives the cells of a worker it lost to another one."""
    try:
        from distributed import Client
    except ImportError:
        raise SchedulerError(
            'Sweeps on a cluster need Dask, which is not installed: pip install "imrc[cluster]"'
        ) from None
    # Its own news of lost connections are tracebacks; what matters is said by SchedulerError.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = Client(address, timeout=_START_S, set_as_default=False)  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError) as error:
        raise SchedulerError(
            f"No Dask scheduler answers at {address} ({type(error).__name__}). Start one with: dask scheduler"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_START_S)
        except TimeoutError:
            raise SchedulerError(
                f"The scheduler at {address} has no workers. Start some with: dask worker {address} --nthreads 1"
            ) from None
        try:
            # Not pure: a cell that is run again is not answered from the scheduler's memory.
            yield client.get_executor(pure=False).submit, _SENT
        except (OSError, RuntimeError, CancelledError) as error:
            # What the store says is none of the scheduler's business; a cell that nobody here took back is.
            if client.status == "running" and not isinstance(error, CancelledError):
                raise
            raise SchedulerError(f"The scheduler at {address} is gone.") from error


def _outcome(future: Future[Outcome]) -> Outcome | None:
    """Return what a cell gave, None if its process ended."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except Exception as error:  # of the worker, for example it has no imrc: `run_cell` returns what goes wrong in it
        if isinstance(error, CancelledError):
            raise
        return Failure(f"{type(error).__name__}: {error}")


def _finished(
    queue: deque[Cell], workers: Workers, run: Run, stored: Callable[[str], bool]
) -> Generator[tuple[Cell, Outcome | None], None, None]:
    """Run cells; yield each with what it gave, in the order in which they finish, or with None if it is stored by now.

    Only a few are handed out at a time, and nothing is kept: memory does not depend on how many there are.
    """
    submit, limit = workers
    running: dict[Future[Outcome], Cell] = {}
    lost: list[Cell] = []
    while queue or running:
        while queue and not lost and len(running) < limit:
            cell = queue.popleft()
            if stored(cell.key):
                yield cell, None
            else:
                running[submit(run, cell)] = cell
        for future in wait(running, timeout=2.0, return_when=FIRST_COMPLETED).done:
            cell, outcome = running.pop(future), _outcome(future)
            if outcome is None:
                lost.append(cell)
            else:
                yield cell, outcome
        while lost and not running:
            # All lost their processes, and one is to blame: each runs once more, alone.
            cell = lost.pop(0)
            ended = Failure("It ended its worker process, also when it ran alone (out of memory, or killed)")
            yield cell, _outcome(submit(run, cell)) or ended


def run_sweep(
    plan: SweepPlan,
    store: ResultStore,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[SweepReport], None] | None = None,
    run: Run = run_cell,
) -> SweepReport:
    """Run the waiting cells of a plan; each is in the store before the next one is looked at.

    The numbers do not depend on where cells run or in which order. Stopped at any moment, the same call continues where
    this one stopped. Only this process writes to the store (StoreError if it cannot); workers need no access to it.
    SchedulerError if a cluster cannot be reached, or is lost.

    `jobs` worker processes on this machine (1: this process), or those of a Dask `scheduler` by its address, which must
    be able to import `run`, what is done with a cell. `progress` is called after every cell with the report so far.
    Cells that failed are in the report; the others went on.
    """
    report = SweepReport(len(plan.cells), stored_before=len(plan.done))
    queue = deque(plan.waiting)
    workers: contextlib.AbstractContextManager[Workers] = contextlib.nullcontext((_here, 1))
    if queue and scheduler is not None:
        workers = _cluster(scheduler)
    elif queue and jobs > 1:  # also for a single cell: the last time it may have ended its process
        workers = _processes(min(jobs, len(queue)))
    with workers as given, contextlib.closing(_finished(queue, given, run, store.__contains__)) as outcomes:
        for cell, outcome in outcomes:
            if isinstance(outcome, Failure):
                report.failed.append((cell, outcome))
            elif outcome is not None and store.put(cell, outcome):
                report.ran += 1
            else:
                report.shared += 1
                if outcome is not None:
                    # Another sweep works on the same cells side by side: leave them to it, go on elsewhere.
                    queue.rotate(-random.randrange(len(queue) + 1))  # noqa: S311 - not a secret
            report.cell = cell
            if progress is not None:
                progress(report)
    return report
