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
from collections.abc import Callable, Iterator
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


class SchedulerError(OSError):
    """A cluster that cannot be reached, has no workers, or is gone; finished cells are kept."""


@dataclass
class SweepReport:
    """How far a sweep is, and in the end what it did: numbers of cells."""

    total: int
    ran: int = 0
    stored_before: int = 0
    by_others: int = 0  # another sweep finished them in the meantime
    failed: list[tuple[Cell, Failure]] = field(default_factory=list)
    cell: Cell | None = None  # the one just finished

    @property
    def done(self) -> int:
        """Cells that are in the store."""
        return self.ran + self.stored_before + self.by_others


def _here(run: Run, cell: Cell) -> Future[Outcome]:
    """Run a cell in this process."""
    future: Future[Outcome] = Future()
    future.set_result(run(cell))
    return future


def _begin(parent: int) -> None:
    """Begin a worker process: Ctrl-C is for its parent, and without that, which takes what it computes, it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _processes(count: int) -> Iterator[Workers]:
    """Start worker processes that end with the block. Where one ends, all do, and the next cell starts new ones."""
    from joblib.externals.loky import ProcessPoolExecutor

    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
    pools: list[Any] = []

    def submit(run: Run, cell: Cell) -> Future[Outcome]:
        with contextlib.suppress(BrokenExecutor, IndexError):
            return pools[-1].submit(run, cell)  # type: ignore[no-any-return]
        pools.append(ProcessPoolExecutor(count, initializer=_begin, initargs=(os.getpid(),), env=one))
        return pools[-1].submit(run, cell)  # type: ignore[no-any-return]

    try:
        yield submit, 2 * count  # one that runs and one that waits
    finally:
        time.sleep(0.05)  # told to kill its workers, the pool's thread fails at a cell it has not yet looked at
        for pool in pools[-1:]:
            pool.shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    """Use the workers of a Dask scheduler, which gives the cells of a worker it lost to another one."""
    try:
        from distributed import Client
    except ImportError:
        missing = 'Sweeps on a cluster need Dask, which is not installed: pip install "imrc[cluster]"'
        raise SchedulerError(missing) from None
    # Its own news of lost connections are tracebacks; what matters is said by SchedulerError.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        try:
            client: Any = stack.enter_context(Client(address, timeout=_START_S, set_as_default=False))  # type: ignore[no-untyped-call, unused-ignore]
            client.wait_for_workers(1, timeout=_START_S)
        except (OSError, ValueError) as error:
            raise SchedulerError(
                f"No Dask scheduler with workers answers at {address} ({type(error).__name__}). Start them with: "
                f"dask scheduler, and: dask worker {address} --nthreads 1"
            ) from None
        try:
            # Not pure: a cell that is run again is not answered from the scheduler's memory.
            yield client.get_executor(pure=False).submit, _SENT
        except (OSError, RuntimeError, CancelledError) as error:
            # Errors of the store are not the scheduler's; a cell that it cancelled by itself is.
            if client.status == "running" and not isinstance(error, CancelledError):
                raise
            kept = "Finished cells are stored; run the same command again to continue."
            raise SchedulerError(f"The scheduler at {address} is gone. {kept}") from error


def _outcome(future: Future[Outcome]) -> Outcome | None:
    """Return the outcome of a cell, or None if its process ended."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except CancelledError:
        raise
    except Exception as error:  # of the worker, for example it has no imrc: `run_cell` returns what goes wrong in it
        return Failure(f"{type(error).__name__}: {error}")


def run_sweep(
    plan: SweepPlan,
    store: ResultStore,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[SweepReport], None] = lambda _: None,
    run: Run = run_cell,
) -> SweepReport:
    """Run the waiting cells of a plan in `jobs` processes, or in those of a Dask `scheduler` (SchedulerError).

    Each cell is in the store (StoreError) before the next one is looked at, and only this process writes to it. Stopped
    at any moment, the same call continues where this one stopped. Workers must be able to import `run`. `progress` gets
    the report after every cell.
    """
    report = SweepReport(len(plan.cells), stored_before=len(plan.done))
    waiting, running = deque(plan.waiting), dict[Future[Outcome], Cell]()
    lost: set[str] = set()  # keys of cells whose process ended: one is to blame, so each runs once more, alone
    workers: contextlib.AbstractContextManager[Workers] = contextlib.nullcontext((_here, 1))
    if waiting and scheduler is not None:
        workers = _cluster(scheduler)
    elif waiting and jobs > 1:  # also for a single cell: the last time it may have ended its process
        workers = _processes(min(jobs, len(waiting)))
    with workers as (submit, limit):
        while waiting or running:
            outcomes: list[tuple[Cell, Outcome | None]] = []
            # Only a few are handed out at a time: memory does not depend on how many there are.
            while waiting and len(running) < (1 if lost else limit):
                cell = waiting.popleft()
                if cell.key in store:
                    outcomes.append((cell, None))
                else:
                    running[submit(run, cell)] = cell
            for future in wait(running, timeout=2.0, return_when=FIRST_COMPLETED).done:
                cell, outcome = running.pop(future), _outcome(future)
                if outcome is None and cell.key not in lost:
                    lost.add(cell.key)
                    waiting.appendleft(cell)
                    continue
                lost.discard(cell.key)
                ended = Failure("It ended its worker process, even when it ran alone (out of memory, or killed)")
                outcomes.append((cell, outcome or ended))
            for cell, outcome in outcomes:
                if isinstance(outcome, Failure):
                    report.failed.append((cell, outcome))
                elif outcome is not None and store.put(cell, outcome):
                    report.ran += 1
                else:
                    report.by_others += 1
                    if outcome is not None:
                        # Another sweep works on the same cells side by side: leave them to it, go on elsewhere.
                        waiting.rotate(-random.randrange(len(waiting) + 1))  # noqa: S311 - not a secret
                report.cell = cell
                progress(report)
    return report
