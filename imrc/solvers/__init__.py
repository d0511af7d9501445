"""Solvers of the minimax problem (3) of the paper.

For a mean vector tau, a confidence vector lambda and a finite set X of instances, find mu that minimises

    1 - tau'mu + max over x in X, C of (sum over y in C of Phi(x, y)'mu - 1) / |C| + lambda'|mu|

with C running over the non-empty sets of classes.
"""

from __future__ import annotations

from imrc.solvers._api import METHODS, Method, Solution, evaluate_objective, solve

__all__ = ["METHODS", "Method", "Solution", "evaluate_objective", "solve"]
