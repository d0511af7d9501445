"""`check`: from tasks to a `Report` by diagnosis, run, references and learning curve, with one progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from imrc._checks import InputTypeError, check_bool
from imrc._progress import ProgressLine
from imrc.evaluation import RunResult, RunSettings, StepResult, join_repetitions, largest_n
from imrc.evaluation.run import run_all, split_references, with_references
from imrc.evaluation.splits import sample_sizes
from imrc.report._report import Report, diagnose
from imrc.tasks import TaskSequence, checked_tasks

ShareDone = Callable[[float, str], object]
FIRST_LOOK = 3
"""Repetitions after which there is a first look."""


def check(
    tasks: TaskSequence,
    n: int | None = None,
    *,
    labels: bool = False,
    progress: bool | ShareDone | None = None,
    **settings: Any,  # noqa: ANN401 - checked by RunSettings
) -> Report:
    """Report whether tasks evolve, whether borrowing from the past pays, what to do, and how many labels that takes.

    Parameters
    ----------
    tasks : TaskSequence
        From `imrc.tasks_from`, or a dataset.
    n : int or None
        Training samples per task; by default the largest n that leaves 100 rows, or half, of each task for testing.
    labels : bool
        Whether to run other values of n too, to find out how many labels are needed. Takes several times as long.
    progress : bool, callable or None
        True shows a bar on stderr; None does so only in a terminal or a notebook. A callable receives the share done
        and a message several times a second; if it raises an exception, the work ends.
    **settings
        Of `imrc.evaluate`, except `methods`: `k`, `b`, `W`, `preset`, `features`, `repetitions`, `seed`, `scenario` and
        values that replace the preset's.

    Returns
    -------
    Report
        With verdict, run, strategies on the same draws and decision.

    Raises
    ------
    InputError
        For a value out of range, an option that does not exist, or tasks that are too small; the message says what to
        change.

    Examples
    --------
    >>> import imrc
    >>> report = check(imrc.datasets.load("identical", tasks=6, samples=60), n=10, repetitions=5)
    >>> report.n, len(report.errors), len(str(report).splitlines()) <= 12
    (10, 5, True)
    """
    (report,) = iter_check(tasks, n, labels=labels, first_look=False, progress=progress, **settings)
    return report


def iter_check(
    tasks: TaskSequence,
    n: int | None = None,
    *,
    labels: bool = False,
    first_look: bool = True,
    progress: bool | ShareDone | None = None,
    **settings: Any,  # noqa: ANN401 - checked by RunSettings
) -> Iterator[Report]:
    """Yield a first look at the tasks after three repetitions, which gives no advice, then what `check` returns.

    Parameters
    ----------
    tasks, n, labels : see `check`
        The tasks, and what is run.
    first_look : bool
        Whether to yield the first look; numbers of the whole report do not depend on it.
    progress, **settings : see `check`
        How progress is shown, and the settings of runs.

    Yields
    ------
    Report
        The first look, marked `is_first_look`, and the whole report.

    Raises
    ------
    InputError
        As `check` does.

    Examples
    --------
    >>> import imrc
    >>> tasks = imrc.datasets.load("identical", tasks=4, samples=60)
    >>> [report.is_first_look for report in iter_check(tasks, n=5, repetitions=5)]
    [True, False]
    """
    sequence = checked_tasks("imrc.check", tasks)
    check_bool("labels", labels)
    if progress is not None and not callable(progress):
        check_bool("progress, unless it can be called with a share and a message,", progress)
    if "methods" in settings:
        raise InputTypeError(
            "check compares strategies of one learner. To compare methods, use imrc.evaluate(methods=...)."
        )
    k = settings.get("k")
    largest = largest_n(sequence if k is None else sequence.head(k))
    chosen = RunSettings.of("check", n=largest if n is None else n, **settings)
    sequence = chosen.fit_to(sequence)
    many = chosen.repetitions
    sizes = [size for size in sample_sizes(largest, chosen.n) if size != chosen.n] if labels else []
    steps, done = len(sequence) * (1 + many * (1 + len(sizes))), 0
    with ProgressLine() as line:
        silent = progress is False or (progress is None and not line.is_seen)
        told = progress if callable(progress) else (lambda *_: None) if silent else line.of("imrc")

        def show(what: str, more: int = 0) -> None:
            nonlocal done
            done += more
            told(min(done / steps, 1.0), what)

        def run(settings: RunSettings, what: str, only: range) -> RunResult:
            def stepped(step: StepResult) -> None:
                show(f"{what}, task {step.number} of {step.total}", len(only))

            return run_all(sequence, settings, only=only, show=stepped, tick=lambda: show(what))

        show("do the tasks evolve?")
        diagnosis = diagnose(sequence, chosen)
        show("do the tasks evolve?", len(sequence))
        ends = [FIRST_LOOK, many] if first_look and many > FIRST_LOOK else [many]
        job, parts = with_references(chosen), list[RunResult]()
        for begin, end in zip([0, *ends], ends, strict=False):
            parts.append(run(job, "errors", range(begin, end)))
            both = parts[0] if len(parts) == 1 else join_repetitions(parts, replace(job, repetitions=end))
            result, references = split_references(both, replace(chosen, repetitions=end))
            whole = end == many
            curve = [run(replace(chosen, n=size), f"n = {size}", range(many)) for size in sizes if whole]
            yield Report(
                run=result,
                sequence=sequence,
                diagnosis=diagnosis,
                references=references,
                curve=tuple(sorted([*curve, result], key=lambda one: one.settings.n)) if curve else (),
                is_first_look=not whole,
            )
