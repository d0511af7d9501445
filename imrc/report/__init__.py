"""Everything known about a sequence of tasks, in one object and one HTML file that opens offline.

`Report` computes all sentences and numbers; pages, commands and notebooks only show them. `decision` has the first
sentence and the advice, `worth` what the past is worth, `guarantees` the bounds, `against_others` sentences on methods.
"""

from __future__ import annotations

from imrc.report._report import FIRST_LOOK, Report, check, iter_check
from imrc.report.decision import Decision

__all__ = ["Decision"]
