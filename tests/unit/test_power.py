"""How far a verdict can be relied on: the study of sequences of each kind."""

import pytest

from imrc.diagnostics.power import SIMULATED, power_table
from imrc.paper import shipped


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
