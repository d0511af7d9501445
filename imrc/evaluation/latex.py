"""Tables of errors in LaTeX, with the rule for what is more than noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from imrc._types import Floats
from imrc.evaluation.settings import HEADLINES, RunSettings
from imrc.evaluation.significance import Headline, paired_differences
from imrc.wording import capital, decimal

if TYPE_CHECKING:
    from imrc.evaluation.results import RunResult

_SPECIAL = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"}
    | {"²": "$^2$", "±": r"$\pm$", "–": "--", "“": "``", "”": "''"}
)

BOLD = "Bold marks the lowest value and any that are not clearly higher (paired 95 % t intervals, Holm's method)."


def as_latex(text: str) -> str:
    r"""Return a text as LaTeX shows it literally.

    >>> print(as_latex("50 % of a_b"))
    50 \% of a\_b
    """
    return text.translate(_SPECIAL)


def caption(result: RunResult) -> str:
    """Return what a table of a run needs to say: which error, settings, and what is bold."""
    settings, many = result.settings, result.settings.repetitions
    spread = f"mean ± one standard error over {many} repetitions. {BOLD}" if many > 1 else "one repetition."
    return (
        f"{capital(result.measure())}, {HEADLINES[result.scenario.kind]}; {spread} "
        f"n = {settings.n}, preset {settings.preset}, {settings_in_words(settings, result.n_tasks)}"
    )


def settings_in_words(settings: RunSettings, k: int) -> str:
    """Say which settings runs share that differ in n, preset or method."""
    return (
        f"k = {k}, b = {settings.reach(k)}, W = {settings.learner.W}, representation {settings.features.kind}, "
        f"seed {settings.seed}."
    )


def latex_table(columns: Mapping[str, Mapping[str, Floats]], told: str) -> str:
    """Return errors by column and row, (repetitions,) each, as a table for the package booktabs.

    In each column the lowest is bold, with all whose paired difference to it is not clear; missing rows stay empty.
    """
    rows = list(dict.fromkeys(row for errors in columns.values() for row in errors))
    cells = {column: _cells(errors) for column, errors in columns.items()}
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{as_latex(told)}}}",
            rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
            r"\toprule",
            " & ".join(["", *map(as_latex, columns)]) + r" \\",
            r"\midrule",
            *(" & ".join([as_latex(row), *(cells[one].get(row, "") for one in columns)]) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _cells(errors: Mapping[str, Floats]) -> dict[str, str]:
    best = min(errors, key=lambda row: float(errors[row].mean()))
    worse = paired_differences(errors, best)
    cells = {}
    for row, values in errors.items():
        found = Headline.of(values)
        mean = decimal(found.mean)
        # One repetition cannot tell: only the lowest is bold then.
        bold = row == best or (len(values) > 1 and not worse[row].clear)
        cells[row] = (rf"\textbf{{{mean}}}" if bold else mean) + (
            rf" $\pm$ {decimal(found.stderr)}" if len(values) > 1 else ""
        )
    return cells
