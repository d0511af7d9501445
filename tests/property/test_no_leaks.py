"""Whatever happens in later tasks or in rows kept for testing: nothing learnt before or beside them changes."""

from copy import deepcopy
from functools import cache
from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import imrc
from imrc.diagnostics import assess
from imrc.evaluation import RunSettings, iter_run
from imrc.evaluation.run import Learner
from imrc.evaluation.splits import draw_task, repetition_seeds, task_seed
from imrc.features import FEATURE_KINDS, WITH_FREQUENCIES, FeatureSpec
from imrc.tables.read import read_bytes
from imrc.tables.table import Reading

TASKS, ROWS, N = 4, 24, 6
METHODS = ("imrc", "logistic_seen")
QUICK = settings(max_examples=8, suppress_health_check=list(HealthCheck))


def spec_of(kind):
    return FeatureSpec(kind, frequencies=6) if kind in WITH_FREQUENCIES else FeatureSpec(kind)


def numbers_of(sequence, kind, most=None) -> list[dict[str, object]]:
    """Everything a run says at each step, or at so many at most, and every rule it learns."""
    learnt: list[tuple[int, bytes]] = []

    class Recorded(Learner):
        def step(self, X1, y, **options):
            update = super().step(X1, y, **options)
            rules = {update.step: update.forward, **update.revised}
            learnt.append((update.step, b"".join(rules[j].coef.tobytes() for j in sorted(rules))))
            return update

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imrc.evaluation.run.Learner", Recorded)
        chosen = RunSettings(n=N, b=2, features=spec_of(kind), repetitions=1, methods=METHODS)
        steps = list(islice(iter_run(sequence, chosen, threads=1), most))
    return [
        {
            "rules": [rule for number, rule in learnt if number == step.step],
            "errors": {rule: {j: e.tolist() for j, e in found.items()} for rule, found in step.errors.items()},
            "risks": {rule: {j: e.tolist() for j, e in found.items()} for rule, found in step.risks.items()},
            "ess": {rule: {j: e.tolist() for j, e in found.items()} for rule, found in step.ess.items()},
            "choices": {name: values.tolist() for name, values in step.choices.items()},
            "state": {name: values.tolist() for name, values in step.state_sizes.items()},
            "majority": step.majority.tolist(),
        }
        for step in steps
    ]


def own_tasks(seed=0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Columns of very different scale: two of numbers, one of 0 and 1, one that is always 0."""
    generator = np.random.default_rng(seed)
    tasks = []
    for j in range(TASKS):
        y = np.arange(ROWS) % 2
        X = np.column_stack(
            [generator.normal(50 + y, 9), generator.normal(j + y, 1), generator.integers(0, 2, ROWS), np.zeros(ROWS)]
        )
        tasks.append((X, generator.permutation(y)))
    return tasks


def assert_same_but_for_errors_of(changed, before, after) -> None:
    """Compare numbers of two runs; a task's own errors, and those of its most frequent class, may be others."""
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        for step in (one, other):
            for found in step["errors"].values():
                found.pop(changed, None)
            if number == changed:
                step["majority"] = None
        assert one == other


@cache
def usual(kind, source, seed) -> list[dict[str, object]]:
    """Numbers of what no test has changed: the same for many of them."""
    sequence = read(own_rows(seed)) if source == "rows" else sequence_of(own_tasks(seed))
    return numbers_of(sequence, kind)


def sequence_of(tasks) -> imrc.TaskSequence:
    return imrc.TaskSequence([imrc.Task(X, y) for X, y in tasks], classes=[0, 1])


CHANGES = {
    "shift": lambda X, y: (X + 1000.0, y),
    "flip": lambda X, y: (-X, 1 - y),
    "replace": lambda X, y: (np.full_like(X, 0.5), np.zeros_like(y)),
    "stretch": lambda X, y: (X * 1e6, y),
    "delete rows": lambda X, y: (X[:13], y[:13]),
    "one cell": lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 3, 0.5, X), y),
}


@pytest.mark.parametrize("kind", FEATURE_KINDS)
@pytest.mark.parametrize("change", [*CHANGES, "delete"])
def test_later_tasks_change_no_earlier_number(kind, change):
    tasks, before = own_tasks(), usual(kind, "tasks", 0)
    for first_changed in (1, TASKS - 1):
        later = [] if change == "delete" else [CHANGES[change](*task) for task in tasks[first_changed:]]
        after = numbers_of(sequence_of(tasks[:first_changed] + later), kind)
        assert after[:first_changed] == before[:first_changed]
        if later and change != "one cell" and kind not in ("automatic", "rff_median", "blended"):
            assert after[first_changed:] != before[first_changed:]  # the comparison can tell


@pytest.mark.parametrize("kind", FEATURE_KINDS)
@pytest.mark.parametrize("changed", range(TASKS))
@pytest.mark.parametrize("change", ["flip", "stretch"])
def test_rows_kept_for_testing_change_nothing_but_their_own_errors(kind, changed, change):
    tasks, before = own_tasks(1), deepcopy(usual(kind, "tasks", 1))
    X, y = (values.copy() for values in tasks[changed])
    (repetition,) = repetition_seeds(0, 1)
    rows = draw_task(y, N, 2, task_seed(repetition, changed)).test
    X[rows], y[rows] = CHANGES[change](X[rows], y[rows])
    tasks[changed] = X, y
    assert_same_but_for_errors_of(changed, before, numbers_of(sequence_of(tasks), kind))


# One's own table: columns of numbers with gaps, 0 and 1, words, dates.
HEADER = ["amount", "flag", "colour", "rare", "day", "y"]


def own_rows(seed=0) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(TASKS * ROWS):
        y = generator.integers(2)
        amount = "" if generator.random() < 0.2 else f"{generator.normal(3 * y, 2):.2f}"
        colour = generator.choice(["red", "green", "", "blue"], p=[0.5, 0.3, 0.1, 0.1])
        day = np.datetime64("2021-03-01") + np.timedelta64(int(generator.integers(60)), "D")
        rows.append([amount, str(generator.integers(2)), colour, "0", str(day), "ab"[y]])
    return rows


def read(rows, header=HEADER) -> imrc.TaskSequence:
    """Cut a file as always, but read it in this process: there are hundreds."""
    text = "\n".join(",".join(row) for row in [header, *rows])
    table = read_bytes(text.encode(), "table.csv", Reading())
    return imrc.datasets.cut_table(table, label="y", block=ROWS).sequence


VALUES = {
    "amount": ["", "0.5", "-1000000", "1e7"],
    "flag": ["", "0.5", "1", "7"],
    "colour": ["", "violet", "red", "Aachen", "zinc", "1"],
    "rare": ["", "0.5", "1", "40"],
    "day": ["", "1999-12-31", "2030-01-01"],
    "y": ["a", "b"],
}
EDIT = st.sampled_from(HEADER).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(VALUES[name])))


@pytest.mark.slow
@QUICK
@given(
    kind=st.sampled_from(FEATURE_KINDS),
    first_changed=st.integers(1, TASKS - 1),
    edits=st.lists(st.tuples(st.integers(0, 3 * ROWS - 1), EDIT), min_size=1, max_size=60),
)
def test_cells_of_later_tasks_change_no_earlier_number_of_a_table(kind, first_changed, edits):
    rows, before = own_rows(), usual(kind, "rows", 0)
    start = first_changed * ROWS
    for place, (name, value) in edits:
        rows[start + place % (len(rows) - start)][HEADER.index(name)] = value
    assert numbers_of(read(rows), kind, first_changed) == before[:first_changed]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FEATURE_KINDS)
@pytest.mark.parametrize(("name", "value"), [(name, v) for name, values in VALUES.items() for v in values[:2]])
def test_a_whole_column_of_later_tasks_changes_no_number_of_the_first(kind, name, value):
    rows, before = own_rows(2), usual(kind, "rows", 2)
    for row in rows[ROWS:]:
        row[HEADER.index(name)] = value
    assert numbers_of(read(rows), kind, 1) == before[:1]


@pytest.mark.slow
@QUICK
@given(
    kind=st.sampled_from(FEATURE_KINDS),
    changed=st.integers(0, TASKS - 1),
    edits=st.lists(st.tuples(st.integers(0, ROWS), EDIT), min_size=1, max_size=40),
)
def test_test_rows_of_a_table_change_nothing_but_their_own_errors(kind, changed, edits):
    rows = own_rows(3)
    sequence = read(rows)
    before = deepcopy(usual(kind, "rows", 3))
    (repetition,) = repetition_seeds(0, 1)
    test = draw_task(sequence.encoded(changed), N, 2, task_seed(repetition, changed)).test
    for place, (name, value) in edits:
        rows[changed * ROWS + test[place % len(test)]][HEADER.index(name)] = value
    assert_same_but_for_errors_of(changed, before, numbers_of(read(rows), kind))


@pytest.mark.parametrize("kind", FEATURE_KINDS)
def test_words_never_seen_in_the_first_task_and_columns_without_any_value_there_are_learnt_with(kind):
    rows = own_rows(4)
    for i, row in enumerate(rows):
        row[0] = "" if i < ROWS else row[0]
        row[1] = "5" if i < ROWS else row[1]
        row[2] = "only" if i < ROWS else f"new {i % 5}"
        row[4] = "2021-03-01" if i < ROWS else row[4]
    sequence = read(rows)
    assert len(numbers_of(sequence, kind)) == TASKS
    assert assess(sequence, features=spec_of(kind)).k == assess(sequence).k == TASKS
    # Nothing that is left has a scale in the first task.
    bare = read([[str(5 if i < ROWS else i), row[5]] for i, row in enumerate(rows)], ["x", "y"])
    assert len(numbers_of(bare, kind)) == TASKS


@pytest.mark.parametrize("kind", FEATURE_KINDS)
@pytest.mark.parametrize("source", ["tasks", "table"])
def test_numbers_do_not_depend_on_threads_or_on_which_repetitions_run(kind, source):
    sequence = sequence_of(own_tasks(5)) if source == "tasks" else read(own_rows(5))
    chosen = RunSettings(n=N, b=2, features=spec_of(kind), repetitions=3, methods=METHODS)
    whole = list(iter_run(sequence, chosen, threads=3))
    for repetition in range(3):
        part = list(iter_run(sequence, chosen, threads=1, only=[repetition]))
        for one, other in zip(whole, part, strict=True):
            for mine, theirs in ((one.errors, other.errors), (one.risks, other.risks)):
                for rule, found in mine.items():
                    for task, values in found.items():
                        assert values[repetition] == theirs[rule][task][0]
