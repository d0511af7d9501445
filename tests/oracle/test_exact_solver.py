"""The exact solver against HiGHS on another form of the linear program, a row per instance and label subset.

What must hold for every minimax problem, whatever the numbers, comes last.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from imrc.solvers import Problem, _exact, prepare_instances, solve, solve_many
from tests.conftest import golden_files
from tests.solver_problems import objective, random_problem

pytestmark = pytest.mark.filterwarnings("error")


def highs(X1, tau, lam, box=None):
    """Optimum by HiGHS with a row for every subset; None if the problem has no lower end."""
    n_classes, p = tau.shape
    rows, right = [], []
    for size in range(1, n_classes + 1):
        for subset in combinations(range(n_classes), size):
            block = np.zeros((len(X1), n_classes, p))
            block[:, list(subset)] = X1[:, None] / size
            rows.append(block.reshape(len(X1), -1))
            right.append(np.full(len(X1), 1.0 / size))
    A = np.vstack(rows)
    A = np.hstack([A, -A, -np.ones((len(A), 1))])
    cost = np.concatenate([(lam - tau).ravel(), (lam + tau).ravel(), [1.0]])
    bounds = [(0, box)] * (2 * tau.size) + [(None, None)]
    for presolve in (True, False):
        result = linprog(cost, A, np.concatenate(right), bounds=bounds, method="highs", options={"presolve": presolve})
        if result.status == 0:
            return 1.0 + result.fun
        if result.status == 3:
            return None
    raise AssertionError(result.message)


def exact(X1, tau, lam, **options):
    return solve(X1[:, 1:], tau.ravel(), lam.ravel(), n_classes=len(tau), method="exact", **options)


def check(X1, tau, lam, box=None):
    """Compare one problem; returns whether the uncertainty set restricted to X was empty."""
    solution = exact(X1, tau, lam, box=box)
    expected = highs(X1, tau, lam, box)
    empty = expected is None
    assert empty == ("is empty" in solution.status)
    if empty:
        assert solution.box == _exact.EMPTY_BOX
        expected = highs(X1, tau, lam, solution.box)
    assert solution.converged
    assert solution.value == pytest.approx(expected, abs=1e-7)
    assert solution.lower_bound <= expected + 1e-9
    assert solution.gap == solution.value - solution.lower_bound <= 1e-6
    at_mu = objective(X1, tau, lam, solution.mu.reshape(tau.shape))[0]
    assert at_mu == pytest.approx(solution.value, abs=1e-11)
    if solution.box is not None:
        assert np.abs(solution.mu).max() <= solution.box * (1 + 1e-12)
    return empty


@pytest.mark.slow
@pytest.mark.parametrize("path", golden_files(), ids=lambda path: path.stem)
def test_published_inputs(path):
    """Single-task, forward, and forward-and-backward problems of the authors' code: several hundred."""
    with np.load(path) as file:
        golden = dict(file)
    n_classes, tasks = int(golden["n_classes"]), len(golden["X_train"])
    checked = empty = 0
    for j in range(0, tasks, 1 + golden["X_train"].shape[1] // 50):  # of a hundred instances each third
        X1 = np.hstack([np.ones((len(golden["X_train"][j]), 1)), golden["X_train"][j]])
        vectors = [(golden["tau_single"][j], golden["s_single"][j]), (golden["tau_fwd"][j], golden["s_fwd"][j])]
        vectors += [
            pair for pair in zip(golden["tau_fb"][j], golden["s_fb"][j], strict=True) if not np.isnan(pair[0][0])
        ]
        for tau, s in vectors:
            empty += check(X1, tau.reshape(n_classes, -1), np.sqrt(s).reshape(n_classes, -1))
            checked += 1
    assert checked >= 19
    if path.stem == "digits_n10_s0":
        assert empty >= 5  # own samples, n = 10: backward learning leaves the set empty now and then


@pytest.mark.parametrize("kind", ["plain", "moved", "zero", "missing", "repeated", "scales"])
def test_random_problems(kind):
    """15 problems of each kind: up to 30 instances, 40 features, 4 classes."""
    rng = np.random.default_rng(sum(map(ord, kind)))
    empties = 0
    for seed in range(15):
        n_classes = int(rng.integers(2, 5))
        X1, tau, lam = random_problem(int(rng.integers(2, 30)), int(rng.integers(1, 40)), n_classes, seed)
        if kind == "moved":  # the mean vector of another task
            tau = tau + lam * rng.normal(size=tau.shape)
        elif kind == "zero":  # components known exactly, columns that are zero
            lam[:, rng.random(lam.shape[1]) < 0.3] = 0.0
            X1[:, -1], tau[:, -1], lam[:, -1] = 0.0, 0.0, 0.0
        elif kind == "missing":  # a class that did not appear
            tau[-1], lam[-1] = 0.0, 0.0
            tau[0, 0] = 1.0 - tau[1:, 0].sum()
        elif kind == "repeated":
            X1 = np.vstack([X1, X1[: len(X1) // 2 + 1]])
        elif kind == "scales":
            factor = 10.0 ** rng.uniform(-3, 3, size=X1.shape[1])
            factor[0] = 1.0
            X1, tau, lam = X1 * factor, tau * factor, lam * factor
        empties += check(X1, tau, lam)
    assert empties > 0 if kind == "moved" else empties < 15


@pytest.mark.parametrize("box", [0.05, 0.5, 3.0])
def test_box(box):
    for seed in range(5):
        check(*random_problem(12, 30, 3, seed), box=box)


def test_given_box_is_kept_a_wide_one_changes_nothing_and_nothing_is_printed(capfd):
    X1, tau, lam = random_problem(15, 20, 2, seed=2)
    free, wide, tight = (exact(X1, tau, lam, box=box) for box in (None, 50.0, 0.01))
    assert free.box is None
    assert free.status == "optimal"
    assert wide.value == pytest.approx(free.value, abs=1e-7)
    assert tight.value > free.value + 1e-3
    assert "|mu| <= 0.01" in tight.status
    assert "is empty" in exact(X1, tau + 1.0, lam).status
    assert capfd.readouterr() == ("", "")


def test_many_instances_are_generated_as_needed():
    """Above 600 pairs of instance and class the problem is solved over a growing part of X."""
    for n_classes, n in ((2, 700), (3, 400)):
        X1, tau, lam = random_problem(n, 12, n_classes, seed=n)
        assert n * n_classes > _exact._DENSE
        assert not check(X1, tau, lam)
    X1, tau, lam = random_problem(400, 8, 2, seed=9)
    assert check(X1, tau + 0.5, lam)  # no weights on X have such means


def test_unsolved_is_not_called_optimal(monkeypatch):
    X1, tau, lam = random_problem(10, 15, 2, seed=4)
    poor = _exact._Outcome(np.zeros_like(tau), 0.9, 0.1, 7, False)
    monkeypatch.setattr(_exact, "_highs", lambda *_: poor)
    solution = exact(X1, tau, lam)
    assert not solution.converged
    assert "before the gap was closed" in solution.status
    assert solution.gap == pytest.approx(0.8)


def test_a_gap_left_open_is_tried_again_from_scratch(monkeypatch):
    X1, tau, lam = random_problem(10, 15, 3, seed=4)
    good, original, tried = highs(X1, tau, lam), _exact._highs, []

    def first_fails(*args):
        tried.append(args[-1])
        return original(*args) if args[-1] else _exact._Outcome(np.zeros_like(tau), 1.0, -1.0, 7, False)

    monkeypatch.setattr(_exact, "_highs", first_fails)
    solution = exact(X1, tau, lam)
    assert tried == [False, True]  # the second time with presolve
    assert solution.converged
    assert solution.value == pytest.approx(good, abs=1e-7)


@pytest.mark.parametrize(("n", "shift"), [(12, 0.0), (12, 0.2), (350, 0.0)])
def test_a_warm_start_leads_to_the_same_optimum_in_fewer_iterations(n, shift):
    X1, tau, lam = random_problem(n, 40, 2, seed=3)
    before = exact(X1, tau, lam)
    tau, lam = tau + shift * lam * np.random.default_rng(0).normal(size=tau.shape), 0.9 * lam
    cold, warm = exact(X1, tau, lam), exact(X1, tau, lam, warm_start=before)
    assert warm.status == cold.status
    assert warm.value == pytest.approx(cold.value, abs=1e-7)
    assert warm.iterations < cold.iterations
    # What was not zero elsewhere is only a guess: any other start gives the same.
    rough = np.random.default_rng(1).normal(size=tau.size) * (np.arange(tau.size) % 3 == 0)
    assert exact(X1, tau, lam, warm_start=rough).value == pytest.approx(cold.value, abs=1e-7)


def test_exact_in_threads():
    problems = []
    for seed in range(6):
        X1, tau, lam = random_problem(20, 30, 2, seed)
        problems.append(Problem(prepare_instances(X1), tau.ravel(), lam.ravel()))
    alone = solve_many(problems, 2, threads=1, method="exact")
    together = solve_many(problems, 2, threads=2, method="exact")
    for one, other, problem in zip(alone, together, problems, strict=True):
        np.testing.assert_array_equal(one.mu, other.mu)
        assert one.value == pytest.approx(
            highs(problem.instances.X1, problem.tau.reshape(2, -1), problem.lam.reshape(2, -1)), abs=1e-7
        )


def test_long_subgradient_runs_approach_the_optimum():
    """The two methods meet: 200 000 iterations are within 1e-3 of the certified optimum."""
    X1, tau, lam = random_problem(20, 10, 3, seed=11)
    optimum = exact(X1, tau, lam).value
    long = solve(X1[:, 1:], tau.ravel(), lam.ravel(), n_classes=3, max_iter=200_000)
    assert optimum - 1e-9 <= long.value <= optimum + 1e-3
    assert long.lower_bound is long.gap is None


few = settings(max_examples=25, derandomize=True)
sizes = st.tuples(st.integers(2, 20), st.integers(1, 25), st.integers(2, 5), st.integers(0, 10**6))


@few
@given(sizes)
def test_order_of_classes_and_instances_does_not_matter(size):
    X1, tau, lam = random_problem(*size)
    rng = np.random.default_rng(size[3])
    classes, rows = rng.permutation(len(tau)), rng.permutation(len(X1))
    assert exact(X1[rows], tau[classes], lam[classes]).value == pytest.approx(exact(X1, tau, lam).value, abs=1e-7)
    one = solve(X1[:, 1:], tau.ravel(), lam.ravel(), n_classes=len(tau), max_iter=1)
    # From zeros all classes tie, so the first step permutes with the classes.
    other = solve(X1[:, 1:], tau[classes].ravel(), lam[classes].ravel(), n_classes=len(tau), max_iter=1)
    np.testing.assert_allclose(other.last.reshape(tau.shape), one.last.reshape(tau.shape)[classes], atol=1e-13)


@few
@given(sizes, st.floats(1.0, 3.0))
def test_more_doubt_and_more_instances_cost_risk(size, factor):
    X1, tau, lam = random_problem(*size)
    value = exact(X1, tau, lam).value
    assert exact(X1, tau, factor * lam).value >= value - 1e-7
    extra = np.random.default_rng(size[3]).normal(size=(3, X1.shape[1]))
    extra[:, 0] = 1.0
    assert exact(np.vstack([X1, extra]), tau, lam).value >= value - 1e-7


@few
@given(sizes)
def test_risk_is_between_nothing_and_guessing(size):
    # X = own samples: the empirical distribution is in the set, so the optimum is at least 0; mu = 0 gives 1 - 1/C.
    X1, tau, lam = random_problem(*size)
    solution = exact(X1, tau, lam)
    assert "is empty" not in solution.status
    assert -1e-7 <= solution.value <= 1.0 - 1.0 / len(tau) + 1e-7


@few
@given(sizes, st.floats(0.01, 100.0))
def test_units_of_a_feature_do_not_matter(size, factor):
    X1, tau, lam = random_problem(*size)
    scaled = X1.copy(), tau.copy(), lam.copy()
    for part in scaled:
        part[:, -1] *= factor
    assert exact(*scaled).value == pytest.approx(exact(X1, tau, lam).value, abs=1e-7)


@few
@given(sizes)
def test_subgradient_never_beats_the_certified_bound(size):
    X1, tau, lam = random_problem(*size)
    solution = solve(X1[:, 1:], tau.ravel(), lam.ravel(), n_classes=len(tau), max_iter=200)
    assert solution.value >= exact(X1, tau, lam).lower_bound - 1e-12
    assert solution.value <= 1.0 - 1.0 / len(tau) + 1e-12
