"""The method: sample moments, expected quadratic change, recursions, the minimax problem, the learner, theory.

Where each equation, theorem and algorithm of the paper is: the function named is the one that runs.

=========================== ============================== ========================================================
in the paper                function                       what it is
=========================== ============================== ========================================================
eq. (3)                     `imrc.solvers.solve`           the minimax problem, by the subgradient method or exactly
eq. (4)                     `sample_moments`               sample average of Phi and its mean squared error
eq. (6)                     `forward_step`                 forward mean vector; backwards the same in retrodiction
eq. (7)                     `forward_change`               expected quadratic change from W steps, for the newest task
eq. (7), backwards          `backward_change`              as in the authors' code; `printed_change` as printed
eq. (6), its prediction     `predict`                      what is known of a task before its samples
eq. (10)                    `revise`                       forward and backward mean vectors of earlier tasks
Theorems 1 and 3            `borrowed_samples`             effective samples borrowed across one change
Theorems 1 and 3, bounds    `theory.risk_bound`            bound of the minimax risk
Theorem 2                   `theory.ess_forward`           effective sample size in closed form, forward
Theorem 4                   `theory.ess_forward_backward`  the same, forward and backward
Appendix, RTS form          `smooth`                       forward and backward mean vectors from forward ones alone
Algorithm 1                 `Learner.step`                 one step: a task arrives, it and the b before it are learnt
=========================== ============================== ========================================================

Symbols used in this package (ASCII names, the same everywhere)

======== ==================================================================================
``tau``  mean vector estimate, shape (m,) with m = C (D + 1): one block per class
``s``    mean squared error of the mean vector, component by component
``d``    expected quadratic change d^2 between consecutive tasks, component by component
``lam``  confidence vector lambda
``mu``   classifier parameters
``phi``  feature map of an instance; Phi(x, y) = e_y (x) [1, phi(x)]
``k``    number of tasks seen; ``b`` backward steps; ``W`` window of the change estimate
======== ==================================================================================

Beyond the paper: `imrc.core.rules_log` is the recommended learner. Presets are in `presets`, all of W in `change`.

Suffixes ``_fwd``, ``_bwd``, ``_fb`` (forward and backward) and ``_smooth``. Tasks count from 0 in code.
"""

from __future__ import annotations

from imrc.core import theory
from imrc.core.change import backward_change, forward_change, printed_change
from imrc.core.learner import Learner
from imrc.core.recursions import borrowed_samples, forward_step, predict, revise, sample_moments, smooth

__all__ = [
    "Learner", "backward_change", "borrowed_samples", "forward_change", "forward_step", "predict", "printed_change",
    "revise", "sample_moments", "smooth",
]  # fmt: skip
