"""Everything known about a sequence of tasks, in one object and one HTML file that opens offline.

`Report` is where sentences and numbers are made; pages, commands and notebooks draw it.
"""

from __future__ import annotations

from imrc.report._check import check, iter_check
from imrc.report._report import Report, to_latex
from imrc.report.decision import Decision

__all__ = ["Decision"]
