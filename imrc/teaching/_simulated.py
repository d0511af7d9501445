"""The simulated world: two normal classes whose means walk at random, and what is exactly known of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SEPARATION = 2.5


def true_change(change: float) -> float:
    """Return d^2 of a component: E{1(y = c) x_f} moves by half the class mean's step."""
    return change**2 / 4.0


def class_paths(k: int, change: float, generator: np.random.Generator, runs: int = 1) -> Floats:
    """Draw random walks of both class means, shape (runs, k, 2, 2); classes start opposite each other."""
    angle = generator.uniform(0.0, 2.0 * np.pi, runs)
    start = SEPARATION / 2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    steps = change * generator.standard_normal((runs, k, 2, 2))
    steps[:, 0] = np.stack([start, -start], axis=1)
    return np.asarray(np.cumsum(steps, axis=1))


def component_means(class_means: Floats) -> Floats:
    """Return the expectation of Phi(x, y) with equally likely classes.

    Parameters
    ----------
    class_means : ndarray of shape (..., 2, 2)
        Means of class 1 and class 2.

    Returns
    -------
    ndarray of shape (..., 6)
    """
    share = np.full((*class_means.shape[:-1], 1), 1.0)
    return np.asarray(0.5 * np.concatenate([share, class_means], axis=-1).reshape(*class_means.shape[:-2], 6))


def component_variance(class_means: Floats) -> Floats:
    """Return the variance of Phi(x, y): E x^2 / 2 - (E x / 2)^2 for unit-variance features.

    Parameters
    ----------
    class_means : ndarray of shape (..., 2, 2)
        Means of class 1 and class 2.

    Returns
    -------
    ndarray of shape (..., 6)
    """
    second = np.concatenate([np.full((*class_means.shape[:-1], 1), 1.0), class_means**2 + 1.0], axis=-1)
    second = 0.5 * second.reshape(*class_means.shape[:-2], 6)
    return np.asarray(second - component_means(class_means) ** 2)


def linear_error(w: Floats, class_means: Floats) -> Floats:
    """Return the exact error probability of w0 + w x > 0 (class 2) on unit-variance normal classes.

    Parameters
    ----------
    w : ndarray of shape (..., 3)
        Boundary; where w1 = w2 = 0 the sign of w0 decides.
    class_means : ndarray of shape (..., 2, 2)
        Means of class 1 and class 2.

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> means = np.array([[-1.0, 0.0], [1.0, 0.0]])
    >>> float(linear_error(np.array([0.0, 1.0, 0.0]), means).round(4))
    0.1587
    """
    from scipy.special import ndtr

    length = np.linalg.norm(w[..., 1:], axis=-1)
    score = w[..., None, 0] + (w[..., None, 1:] * class_means).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = np.where(length[..., None] > 0, score / length[..., None], np.sign(score) * np.inf)
    margin = np.where(np.isnan(margin), 0.0, margin)
    return np.asarray(0.5 * (ndtr(margin[..., 0]) + ndtr(-margin[..., 1])))


def bayes_error(class_means: Floats) -> Floats:
    """Return the smallest possible error of two unit-variance normal classes, equally likely.

    Parameters
    ----------
    class_means : ndarray of shape (..., 2, 2)
        Means of class 1 and class 2.

    Returns
    -------
    ndarray of shape (...)
    """
    from scipy.special import ndtr

    gap = class_means[..., 0, :] - class_means[..., 1, :]
    return np.asarray(ndtr(-0.5 * np.linalg.norm(gap, axis=-1)))


def draw_samples(
    class_means: Floats, n: int, generator: np.random.Generator, *, both_classes: bool
) -> tuple[Floats, NDArray[np.int64]]:
    """Draw n samples per task: X (..., k, n, 2) and their classes.

    With `both_classes` the first two samples of each task belong to different classes. Without it class counts are
    free and sample averages unbiased.
    """
    shape = (*class_means.shape[:-2], n)
    y = generator.integers(2, size=shape)
    if both_classes and n >= 2:
        y[..., :2] = [0, 1]
    picked = np.take_along_axis(class_means[..., None, :, :], y[..., None, None], axis=-2)[..., 0, :]
    return picked + generator.standard_normal((*shape, 2)), y
