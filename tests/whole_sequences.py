"""Recursions over whole sequences, which the library runs step by step: what its numbers are compared with."""

from imrc._types import Floats
from imrc.core.recursions import forward_step, revise, track_forward


def track_backward(tau: Floats, s: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Backward mean and MSE vectors as in `track_forward`, by `forward_step` from the last task to the first."""
    tau_bwd, s_bwd = tau.copy(), s.copy()
    for j in range(len(tau) - 2, -1, -1):
        tau_bwd[j], s_bwd[j] = forward_step(tau[j], s[j], tau_bwd[j + 1], s_bwd[j + 1], d[j + 1])
    return tau_bwd, s_bwd


def track_forward_backward(tau: Floats, s: Floats, d: Floats, b: int | None = None) -> tuple[Floats, Floats]:
    """Forward and backward mean and MSE vectors of all tasks at the last step, by `track_forward` and `revise`.

    Tasks k-1-b, ..., k-1 are updated, earlier ones keep their forward value; b None: all.
    """
    tau_fb, s_fb = track_forward(tau, s, d)
    k = len(tau)
    reach = range(k - 2, (-1 if b is None else max(-1, k - 2 - b)), -1)
    earlier = ((tau[j], s[j], tau_fb[j], s_fb[j]) for j in reach)
    for j, (mean, mse) in zip(reach, revise((tau[-1], s[-1]), earlier, (d[j + 1] for j in reach)), strict=True):
        tau_fb[j], s_fb[j] = mean, mse
    return tau_fb, s_fb
