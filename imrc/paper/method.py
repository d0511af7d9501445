"""The paper's Algorithm 1, flow diagram and notation, each line, box and symbol with the function that does it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pkgutil import resolve_name

_MOMENTS = "imrc.core.recursions.sample_moments"
_FORWARD_CHANGE = "imrc.core.change.forward_change"
_BACKWARD_CHANGE = "imrc.core.change.backward_change"
_FORWARD = "imrc.core.recursions.forward_step"
_REVISE = "imrc.core.recursions.revise"
_STEP = "imrc.core.rules_01.ZeroOneLearner.step"
_SOLVE = "imrc.solvers.solve_many"


@dataclass(frozen=True)
class Line:
    """One line of Algorithm 1, in Markdown; its depth is 1 inside the loop over earlier tasks."""

    text: str
    depth: int = 0
    equation: str = ""
    functions: tuple[str, ...] = ()  # dotted names of those that do it; empty for input, output and the loop's head


_KF, _JF, _JFB = r"k^{\rightharpoonup}", r"j^{\rightharpoonup}", r"j^{\rightleftharpoons k}"
_BACK = r"{j+1}^{\leftharpoondown k}"

ALGORITHM: tuple[Line, ...] = (
    Line(rf"**Input:** $D_k$ of the new task, and $\tau_j, s_j, \tau_{_JF}, s_{_JF}$ for $k-b \le j \le k-1$"),
    Line(rf"**Output:** $\mu_j$ for $k-b \le j \le k$, and $\tau_k, s_k, \tau_{_KF}, s_{_KF}$"),
    Line(r"Sample average and MSE vectors $\tau_k, s_k$ of $D_k$ *(single task)*", 0, "(4)", (_MOMENTS,)),
    Line(r"Estimate the expected quadratic change $d_k^2$", 0, "(7)", (_FORWARD_CHANGE,)),
    Line(rf"Forward mean and MSE vectors $\tau_{_KF}, s_{_KF}$ *(forward)*", 0, "(6)", (_FORWARD,)),
    Line(rf"Take $\lambda_{_KF} = \sqrt{{s_{_KF}}}$ and solve for $\mu_k$", 0, "(3)", (_STEP, _SOLVE)),
    Line(r"**for** $j = k-1, k-2, \ldots, k-b$ **do**"),
    Line(r"Estimate the expected quadratic change $d_j^2$", 1, "(7)", (_BACKWARD_CHANGE,)),
    Line(
        rf"Backward mean and MSE vectors $\tau_{_BACK}, s_{_BACK}$ *(backward)*, "
        rf"then $\tau_{_JFB}, s_{_JFB}$ *(forward and backward)*",
        1,
        "(6) in retrodiction, (10)",
        (_REVISE,),
    ),
    Line(rf"Take $\lambda_{_JFB} = \sqrt{{s_{_JFB}}}$ and solve for $\mu_j$", 1, "(3)", (_STEP, _SOLVE)),
)
"""Algorithm 1, two lines of its loop as one: `revise` does both in one pass."""


@dataclass(frozen=True)
class Box:
    """One box of the flow diagram: its result in HTML, and the dotted name of the function that computes it."""

    text: str
    column: int  # 0 has tasks seen before, 1 the new task
    row: int  # from the top
    after: tuple[str, ...] = ()  # keys of the boxes whose results it takes
    function: str = ""
    rule: str = ""  # whose colour it has


_F, _FB = "<sup>⇀</sup>", "<sup>⇌<i>k</i></sup>"
_NEW, _OLD = "τ<sub>k</sub>{0}, s<sub>k</sub>{0}", "τ<sub>j</sub>{0}, s<sub>j</sub>{0}"
_ROOT = "<i>λ<sub>{0}</sub>{1} = √s<sub>{0}</sub>{1}</i>"
_BOTH = "forward_backward"

FLOW: dict[str, Box] = {
    "kept": Box(f"<i>{_OLD.format('')}, {_OLD.format(_F)}</i>", 0, 0),
    "samples": Box("samples <i>D<sub>k</sub></i>", 1, 0),
    "average": Box(f"<i>{_NEW.format('')}</i>", 1, 1, ("samples",), _MOMENTS, "single"),
    "forward_change": Box("<i>d<sub>k</sub></i><sup>2</sup>", 1, 2, ("average", "kept"), _FORWARD_CHANGE, "forward"),
    "backward_change": Box("<i>d<sub>j</sub></i><sup>2</sup>", 0, 2, ("kept", "average"), _BACKWARD_CHANGE, _BOTH),
    "forward": Box(f"<i>{_NEW.format(_F)}</i>", 1, 3, ("forward_change", "kept", "average"), _FORWARD, "forward"),
    "revised": Box(f"<i>{_OLD.format(_FB)}</i>", 0, 3, ("backward_change", "average", "kept"), _REVISE, _BOTH),
    "confidence_forward": Box(_ROOT.format("k", _F), 1, 4, ("forward",), _STEP, "forward"),
    "confidence_revised": Box(_ROOT.format("j", _FB), 0, 4, ("revised",), _STEP, _BOTH),
    "rule_forward": Box(
        "rule <i>μ<sub>k</sub></i>", 1, 5, ("confidence_forward", "forward", "samples"), _SOLVE, "forward"
    ),
    "rule_revised": Box("rules <i>μ<sub>j</sub></i>", 0, 5, ("confidence_revised", "revised"), _SOLVE, _BOTH),
}
"""The paper's flow diagram, as the steps of Algorithm 1: each result, what it is computed from, and the function."""


def short_name(function: str) -> str:
    """Return a dotted name without its modules."""
    return str(resolve_name(function).__qualname__)


def lines_of(function: str) -> str:
    """Return the lines of Algorithm 1 that a function does, in words.

    >>> lines_of("imrc.solvers.solve_many")
    'line 6 and 10'
    """
    return "line " + " and ".join(
        str(number) for number, line in enumerate(ALGORITHM, start=1) if function in line.functions
    )


_SYMBOLS = (
    ("Mean vector", r"\tau_j@", "`IMRC.mean_`, `tau`"),
    ("Confidence vector", r"\lambda_j@", "`lam`, √ of `IMRC.mse_`"),
    ("MSE vector", r"s_j@", "`IMRC.mse_`, `s`"),
    ("Effective sample size", r"n_j@", "`RunResult.ess`"),
    ("Uncertainty set", r"\mathcal{U}_j@", "`tau` ± `lam`"),
    ("Minimax risk", r"R(\mathcal{U}_j@)", "`IMRC.risk_`, `RunResult.risks`"),
)
_MARKS = ("", r"^{\rightharpoonup}", r"^{\leftharpoondown k}", r"^{\rightleftharpoons k}")
NOTATION = tuple(
    (what, *(f"${symbol.replace('@', mark)}$" for mark in _MARKS), here) for what, symbol, here in _SYMBOLS
)
"""The paper's table of notation: what, for single-task, forward, backward, forward and backward; its name here."""


def source(name: str) -> str:
    """Return the source of the function with this dotted name, without the indentation of a method."""
    return inspect.cleandoc("\n" + inspect.getsource(resolve_name(name)))
