"""What rules and methods of a run answered for each test row: a repetition is run again, and answers are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imrc._checks import InputError, check_int
from imrc._types import Floats, Ints
from imrc.core.tracking import TaskEstimate
from imrc.evaluation.results import RunResult
from imrc.evaluation.run import Repetition, single_thread
from imrc.evaluation.splits import repetition_seeds
from imrc.solvers import cores
from imrc.solvers.api import probabilities, scores
from imrc.tasks import TaskSequence

if TYPE_CHECKING:
    import pandas as pd


class _Remembering(Repetition):
    """A repetition that keeps the answers of the last test of each rule on each task; of IMRC with probabilities."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - those of a repetition
        super().__init__(*arguments)
        self.kept: dict[tuple[str, int], tuple[Ints, Floats | None]] = {}

    def _wrong(self, task: int, estimate: TaskEstimate, *rules: str) -> NDArray[np.bool_]:
        values = scores(self._tests[task][0](), estimate.coef, self._sequence.n_classes)
        # Without a rule it is a test before the task is learnt, of the single rule if that is of a task alone.
        before = ("before single",) if estimate is self._last_alone else ("before forward",)
        for rule in rules or before:
            self.kept[rule, task] = values.argmax(axis=1), probabilities(values, self._loss, estimate.nu)
        return super()._wrong(task, estimate, *rules)

    def ask(self, task: int, *, learnt: bool = True) -> None:
        """Keep what the compared methods answer for the test rows of a task, by its own rule where they keep those."""
        X = self._mapped.rows(task, self.draw(task).test)[:, 1:]
        for name, learner in self._compared.learners.items():
            own = learnt and learner.keeps_old_rules
            self.kept[name, task] = learner.predict(X, task=task if own else None), None


def predictions(result: RunResult, sequence: TaskSequence, repetition: int) -> pd.DataFrame:
    """Return the table of `RunResult.predictions`."""
    import pandas as pd

    sequence = sequence.head(result.n_tasks)
    if sequence.fingerprint != result.fingerprint:
        raise InputError("These are not the tasks of the run: the fingerprints differ.")
    settings, before = result.settings.computed, result.scenario.kind == "before"
    seed = repetition_seeds(settings.seed, check_int("repetition", repetition, 0, settings.repetitions - 1) + 1)[-1]
    with single_thread():
        again = _Remembering(settings, sequence, seed, cores(), 0, range(len(sequence)))
        for task in range(len(sequence)):
            if before and task:
                again.ask(task, learnt=False)
            again.step(task)
        for task in () if before else range(len(sequence)):
            again.ask(task)
    names, frames = np.array(sequence.class_names, dtype=object), []
    mine = result.scenario.rules if "imrc" in settings.methods else ()
    for rule in (*mine, *settings.compared):
        for task in range(before, len(sequence)):
            rows = again.draw(task).test
            answers, found = again.kept[f"before {rule}" if before and rule in mine else rule, task]
            told = {"task": task + 1, "label": sequence.labels[task], "row": rows, "rule": rule}
            told |= {"class": names[answers], "true": names[sequence.encoded(task)[rows]]}
            told |= {f"p({name})": np.nan if found is None else found[:, c] for c, name in enumerate(names)}
            frames.append(pd.DataFrame(told))
    return pd.concat(frames, ignore_index=True)
