"""What a run says a practitioner should do: the strategies at hand, which is best, how sure that is, what it is worth.

Learning forward and backward is not compared with learning each task alone only: the first things anybody would try
are always answering the most frequent class, and one rule for everything seen so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from imrc._types import Floats
from imrc.evaluation.pairing import same_draws
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import iter_run
from imrc.evaluation.scenarios import SCENARIOS, HeadlineKind, ScenarioName, planned
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.significance import Difference, Headline, holm, mean_interval, paired_differences
from imrc.tasks import TaskSequence
from imrc.wording import decimal

STRATEGIES = {
    "majority": "Always the most frequent class",
    "single": "Only the newest task",
    "pooled": "Everything so far, pooled",
    "forward": "Forward",
    "forward_backward": "Forward and backward",
}
"""What a practitioner can do, the simplest first, as charts and tables call it."""

_DOING = {
    "single": "learning each task alone",
    "pooled": "pooling everything so far",
    "forward": "learning forward",
    "forward_backward": "learning forward and backward",
}
_THAN = {"single": "than each task alone", "pooled": "than pooling everything so far"}

_TITLES_IN: dict[str, dict[str, str]] = {
    "multi_task": {
        "single": "Each task alone",
        "pooled": "All tasks, pooled",
        "forward_backward": "All tasks, each with its own rule",
    },
    "next_task": {"single": "Only the last task"},
}
_DOING_IN: dict[str, dict[str, str]] = {
    "multi_task": {
        "pooled": "one rule for all tasks",
        "forward_backward": "learning all tasks together, each with a rule of its own",
    },
    "adaptation": {"single": "learning the newest task alone"},
    "next_task": {"single": "the rule of the last task", "forward": "learning forward to the next task"},
}
_THAN_IN: dict[str, dict[str, str]] = {
    "multi_task": {"pooled": "than one rule for all tasks"},
    "adaptation": {"single": "than the newest task alone"},
    "next_task": {"single": "than the rule of the last task"},
}
"""Where a scenario calls for other words."""

REFERENCES = {"majority": "majority", "pooled": "logistic_seen"}
"""Methods of `imrc.baselines.registry` behind the strategies that are none of IMRC's rules."""


@dataclass(frozen=True)
class Strategy:
    """One thing a practitioner could do.

    Attributes
    ----------
    name, title : str
        Key, one of `STRATEGIES` or the name of a compared method, and name for people.
    error : Headline
        Average error over repetitions, the same average for all.
    low, high : float
        95 % t interval of the error over repetitions; NaN with one repetition.
    recall : float or None
        Share of the rare class that is found; None where no class is rare.
    """

    name: str
    title: str
    error: Headline
    low: float
    high: float
    recall: float | None = None


@dataclass(frozen=True)
class Decision:
    """What a run says should be done.

    Attributes
    ----------
    strategies : tuple of Strategy
        The simplest first.
    advised : str
        Name of the strategy to choose: the simplest of those that nothing beats clearly.
    sentence : str
        The finding in one sentence, in Markdown.
    action : str
        What to do, in one or two plain sentences.
    notes : tuple of str
        What a reader should know besides; may be empty.
    rare : str
        Name of the rare class where there is one: errors are then balanced errors, the mean of the error rates on that
        class and on all others.
    """

    strategies: tuple[Strategy, ...]
    advised: str
    sentence: str
    action: str
    notes: tuple[str, ...] = ()
    rare: str = ""

    @property
    def measure(self) -> str:
        """What the errors are: "error" or "balanced error"."""
        return "balanced error" if self.rare else "error"

    def __getitem__(self, name: str) -> Strategy:
        """Return the strategy of a name."""
        return next(one for one in self.strategies if one.name == name)


def reference_settings(settings: RunSettings) -> RunSettings:
    """Return what runs the references of a decision on the draws of these settings; nothing else decides them."""
    alone = replace(settings, methods=tuple(REFERENCES.values()), preset="paper", W=None, b=0, overrides=())
    return replace(alone, scenario="continual")


def run_references(sequence: TaskSequence, settings: RunSettings) -> RunResult:
    """Run the references of a decision on the same draws as a run.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    settings : RunSettings
        Those of the run.

    Returns
    -------
    RunResult
        For `decide`.
    """
    mine = reference_settings(settings)
    return RunResult.from_steps(mine, sequence, list(iter_run(sequence, mine)))


def decide(
    result: RunResult,
    title: str,
    *,
    references: RunResult | None = None,
    compared: Mapping[str, RunResult] | None = None,
    usual: str | None = None,
    as_text: Callable[[str], str] = str,
) -> Decision:
    """Say which strategy to choose after a run, how sure that is, and what it is worth.

    All strategies are judged by the same error on the same draws: that of the scenario of the run, unless said
    otherwise the mean over steps of the mean over the tasks seen.
    What counts as more than noise is decided by `imrc.evaluation.significance.paired_differences`.

    Parameters
    ----------
    result : RunResult
        A run of IMRC.
    title : str
        Name of the data for people.
    references : RunResult or None
        From `run_references` with the settings of the run. None: the most frequent class is judged at the step of each
        task only, and nothing is said about pooling.
    compared : mapping of str to RunResult or None
        Title and run of compared methods on the same draws; the best of them is among the strategies.
    usual : str or None
        Name of the most frequent class; None: it is called so.
    as_text : callable, default: str
        Writes names that come from the data so that the reader of the sentences, of Markdown or HTML, takes them
        literally.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        If the references or methods were run on other tasks or draws.

    Examples
    --------
    >>> import imrc
    >>> sequence = imrc.datasets.load("identical", tasks=6, samples=80)
    >>> result = imrc.evaluate(sequence, n=5)
    >>> found = decide(result, "Identical tasks", references=run_references(sequence, result.settings))
    >>> [one.name for one in found.strategies]
    ['majority', 'single', 'pooled', 'forward', 'forward_backward']
    >>> found["single"].error == result.headline()["single"]
    True
    """
    kind, scenario = result.scenario.kind, result.settings.scenario
    sources, titles = _sources(result, references, compared or {})
    plain = {name: run.per_repetition(method, kind) for name, (run, method) in sources.items()}
    if references is None:
        plain = {"majority": result.majority.average(), **plain}
    balanced = {
        name: values for name, (run, method) in sources.items() if (values := run.balanced(method, kind)) is not None
    }
    rare = result.rare_class if len(balanced) == len(plain) else ""
    errors = balanced if rare else plain
    strategies = tuple(
        Strategy(
            name,
            titles[name],
            Headline.of(values),
            *mean_interval(values)[1:],
            recall=_recall(*sources[name], kind) if rare else None,
        )
        for name, values in errors.items()
    )
    notes = [] if "pooled" in errors else ["Pooling everything so far was not run beside it."]
    if rare:
        notes.append(_rare_note(as_text(rare), strategies, plain))
    elif result.rare_class:
        notes.append(
            f"“{as_text(result.rare_class)}” is rare, and errors before learning are not counted class by class: who "
            "never gives that answer is seldom wrong here."
        )
    answer = _answer(None if usual is None else as_text(usual))
    case = _Case(errors, titles, f"On *{as_text(title)}*", answer, rare, scenario)
    if not all(np.isfinite(values).all() for values in errors.values()):
        advised, sentence, action = case.nothing_tested()
    elif result.settings.repetitions < 2:
        advised, sentence, action = case.one_repetition()
    elif not any(gap.clear and gap.mean < 0 for gap in case.against("majority").values()):
        advised, sentence, action = case.nothing_beats_guessing()
    else:
        advised, sentence = case.advice()
        action = _action(advised, result)
    return Decision(strategies, advised, sentence, action, tuple(notes), rare)


def _recall(run: RunResult, method: str, kind: HeadlineKind) -> float | None:
    missed = run.misses(method, kind)
    return None if missed is None else 1.0 - float(missed.mean())


def _rare_note(rare: str, strategies: tuple[Strategy, ...], plain: Mapping[str, Floats]) -> str:
    found = ", ".join(f"{one.title} {decimal(one.recall)}" for one in strategies if one.recall is not None)
    errors = ", ".join(f"{one.title} {decimal(float(plain[one.name].mean()))}" for one in strategies)
    return (
        f"“{rare}” is rare, and who never gives that answer is seldom wrong. So the balanced error is shown: the mean "
        f"of the error rates on “{rare}” and on all else, .500 for guessing. Share of “{rare}” found (recall): "
        f"{found}. Plain errors: {errors}."
    )


def _answer(usual: str | None) -> str:
    return "always giving the most frequent answer" if usual is None else f"always answering “{usual}”"


def usual_answer(sequence: TaskSequence) -> str:
    """Return the name of the most frequent class of a sequence.

    >>> import imrc
    >>> usual_answer(imrc.datasets.load("identical", tasks=2)) in ("0", "1")
    True
    """
    return sequence.class_names[int(sequence.class_counts().sum(axis=0).argmax())]


def _sources(
    result: RunResult, references: RunResult | None, compared: Mapping[str, RunResult]
) -> tuple[dict[str, tuple[RunResult, str]], dict[str, str]]:
    """Return the run and its method behind each strategy, the simplest first, and the titles."""
    for other in (*compared.values(), *([] if references is None else [references])):
        theirs, mine = ((one.settings.n, one.settings.features) for one in (other, result))
        if theirs != mine or not same_draws(other, result):
            raise ValueError("References and compared methods must be run on the same tasks and draws as the run.")
    kind, scenario = result.scenario.kind, result.settings.scenario
    found = {name: (result, name) for name in result.rules if name in STRATEGIES}
    if references is not None:
        found |= {name: (references, method) for name, method in REFERENCES.items()}
    found = {name: found[name] for name in STRATEGIES if name in found}
    titles = STRATEGIES | _TITLES_IN.get(scenario, {})
    others = {shown: (run, name) for shown, run in compared.items() for name in run.error_tables}
    if others:
        best = min(others, key=lambda shown: float(others[shown][0].per_repetition(others[shown][1], kind).mean()))
        found[best], titles[best] = others[best], best
    return found, titles


@dataclass(frozen=True, eq=False)
class _Case:
    """The errors of one decision, compared."""

    errors: dict[str, Floats]
    titles: Mapping[str, str]
    where: str
    guessing: str
    rare: str
    scenario: ScenarioName

    @cached_property
    def mean(self) -> dict[str, float]:
        return {name: float(values.mean()) for name, values in self.errors.items()}

    def against(self, reference: str) -> dict[str, Difference]:
        return paired_differences(self.errors, reference, planned=planned(self.scenario, reference))

    @property
    def fewest(self) -> str:
        return "the lowest balanced error" if self.rare else "the fewest errors"

    @property
    def unit(self) -> str:
        return " points of balanced error" if self.rare else " errors in 100"

    def doing(self, name: str) -> str:
        return (_DOING | _DOING_IN.get(self.scenario, {})).get(name, self.titles[name])

    def than(self, name: str) -> str:
        return (_THAN | _THAN_IN.get(self.scenario, {})).get(name, f"than {self.doing(name)}")

    def best_learner(self) -> str:
        return min((name for name in self.mean if name != "majority"), key=self.mean.__getitem__)

    def nothing_tested(self) -> tuple[str, str, str]:
        sentence = f"{self.where}, **there is no next task yet**: it takes two tasks to test one before it is learnt."
        return "majority", sentence, "Learn at least two tasks."

    def one_repetition(self) -> tuple[str, str, str]:
        best = min(self.mean, key=self.mean.__getitem__)
        named = self.guessing if best == "majority" else self.doing(best)
        numbers = ", ".join(
            f"{self.titles[name].lower() if name in STRATEGIES else self.titles[name]} {decimal(value)}"
            for name, value in self.mean.items()
            if name != best
        )
        sentence = (
            f"{self.where}, **{named}** makes {self.fewest} in one repetition ({decimal(self.mean[best])}; {numbers})."
        )
        return best, sentence, "One repetition cannot tell a difference from chance: choose at least 5."

    def nothing_beats_guessing(self) -> tuple[str, str, str]:
        best = self.best_learner()
        clearly = "clearly " if self.mean[best] < self.mean["majority"] else ""
        sentence = (
            f"{self.where}, **no rule {clearly}beats {self.guessing} here yet** "
            f"({decimal(self.mean['majority'])}; the best rule, {self.doing(best)}, {decimal(self.mean[best])})."
        )
        action = (
            "Do not use a model of these data yet. Draw more samples per task, or find columns that say more about the "
            "answer."
            if self.scenario != "next_task"
            else "Do not rely on a rule for the next task before some of its labels are there."
        )
        return "majority", sentence, action

    def advice(self) -> tuple[str, str]:
        winner = self.best_learner()
        against = self.against(winner)
        level = [name for name in self.errors if name != "majority" and (name == winner or not against[name].clear)]
        advised = level[0]
        gains = self.against("single")
        if advised not in ("single", winner) and not gains[advised].clear:
            # Only the best is clearly better than each task alone, so the simpler one cannot stand for it.
            advised, level = winner, [winner]
        doing, ties = self.doing(advised), [name for name in level if name != advised]
        if advised == "single":
            if not ties:
                return advised, f"{self.where}, **{doing} makes {self.fewest}** ({self.spread(advised)})."
            return advised, (
                f"{self.where}, **nothing clearly beats {doing}** ({decimal(self.mean[advised])}; "
                f"{self.doing(winner) if winner != advised else self.doing(ties[-1])} "
                f"{decimal(self.mean[winner if winner != advised else ties[-1]])}, no clear difference)."
            )
        worth = [f"{_in_100(gains[advised])}{self.unit} {self.than('single')}"]
        rival = "pooled" if advised != "pooled" else SCENARIOS[self.scenario].main
        gap = self.against(advised).get(rival)
        if gap is not None and gap.clear and gap.mean > 0:
            worth.append(f"{_in_100(gap, of_the_other=True)} {self.than(rival)}")
        if not ties:
            return advised, f"{self.where}, **{doing} makes {self.fewest}**: {', '.join(worth)}."
        other = winner if winner != advised else ties[-1]
        return advised, (
            f"{self.where}, **{doing} does as well as anything**: {', '.join(worth)}, and no clear difference to "
            f"{self.doing(other)} ({decimal(self.mean[advised])}, {decimal(self.mean[other])})."
        )

    def spread(self, advised: str) -> str:
        others = [value for name, value in self.mean.items() if name not in (advised, "majority")]
        return f"{decimal(self.mean[advised])}; the others {decimal(min(others))} to {decimal(max(others))}"


def _in_100(gap: Difference, *, of_the_other: bool = False) -> str:
    """Return how many errors fewer or more a difference means in 100 answers, with its interval.

    >>> _in_100(Difference(-0.08, 0.01, 0.005, -0.1, -0.062, 0.001, True))
    '6 to 10 fewer'
    >>> _in_100(Difference(0.004, 0.001, 0.001, 0.0021, 0.0061, 0.01, True), of_the_other=True)
    '0.2 to 0.6 fewer'
    """
    low, high = sorted((100.0 * abs(gap.low), 100.0 * abs(gap.high)))
    digits = 0 if high >= 2 and low >= 0.5 else 1
    ends = [f"{low:.{digits}f}", f"{high:.{digits}f}"]
    amount = f"about {ends[0]}" if ends[0] == ends[1] else " to ".join(ends)
    return f"{amount} {'fewer' if (gap.mean < 0) != of_the_other else 'more'}"


def steps_that_pay(result: RunResult) -> int:
    """Return how many steps back, 0 to b, revising a task clearly lowers its error.

    Each further step back is compared with the one before, on the tasks that were revised that often; the comparisons
    share the level of 5 % by Holm's method, and counting ends at the first that is not clear.

    >>> import imrc
    >>> steps_that_pay(imrc.evaluate(imrc.datasets.load("identical", tasks=8), n=5, b=2)) <= 2
    True
    """
    values = result.error_tables["forward_backward"].values
    steps = []
    for lag in range(1, values.shape[2]):
        there = values[:, : values.shape[1] - lag]
        gaps = (there[:, :, lag] - there[:, :, lag - 1]).mean(axis=1)
        steps.append(paired_differences({"now": gaps, "before": np.zeros_like(gaps)}, "before")["now"])
    corrected = holm([step.p for step in steps])
    pays = 0
    for step, p in zip(steps, corrected, strict=True):
        if not (math.isfinite(p) and p < 0.05 and step.mean < 0):
            break
        pays += 1
    return pays


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


_NEWEST_ONLY = "Train on the newest task only: what earlier tasks say does not help clearly here."
_ACTIONS: dict[ScenarioName, dict[str, str]] = {
    "continual": {
        "single": _NEWEST_ONLY,
        "pooled": "Train one rule on everything seen so far: following the change does not pay clearly here.",
        "forward": "Update the rule with each task. Revising old tasks does not pay clearly.",
    },
    "multi_task": {
        "single": "Train a rule per task on its own samples: what other tasks say does not help clearly here.",
        "pooled": "Train one rule on all tasks together: a rule per task does not pay clearly here.",
        "forward_backward": "Learn all tasks together, and keep a rule for each.",
    },
    "adaptation": {
        "single": _NEWEST_ONLY,
        "pooled": "Train one rule on everything so far: following the change does not pay clearly here.",
        "forward": "Learn the newest task with what the tasks before it tell.",
    },
    "next_task": {
        "single": "Use the rule of the last task for the next one: what earlier tasks say does not help clearly here.",
        "pooled": "Use one rule of everything so far for the next task: following the change does not pay here.",
        "forward": "Use the forward rule for the next task until its labels come.",
    },
}
"""What to do, by scenario and strategy advised."""


def _action(advised: str, result: RunResult) -> str:
    if advised in (said := _ACTIONS[result.settings.scenario]):
        return said[advised]
    if advised != "forward_backward":
        return "It is worth a look what that costs in time and memory: see *Against others*."
    pays = steps_that_pay(result)
    if not pays:
        return "Update the rule with each task, and revise the tasks before it."
    many = _NUMBERS[pays] if pays < len(_NUMBERS) else str(pays)
    back = f"{many} step{'s' * (pays > 1)} back"
    if pays == result.settings.b:
        back = f"{'all' if pays > 1 else 'the'} {back} tried"
    return f"Update the rule with each task; revising old tasks pays for {back}."
