"""What the theorems promise: effective sample sizes, risk bounds, number of backward steps.

The effective sample size (ESS) of a task is the number of samples with which learning that task alone would
reach the same bound. All functions work with the ratio x = n d^2 / sigma^2: the expected quadratic change in
units of the mean squared error of one sample average, that is n rho with rho = d^2 / sigma^2. Theorem numbers are
the paper's.

Note
----
The paper states Theorems 2 and 4 in n d^2 for M <= 1. What they need is sigma^2 >= 1: with n = 10, d^2 = .01 and 20
tasks Theorem 1 gives 27.9 effective samples of the newest task at sigma^2 = .5 and 21.6 at .25, where Theorem 2's
"lower bound" is 37.0. Here sigma^2 is an argument, and d^2 is divided by it: the closed forms then equal the
recursions of Theorems 1 and 3.
"""

from imrc.core.theory._bounds import AdmissibleKappa, admissible_kappa, risk_bound, samples_for_bound
from imrc.core.theory._closed import (
    backward_gain,
    ess_forward,
    ess_forward_backward,
    mean_ess,
    smallest_b,
)
from imrc.core.theory._next import ess_next, samples_needed, steady_state
from imrc.core.theory._recursion import ess_parts, ess_recursion

__all__ = ["ess_forward", "ess_forward_backward", "ess_recursion", "risk_bound"]
