"""The paper preset reproduces the authors' code: estimates, coefficients and every error."""

from dataclasses import dataclass

import numpy as np
import pytest

import imrc
from imrc.core.learner import Learner
from imrc.core.settings import IMRCSettings
from imrc.solvers.api import with_intercept
from tests.conftest import golden_files

# Means and MSE vectors are short sums: 1e-12. Coefficients come out of 2000 iterations: 1e-9.
ESTIMATES, COEFFICIENTS = 1e-12, 1e-9


@dataclass
class Run:
    """What was stored, and the same from this library."""

    stored: dict[str, np.ndarray]
    updates: list
    model: imrc.IMRC
    errors: np.ndarray


@pytest.fixture(scope="module", params=golden_files(), ids=lambda path: path.stem)
def run(request) -> Run:
    with np.load(request.param) as file:
        stored = {name: file[name] for name in file.files}
    X, y = stored["X_train"], stored["y_train"]
    n_classes, k = int(stored["n_classes"]), len(X)
    classes = np.arange(n_classes) + int(stored["labels_min"])
    model = imrc.IMRC(b=3, W=2, preset="paper", features="identity")
    learner = Learner(IMRCSettings(b=3, W=2), n_classes)
    errors, updates = np.full((k, k), np.nan), []
    for step in range(k):
        model.partial_fit(X[step], y[step], classes=classes)
        updates.append(learner.step(with_intercept(X[step]), (y[step] - classes[0]).astype(np.int64)))
        for task in range(max(0, step - 3), step + 1):
            errors[step, task] = 1.0 - model.score(stored["X_test"][task], stored["y_test"][task], task=task)
    return Run(stored, updates, model, errors)


def test_at_least_the_files_kept_here_are_tested():
    assert {"digits_n10_s0", "gauss4c_n40_s0"} <= {path.stem for path in golden_files()}


def test_single_task_and_forward_vectors(run):
    for rule, name in (("single", "single"), ("forward", "fwd")):
        np.testing.assert_allclose(run.model.mean_[rule], run.stored[f"tau_{name}"], rtol=0, atol=ESTIMATES)
        np.testing.assert_allclose(run.model.mse_[rule], run.stored[f"s_{name}"], rtol=0, atol=ESTIMATES)
        np.testing.assert_allclose(run.model.coef_[rule], run.stored[f"mu_{name}"], rtol=0, atol=COEFFICIENTS)


def test_forward_and_backward_vectors_at_every_lag(run):
    seen = 0
    for update in run.updates:
        for task, estimate in update.revised.items():
            lag = update.step - task - 1
            np.testing.assert_allclose(estimate.mean, run.stored["tau_fb"][task, lag], rtol=0, atol=ESTIMATES)
            np.testing.assert_allclose(estimate.mse, run.stored["s_fb"][task, lag], rtol=0, atol=ESTIMATES)
            np.testing.assert_allclose(estimate.coef, run.stored["mu_fb"][task, lag], rtol=0, atol=COEFFICIENTS)
            seen += 1
    assert seen == np.isfinite(run.stored["mu_fb"][:, :, 0]).sum()


def test_every_error_is_exact(run):
    solved = np.isfinite(run.stored["errors"])
    assert (np.isfinite(run.errors) == solved).all()
    # Both are counts divided by the number of test samples; only the last bit of the division may differ. Scores of
    # the two best classes are at least 4e-6 apart, so no sample is turned by what rounding does to coefficients.
    np.testing.assert_allclose(run.errors[solved], run.stored["errors"][solved], rtol=0, atol=1e-15)
    single = [
        1.0 - run.model.score(X, y, task=task, rule="single")
        for task, (X, y) in enumerate(zip(run.stored["X_test"], run.stored["y_test"], strict=True))
    ]
    np.testing.assert_allclose(single, run.stored["error_single"], rtol=0, atol=1e-15)


def test_newest_estimates_of_the_estimator_are_those_of_the_last_step(run):
    k = run.model.n_tasks_
    for lag in (1, 2, 3):
        task = k - 1 - lag
        np.testing.assert_array_equal(run.model.coef_["forward_backward"][task], run.updates[-1].revised[task].coef)
        # Tasks out of reach keep what they had at lag 3.
    np.testing.assert_allclose(
        run.model.coef_["forward_backward"][0], run.stored["mu_fb"][0, min(3, k - 1) - 1], rtol=0, atol=COEFFICIENTS
    )
