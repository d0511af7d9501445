"""The simplified regimes printed under Theorem 4, with their validity, and the bounds its proof really gives.

Note
----
The middle regime as printed, ``n_fb >= n_f + sqrt(n / d^2) / 5`` for 1/j^2 <= n d^2 < 1, cannot hold for few
succeeding tasks: r of them never add more than r n samples, and sqrt(n / d^2) / 5 can exceed that. For j =
57, k = 58, n d^2 = 3.2e-4 it claims 11.2 n where the closed form gives 1.0 n. It holds once r sqrt(n d^2) is at
least .21: for small n d^2, r tasks add n tanh(r sqrt(n d^2)) / sqrt(n d^2), and atanh(1/5) = .203; for larger ones
it fails up to .208. The proof in the appendix shows another bound, ``n / (phi (1 + sqrt(n d^2)))`` with the golden
ratio phi, which holds from one succeeding task on. The last regime also needs at least one succeeding task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from imrc.core.theory import ess_forward, ess_forward_backward

Regime = Literal["proportional", "growing", "marginal"]
GOLDEN = (1.0 + math.sqrt(5.0)) / 2.0


@dataclass(frozen=True)
class RegimeBounds:
    """The printed lower bounds of Theorem 4 next to the closed form, all divided by n."""

    regime: Regime
    """Which case of the theorem applies."""
    condition: str
    """Its condition, as printed."""
    exact: float
    """Closed form of Theorem 4, ESS / n."""
    forward: float
    """Closed form of Theorem 2, ESS / n."""
    printed: float
    """First printed lower bound: forward part plus a simplified gain."""
    printed_short: float
    """Second printed lower bound, without the closed form."""
    appendix: float
    """Lower bound that the proof in the appendix gives."""

    @property
    def printed_holds(self) -> bool:
        """Whether both printed bounds are at most the closed form (up to rounding)."""
        return max(self.printed, self.printed_short) <= self.exact * (1.0 + 1e-12)


def regime(j: int, n: float, d2: float) -> Regime:
    """Return which case of Theorem 4 applies: n d^2 below 1/j^2, below 1, or above; variances at most 1.

    >>> [regime(10, 10, d2) for d2 in (1e-4, 1e-2, 1.0)]
    ['proportional', 'growing', 'marginal']
    """
    x = n * d2
    if x < 1.0 / j**2:
        return "proportional"
    return "growing" if x < 1.0 else "marginal"


def appendix_bound(j: int, k: int, n: float, d2: float) -> float:
    """Lower bound of what k - j succeeding tasks add, divided by n, as shown in the proof of Theorem 4.

    >>> round(appendix_bound(57, 58, 1, 3.2e-4), 3)
    0.607
    """
    case = regime(j, n, d2)
    x, r = n * d2, k - j
    if r == 0:
        return 0.0
    if case == "proportional":
        return r / (1.0 + GOLDEN * r / j)
    if case == "growing":
        return 1.0 / (GOLDEN * (1.0 + math.sqrt(x)))
    return 0.6 / (GOLDEN * x)


def regime_bounds(j: int, k: int, n: float, d2: float) -> RegimeBounds:
    """Evaluate the printed bounds of Theorem 4, for j >= 2, d2 > 0, and compare them with its closed form.

    >>> case = regime_bounds(57, 58, 1, 3.2e-4)  # the counter-example to the middle regime
    >>> round(case.printed - case.forward, 1), round(case.exact - case.forward, 1), case.printed_holds
    (11.2, 1.0, False)
    """
    case = regime(j, n, d2)
    x, r = n * d2, k - j
    forward = float(ess_forward(j, n, d2)) / n
    exact = float(ess_forward_backward(j, k, n, d2)) / n
    if case == "proportional":
        gain, condition = j * r / (j + 2.0 * r), "n d² < 1/j²"
        short = 1.0 + (j - 1.0) / 3.0 + gain
    elif case == "growing":
        gain, condition = 0.2 / math.sqrt(x), "1/j² ≤ n d² < 1"
        short = 1.0 + 0.4 / math.sqrt(x)
    else:
        gain, condition = 1.0 / (3.0 * x), "n d² ≥ 1"
        short = 1.0 + 2.0 / (3.0 * x)
    appendix = forward + appendix_bound(j, k, n, d2)
    return RegimeBounds(case, condition, exact, forward, forward + gain, short, appendix)
