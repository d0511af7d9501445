"""Is the sequence evolving? Partial autocorrelation, variogram, tests of change and order, and a verdict.

Tasks evolve if the changes between consecutive distributions are independent and zero-mean. `assess` collects the
evidence and reaches a verdict; `partial_autocorrelation` and `variogram` compute one piece of evidence each.
"""

from imrc.diagnostics.assessment import Assessment, assess
from imrc.diagnostics.by_lag import PartialAutocorrelation, Variogram, partial_autocorrelation, variogram
from imrc.diagnostics.changed import Changed, what_changed
from imrc.diagnostics.words import VERDICTS, Verdict

__all__ = [
    "Assessment", "assess", "Changed", "what_changed",
    "PartialAutocorrelation", "partial_autocorrelation", "Variogram", "variogram",
]  # fmt: skip
