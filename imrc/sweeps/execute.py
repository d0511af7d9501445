"""Running a sweep: one generator of finished cells whatever runs them, and the loop that keeps them."""

from __future__ import annotations

import contextlib
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from imrc.sweeps.cell import Cell, Failure
from imrc.sweeps.plan import SweepPlan
from imrc.sweeps.pools import ClusterPool, HerePool, Outcome, Pool, ProcessPool, WorkerDied
from imrc.sweeps.store import ResultStore

ATTEMPTS = 3
"""How many workers a cell may lose before it is reported as failed."""


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes
    ----------
    done, total : int
        Cells finished now or before, and all.
    failed : int
        Cells that failed.
    seconds_left : float
        Seconds the rest takes at the speed so far; NaN before the first cell.
    cell : Cell
        The one just finished.
    """

    done: int
    total: int
    failed: int
    seconds_left: float
    cell: Cell


@dataclass
class SweepReport:
    """What a sweep did.

    Attributes
    ----------
    ran, stored_before, shared : int
        Cells run now; cells that were there; cells another sweep finished in the meantime.
    failed : list of (Cell, Failure)
        Cells that could not be finished.
    seconds : float
        Wall time.
    """

    ran: int = 0
    stored_before: int = 0
    shared: int = 0
    failed: list[tuple[Cell, Failure]] = field(default_factory=list)
    seconds: float = 0.0


def make_pool(jobs: int, scheduler: str | None = None) -> Pool:
    """Return a cluster if a scheduler is named, else worker processes, else (one job) this process."""
    if scheduler is not None:
        return ClusterPool(scheduler)
    return HerePool() if jobs == 1 else ProcessPool(jobs)


def finished_cells(
    queue: deque[Cell], pool: Pool, *, skip: Callable[[Cell], bool] = lambda _: False, attempts: int = ATTEMPTS
) -> Generator[tuple[Cell, Outcome | None], None, None]:
    """Run cells; yield each with what it gave, in the order in which they finish.

    Parameters
    ----------
    queue : deque of Cell
        What to run; the caller may reorder it in the meantime. Empty at the end.
    pool : Pool
        What runs them. Only a few cells per worker are handed out at a time, and what a cell gave is not kept here, so
        memory does not depend on how many there are.
    skip : callable
        Asked right before a cell is handed out; True: it need not be run, and is yielded with None.
    attempts : int
        How many workers a cell may lose, while it runs alone, before it is yielded as a failure.

    Yields
    ------
    (Cell, Record or Failure or None)
    """
    running: dict[Any, Cell] = {}
    suspects: deque[Cell] = deque()
    deaths: Counter[str] = Counter()
    while queue or running or suspects:
        # When a worker ends, nobody knows which of the running cells ended it. They run one by one then, so that the
        # next death, if there is one, says whose fault it is.
        alone = bool(suspects) and not running
        if alone:
            cell = suspects.popleft()
            running[pool.submit(cell)] = cell
        while queue and not suspects and not alone and len(running) < pool.slots:
            cell = queue.popleft()
            if skip(cell):
                yield cell, None
            else:
                running[pool.submit(cell)] = cell
        died = []
        while running:
            for handle in pool.wait(running):
                cell = running.pop(handle)
                try:
                    outcome = pool.outcome(handle)
                except WorkerDied:
                    died.append(cell)
                    continue
                finally:
                    del handle  # a future kept is an array kept
                yield cell, outcome
            # The death of a process takes all handles of its pool with it; a cluster goes on with the others.
            if not died or pool.tries_again:
                break
        if died and not pool.tries_again:
            pool.restart()
        for cell in died:
            deaths[cell.key] += alone
            if deaths[cell.key] >= (1 if pool.tries_again else attempts):
                told = "several workers" if pool.tries_again else f"{deaths[cell.key]} workers, one after another,"
                message = f"{told} ended while running it (out of memory, or killed)"
                yield cell, Failure(message[0].upper() + message[1:], attempts=max(attempts, deaths[cell.key]))
            else:
                suspects.append(cell)


def run_sweep(
    plan: SweepPlan,
    store: ResultStore,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    pool: Pool | None = None,
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
        Called after every cell.
    pool : Pool, optional
        Something else that runs cells.

    Returns
    -------
    SweepReport
        Cells that fail are reported there and in `ResultStore.failures`; the others go on.

    Raises
    ------
    StoreError
        If a result cannot be written.
    SchedulerError
        If the cluster cannot be reached, or is lost.
    """
    report = SweepReport(stored_before=len(plan.done))
    queue = deque(plan.waiting)
    if not queue:
        return report
    expected_left = sum(cell.seconds for cell in queue)
    expected_done = 0.0
    first_at: float | None = None
    pool = make_pool(min(jobs, len(queue)), scheduler) if pool is None else pool
    started = time.monotonic()
    unharmed = False
    try:
        with contextlib.closing(finished_cells(queue, pool, skip=lambda cell: cell.key in store)) as outcomes:
            for cell, outcome in outcomes:
                expected_left -= cell.seconds
                if outcome is None:
                    report.shared += 1
                elif isinstance(outcome, Failure):
                    store.put_failure(cell, outcome)
                    report.failed.append((cell, outcome))
                elif store.put(cell, outcome):
                    report.ran += 1
                else:
                    # Another sweep works on the same cells side by side: leave them to it, go on elsewhere.
                    report.shared += 1
                    queue.rotate(-random.randrange(len(queue) + 1))  # noqa: S311 - not a secret
                now = time.monotonic()
                report.seconds = now - started
                if first_at is None:
                    first_at = now  # workers start and compile before: that says nothing about the speed
                elif outcome is not None:
                    expected_done += cell.seconds
                if progress is not None:
                    left = (now - first_at) * expected_left / expected_done if expected_done else float("nan")
                    done = report.stored_before + report.ran + report.shared
                    progress(Progress(done, len(plan.cells), len(report.failed), max(0.0, left), cell))
        unharmed = True
    finally:
        pool.close(now=not unharmed)
    return report
