"""Names of types that signatures use all over the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Numbers in double precision; the docstring says which shape."""

Ints = NDArray[np.int64]
"""Whole numbers: classes, counts, places."""
