"""What if: the same rows in blocks of another size, the same tasks in a random order, or one of them left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from imrc._checks import InputError, check_int
from imrc._types import Floats
from imrc.evaluation.results import StepResult
from imrc.evaluation.run import run_all
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Interval, interval_columns, mean_interval
from imrc.evaluation.splits import held_out, repetition_seeds, task_seed
from imrc.tasks import Task, TaskSequence
from imrc.wording import RULES, decimal, listed

if TYPE_CHECKING:
    import pandas as pd

BLOCK_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
LEAST_BLOCKS = 3
MOST_BLOCKS = 200
_ORDER_KEY = 1 << 20
"""Apart from the seeds of tasks, of which there are fewer."""

Tick = Callable[[float], object]  # called with the share done; what it raises ends the runs


def _plain(settings: RunSettings) -> RunSettings:
    """Return settings of a run of IMRC alone on a whole sequence, tasks as they arrive."""
    return replace(settings, k=None, methods=("imrc",), scenario="continual")


def _final_errors(
    sequence: TaskSequence,
    settings: RunSettings,
    tick: Tick,
    share: float,
    part: float,
    **options: Any,  # noqa: ANN401 - of `run_all`
) -> dict[str, Floats]:
    """Return by rule the error of every task at the last step, shape (repetitions, tasks); a `part` of all the work."""
    done = share

    def show(step: StepResult) -> None:
        nonlocal done
        done = share + part * step.number / step.total

    tick(share)
    tables = run_all(sequence, settings, show=show, tick=lambda: tick(done), **options).error_tables
    return {rule: tables[rule].final() for rule in RULES}


def block_sizes(sequence: TaskSequence, settings: RunSettings) -> list[int]:
    """Return rising rows per block, a quarter of the present ones to four times them, where they can be run."""
    rows, present = int(sequence.sizes.sum()), round(float(sequence.sizes.mean()))
    sizes = sorted({round(present * factor) for factor in BLOCK_FACTORS})
    return [
        size
        for size in sizes
        if LEAST_BLOCKS <= rows // size <= MOST_BLOCKS
        and max(sequence.n_classes, 2) <= _samples(size, present, settings) <= size - held_out(size)
    ]


def _samples(size: int, present: int, settings: RunSettings) -> int:
    return max(1, round(settings.n * size / present))


def settings_for(size: int, sequence: TaskSequence, settings: RunSettings) -> RunSettings:
    """Return the settings of a run on blocks of a size; n belongs to the present one and grows with it."""
    n = _samples(size, round(float(sequence.sizes.mean())), settings)
    return replace(_plain(settings), n=n)


def in_blocks(sequence: TaskSequence, size: int) -> TaskSequence:
    """Cut the rows of all tasks, one after the other, into blocks; drop the incomplete one at the end."""
    rows = int(sequence.sizes.sum())
    size = check_int("size", size, 1, rows)
    X = np.concatenate([task.X for task in sequence])
    y = np.concatenate([task.y for task in sequence])
    missing = any(task.allow_missing for task in sequence)
    tasks = tuple(
        Task(X[first : first + size], y[first : first + size], f"rows {first + 1:,} to {first + size:,}", missing)
        for first in range(0, rows - size + 1, size)
    )
    return replace(sequence, tasks=tasks, truth=None)


def over_blocks(
    sequence: TaskSequence,
    settings: RunSettings,
    sizes: Sequence[int],
    *,
    diagnose: Callable[..., Any],
    tick: Tick = lambda _: None,
) -> pd.DataFrame:
    """Run the same rows in blocks of several sizes, n scaled as in `block_sizes`, and diagnose each by `assess`.

    Columns size, tasks, n, rule, value (mean error at the last step), stderr, half, finding and title of the verdict.
    """
    import pandas as pd

    rows = []
    for number, size in enumerate(sizes):
        cut = in_blocks(sequence, size)
        here = settings_for(size, sequence, settings)
        errors = _final_errors(cut, here, tick, number / len(sizes), 1 / len(sizes))
        verdict = diagnose(cut, features=settings.features.diagnosed, seed=settings.seed).verdict
        place = {"size": size, "tasks": len(cut), "n": here.n}
        said = {"finding": verdict.finding, "title": verdict.title}
        rows += [place | {"rule": rule} | interval_columns(found.mean(axis=1)) | said for rule, found in errors.items()]
    return pd.DataFrame(rows)


def blocks_sentence(table: pd.DataFrame, present: int) -> str:
    """State which block size has the fewest errors, and whether the verdict depends on it, in Markdown."""
    main = table[table["rule"] == "forward_backward"].set_index("size")
    best = int(main["value"].idxmin())
    # Other blocks are other tasks: nothing is paired, so both errors count.
    far = np.hypot(main["half"], main.loc[best, "half"])
    as_good = [int(size) for size in main.index if main.loc[size, "value"] - main.loc[best, "value"] <= far[size]]
    error = f"forward and backward: {decimal(main.loc[best, 'value'])}"
    if len(main) > 1 and len(as_good) == len(main):
        said = f"**The block size makes no clear difference** (lowest error, {error}, with {best:,} rows)."
    elif present in as_good and len(as_good) > 1:
        now = f"error, forward and backward: {decimal(main.loc[present, 'value'])}"
        least = "" if best == present else f"; the lowest is {decimal(main.loc[best, 'value'])}, with {best:,} rows"
        said = f"**Blocks of {present:,} rows are fine: no other size is clearly better** ({now}{least})."
    elif best == present:
        said = f"**Blocks of {present:,} rows are best** ({error})."
    else:
        said = f"**Blocks of {best:,} rows have the lowest error** ({error})."
    verdicts = {title: [f"{size:,}" for size in part.index] for title, part in main.groupby("title", sort=False)}
    if len(verdicts) == 1:
        return f"{said} The verdict is the same for all block sizes: *{next(iter(verdicts))}*."
    parts = [f"*{title}* with {listed(sizes)} rows" for title, sizes in verdicts.items()]
    return f"{said} The verdict depends on the block size: {listed(parts)}."


@dataclass(frozen=True, eq=False)
class Otherwise:
    """Errors of the same tasks on the same draws, as they are and otherwise; by rule, (repetitions, tasks)."""

    tasks: np.ndarray  # the tasks compared, from 0
    before: dict[str, Floats]
    after: dict[str, Floats]

    def difference(self, rule: str) -> Interval:
        """Return how much the mean error rises, with its paired 95 % t interval over repetitions."""
        return mean_interval(self.after[rule].mean(axis=1) - self.before[rule].mean(axis=1))

    def gains(self, rule: str) -> tuple[Interval, Interval]:
        """Return by how much a rule's error is below single-task learning, before and after, with intervals."""
        pair = self.before, self.after
        before, after = (mean_interval(one["single"].mean(axis=1) - one[rule].mean(axis=1)) for one in pair)
        return before, after

    def by_task(self, rule: str) -> pd.DataFrame:
        """Return by how much the error of each task rises: columns task (from 1), value, low, high."""
        import pandas as pd

        gap = self.after[rule] - self.before[rule]
        found = [mean_interval(gap[:, j]) for j in range(gap.shape[1])]
        return pd.DataFrame(found, columns=["value", "low", "high"]).assign(task=self.tasks + 1)


def shuffled(sequence: TaskSequence, settings: RunSettings, *, tick: Tick = lambda _: None) -> Otherwise:
    """Learn the tasks on the same rows in a new random order each repetition, so intervals cover orders and draws."""
    settings, k = _plain(settings), len(sequence)
    if k < 3:
        raise InputError("A random order needs at least 3 tasks.")
    part = 0.5 / settings.repetitions
    before = _final_errors(sequence, settings, tick, 0.0, 0.5)
    after = {rule: np.empty_like(errors) for rule, errors in before.items()}
    for r, seed in enumerate(repetition_seeds(settings.seed, settings.repetitions)):
        order = np.random.default_rng(task_seed(seed, _ORDER_KEY)).permutation(k)
        moved = replace(sequence, tasks=tuple(sequence[int(j)] for j in order), truth=None)
        found = _final_errors(moved, settings, tick, 0.5 + r * part, part, places=order.tolist(), only=[r])
        for rule, errors in found.items():
            after[rule][r, order] = errors[0]
    return Otherwise(np.arange(k), before, after)


def without(sequence: TaskSequence, settings: RunSettings, task: int, *, tick: Tick = lambda _: None) -> Otherwise:
    """Learn all tasks except one (from 0) on the same rows as with it, and return errors of the remaining tasks."""
    settings, k = _plain(settings), len(sequence)
    if k < 3:
        raise InputError("Leaving a task out needs at least 3 tasks.")
    task = check_int("task", task, 0, k - 1)
    stay = np.delete(np.arange(k), task)
    before = _final_errors(sequence, settings, tick, 0.0, 0.5)
    left = replace(sequence, tasks=tuple(sequence[int(j)] for j in stay), truth=None)
    after = _final_errors(left, settings, tick, 0.5, 0.5, places=stay.tolist())
    return Otherwise(stay, {rule: errors[:, stay] for rule, errors in before.items()}, after)


def _rise(found: Interval) -> str:
    value, low, high = (f"{100 * part:+.1f}".replace("-", "−") for part in (found.mean, found.low, found.high))
    return f"{value} errors in 100" + (f" (95 % interval {low} to {high})" if np.isfinite(found.low) else "")


def _head(found: Otherwise, untold: str, same: str, more: str, fewer: str) -> str:
    """Return which of four sentences the interval of the main rule's rise calls for."""
    rise = found.difference("forward_backward")
    if len(found.before["single"]) < 2:
        return untold
    return same if not rise.clear else more if rise.mean > 0 else fewer


def shuffled_sentence(found: Otherwise) -> str:
    """State whether the order of the tasks carries something, in Markdown."""
    head = _head(
        found,
        "**One repetition cannot show whether the order matters.**",
        "**The order makes no measurable difference:** in random order, errors are the same up to noise.",
        "**The order matters:** in random order there are more errors.",
        "**In random order there are fewer errors:** tasks that are close in time are not the most helpful ones here.",
    )
    before, after = found.gains("forward_backward")
    return (
        f"{head} {RULES['forward_backward']}: {_rise(found.difference('forward_backward'))}; compared "
        f"with learning each task alone, it makes {100 * before.mean:.1f} fewer in 100 in the order of arrival, and "
        f"{100 * after.mean:.1f} fewer in random order."
    )


def without_sentence(found: Otherwise, task: int) -> str:
    """State whether the other tasks miss one that was left out, in Markdown."""
    head = _head(
        found,
        f"**One repetition cannot show whether task {task + 1} helps.**",
        f"**The other tasks do not need task {task + 1}:** without it, their errors are the same up to noise.",
        f"**Task {task + 1} helps the others:** without it, they have more errors.",
        f"**Task {task + 1} harms the others:** without it, they have fewer errors.",
    )
    rise = _rise(found.difference("forward_backward"))
    return f"{head} {RULES['forward_backward']}: {rise} on average over the remaining tasks."
