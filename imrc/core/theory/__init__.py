"""What the theorems promise: effective sample sizes, risk bounds, regimes, number of backward steps.

The effective sample size (ESS) of a task is the number of samples with which learning that task alone would
reach the same bound. All functions work with the ratio x = n d^2 / sigma^2: the expected quadratic change in
units of the mean squared error of one sample average. Theorem numbers are those of the paper.
"""

from imrc.core.theory._bounds import RiskBound, risk_bound, samples_for_bound
from imrc.core.theory._closed import (
    backward_gain,
    ess_backward,
    ess_forward,
    ess_forward_backward,
    smallest_b,
)
from imrc.core.theory._recursion import ess_by_b, ess_parts, ess_recursion
from imrc.core.theory._regimes import Regime, RegimeBounds, appendix_bound, regime, regime_bounds

__all__ = [
    "ess_forward",
    "ess_backward",
    "ess_forward_backward",
    "backward_gain",
    "smallest_b",
    "ess_recursion",
    "ess_parts",
    "ess_by_b",
    "Regime",
    "RegimeBounds",
    "regime",
    "regime_bounds",
    "appendix_bound",
    "RiskBound",
    "risk_bound",
    "samples_for_bound",
]
