"""Cosines and sines of many angles, compiled: NumPy computes them one by one on processors without AVX-512."""

import math

import numpy as np

from imrc._compiled import njit
from imrc._types import Floats

FARTHEST = 1e6
"""Largest angle, in absolute value: beyond it, multiples of the first part below are no longer exact."""
# A quarter turn, pi / 2, as two parts of 33 bits and the rest.
_QUARTER = tuple(float.fromhex(part) for part in ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69"))
# Taylor series in the square of an angle up to an eighth of a turn. The terms left out are below 5e-17.
_COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(9))
_SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(8))
_ROUND = 1.5 * 2.0**52  # to add this and subtract it again rounds to whole numbers


# Its types are given, because a view of one row counts as contiguous and would be compiled again.
@njit("void(float64[:, ::1], float64[:, :])", cache=True, nogil=True, fastmath={"contract", "nsz"})
def write_cosines_and_sines(angles: Floats, out: Floats) -> None:
    """Write cosines of angles (n, m) into the first m columns of an array, sines into the others, within 2e-16."""
    m = angles.shape[1]
    cosines, sines = np.empty(m), np.empty(m)  # several are computed at a time if they are contiguous
    for i in range(angles.shape[0]):
        for j in range(m):
            quarters = (angles[i, j] * (2.0 / math.pi) + _ROUND) - _ROUND
            rest = ((angles[i, j] - quarters * _QUARTER[0]) - quarters * _QUARTER[1]) - quarters * _QUARTER[2]
            square, cosine, sine = rest * rest, 0.0, 0.0
            for k in range(8, -1, -1):
                cosine = cosine * square + _COSINE[k]
            for k in range(7, -1, -1):
                sine = sine * square + _SINE[k]
            # Whole quarters, now -2 to 2, turn these by their own cosine and sine, which are 0, 1 or -1.
            quarters -= 4.0 * ((quarters * 0.25 + _ROUND) - _ROUND)
            across = 1.0 - abs(quarters)
            up = quarters * (1.0 + across)
            cosines[j] = across * cosine - up * (sine * rest)
            sines[j] = up * cosine + across * (sine * rest)
        for j in range(m):
            out[i, j], out[i, m + j] = cosines[j], sines[j]
