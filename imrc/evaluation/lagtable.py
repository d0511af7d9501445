"""Values per (step, task) in compact form: a rule changes only while its task is within reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imrc._types import Floats


@dataclass(frozen=True, eq=False)
class LagTable:
    """A quantity of each task at each later step, stored by lag, (repetitions, tasks, lags); NaN beyond the last step.

    The value of task j at step q >= j is ``values[:, j, min(q - j, lags - 1)]``: after the last lag nothing changes.
    Single-task and forward rules have one lag, forward and backward rules b + 1, others as many as there are tasks.
    """

    values: Floats

    @property
    def lags(self) -> int:
        """Number of lags stored."""
        return int(self.values.shape[2])

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return int(self.values.shape[1])

    def dense(self) -> Floats:
        """Return values[repetition, step, task], NaN above the diagonal (task later than step).

        >>> LagTable(np.array([[[1.0, 2.0], [3.0, np.nan]]])).dense()
        array([[[ 1., nan],
                [ 2.,  3.]]])
        """
        step, task = np.indices((self.tasks, self.tasks))
        lag = np.clip(step - task, 0, self.lags - 1)
        return np.where(step >= task, self.values[:, task, lag], np.nan)

    def by_step(self) -> Floats:
        """Return the mean over the tasks seen at each step, shape (repetitions, steps).

        >>> LagTable(np.array([[[1.0, 2.0], [3.0, np.nan]]])).by_step()
        array([[1. , 2.5]])
        """
        repetitions, tasks, lags = self.values.shape
        total = np.zeros((repetitions, tasks))
        for lag in range(lags - 1):
            total[:, lag:] += self.values[:, : tasks - lag, lag]
        settled = self.values[:, : tasks - lags + 1, -1]
        total[:, lags - 1 :] += np.cumsum(settled, axis=1)
        return np.asarray(total / np.arange(1, tasks + 1))

    def average(self) -> Floats:
        """Return the mean over steps of the mean over the tasks seen, shape (repetitions,)."""
        return np.asarray(self.by_step().mean(axis=1))

    def weights(self) -> Floats:
        """Return by how much each value counts in `average`, shape (tasks, lags); 0 where there is none.

        >>> LagTable(np.array([[[1.0, 2.0], [3.0, np.nan]]])).weights()
        array([[0.5 , 0.25],
               [0.25, 0.  ]])
        """
        # At step q (from 0) each of the q + 1 tasks seen counts alike, and all steps count alike.
        by_step = 1.0 / (self.tasks * np.arange(1, self.tasks + 1))
        later = np.append(np.cumsum(by_step[::-1])[::-1], 0.0)
        there = np.minimum(np.arange(self.tasks)[:, None] + np.arange(self.lags), self.tasks)
        weights = np.append(by_step, 0.0)[there]
        weights[:, -1] = later[there[:, -1]]
        return np.asarray(weights)

    def newest(self) -> Floats:
        """Return each task's value at its own step, shape (repetitions, tasks)."""
        return self.values[:, :, 0]

    def at_lag(self, lag: int) -> Floats:
        """Return each task's value after `lag` more tasks, or at the last step, shape (repetitions, tasks)."""
        remaining = np.arange(self.tasks - 1, -1, -1)
        index = np.minimum(np.minimum(remaining, lag), self.lags - 1)
        return np.take_along_axis(self.values, index[None, :, None], axis=2)[:, :, 0]

    def final(self) -> Floats:
        """Return each task's value at the last step, shape (repetitions, tasks)."""
        return self.at_lag(self.tasks)

    def story(self, task: int) -> Floats:
        """Return the values of one task, from 0, at steps task, ..., last, shape (repetitions, tasks - task)."""
        lag = np.minimum(np.arange(self.tasks - task), self.lags - 1)
        return self.values[:, task, lag]
