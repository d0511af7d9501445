"""The compiled subgradient method against whole-array NumPy and against all label subsets written out."""

from itertools import combinations

import numpy as np
import pytest

from imrc.solvers import Problem, prepare_instances, solve, solve_many, warm_up
from tests.solver_problems import objective, random_problem, subgradient_numpy

MODES = ("direct", "incremental")


def instances_in_mode(X1, mode):
    return prepare_instances(X1, incremental=mode == "incremental")


def run(instances, tau, lam, start, candidate, max_iter):
    return Problem(instances, tau.ravel(), lam.ravel(), (start.ravel(), candidate.ravel())).solve(len(tau), max_iter)


def subsets_written_out(X1, tau, lam, w):
    """Objective, row and subset by going through all 2^C - 1 subsets of every instance."""
    n_classes = len(tau)
    best = (-np.inf, 0, ())
    for i, x in enumerate(X1):
        for size in range(1, n_classes + 1):
            for subset in combinations(range(n_classes), size):
                value = (sum(float(x @ w[c]) for c in subset) - 1.0) / size
                if value > best[0] + 1e-13:
                    best = (value, i, subset)
    return 1.0 - float((tau * w).sum()) + float((lam * abs(w)).sum()) + best[0], best[1], best[2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("n", "features", "n_classes"),
    [(1, 1, 2), (3, 8, 2), (10, 20, 2), (16, 7, 3), (17, 30, 2), (40, 10, 4), (33, 15, 5), (12, 6, 10), (9, 4, 17)],
)
def test_same_iterates_as_whole_array_numpy(mode, n, features, n_classes):
    X1, tau, lam = random_problem(n, features, n_classes, seed=n)
    rng = np.random.default_rng(n)
    start, candidate = rng.normal(size=(2, *tau.shape)) * 0.1
    for first, other in ((np.zeros_like(tau), np.zeros_like(tau)), (start, candidate)):
        best, value, last, last_value = subgradient_numpy(X1, tau, lam, first, other, 700)
        solution = run(instances_in_mode(X1, mode), tau, lam, first, other, 700)
        # Rounding only: the operations are the same, their order is not.
        np.testing.assert_allclose(solution.last, last.ravel(), rtol=0, atol=1e-11)
        np.testing.assert_allclose(solution.mu, best.ravel(), rtol=0, atol=1e-11)
        assert (solution.value, solution.last_value) == pytest.approx((value, last_value), abs=1e-11)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
def test_one_step_uses_the_best_of_all_subsets(n_classes, rng):
    X1, tau, lam = random_problem(6, 3, n_classes, seed=n_classes)
    for mode in MODES:
        instances = instances_in_mode(X1, mode)
        for _ in range(20):
            w = rng.normal(size=tau.shape)
            value, row, subset = subsets_written_out(X1, tau, lam, w)
            slope = lam * np.sign(w) - tau
            slope[list(subset)] += X1[row] / len(subset)
            solution = run(instances, tau, lam, w, w, 1)
            np.testing.assert_allclose(solution.last.reshape(tau.shape), w - 2.0**-1.5 * slope, atol=1e-13)
            assert min(solution.value, value) == pytest.approx(solution.value, abs=1e-13)
            assert objective(X1, tau, lam, w)[0] == pytest.approx(value, abs=1e-12)


def test_ties_go_to_the_first_row_and_the_smaller_subset():
    """At the origin all rows tie and the whole set of classes is best: the first row is used."""
    X1 = np.array([[1.0, 2.0], [1.0, -3.0], [1.0, 5.0]])
    tau = np.zeros((2, 2))
    solution = run(prepare_instances(X1), tau, tau, tau, tau, 1)
    np.testing.assert_allclose(solution.last.reshape(2, 2), -(2.0**-1.5) * 0.5 * np.tile(X1[0], (2, 1)))


def test_value_belongs_to_mu_and_improves_on_the_candidate(rng):
    X1, tau, lam = random_problem(25, 60, 2, seed=5)
    candidate = rng.normal(size=tau.shape)
    solution = solve(X1[:, 1:], tau.ravel(), lam.ravel(), warm_start=candidate.ravel(), max_iter=50, n_classes=2)
    again, last = (objective(X1, tau, lam, point.reshape(tau.shape))[0] for point in (solution.mu, solution.last))
    assert (solution.value, solution.last_value) == pytest.approx((again, last), abs=1e-12)
    assert solution.value <= min(objective(X1, tau, lam, candidate)[0], last)


def test_duplicate_rows_and_constant_columns_change_nothing():
    X1, tau, lam = random_problem(20, 60, 2, seed=6)
    zeros = np.zeros_like(tau)
    plain = run(instances_in_mode(X1, "incremental"), tau, lam, zeros, zeros, 500)
    doubled = run(instances_in_mode(np.vstack([X1, X1[::-1]]), "incremental"), tau, lam, zeros, zeros, 500)
    np.testing.assert_allclose(doubled.mu, plain.mu, rtol=0, atol=1e-11)
    wider = [np.hstack([part, np.zeros((len(part), 1))]) for part in (X1, tau, lam)]
    padded = run(instances_in_mode(wider[0], "incremental"), wider[1], wider[2], *np.zeros((2, *wider[1].shape)), 500)
    np.testing.assert_allclose(padded.mu.reshape(2, -1)[:, :-1], plain.mu.reshape(2, -1), rtol=0, atol=1e-11)
    assert (padded.mu.reshape(2, -1)[:, -1] == 0).all()


def test_many_problems_in_threads_are_the_problems_one_by_one():
    problems = []
    previous = None
    for seed in range(7):
        X1, tau, lam = random_problem(20, 60, 3, seed=seed)
        shared = prepare_instances(X1)
        problems += [Problem(shared, tau.ravel(), lam.ravel(), previous), Problem(shared, tau.ravel(), 2 * lam.ravel())]
        previous = solve_many(problems[-2:-1], 3, 200)[0]
    alone = solve_many(problems, 3, 200, threads=1)
    together = solve_many(problems, 3, 200, threads=2)
    assert len(alone) == len(together) == 14
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.mu, other.mu)
        np.testing.assert_array_equal(one.last, other.last)
        assert one.value == other.value
    first = solve(problems[1].instances.X1[:, 1:], problems[1].tau, problems[1].lam, n_classes=3, max_iter=200)
    np.testing.assert_array_equal(first.mu, alone[1].mu)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau": np.zeros(3)}, r"tau must have shape \(4,\)"),
        ({"lam": np.array([0.0, -1.0, 0.0, 0.0])}, "lam must not be negative; it is at index 1"),
        ({"tau": np.array([0.0, np.nan, 0.0, 0.0])}, "tau has a missing or infinite value at index 1"),
        ({"X": np.zeros((0, 1))}, "at least one instance"),
        ({"X": np.array([[np.inf]])}, "row 0, column 0"),
        ({"n_classes": 1}, "n_classes must be at least 2"),
        ({"method": "simplex"}, "method must be one of 'exact', 'subgradient'"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"box": 0.0}, "box must be above 0"),
        ({"warm_start": np.zeros(5)}, r"warm_start must have shape \(4,\)"),
        ({"warm_start": np.full(4, np.nan)}, "warm_start has a missing or infinite value"),
        ({"X": np.array([[1e308]]), "tau": np.full(4, 1e308)}, "too large"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"X": np.ones((2, 1)), "tau": np.zeros(4), "lam": np.zeros(4), "n_classes": 2} | change
    X, tau, lam = arguments.pop("X"), arguments.pop("tau"), arguments.pop("lam")
    with pytest.raises(ValueError, match=message):
        solve(X, tau, lam, **arguments)


def test_warm_up_tells_its_progress():
    news = []
    warm_up(lambda share, text: news.append((share, text)))
    shares = [share for share, _ in news]
    assert shares == sorted(shares)
    assert (shares[0], news[-1]) == (0.0, (1.0, "The solver is ready"))
    assert [text for _, text in news[:-1]] == [f"Preparing the solver, part {part} of 2" for part in (1, 2)]
