"""A simulation for teaching: two-dimensional tasks that move, all equally hard, with the truth known.

`simulate` draws many sequences at once, `track` learns them by the recursions of the paper. The tables count what a
lesson says: errors above the best possible (`task_table`, `summary`, `drift_table`) and boxes that hold the truth
(`box_table`). The rule learnt from the estimated class means is the simplest one, the boundary half-way between them,
so that differences come from the estimates alone.
"""

from imrc.teaching._lessons import (
    DRIFTS,
    KNOWLEDGE,
    Study,
    box_table,
    drift_table,
    inside_share,
    summary,
    task_table,
    track,
    try_one_task,
)
from imrc.teaching._world import (
    JUMP,
    KINDS,
    SEPARATION,
    TASKS,
    World,
    best_error,
    halfway_rule,
    linear_error,
    simulate,
)

__all__ = [
    "DRIFTS",
    "JUMP",
    "KINDS",
    "KNOWLEDGE",
    "SEPARATION",
    "TASKS",
    "Study",
    "World",
    "best_error",
    "box_table",
    "drift_table",
    "halfway_rule",
    "inside_share",
    "linear_error",
    "simulate",
    "summary",
    "task_table",
    "track",
    "try_one_task",
]
