"""Four scenarios: which tasks are learnt from, and which cells of the table of errors are averaged.

The recursions are the same in all of them. Three look at one and the same run in different ways; only learning all
tasks at once is a run of its own, because there every task is within reach of every other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from imrc.baselines import method_title
from imrc.wording import RULES

ScenarioName = Literal["continual", "multi_task", "adaptation", "next_task"]
SCENARIO_NAMES: tuple[ScenarioName, ...] = get_args(ScenarioName)
HeadlineKind = Literal["average", "newest", "lag", "released", "end", "before"]
HEADLINES: dict[HeadlineKind, str] = {
    "average": "mean over steps of the mean over the tasks seen",
    "newest": "mean over tasks of the error at the task's own step",
    "lag": "mean over tasks of the error after b more tasks (the last tasks: at the end)",
    "released": "mean over tasks of the error after b - 1 more tasks, as the authors' script prints",
    "end": "mean over tasks of the error after the last step",
    "before": "mean over tasks, from the second on, of the error on a task before it is learnt (test, then train)",
}
BORROWING = ("forward", "forward_backward")
"""Rules of IMRC that take from other tasks."""
REFERENCES = ("majority", "pooled")
"""Strategies that are none of IMRC's rules: methods of `imrc.baselines.registry`."""
STRATEGY_TITLES = {name: RULES.get(name) or method_title(name) for name in ("majority", "single", "pooled", *BORROWING)}
"""What a practitioner can do, the simplest first, as charts and tables call it."""
STRATEGIES = tuple(name for name in STRATEGY_TITLES if name != "majority")
"""What a model can be learnt by, the simplest first."""


@dataclass(frozen=True)
class Scenario:
    """What is learnt from what, and what is tested."""

    title: str
    field: str  # what the literature calls it
    sentence: str  # which tasks are learnt from and which are tested
    kind: HeadlineKind  # which cells of the table of errors are averaged
    rules: tuple[str, ...]  # the simplest first; the last is the main one

    @property
    def kinds(self) -> dict[HeadlineKind, str]:
        """Errors that tables show, with short titles: that of the scenario, and of continual learning two more."""
        if self.kind == "average":
            return {"average": "all tasks seen", "newest": "newest task", "lag": "after b more tasks"}
        return {self.kind: {"end": "all tasks", "newest": "newest task", "before": "before learning"}[self.kind]}

    @property
    def main(self) -> str:
        """The rule that uses most of what the scenario allows."""
        return self.rules[-1]


SCENARIOS: dict[ScenarioName, Scenario] = {
    "continual": Scenario(
        "All tasks so far",
        "continual learning",
        "Tasks arrive one by one. Each new task is learnt with the help of earlier ones, the last b are revised, and "
        "every task seen so far is tested.",
        "average",
        ("single", "forward", "forward_backward"),
    ),
    "multi_task": Scenario(
        "All tasks at once",
        "multi-task learning",
        "All tasks are there from the start. Each is learnt with the help of all others, and every task is tested.",
        "end",
        ("single", "forward_backward"),
    ),
    "adaptation": Scenario(
        "The newest task",
        "domain adaptation, many sources",
        "Only the newest task matters. It is learnt from its own samples and the tasks before it, and only this "
        "task is tested.",
        "newest",
        ("single", "forward"),
    ),
    "next_task": Scenario(
        "Tomorrow's task",
        "concept drift, test then train",
        "The next task is tested before it has any labels. Its rule comes from the tasks before it.",
        "before",
        ("single", "forward"),
    ),
}


def planned(scenario: ScenarioName, reference: str) -> str | None:
    """Return the rule whose comparison with `reference` is planned: the main one against each task alone."""
    main = SCENARIOS[scenario].main
    return {"single": main, main: "single"}.get(reference)
