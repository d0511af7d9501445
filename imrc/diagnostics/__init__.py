"""Is the sequence evolving? Partial autocorrelation, variogram, tests of change and order, and a verdict.

Tasks evolve if the changes between consecutive distributions are independent and zero-mean. `assess` collects the
evidence and words a verdict; `partial_autocorrelation` and `variogram` compute one piece of evidence each.
"""

from imrc.diagnostics._assess import Assessment, assess
from imrc.diagnostics._change import ChangeEstimate
from imrc.diagnostics._innovations import Innovations
from imrc.diagnostics._models import ModelFit
from imrc.diagnostics._order import OrderTests
from imrc.diagnostics._pictures import PartialAutocorrelation, Variogram, partial_autocorrelation, variogram
from imrc.diagnostics._verdict import TITLES, Verdict
from imrc.diagnostics.changed import Changed, what_changed

__all__ = [
    "assess",
    "what_changed",
    "Changed",
    "Assessment",
    "partial_autocorrelation",
    "PartialAutocorrelation",
    "variogram",
    "Variogram",
    "ChangeEstimate",
    "Innovations",
    "ModelFit",
    "OrderTests",
    "TITLES",
    "Verdict",
]
