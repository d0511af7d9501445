"""How far a verdict can be relied on: simulations of each kind, and guesses compared with the verdict."""

from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc._checks import InputError
from imrc.diagnostics import assess, verdict_power
from imrc.diagnostics.power import KIND_NAMES, MOST_TASKS, SIMULATED, power_rows, power_sentences
from imrc.diagnostics.words import GUESSES, guess_sentence
from imrc.plots.power import power_chart


def averages(kind: str, tasks: int = 20, components: int = 10, step: float = 1.0, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    moves = generator.standard_normal((tasks, components))
    path = {"walk": np.cumsum(moves, axis=0), "identical": 0 * moves, "scatter": moves}[kind]
    return step * path + generator.standard_normal((tasks, components))


@pytest.fixture(scope="module")
def walk():
    return assess(averages("walk"), 1.0)


@pytest.fixture(scope="module")
def power(walk):
    return verdict_power(walk, simulations=40)


def test_every_simulation_is_counted_once(power):
    shares = power.table[["named", "one_of_two", "another", "nothing"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert list(power.table["kind"]) == list(power.verdicts.index) == list(SIMULATED)
    assert (power.verdicts.sum(axis=1) == 40).all()
    for column in ("named", "same"):
        low, value, high = (power.table[f"{column}{end}"] for end in ("_low", "", "_high"))
        assert ((low <= value + 1e-12) & (value <= high + 1e-12)).all()


def test_the_same_numbers_come_again_and_others_with_another_seed(walk, power):
    assert verdict_power(walk, simulations=40).verdicts.equals(power.verdicts)
    assert not verdict_power(walk, simulations=40, seed=1).verdicts.equals(power.verdicts)


def test_clear_kinds_are_recognised_and_identical_tasks_seldom_called_changing(power):
    named = power.table.set_index("kind")["named"]
    assert (named[["evolving", "iid", "trend", "jump", "periodic"]] > 0.8).all()
    assert named["no_change"] > 0.8
    assert power.table.set_index("kind")["same"]["no_change"] < 0.1


def test_small_changes_are_recognised_less_often():
    shares = []
    for step in (0.1, 1.0):
        result = assess(averages("walk", step=step), 1.0)
        shares.append(verdict_power(result, simulations=20).table.set_index("kind")["named"]["evolving"])
    assert shares[0] < shares[1]


def test_simulated_tasks_are_as_far_apart_as_those_diagnosed(walk, power):
    assert power.spread == walk.q - 1.0
    assert not power.is_limit
    assert power.components == round(walk.m_eff)
    unseen = assess(averages("identical"), 1.0)
    limit = verdict_power(unseen, simulations=2)
    assert limit.is_limit
    assert limit.spread == pytest.approx(unseen.change.high * (20 + 1) / 6)
    assert "would not be seen" in power_sentences(limit)[2]


def test_averages_stand_for_samples():
    """The share of random walks named is that of whole sequences of samples which are as far apart."""
    sequences = [imrc.datasets.load("random_walk", tasks=8, samples=30, seed=seed) for seed in range(60)]
    results = [assess(sequence, features="identity", permutations=199) for sequence in sequences]
    middle = sorted(results, key=lambda result: result.q)[30]
    near = [result for result in results if 0.6 < (result.q - 1) / (middle.q - 1) < 1.6]
    share = np.mean([result.verdict.name == "evolving" and result.verdict.second is None for result in near])
    row = verdict_power(middle, simulations=100).table.set_index("kind").loc["evolving"]
    # Two binomial errors together.
    error = np.sqrt(0.25 / len(near) + 0.25 / 100)
    assert abs(row["named"] - share) < 3 * error


def test_few_tasks_have_no_table_and_of_many_the_first_are_simulated():
    with pytest.raises(InputError, match="fewer than 5 tasks"):
        verdict_power(assess(averages("walk", tasks=4), 1.0))
    long = assess(averages("walk", tasks=MOST_TASKS + 30, components=3), 1.0, permutations=99)
    assert verdict_power(long, simulations=1).tasks == MOST_TASKS


def test_it_says_how_far_it_is_and_can_be_ended(walk):
    seen = []

    def tick(share):
        seen.append(share)
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verdict_power(walk, simulations=3, tick=tick)
    assert seen == sorted(seen)
    assert seen[0] == 0.0


def test_words_and_chart_show_the_table(power):
    said = power_sentences(power)
    own = power.table.set_index("kind").loc["evolving"]
    assert f"{100 * own['named']:.0f} of 100" in said[0]
    rows = power_rows(power)
    assert list(rows["Really"]) == list(KIND_NAMES.values())
    figure = power_chart(power)
    assert figure.layout.title.text.endswith("?")
    assert np.sum([trace.x for trace in figure.data], axis=0) == pytest.approx(100)
    assert f"<b>{KIND_NAMES['evolving']}</b>" in figure.data[0].y


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
