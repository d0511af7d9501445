"""Types that signatures use throughout the library."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Numbers in double precision; the docstring says which shape."""

Ints = NDArray[np.int64]
"""Whole numbers: classes, counts, places."""

Flags = NDArray[np.bool_]
"""True or False for each row, cell or entry."""

Progress = Callable[[str, int, int], None]
"""Called with the current activity, how much of it is done, and how much there is (0 if unknown)."""
