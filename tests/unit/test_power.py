"""How far a verdict can be relied on: the study of sequences of each kind, and guesses compared with the verdict."""

from dataclasses import replace

import numpy as np
import pytest

from imrc.diagnostics import assess
from imrc.diagnostics.power import SIMULATED, power_table
from imrc.diagnostics.words import GUESSES, guess_sentence
from imrc.paper import shipped


def averages(kind: str, tasks: int = 20, components: int = 10, step: float = 1.0, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    moves = generator.standard_normal((tasks, components))
    path = {"walk": np.cumsum(moves, axis=0), "identical": 0 * moves, "scatter": moves}[kind]
    return step * path + generator.standard_normal((tasks, components))


@pytest.fixture(scope="module")
def walk():
    return assess(averages("walk"), 1.0)


@pytest.fixture
def study():
    return shipped.table("verdicts")


@pytest.mark.parametrize("tasks", [1, 5, 14, 20, 35, 5000])
def test_every_sequence_of_the_nearest_number_of_tasks_is_counted_once(study, tasks):
    table = power_table(study, tasks)
    assert list(table["kind"]) == list(SIMULATED)
    assert set(table["k"]) == {{1: 5, 14: 10, 35: 60, 5000: 60}.get(tasks, tasks)}
    assert table[["named", "two", "another", "nothing"]].sum(axis=1).to_numpy() == pytest.approx(100, abs=0.3)


def test_clear_kinds_are_recognised_and_identical_tasks_seldom_called_changing(study):
    table = power_table(study, 60).set_index("kind")
    assert (table.loc[["evolving", "iid", "jump", "periodic", "recurring", "no_change"], "named"] > 80).all()
    assert table.loc["no_change", "evolving"] < 10
    assert power_table(study, 10).set_index("kind").loc["jump", "named"] < table.loc["jump", "named"]


@pytest.mark.parametrize("kind", ["walk", "identical", "scatter"])
@pytest.mark.parametrize("guess", GUESSES)
def test_a_guess_agrees_with_the_verdict_only_if_it_is_named(kind, guess):
    result = assess(averages(kind), 1.0)
    agrees, text = guess_sentence(result, guess)
    assert agrees == (guess in (result.verdict.name, result.verdict.second))
    assert result.verdict.sentence in text
    assert ("agrees" in text or "one of two" in text) == agrees


def test_a_guess_where_nothing_can_be_named_is_neither_right_nor_wrong(walk):
    little = assess(averages("walk", tasks=4), 1.0)
    assert little.verdict.name in ("differ", "too_few")
    assert not guess_sentence(little, "trend")[0]
    assert "names no kind" in guess_sentence(little, "trend")[1]
    two = replace(walk, verdict=replace(walk.verdict, second="trend"))
    assert guess_sentence(two, "trend")[0]
    assert "cannot tell apart" in guess_sentence(two, "trend")[1]
