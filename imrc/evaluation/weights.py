"""How much each task counts in the rule of one task, in the first repetition of a run.

A mean vector is a weighted mean of the sample averages of all tasks: the weights follow from the recursions. They are
the weights of the samples as well where a rule is learnt from samples of the past.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from imrc._checks import check_choice, check_int
from imrc._types import Floats, Ints
from imrc.core.change import backward_change, forward_changes, printed_change, squared_differences
from imrc.core.recursions import revise, sample_moments, track_forward
from imrc.core.rules_log import LogLossLearner
from imrc.core.settings import IMRCSettings
from imrc.evaluation.run import single_thread
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.splits import MappedRows, draw_task, repetition_seeds, task_seed
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd

BorrowingRule = Literal["forward_backward", "forward"]


def _drawn(sequence: TaskSequence, settings: RunSettings, step: int) -> list[tuple[Floats, Ints]]:
    """Return the training samples of the tasks up to a step, mapped, as the first repetition of a run draws them."""
    seed = repetition_seeds(settings.seed, 1)[0]
    labels = [sequence.encoded(j) for j in range(step + 1)]
    draws = [draw_task(y, settings.n, sequence.n_classes, task_seed(seed, j)) for j, y in enumerate(labels)]
    mapped = MappedRows(sequence, settings.features, draws[0].pool, seed)
    return [(mapped.rows(j, draw.train), labels[j][draw.train]) for j, draw in enumerate(draws)]


def _component_weights(settings: IMRCSettings, train: list[tuple[Floats, Ints]], n_classes: int, task: int) -> Floats:
    """Return the weight of each sample average, (tasks, m): the recursions of a run, given unit vectors."""
    tau, s = (np.stack(parts) for parts in zip(*(sample_moments(*own, n_classes) for own in train), strict=True))
    k, m = tau.shape
    squared, W = squared_differences(tau), int(settings.W)
    d = forward_changes(squared, W)
    units = np.broadcast_to(np.eye(k)[:, :, None], (k, k, m)).copy()
    forward, s_fwd = track_forward(units, np.broadcast_to(s[:, None], units.shape).copy(), d)
    if task == k - 1:
        return np.asarray(forward[task])
    change = printed_change if settings.change == "printed" else backward_change
    reach = range(k - 2, task - 1, -1)
    earlier = ((units[j], s[j], forward[j], s_fwd[j]) for j in reach)
    revised = revise((units[-1], s[-1]), earlier, (change(squared, j, k - 1, W) for j in reach))
    return np.asarray(list(revised)[-1][0])


def _weights(
    settings: IMRCSettings, train: list[tuple[Floats, Ints]], n_classes: int, task: int, rule: BorrowingRule
) -> Floats:
    """Learn the tasks as a run does, and return the share of each, (tasks,)."""
    if settings.tracking == "component":
        return np.asarray(_component_weights(settings, train, n_classes, task).mean(axis=1))
    # The weights are those of the mean vectors, whatever the loss.
    learner = LogLossLearner(settings, n_classes)
    for own in train:
        step = learner.step(*own, revise=rule != "forward")
    weights = [step.forward, *step.revised][len(train) - 1 - task].weights
    assert weights is not None  # noqa: S101 - one gain for all components
    return np.append(np.zeros(len(train) - len(weights)), weights)


def task_weights(
    sequence: TaskSequence, settings: RunSettings, task: int, rule: BorrowingRule = "forward_backward"
) -> pd.DataFrame:
    """Return the weight of every task up to the step at which the rule of `task` (from 0) was learnt last.

    Columns task (from 1), label, samples and weight, which sums to 1 unless old tasks are no longer followed. If
    components have gains of their own (preset "paper"), it is the mean of their weights.
    """
    import pandas as pd

    check_int("task", task, 0, len(sequence) - 1)
    check_choice("rule", rule, get_args(BorrowingRule))
    reach = settings.reach(len(sequence))
    step = task if rule == "forward" else min(task + reach, len(sequence) - 1)
    with single_thread():
        train = _drawn(sequence, settings, step)
        weights = _weights(replace(settings.learner, b=reach), train, sequence.n_classes, task, rule)
    samples = [len(y) for _, y in train]
    columns = {"task": range(1, step + 2), "label": sequence.labels[: step + 1], "samples": samples, "weight": weights}
    return pd.DataFrame(columns)


def weights_sentence(table: pd.DataFrame, task: int) -> str:
    """State where the weight of the rule of `task` (from 0) lies."""
    weight = table["weight"].to_numpy()
    said = f"{100 * weight[task]:.0f} % of its weight on its own samples"
    for share, of in ((weight[:task].sum(), "the tasks before it"), (weight[task + 1 :].sum(), "the tasks after it")):
        said += f", {100 * share:.0f} % on {of}" if share >= 0.005 else ""
    return f"The rule for task {task + 1} has {said}."
