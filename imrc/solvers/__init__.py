"""Solvers of the minimax problem (3) of the paper.

For a mean vector tau, a confidence vector lambda and a finite set X of instances, find mu that minimises

    1 - tau'mu + max over x in X, C of (sum over y in C of Phi(x, y)'mu - 1) / |C| + lambda'|mu|

with C running over the non-empty sets of classes. `solve` is the public entry. Code that solves many problems lays
out each instance set once with `prepare_instances` and hands independent problems to `solve_many`, which uses all
cores.
"""

from __future__ import annotations

from imrc.solvers.api import InstanceSet, Problem, Solution, cores, prepare_instances, solve, solve_many, warm_up

__all__ = ["Solution", "solve"]
