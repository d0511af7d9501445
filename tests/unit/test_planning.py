"""The planner: the recursions' numbers, in both directions, and wishes that nothing fulfils."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import imrc
from imrc import planning
from imrc.cli import main
from imrc.core import theory
from imrc.core.recursions import borrowed_samples
from imrc.diagnostics import assess
from imrc.evaluation.budget import falling
from imrc.evaluation.results import RunResult
from imrc.planning import MOST_TASKS, PLACES, Rate, ceiling, make_plan, more_sentence, needed, plan_table, way_sentence

RATES = (0.0, 1e-3, 0.05, 0.1, 1.0, 20.0)


def by_recursion(n: int, k: int, b: int, rho: float, of: str) -> float:
    forward, _, both = theory.ess_recursion(np.full(k, float(n)), 1.0, rho, b)
    if of == "mean":
        return float(both.mean())
    return float(forward[-1] if of == "newest" else borrowed_samples(forward[-1], 1.0, rho))


@pytest.mark.parametrize("of", PLACES)
@pytest.mark.parametrize("rho", RATES)
def test_every_point_is_that_of_the_recursions_and_more_is_never_worth_less(of, rho):
    plan = make_plan(Rate(rho, rho / 2, 2 * rho), 10, 12, 2, ess=15, of=of)
    table = plan_table(plan)
    assert set(table["vary"]) == {"n", "k", "b"}
    for row in table.itertuples():
        at = {"n": plan.n, "k": plan.k, "b": plan.b, row.vary: row.x}
        for value, rate in ((row.value, rho), (row.low, 2 * rho), (row.high, rho / 2)):
            assert value == pytest.approx(by_recursion(**at, rho=rate, of=of), rel=1e-10, abs=1e-10)
    for _, part in table.groupby("vary"):
        assert (np.diff(part.sort_values("x")["value"]) >= -1e-9).all()


@pytest.mark.parametrize("of", PLACES)
@pytest.mark.parametrize("vary", ["n", "k", "b"])
def test_inverses_invert(of, vary):
    found, values = 0, {"n": (3, 10, 50), "k": (2, 20), "b": (0, 3)}
    values[vary] = values[vary][-1:]  # what varies is looked for: where it stands does not count
    for n, k, b, rho, ess in itertools.product(*values.values(), (0.0, 0.01, 0.3), (1.5, 12.0, 70.0)):
        at = {"n": n, "k": k, "b": b}
        value = needed(ess, vary, n, k, b, rho, of)
        limit = ceiling(vary, n, k, b, rho, of)
        if value is None:
            most = {"n": 10**9, "k": MOST_TASKS, "b": k - 1}[vary]
            assert planning.effective_samples_of(**{**at, vary: most}, rho=rho, of=of) < ess
            assert ess > limit * (1 - 1e-3)
            continue
        found += 1
        assert planning.effective_samples_of(**{**at, vary: value}, rho=rho, of=of) >= ess
        assert ess <= limit * (1 + 1e-12)
        if value > (0 if vary == "b" else 1):
            assert planning.effective_samples_of(**{**at, vary: value - 1}, rho=rho, of=of) < ess
    assert found > 5


def test_samples_of_many_tasks_are_those_of_the_closed_form():
    for place, ess, sign in (("next", 6.0, -1.0), ("newest", 25.0, 1.0)):
        assert needed(ess, "n", 1, 10_000, 3, 0.1, place) == math.ceil(0.1 * ess**2 / (1.0 + sign * 0.1 * ess))


def test_the_next_task_has_a_ceiling_and_it_is_named():
    assert needed(9.999, "n", 10, 20, 3, 0.1, "next") is not None
    plan = make_plan(Rate(0.1, 0.05, 0.2), 10, 20, 3, ess=10, of="next")
    by_n, by_k, by_b = plan.ways
    assert by_n.value is by_k.value is by_b.value is None
    assert by_n.low == needed(10, "n", 10, 20, 3, 0.05, "next")
    assert "never worth 1 / ρ = 10 samples" in way_sentence(plan, by_n)
    assert "the limit is 6.2, however many tasks there are" in way_sentence(plan, by_k)
    assert "there are none yet" in way_sentence(plan, by_b)
    assert more_sentence(plan).startswith("10 samples are out of reach: the next task is never worth 10;")


def test_an_interval_without_limits_is_an_answer():
    plan = make_plan(Rate(0.1, 0.0, math.inf), 10, 20, 1, ess=30)
    assert plan.promised["mean"].low == 10.0
    assert plan.promised["next"].low == 0.0
    assert plan.ways[0].low < plan.ways[0].value < plan.ways[0].high == 30
    assert np.isfinite(plan_table(plan)[["value", "low", "high"]].to_numpy()).all()
    with pytest.raises(ValueError, match="rate of change"):
        make_plan(Rate(math.inf, 0.0, math.inf), 10, 20, 1)


@pytest.fixture(scope="module")
def runs(compiled) -> list[RunResult]:
    sequence = imrc.datasets.load("random_walk", tasks=6, seed=0)
    return [imrc.evaluate(sequence, n=n, repetitions=3) for n in (5, 10, 20, 40)]


def test_errors_go_with_samples_and_back(runs):
    curve = falling(np.array([run.headline()["single"].mean for run in runs]))
    middle = float(curve[[0, -1]].mean())
    ess = planning.samples_for(runs, middle)
    assert np.interp(math.log(ess), np.log([5, 10, 20, 40]), curve) == pytest.approx(middle)
    with pytest.raises(ValueError, match=r"out of reach of the learning curve.* with 40 samples"):
        planning.samples_for(runs, 0.0)


def test_the_command_gives_the_library_s_numbers(capsys):
    few = ["--repetitions", "1", "--features", "identity"]
    assert main(["check", "random_walk", "-n", "8", "-b", "1", "-k", "10", *few, "--ess", "40", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    sequence = imrc.datasets.load("random_walk", tasks=10, seed=0)
    rate = Rate(*assess(sequence, features="identity").ratio_at(1))
    plan = make_plan(rate, 8, 10, 1, ess=40)
    assert printed["plan"]["rho"]["value"] == rate.value
    assert printed["samples_by_theorem"]["mean"]["high"] == plan.promised["mean"].high
    assert printed["plan"]["ways"]["n"]["value"] == plan.ways[0].value
    assert printed["plan"]["advice"] == more_sentence(plan)


@pytest.mark.slow
def test_the_command_plans_for_an_error(capsys, tmp_path):
    generator, file = np.random.default_rng(0), tmp_path / "blocks.csv"
    x, y = generator.standard_normal(240), np.arange(240) % 2
    file.write_text("x,y\n" + "".join(f"{value + 2 * label:.4f},{label}\n" for value, label in zip(x, y, strict=True)))
    command = ["check", str(file), "--target", "y", "--every", "60", "-n", "5", "--repetitions", "5"]
    command += ["--features", "identity"]
    assert main([*command, "--error", "0.3"]) == 0
    shown = capsys.readouterr().out
    assert "Wanted: an error of .300, that is" in shown
    assert shown[shown.index("Wanted") :].splitlines()[1].split() == ["by", "takes"]
    assert main([*command, "--error", "0.001"]) == 2
    assert "out of reach of the learning curve" in capsys.readouterr().err
    assert main([*command, "--ess", "0"]) == 2
    assert "ess must be above 0" in capsys.readouterr().err


def test_what_cannot_be_planned_is_told_how():
    sequence = imrc.datasets.load("random_walk", tasks=6, samples=60)
    report = imrc.check(sequence, 5, repetitions=1, features="identity")
    with pytest.raises(ValueError, match="labels=True"):
        report.planned(error=0.2)
    with pytest.raises(ValueError, match=r"Rate.guess\(0.1\)"):
        replace(report, diagnosis=None).planned(ess=20)
