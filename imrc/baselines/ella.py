"""ELLA, efficient lifelong learning algorithm: linear models per task, all made from one shared basis."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from imrc._types import Floats, Ints
from imrc.baselines import base
from imrc.baselines.base import Baseline, Settings, expit, named, real, whole


@dataclass(frozen=True)
class ELLASettings(Settings):
    """Hyper-parameters of ELLA."""

    components: int = whole(2, 1)  # columns q of the basis
    sparsity: float = real(math.exp(-12), 0.0)  # mu, weight of the L1 norm of a task's code
    basis_penalty: float = real(math.exp(-10), 0.0, above=True)  # lambda, weight of the squared norm of the basis
    ridge: float = real(math.exp(-5), 0.0, above=True)  # of the single-task fit
    first_tasks_span: bool = True  # each of the first q tasks gets a basis column of its own
    free_intercept: bool = True  # the single-task fit does not penalise the intercept


def fit_logistic(X: Floats, positive: Floats, ridge: float, *, free_last: bool) -> Floats:
    """Return argmin over theta of sum_i log-loss(x_i'theta, y_i) + ridge / 2 ||theta||^2, solved in the samples' span.

    The last column of X (n, d) is the constant 1; with `free_last` its coefficient is not penalised, and both classes
    must occur.
    """
    from sklearn.linear_model import LogisticRegression

    body, ones = X[:, :-1], X[:, -1:]
    basis = np.linalg.qr(body.T)[0] if body.shape[1] > len(body) else np.eye(body.shape[1])
    learner = LogisticRegression(
        C=1.0 / ridge, solver="newton-cholesky", tol=1e-10, max_iter=200, fit_intercept=free_last
    ).fit(body @ basis if free_last else np.hstack([body @ basis, ones]), positive)
    found = np.append(learner.coef_[0], learner.intercept_) if free_last else learner.coef_[0]
    return np.append(basis @ found[:-1], found[-1])


def sparse_code(gram: Floats, products: Floats, sparsity: float) -> Floats:
    """Return the code argmin over s of s'Gs - 2 c's + mu ||s||_1, by coordinate descent; G = L'HL, c = L'H theta."""
    diagonal = gram.diagonal()
    code = np.zeros(len(products))
    for _ in range(10_000):
        moved = 0.0
        for j in range(len(code)):
            if diagonal[j] <= 0.0:
                continue
            partial = products[j] - gram[j] @ code + diagonal[j] * code[j]
            new = math.copysign(max(abs(partial) - sparsity / 2.0, 0.0), partial) / diagonal[j]
            moved = max(moved, abs(new - code[j]))
            code[j] = new
        if moved <= 1e-12 * max(1.0, float(np.abs(code).max())):
            break
    return code


class Basis:
    """Basis L (d, q) of one binary problem, intercept included in d, with the sums that determine it.

    A (q, d, q, d) is the sum over tasks of the outer product of s s' and H, b (q, d) that of s times H theta, with one
    code s (q,) per task. The generator draws the first basis and columns that vanished.
    """

    def __init__(self, width: int, components: int, generator: np.random.Generator) -> None:
        self.L = generator.standard_normal((width, components))
        self.A = np.zeros((components, width, components, width))
        self.b = np.zeros((components, width))
        self.codes: list[Floats] = []
        self._random = generator

    def add(self, theta: Floats, H: Floats, *, sparsity: float, penalty: float, first_span: bool) -> None:
        """Encode a task with the present basis, then solve for the basis again."""
        d, q = self.L.shape
        task = len(self.codes)
        if first_span and task < q:
            code = np.eye(q)[task]
        else:
            code = sparse_code(self.L.T @ H @ self.L, self.L.T @ (H @ theta), sparsity)
        self.codes.append(code)
        self.A += code[:, None, None, None] * H[None, :, None, :] * code[None, None, :, None]
        self.b += np.outer(code, H @ theta)
        self.L = self._solve(penalty).reshape(q, d).T
        lost = (self.L**2).sum(axis=0) < 1e-10
        if lost.any():
            self.L[:, lost] = self._random.standard_normal((d, int(lost.sum())))

    def _solve(self, penalty: float) -> Floats:
        """Return (A / T + lambda I)^-1 b / T; columns no task uses yet drop out of the system."""
        from scipy.linalg import cho_factor, cho_solve

        q, d = self.b.shape
        used = np.flatnonzero(np.any(self.codes, axis=0))
        solution = np.zeros((q, d))
        if used.size:
            T = len(self.codes)
            system = self.A[used][:, :, used].reshape(used.size * d, -1) / T
            system[np.diag_indices_from(system)] += penalty
            factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
            solution[used] = cho_solve(factor, self.b[used].ravel() / T, check_finite=False).reshape(-1, d)
        return solution.ravel()

    @property
    def size(self) -> int:
        """Numbers kept: basis, codes, b, and the different blocks of the symmetric A."""
        d, q = self.L.shape
        return int(d * q + q * len(self.codes) + d * q + q * (q + 1) // 2 * (d * (d + 1) // 2))


class ELLA(Baseline):
    """Efficient lifelong learning algorithm: theta_j = L s_j with a shared basis L and a sparse code per task.

    Later tasks change L and so the rules of earlier tasks. More than two classes: one problem per class against the
    rest. Profiles ``"default"`` (classification experiment of the MATLAB release), ``"python"`` (defaults of the Python
    release, very sparse).
    """

    title = "ELLA"
    paper = "P. Ruvolo, E. Eaton. ELLA: An Efficient Lifelong Learning Algorithm. ICML 2013"
    idea = "Builds the rule of each task from a few building blocks that all tasks share."
    wins = "Many tasks that are variations on a few themes, in any order."
    keeps = "One rule per task, and the shared blocks."
    keeps_old_rules = True
    deviations = (
        "Codes come from the exact lasso on the q x q Gram matrix; the Python release's scaling multiplies the "
        "sparsity weight by d / n.",
        "The curvature uses the ridge with the factor 1 / n that its loss implies.",
        "Training sets with one class get a constant rule with pseudo-count log-odds instead of failing.",
        "More than two classes: one against the rest (both releases are binary).",
    )
    profiles = named(
        ELLASettings(),
        python=ELLASettings(
            components=1, sparsity=1.0, basis_penalty=1.0, ridge=1.0, first_tasks_span=False, free_intercept=False
        ),
    )
    settings: ELLASettings

    def _start(self) -> None:
        width, components = self.n_features + 1, self.settings.components
        self.problems = [Basis(width, components, self.random) for _ in range(self.n_outputs)]

    def _fit_task(self, step: int, X: Floats, y: Ints) -> None:
        s = self.settings
        X1 = base.with_last_intercept(X)
        positive = (base.signed_targets(y, self.n_classes) + 1.0) / 2.0
        for problem, target in zip(self.problems, positive.T, strict=True):
            theta, H = self._single_task(X1, target)
            problem.add(theta, H, sparsity=s.sparsity, penalty=s.basis_penalty, first_span=s.first_tasks_span)

    def _single_task(self, X1: Floats, target: Floats) -> tuple[Floats, Floats]:
        """Return the single-task optimum and half the Hessian of its mean loss there."""
        s = self.settings
        n, d = X1.shape
        ridge = np.full(d, s.ridge)
        if s.free_intercept:
            ridge[-1] = 0.0
        if target.min() == target.max():
            theta = np.zeros(d)
            theta[-1] = math.copysign(math.log(n + 1.0), target[0] - 0.5)
        else:
            theta = fit_logistic(X1, target, s.ridge, free_last=s.free_intercept)
        p = expit(X1 @ theta)
        H = (X1 * (p * (1.0 - p))[:, None]).T @ X1
        H[np.diag_indices_from(H)] += ridge
        return theta, H / (2.0 * n)

    def _predict(self, X: Floats, task: int) -> Ints:
        X1 = base.with_last_intercept(X)
        scores = [X1 @ (problem.L @ problem.codes[task]) for problem in self.problems]
        return base.linear_labels(np.stack(scores, axis=1))

    def state_size(self) -> int:
        """Return the numbers in bases, codes and sums (the symmetric sum counted once)."""
        return sum(problem.size for problem in self.problems)
