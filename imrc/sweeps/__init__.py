"""Sweeps: many runs, on one machine or many, each stored as soon as it is finished.

A sweep is a list of *cells*: one repetition of one method on one sequence with one set of values. A cell has a key,
the hash of everything its numbers depend on: data, the settings its method uses, seed and repetition, and the version
of the method. Finished cells are kept in a `ResultStore`, one SQLite file, so a stopped sweep continues where it
stopped, and no cell is run twice: ``run_sweep(plan_sweep(SweepSpec(...), store), store)``, then ``store.frame()``.
"""

from __future__ import annotations

from imrc._folders import default_store_path
from imrc.sweeps.execute import SchedulerError, run_sweep
from imrc.sweeps.plan import SweepSpec, plan_sweep, summary_table
from imrc.sweeps.store import COLUMNS, ResultStore, StoreError

__all__ = ["ResultStore", "SweepSpec", "plan_sweep", "run_sweep", "summary_table"]
