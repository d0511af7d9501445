"""How much one sample pulls at a rule for log loss: its weight times its gradient through the inverse Hessian.

The rule minimises ``sum_i w_i l_i(mu) + lambda / 2 |mu|^2``. Without sample i, the weights of the others divided by
``1 - w_i``, the solution moves by about ``(H - w_i H_i)^-1 w_i (grad l_i + lambda mu)`` with the Hessian H of the whole
objective and H_i of the sample's loss: one step of Newton's method.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imrc._types import Floats
from imrc.core.prediction import softmax


def score_changes(
    X: Floats, y: NDArray[np.int64], weights: Floats, strength: float, coefficients: Floats, X_test: Floats
) -> Floats:
    """Return by how much the scores of instances change when one sample is left out, (N, T, C): new less old ones.

    X (N, D) and y are the samples the rule was learnt from, with positive weights that sum to 1, `strength` the
    penalty's lambda, `coefficients` (C, D) the solution, whose columns sum to 0, X_test (T, D) the instances.

    >>> X = np.array([[1.0], [1.0]])  # one of each class: without the second, the class of the first gains everywhere
    >>> score_changes(X, np.array([0, 1]), np.array([0.5, 0.5]), 1.0, np.zeros((2, 1)), X)[1, 0].round(2).tolist()
    [0.2, -0.2]
    """
    N, C = len(y), len(coefficients)
    # Everything happens in the span of the samples, and the scores of a solution sum to 0 over the classes.
    span, values, directions = np.linalg.svd(X, full_matrices=False)
    kept = values > 1e-10 * values[0]
    directions = directions[kept]
    Z = span[:, kept] * values[kept]
    contrasts = np.linalg.qr(np.column_stack([np.ones(C), np.eye(C)[:, 1:]]))[0][:, 1:]
    r, c = Z.shape[1], C - 1
    p = softmax(X @ coefficients.T)
    gradient = (p - np.eye(C)[y]) @ contrasts
    curvature = np.einsum("ka,ik,kb->iab", contrasts, p, contrasts) - np.einsum(
        "ia,ib->iab", p @ contrasts, p @ contrasts
    )
    H = np.einsum("i,iab,ir,is->arbs", weights, curvature, Z, Z, optimize=True).reshape(c * r, c * r)
    H[np.diag_indices_from(H)] += strength
    inverse = np.linalg.inv(H).reshape(c, r, c, r)
    own = np.einsum("ka,kd,rd->ar", contrasts, coefficients, directions)
    # The right-hand side, solved with H; then the sample's own curvature is taken out (Woodbury).
    side = weights[:, None, None] * (gradient[:, :, None] * Z[:, None, :] + strength * own)
    moved = np.einsum("arbs,ibs->iar", inverse, side, optimize=True)
    through = np.einsum("arbs,is->iarb", inverse, Z, optimize=True)
    leverage = np.einsum("ir,iarb->iab", Z, through, optimize=True)
    scaled = weights[:, None, None] * curvature
    small = np.eye(c) - np.einsum("iab,ibd->iad", scaled, leverage)
    at_own = np.einsum("ir,iar->ia", Z, moved)
    back = np.linalg.solve(small, np.einsum("iab,ib->ia", scaled, at_own)[:, :, None])[:, :, 0]
    moved += np.einsum("iarb,ib->iar", through, back)
    return np.asarray(np.einsum("iar,tr,ka->itk", moved, X_test @ directions.T, contrasts, optimize=True)).reshape(
        N, len(X_test), C
    )
