"""Solvers of the minimax problem, eq. (3) of the paper, which `solve` states; for log loss, `imrc.solvers.logistic`.

Code that solves many problems lays out each instance set once with `prepare_instances` and hands independent problems
to `solve_many`, which uses all cores.
"""

from __future__ import annotations

from imrc.solvers.api import InstanceSet, Problem, Solution, cores, prepare_instances, solve, solve_many, warm_up

__all__ = ["Solution", "solve"]
