"""What one rule uses: the weight of every task, the samples that pull most, and what leaving each task out changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd

from imrc._checks import check_choice, check_int
from imrc._types import Floats, Ints
from imrc.core.change import backward_change, forward_changes, printed_change, squared_differences
from imrc.core.influence import score_changes
from imrc.core.learner import Learner, TaskEstimate
from imrc.core.log_loss_rules import LogLossRules, Used
from imrc.core.moments import sample_moments
from imrc.core.prediction import scores
from imrc.core.recursions import revise, track_forward
from imrc.core.selection import log_loss
from imrc.core.settings import IMRCSettings
from imrc.core.trackers import Tracked
from imrc.evaluation._threads import single_thread
from imrc.evaluation.run import MappedRows
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Headline
from imrc.evaluation.splits import TaskDraw, draw_task, repetition_seeds, task_seed
from imrc.solvers.log_loss import INTERCEPT_SCALE, scaled
from imrc.tasks import TaskSequence
from imrc.wording import decimal, feature_names_or_numbers

Rule = Literal["forward_backward", "forward"]

MOST_REFITS = 12
"""Tasks left out one by one: those that weigh most."""
LEAST_WEIGHT = 0.005
"""Tasks that weigh less are not left out: nothing could change."""
TOP = 10
"""Samples named."""


@dataclass(frozen=True, eq=False)
class RuleUses:
    """What the rule of one task was learnt from, in the first repetition of a run.

    Attributes
    ----------
    task : int
        Whose rule, from 0.
    rule : str
        "forward" or "forward_backward".
    step : int
        The step, from 0, at which it was learnt last.
    error : float
        Its error on the test samples of the task.
    tests : int
        Their number.
    tasks : DataFrame
        One row per task up to `step`: `task` (from 1), `label`, `samples`, `weight` (its share in the estimate of the
        mean vector, or among the samples of the rule for log loss; they sum to 1 but for tasks no longer followed),
        `change` and `change_se` (error of an exact refit without the task less `error`, and its standard error over the
        test samples; NaN where not refitted).
    samples : DataFrame
        The ten samples that pull most, for log loss: `task` (from 1), `label`, `row` (of the task, from 0), `class`,
        `weight`, `pull` (root mean squared change of the scores of the test samples without it) and `helps` (rise of
        their mean log loss without it, in nats). Empty for the 0-1 rule.
    """

    task: int
    rule: str
    step: int
    error: float
    tests: int
    tasks: pd.DataFrame
    samples: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The draws of one repetition, mapped."""

    draws: list[TaskDraw]
    train: list[tuple[Floats, Ints]]
    test: tuple[Floats, Ints]
    n_classes: int


def _drawn(sequence: TaskSequence, settings: RunSettings, task: int, step: int) -> _Drawn:
    seed = repetition_seeds(settings.seed, 1)[0]
    draws = [
        draw_task(sequence.encoded(j), settings.n, sequence.n_classes, task_seed(seed, j)) for j in range(step + 1)
    ]
    mapped = MappedRows(sequence, settings.features, draws[0].pool, seed)
    train = [(mapped.rows(j, draw.train), sequence.encoded(j)[draw.train]) for j, draw in enumerate(draws)]
    rows = draws[task].test
    return _Drawn(draws, train, (mapped.rows(task, rows), sequence.encoded(task)[rows]), sequence.n_classes)


def _learnt(
    settings: IMRCSettings, drawn: _Drawn, task: int, rule: str, without: int | None = None
) -> tuple[Learner, TaskEstimate]:
    """Learn the tasks as a run does, one of them left out, and return the learner and the estimate of the task.

    A task left out is one more change between its neighbours; of the task itself only the labels are left out.
    """
    learner = Learner(settings, drawn.n_classes, (rule,) if rule != "forward" else ())
    estimate, place, gap = None, -1, 1.0
    for j, (X1, y) in enumerate(drawn.train):
        if j == without and j != task:
            gap += 1.0
            continue
        update = learner.step(X1, None if j == without else y, gap)
        gap = 1.0
        if j == task:
            place, estimate = update.step, update.forward
        estimate = update.revised.get(place, estimate) if rule == "forward_backward" else estimate
    assert estimate is not None  # noqa: S101 - the task is among those learnt
    return learner, estimate


def _component_weights(settings: IMRCSettings, drawn: _Drawn, task: int) -> Floats:
    """Return the weight of each sample average in the mean vector of a task, (tasks, m), gains as in a run.

    The recursions are linear in the sample averages: they are given unit vectors in place of them.
    """
    tau, s = (
        np.stack(parts) for parts in zip(*(sample_moments(*own, drawn.n_classes) for own in drawn.train), strict=True)
    )
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


def _tracked(learner: Learner, back: int) -> Tracked:
    assert learner._tracker is not None  # noqa: S101 - it has learnt
    return learner._tracker.forward() if back == 0 else learner._tracker.revised()[back - 1]


def _weights(settings: IMRCSettings, drawn: _Drawn, learner: Learner, task: int, used: Used | None) -> Floats:
    """Return the share of each task, (tasks,)."""
    k = len(drawn.train)
    shares = np.zeros(k)
    if used is not None:
        per_sample = np.zeros(len(used.kept))
        per_sample[used.kept] = used.weights
        shares[k - len(used.sizes) :] = np.add.reduceat(per_sample, np.cumsum([0, *used.sizes[:-1]]))
        return shares
    followed = _tracked(learner, k - 1 - task).weights
    if followed is None:
        return np.asarray(_component_weights(settings, drawn, task).mean(axis=1))
    shares[k - len(followed) :] = followed
    return shares


def _wrong(drawn: _Drawn, estimate: TaskEstimate) -> Floats:
    X1, y = drawn.test
    return np.asarray(scores(X1, estimate.coef, drawn.n_classes).argmax(axis=1) != y, dtype=np.float64)


def _pulls(used: Used, drawn: _Drawn, estimate: TaskEstimate) -> tuple[Floats, Floats]:
    """Return by how much each sample moves the scores of the test samples, and what their log loss is without it."""
    coefficients = estimate.coef.reshape(drawn.n_classes, -1).copy()
    coefficients[:, 0] /= INTERCEPT_SCALE
    X1, y = drawn.test
    X_test = scaled(X1)
    changes = score_changes(used.X, used.y, used.weights, used.strength, coefficients, X_test)
    now = X_test @ coefficients.T
    helps = np.array([log_loss(now + change, y) - log_loss(now, y) for change in changes]) / len(y)
    return np.sqrt((changes**2).mean(axis=(1, 2))), helps


def _samples(sequence: TaskSequence, drawn: _Drawn, used: Used | None, estimate: TaskEstimate) -> pd.DataFrame:
    columns = ["task", "label", "row", "class", "weight", "pull", "helps"]
    if used is None:
        return pd.DataFrame(columns=columns)
    first = len(drawn.draws) - len(used.sizes)
    stored = [(first + j, row) for j in range(len(used.sizes)) for row in drawn.draws[first + j].train]
    kept = [stored[i] for i in np.flatnonzero(used.kept)]
    pull, helps = _pulls(used, drawn, estimate)
    return pd.DataFrame(
        [
            (j + 1, sequence.labels[j], int(row), sequence.class_names[used.y[i]], used.weights[i], pull[i], helps[i])
            for i, (j, row) in ((i, kept[i]) for i in np.argsort(-pull, kind="stable")[:TOP])
        ],
        columns=columns,
    )


def rule_uses(
    sequence: TaskSequence, settings: RunSettings, task: int, rule: Rule = "forward_backward", *, refits: bool = True
) -> RuleUses:
    """Return what the rule of a task was learnt from, in the first repetition of a run.

    Weights follow from the recursions: a mean vector is a weighted mean of the sample averages of all tasks. Where
    components have gains of their own (tracking "component"), their mean is given. Left-out tasks are learnt without in
    exact refits; the pull of a sample is `imrc.core.influence.score_changes`.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    settings : RunSettings
        Of the run.
    task : int
        Whose rule, from 0.
    rule : {"forward_backward", "forward"}
        Which rule.
    refits : bool
        Whether tasks are left out one by one, the heaviest of them.

    Returns
    -------
    RuleUses

    Raises
    ------
    ValueError
        If the task is not there, or the rule another one.

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("random_walk", tasks=6, samples=60)
    >>> uses = rule_uses(sequence, RunSettings(n=10, preset="paper", repetitions=1), 2, refits=False)
    >>> uses.step, round(float(uses.tasks["weight"].sum()), 9)
    (5, 1.0)
    """
    check_int("task", task, 0, len(sequence) - 1)
    check_choice("rule", rule, get_args(Rule))
    reach = settings.reach(len(sequence))
    learner_settings = replace(settings.learner, b=reach)
    step = task if rule == "forward" else min(task + reach, len(sequence) - 1)
    with single_thread():
        drawn = _drawn(sequence, settings, task, step)
        learner, estimate = _learnt(learner_settings, drawn, task, rule)
        rules = learner._rules
        used = rules.used(_tracked(learner, step - task), step - task) if isinstance(rules, LogLossRules) else None
        weights = _weights(learner_settings, drawn, learner, task, used)
        wrong = _wrong(drawn, estimate)
        change, se = np.full((2, step + 1), np.nan)
        heaviest = np.argsort(-weights, kind="stable")[:MOST_REFITS]
        for j in heaviest[weights[heaviest] >= LEAST_WEIGHT] if refits else ():
            if j == task == 0:
                continue  # nothing labelled would be left before it
            found = Headline.of(_wrong(drawn, _learnt(learner_settings, drawn, task, rule, int(j))[1]) - wrong)
            change[j], se[j] = found.mean, found.stderr
        samples = _samples(sequence, drawn, used, estimate)
    tasks = pd.DataFrame(
        {
            "task": np.arange(1, step + 2),
            "label": sequence.labels[: step + 1],
            "samples": [len(y) for _, y in drawn.train],
            "weight": weights,
            "change": change,
            "change_se": se,
        }
    )
    return RuleUses(task, rule, step, float(wrong.mean()), len(wrong), tasks, samples)


def uses_sentences(uses: RuleUses) -> list[str]:
    """State where the weight of a rule lies, and which task it could least do without."""
    table, own = uses.tasks, uses.task
    weight = table["weight"].to_numpy()
    said = f"{100 * weight[own]:.0f} % of its weight on its own samples"
    for share, of in ((weight[:own].sum(), "the tasks before it"), (weight[own + 1 :].sum(), "the tasks after it")):
        said += f", {100 * share:.0f} % on {of}" if share >= 0.005 else ""
    lines = [f"The rule of task {own + 1} has {said}."]
    change, se = table["change"].to_numpy(), table["change_se"].to_numpy()
    if not np.isfinite(change).any():
        return lines
    clear = np.abs(change) > 1.96 * se
    if clear.any():
        j = int(np.argmax(np.where(clear, np.abs(change), -1.0)))
        which = "its own labels" if j == own else f"task {j + 1}"
        word = "rise" if change[j] > 0 else "fall"
        lines.append(
            f"Without {which} its error would {word} from {decimal(uses.error)} to {decimal(uses.error + change[j])}."
        )
    else:
        lines.append(f"Leaving out any one task changes its error of {decimal(uses.error)} by no more than noise.")
    return lines


def sample_rows(uses: RuleUses, sequence: TaskSequence) -> pd.DataFrame:
    """Return the samples that pull most with their columns as they stand, words for the numbers behind them."""
    names = feature_names_or_numbers(sequence.feature_names, sequence.n_features)
    at = uses.samples
    X = np.array([sequence[task - 1].X[row] for task, row in zip(at["task"], at["row"], strict=True)])
    columns = pd.DataFrame(X.reshape(len(at), len(names)), columns=names)
    for position, known in sequence.categories.items():
        codes = columns.iloc[:, position]
        words = [known[int(code)] if np.isfinite(code) and int(code) < len(known) else "" for code in codes]
        columns[names[position]] = words
    return pd.concat([at.reset_index(drop=True), columns], axis=1)
