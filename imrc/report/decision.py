"""Advice from a run: the strategies, which is best, how certain that is, and what it is worth.

The simplest things to try, the most frequent class and one rule for everything so far, are strategies too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from imrc._types import Floats
from imrc.evaluation.results import RunResult, same_draws
from imrc.evaluation.settings import REFERENCES, SCENARIOS, STRATEGY_TITLES, ScenarioName, planned
from imrc.evaluation.significance import Headline, Interval, mean_interval, paired_differences, with_error
from imrc.tasks import TaskSequence
from imrc.wording import decimal, ends, fewest, in_columns, listed, unmarked


class _Words(NamedTuple):
    """What texts call a strategy: as the cause of errors, and as what to do."""

    doing: str
    action: str = ""


_REVISE = "Update the rule with each new task, and revise earlier rules, too."
_WORDS = {
    "majority": _Words("always predicting {}"),
    "single": _Words("learning each task alone", "Train a rule for each task on its own samples."),
    "pooled": _Words("pooling all tasks", "Train one rule for all tasks."),
    "forward": _Words(
        "learning forward", "Update the rule with each new task. Do not revise the rules of earlier tasks."
    ),
    "forward_backward": _Words("learning forward and backward", _REVISE),
}
_WORDS_IN: dict[str, dict[str, _Words]] = {
    "multi_task": {
        "forward_backward": _WORDS["forward_backward"]._replace(action="Learn all tasks at once, with one rule each."),
    },
    "adaptation": {
        "forward": _WORDS["forward"]._replace(action="Learn the newest task with the help of the tasks before it.")
    },
    "next_task": {
        "single": _WORDS["single"]._replace(
            doing="learning the last task alone", action="Use the rule of the last task for the next one."
        ),
        "forward": _WORDS["forward"]._replace(action="Use the forward rule for the next task until its labels arrive."),
    },
}
"""Words of scenarios that need different ones."""

_SAME_LEARNER = "All rules have the same learner and penalties. They differ only in what they borrow from other tasks."
_OTHER_LEARNER = "The pooled rule comes from the recommended learner, not from the learner of the other rules."

ENOUGH = 5
"""Repetitions from which on there is advice."""

MARGIN = 0.01
"""A simpler strategy is advised if its error is, with confidence, less than this above the lowest."""

USEFUL = 0.02
"""By how much the best must beat the most frequent class to be of use."""

_NUMBERS = ("none", "one", "two", "three", "four", "five")


@dataclass(frozen=True)
class Advice:
    """Which of some strategies to choose."""

    # why none is advised, or what the advised one is
    verdict: Literal["nothing tested", "too few repetitions", "none of these", "simpler", "best", "close"]
    best: str  # lowest mean error
    advised: str | None = None
    # "none of these": majority; "simpler": the advised one; "close": the best simpler one whose interval contains 0
    rival: str | None = None
    loss: Interval | None = None  # the rival's error minus that of the best, with its 95 % t interval over repetitions


def advise(errors: Mapping[str, Floats]) -> Advice:
    """Choose a strategy by the errors of all on the same draws, the simplest first, "majority" among them.

    The best has the lowest mean. A simpler one is advised instead if the upper end of the 95 % interval of its loss
    against the best is below `MARGIN`; otherwise the best, called close if that interval contains 0. None is advised
    with fewer than `ENOUGH` repetitions, or if the best does not beat the most frequent class by `USEFUL` with an
    interval that excludes 0.
    """
    mean = {name: float(values.mean()) for name, values in errors.items()}
    best = min(mean, key=mean.__getitem__)
    if not all(np.isfinite(values).all() for values in errors.values()):
        return Advice("nothing tested", best)
    if len(errors[best]) < ENOUGH:
        return Advice("too few repetitions", best)
    losses = {name: mean_interval(values - errors[best]) for name, values in errors.items()}
    if losses["majority"].mean < USEFUL or losses["majority"].low <= 0.0:
        return Advice("none of these", best, None, "majority", losses["majority"])
    simpler = list(errors)[: list(errors).index(best)]
    for name in simpler:
        if losses[name].high < MARGIN:
            return Advice("simpler", best, name, name, losses[name])
    near = min((name for name in simpler if not losses[name].clear), key=mean.__getitem__, default=None)
    if near is not None:
        return Advice("close", best, best, near, losses[near])
    return Advice("best", best, best)


@dataclass(frozen=True)
class Strategy:
    """One thing a practitioner could do."""

    name: str  # one of `STRATEGY_TITLES`
    title: str
    errors: tuple[float, ...]  # in each repetition, the same average for all
    recall: float | None = None  # share of the rare class that is found, if a class is rare

    @property
    def error(self) -> Headline:
        """Average error over repetitions."""
        return Headline.of(np.array(self.errors))

    @property
    def low(self) -> float:
        """Lower end of the 95 % t interval of the error, at least 0; NaN with one repetition."""
        return float(np.maximum(mean_interval(np.array(self.errors)).low, 0.0))

    @property
    def high(self) -> float:
        """Upper end of that interval, at most 1; NaN with one repetition."""
        return float(np.minimum(mean_interval(np.array(self.errors)).high, 1.0))


@dataclass(frozen=True, repr=False)
class Decision:
    """Which strategy to choose after a run, and why."""

    strategies: tuple[Strategy, ...]  # the simplest first
    advice: Advice
    title: str  # what the run is called, in Markdown
    finding: str  # what follows "On *title*, " or other words, in Markdown
    action: str  # what to do, in a few plain sentences
    notes: tuple[str, ...] = ()  # what else a reader should know
    rare: str = ""  # name of the rare class, if there is one: errors are then balanced errors

    @property
    def sentence(self) -> str:
        """The finding after the title, as a sentence."""
        return f"On *{self.title}*, {self.finding}."

    @property
    def measure(self) -> str:
        """What the errors are: "error" or "balanced error"."""
        return "balanced error" if self.rare else "error"

    def __repr__(self) -> str:
        return "\n".join([*map(unmarked, (self.sentence, self.action)), *(f"  {line}" for line in self.table())])

    @property
    def errors(self) -> pd.DataFrame:
        """The table of `Report.errors`."""
        rows = []
        for one in self.strategies:
            row = {"strategy": one.name, "title": one.title, "error": one.error.mean}
            row |= {"standard error": one.error.stderr, "low": one.low, "high": one.high}
            row |= {} if one.recall is None else {"recall": one.recall}
            rows.append(row | {"advised": one.name == self.advice.advised})
        return pd.DataFrame(rows)

    def table(self) -> list[str]:
        """Return the strategies with their errors as aligned lines, the advised one marked."""
        rows = [[one.title, with_error(one.error)] for one in self.strategies]
        marks = ["  advised" * (one.name == self.advice.advised) for one in self.strategies]
        return [line + mark for line, mark in zip(in_columns(rows), marks, strict=True)]

    def __getitem__(self, name: str) -> Strategy:
        """Return the strategy of a name."""
        return next(one for one in self.strategies if one.name == name)


def decide(
    result: RunResult,
    title: str,
    *,
    references: RunResult | None = None,
    usual: str | None = None,
    as_text: Callable[[str], str] = str,
) -> Decision:
    """Say which strategy to choose after a run called `title`, how sure that is (`advise`), and what it is worth.

    Without `references`, of `run_references`, the most frequent class is judged at the step of each task only.
    `usual` names that class; `as_text` escapes names from the data.
    """
    kind, words = result.scenario.kind, _WORDS | _WORDS_IN.get(result.settings.scenario, {})
    guessing = words["majority"].doing.format("the most frequent class" if usual is None else f"“{as_text(usual)}”")
    words["majority"] = _Words(guessing)
    runs = _runs(result, references)
    plain = {name: run.per_repetition(name, kind) for name, run in runs.items()}
    if references is None:
        plain = {"majority": result.majority.average(), **plain}
    balanced = {name: values for name, run in runs.items() if (values := run.balanced(name, kind)) is not None}
    rare = result.rare_class if len(balanced) == len(plain) else ""
    errors = balanced if rare else plain
    missed = {name: run.misses(name, kind) for name, run in runs.items()} if rare else {}
    recall = {name: 1.0 - float(values.mean()) for name, values in missed.items() if values is not None}
    strategies = tuple(
        Strategy(name, STRATEGY_TITLES[name], tuple(values.tolist()), recall.get(name))
        for name, values in errors.items()
    )
    same = _SAME_LEARNER if result.loss == "log" else _OTHER_LEARNER
    notes = [same if "pooled" in errors else "This result has no pooled rule to compare with."]
    if rare:
        notes.append(_rare_note(as_text(rare), guessing, strategies, plain))
    elif result.rare_class:
        notes.append(
            f"“{as_text(result.rare_class)}” is rare, but errors before learning are not known for each class. A "
            "model that never predicts it would rarely be wrong here."
        )
    advice = advise(errors)
    finding, action = _said(advice, errors, words, rare, result)
    if recall and not any(recall.values()):
        action += f" No rule finds any “{as_text(rare)}”."
    return Decision(strategies, advice, as_text(title), finding, action, tuple(notes), rare)


def _rare_note(rare: str, guessing: str, strategies: tuple[Strategy, ...], plain: Mapping[str, Floats]) -> str:
    found = ", ".join(f"{one.title} {decimal(one.recall)}" for one in strategies if one.recall is not None)
    errors = ", ".join(f"{one.title} {decimal(float(plain[one.name].mean()))}" for one in strategies)
    return (
        f"“{rare}” is rare, so a model that never predicts it is rarely wrong. The error shown is therefore "
        f"balanced: the mean of the error rates on “{rare}” and on everything else "
        f"({decimal(strategies[0].error.mean)} for {guessing}). Share of “{rare}” found (recall): {found}. "
        f"Plain errors: {errors}."
    )


def usual_answer(sequence: TaskSequence) -> str:
    """Return the name of the most frequent class of a sequence."""
    return sequence.class_names[int(sequence.class_counts().sum(axis=0).argmax())]


def _runs(result: RunResult, references: RunResult | None) -> dict[str, RunResult]:
    """Return the run behind each strategy, the simplest first."""
    found = dict.fromkeys(result.rules, result)
    if references is not None:
        theirs, mine = ((one.settings.n, one.settings.features) for one in (references, result))
        if theirs != mine or not same_draws(references, result):
            raise ValueError("References must be run on the same tasks and draws as the run.")
        found |= dict.fromkeys(REFERENCES, references)
    return {name: found[name] for name in STRATEGY_TITLES if name in found}


def _said(
    advice: Advice, errors: Mapping[str, Floats], words: Mapping[str, _Words], rare: str, result: RunResult
) -> tuple[str, str]:
    """Return what was found, in Markdown, and what to do."""
    verdict, best, loss = advice.verdict, advice.best, advice.loss
    if verdict == "nothing tested":
        found = "**there is no next task yet**, because testing a task before it is learnt takes at least two tasks"
        return found, "Learn at least two tasks."
    mean = {name: decimal(float(values.mean())) for name, values in errors.items()}
    doing = f"{words[best].doing} makes {fewest('balanced error' if rare else 'error')}"
    if verdict == "too few repetitions":
        found = f"**there are too few repetitions to tell**: in {len(errors[best])}, {doing} ({mean[best]})"
        return found, f"Choose at least {ENOUGH} repetitions to get advice."
    other, margin = words[advice.rival or best].doing, decimal(MARGIN)
    rival = mean[advice.rival or best]
    if advice.advised is None:
        rule = min(float(values.mean()) for name, values in errors.items() if name != "majority")
        wanted = f"A useful rule beats {other} by at least {decimal(USEFUL, 2)}, with a 95 % interval above 0"
        # More repetitions are worth trying only if the interval is wide.
        more = " More repetitions may settle it." if loss is not None and loss.high >= USEFUL else ""
        found = f"**no rule clearly beats {other}** ({rival}; the best rule {decimal(rule)})"
        return found, f"Do not use any of these yet. {wanted}.{more}"
    action = words[advice.advised].action
    if action == _REVISE and (pays := steps_that_pay(result)):
        before = "rule of the task" if pays == 1 else f"rules of the {pays} tasks"
        action = action.replace("earlier rules, too", f"the {before} before it")
    if loss is None:
        worth = _worth(errors, best, words, rare, result.settings.scenario)
        return f"**{doing}** of {_NUMBERS[len(errors)]} strategies ({mean[best]}){worth}", action
    if verdict == "simpler":
        found = f"**{other} is nearly as good as the best** ({rival}; {words[best].doing} {mean[best]})"
        gap = f"{decimal(loss.mean)}, 95 % interval {ends(loss.low, loss.high, MARGIN)}"
        why = f"We advise {other}, because it is simpler and {words[best].doing} is less than {margin} better ({gap})."
        return found, f"{action} {why}"
    found = f"**{doing} ({mean[best]}), but it is close**: {other} reaches {rival}"
    interval = f"{decimal(loss.mean)} (95 % interval {ends(loss.low, loss.high)})"
    return found, f"{action} It is close: {other} raises the error by {interval}, so it may be just as good."


def _worth(
    errors: Mapping[str, Floats], best: str, words: Mapping[str, _Words], rare: str, scenario: ScenarioName
) -> str:
    """Say by how much the best beats the usual rivals, if that is clear, and which less simple ones are not worse."""
    found = paired_differences(errors, best, planned=planned(scenario, best))
    unit, worth = " points of balanced error" if rare else " errors in 100", []
    for name in ("single", "pooled", SCENARIOS[scenario].main):
        if name in found and found[name].clear:
            interval = ends(100 * found[name].low, 100 * found[name].high, digits=1, shown="{:.{}f}".format)
            than = words[name].doing.removeprefix("learning ").removesuffix(" all tasks")
            worth.append(f"{interval} fewer{unit} than {than}")
            unit = ""
    less_simple = [name for name in list(errors)[list(errors).index(best) + 1 :] if not found[name].clear]
    tied = [f"{words[name].doing} ({decimal(float(errors[name].mean()))})" for name in less_simple]
    return f": {', '.join(worth[:2])}" * bool(worth) + f"; not clearly worse: {listed(tied)}" * bool(tied)


def steps_that_pay(result: RunResult) -> int:
    """Return how many steps back, 0 to b, revising a task clearly lowers its error, by Holm's method at 5 %.

    Each step is compared with the one before, on the tasks revised that often, up to the first that is not clear.
    """
    values = result.error_tables["forward_backward"].values
    gaps = {"none": np.zeros(len(values))}
    for lag in range(1, values.shape[2]):
        there = values[:, : values.shape[1] - lag]
        gaps[str(lag)] = (there[:, :, lag] - there[:, :, lag - 1]).mean(axis=1)
    found, pays = paired_differences(gaps, "none"), 0
    while (step := found.get(str(pays + 1))) and step.clear and step.mean < 0:
        pays += 1
    return pays
