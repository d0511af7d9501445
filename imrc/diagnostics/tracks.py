"""Tables behind the charts: one component over the tasks, the change at each step, the evidence by lag."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from imrc._checks import check_int
from imrc.core.recursions import smooth, track_forward
from imrc.diagnostics.assessment import Assessment
from imrc.wording import feature_names_or_numbers


def component_tracks(result: Assessment, component: int) -> pd.DataFrame:
    """Return the averages of a component with forward and smoothed estimates; it is class times D + 1, plus feature.

    Columns task (from 1), label, mean, mean_se, forward, forward_se, smooth, smooth_se; variances are pooled and one
    rate of change holds for all components, as in the diagnosis. Standard errors of a constant component are 0.
    """
    component = check_int("component", component, 0, result.moments.tau.shape[1] - 1)
    tau = result.moments.tau[:, component : component + 1]
    n, variance = result.moments.n, result.moments.pooled_variance()[component]
    s = np.full_like(tau, variance) if n is None else (variance / n)[:, None]
    ratio = result.change.ratio if result.change is not None else 0.0
    d = np.full_like(s, ratio * s.mean())
    forward, s_fwd = track_forward(tau, s, d)
    smoothed, s_smooth = smooth(forward, s_fwd, d)
    table = pd.DataFrame({"task": np.arange(1, result.k + 1), "label": list(result.labels)})
    parts = {"mean": (tau, s), "forward": (forward, s_fwd), "smooth": (smoothed, np.maximum(s_smooth, 0.0))}
    for name, (values, mse) in parts.items():
        table[name], table[f"{name}_se"] = values[:, 0], np.sqrt(mse)[:, 0]
    return table


def step_changes(result: Assessment) -> pd.DataFrame:
    """Return the change at each step: noise-corrected squared distance of neighbours, in units of one average's noise.

    Columns task (from 1: the step leads to it), label, change, noise_se (if nothing changed), and low, high: 95 % of
    the single steps of a random walk with the estimated ratio (NaN without an estimate).
    """
    change = np.diagonal(result.distance, 1)
    n = result.moments.n
    h = np.ones(result.k) if n is None or result.n is None else result.n / n  # noise variances, mean 1
    components = result.m_noise or result.m_eff
    noise = h[:-1] + h[1:]
    se = np.sqrt(2.0) * noise / np.sqrt(components)
    low = high = np.full(len(change), np.nan)
    if result.change is not None:
        from scipy.special import chdtri

        # Under the walk a squared distance is a mean of m_eff squares of normal numbers, minus its noise.
        degrees = result.change.m_eff
        low, high = ((result.change.ratio + noise) * chdtri(degrees, p) / degrees - noise for p in (0.975, 0.025))
    steps = {"task": np.arange(2, result.k + 1), "label": list(result.labels[1:]), "change": change}
    return pd.DataFrame({**steps, "noise_se": se, "low": low, "high": high})


def recent_ratio(result: Assessment, window: int, n: float) -> float:
    """Return n d^2 / sigma^2 of the last `window` changes, eq. (7) less noise, possibly below 0; NaN with one task."""
    changes = np.diagonal(result.distance, 1)[-window:]
    return float(changes.mean()) * n / (result.n or n) if len(changes) else float("nan")


def feature_label(position: int, width: int, names: tuple[str, ...]) -> str:
    """Name a component within its class block of `width` D + 1; inputs go by their names if there is one per feature.

    >>> feature_label(0, 3, ("age", "height")), feature_label(2, 3, ("age", "height")), feature_label(2, 5, ("age",))
    ('share of the class', 'height', 'feature 2')
    """
    if position == 0:
        return "share of the class"
    return feature_names_or_numbers(names, width - 1)[position - 1]


def as_json(result: Assessment, n: float | None = None) -> str:
    """Return verdict and evidence as JSON text, n rho converted to n samples per task."""
    return json.dumps(result.summary(n), indent=2, allow_nan=False, ensure_ascii=False)


def lag_rows(result: Assessment) -> list[dict[str, Any]]:
    """Return the evidence by lag, one row each: variogram, and partial autocorrelation with its band.

    Keys sequence, lag, gamma, pairs, and (NaN where not computed) pacf, pacf_std (spread over components), and
    pacf_low, pacf_high (95 % band of the average if the order of the tasks did not matter).
    """
    curve, pacf = result.variogram, result.pacf
    if curve is None:
        return []
    table = pd.DataFrame({"sequence": result.name, "lag": curve.lags, "gamma": curve.gamma, "pairs": curve.pairs})
    for name, part in {"pacf": "mean", "pacf_std": "std", "pacf_low": "low", "pacf_high": "high"}.items():
        values = None if pacf is None else getattr(pacf, part)
        table[name] = pd.Series(np.zeros(0) if values is None else values, dtype=np.float64)
    rows: list[dict[str, Any]] = table.to_dict("records")
    return rows


def most_changing(result: Assessment) -> int:
    """Return the component whose averages vary most between tasks, relative to their noise."""
    tau, s = result.moments.tau, result.moments.s.mean(axis=0)
    usable = s > 1e-10 * max(float(s.max()), 1e-300)
    ratio = np.where(usable, tau.var(axis=0) / np.where(usable, s, 1.0), -1.0)
    return int(np.argmax(ratio))
