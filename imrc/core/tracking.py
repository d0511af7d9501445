"""Recursions for mean and mean-squared-error vectors: forward, backward, both, and the smoother form.

All functions work component by component on float64 arrays and never modify their input. ``s = 0`` (a constant
feature, or a class that did not appear) takes the limit of the formulas: a component known exactly stays as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def combine(tau: Floats, s: Floats, tau_other: Floats, s_other: Floats) -> tuple[Floats, Floats]:
    """Combine two independent estimates of one mean, each weighted by the other's mean squared error.

    This is the common step of eqs. (6) and (10): ``tau + s / (s + s_other) (tau_other - tau)`` with mean squared
    error ``(1 / s + 1 / s_other)^-1``. Where s = 0 the first estimate is kept.

    Parameters
    ----------
    tau, s : ndarray
        First estimate and its mean squared error.
    tau_other, s_other : ndarray
        Second estimate and its mean squared error, with the expected quadratic change already added.

    Returns
    -------
    tau, s : ndarray
        The combination; s is not above either input.

    Examples
    --------
    >>> combine(np.array([0.0]), np.array([1.0]), np.array([3.0]), np.array([0.5]))
    (array([2.]), array([0.33333333]))
    """
    total = s + s_other
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(s > 0, s / total, 0.0)
        # s_other = inf is "no information": the limit of the product.
        mse = np.where((s > 0) & np.isfinite(s_other), s * (s_other / total), s)
    return tau + gain * (tau_other - tau), mse


def track_forward(tau: Floats, s: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Forward mean and MSE vectors of all tasks, eq. (6).

    Parameters
    ----------
    tau, s : ndarray of shape (k, m)
        Sample averages and their mean squared errors.
    d : ndarray of shape (k, m) or (k, 1)
        Expected quadratic change; row j belongs to the step from task j-1 to task j, row 0 is not used.

    Returns
    -------
    tau_fwd, s_fwd : ndarray of shape (k, m)

    Examples
    --------
    No change and equal variances: the running mean.

    >>> tau = np.array([[0.0], [3.0], [6.0]])
    >>> track_forward(tau, np.ones((3, 1)), np.zeros((3, 1)))[0].ravel()
    array([0. , 1.5, 3. ])
    """
    tau_fwd, s_fwd = tau.copy(), s.copy()
    for j in range(1, len(tau)):
        tau_fwd[j], s_fwd[j] = combine(tau[j], s[j], tau_fwd[j - 1], s_fwd[j - 1] + d[j])
    return tau_fwd, s_fwd


def track_backward(tau: Floats, s: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Backward mean and MSE vectors: eq. (6) in retrodiction, from the last task to the first.

    Parameters and results as in `track_forward`.

    Examples
    --------
    >>> tau = np.array([[0.0], [3.0], [6.0]])
    >>> track_backward(tau, np.ones((3, 1)), np.zeros((3, 1)))[0].ravel()
    array([3. , 4.5, 6. ])
    """
    tau_bwd, s_bwd = tau.copy(), s.copy()
    for j in range(len(tau) - 2, -1, -1):
        tau_bwd[j], s_bwd[j] = combine(tau[j], s[j], tau_bwd[j + 1], s_bwd[j + 1] + d[j + 1])
    return tau_bwd, s_bwd


def track_forward_backward(tau: Floats, s: Floats, d: Floats, b: int | None = None) -> tuple[Floats, Floats]:
    """Forward and backward mean and MSE vectors at the last step, eq. (10).

    Parameters
    ----------
    tau, s, d : ndarray of shape (k, m)
        As in `track_forward`.
    b : int or None
        Backward steps: tasks k-1-b, ..., k-1 are updated, earlier ones keep their forward value here. None: all.

    Returns
    -------
    tau_fb, s_fb : ndarray of shape (k, m)

    Examples
    --------
    >>> tau = np.array([[0.0], [3.0], [6.0]])
    >>> track_forward_backward(tau, np.ones((3, 1)), np.zeros((3, 1)))[0].ravel()
    array([3., 3., 3.])
    """
    tau_fb, s_fb = track_forward(tau, s, d)
    k = len(tau)
    first = 0 if b is None else max(0, k - 1 - b)
    tau_bwd, s_bwd = tau[-1], s[-1]
    for j in range(k - 2, first - 1, -1):
        tau_fb[j], s_fb[j] = combine(tau_fb[j], s_fb[j], tau_bwd, s_bwd + d[j + 1])
        tau_bwd, s_bwd = combine(tau[j], s[j], tau_bwd, s_bwd + d[j + 1])
    return tau_fb, s_fb


def smooth(tau_fwd: Floats, s_fwd: Floats, d: Floats, b: int | None = None) -> tuple[Floats, Floats]:
    """Rauch-Tung-Striebel form (appendix of the paper): from forward vectors alone.

    Gives the same numbers as `track_forward_backward` when both use the same `d`, and needs neither the sample
    averages nor a backward pass of its own.

    Parameters
    ----------
    tau_fwd, s_fwd : ndarray of shape (k, m)
        Forward vectors from `track_forward`.
    d : ndarray of shape (k, m) or (k, 1)
        Expected quadratic change, row j for the step from task j-1 to task j.
    b : int or None
        Backward steps; None: all.

    Returns
    -------
    tau_smooth, s_smooth : ndarray of shape (k, m)
    """
    tau_smooth, s_smooth = tau_fwd.copy(), s_fwd.copy()
    k = len(tau_fwd)
    first = 0 if b is None else max(0, k - 1 - b)
    for j in range(k - 2, first - 1, -1):
        predicted = s_fwd[j] + d[j + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(s_fwd[j] > 0, s_fwd[j] / predicted, 0.0)
        tau_smooth[j] = tau_fwd[j] + gain * (tau_smooth[j + 1] - tau_fwd[j])
        s_smooth[j] = s_fwd[j] + gain**2 * (s_smooth[j + 1] - predicted)
    return tau_smooth, s_smooth
