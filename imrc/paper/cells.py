"""Cells of the paper's tables for page *The paper*: ours, printed, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from imrc import datasets
from imrc.baselines import PUBLISHED
from imrc.evaluation.comparison import imrc_key, title_of_method
from imrc.evaluation.significance import half_width
from imrc.paper import kept
from imrc.paper.measure import BACKWARD_STEPS, SIZES, TOLERANCE, WINDOWS, how_to_get
from imrc.paper.printed import printed_datasets, printed_error_of, printed_errors, printed_seconds
from imrc.wording import decimal, with_spread

if TYPE_CHECKING:
    import pandas as pd

ErrorKind = Literal["average", "released"]
METHODS = (imrc_key("paper"), imrc_key("recommended"), *PUBLISHED)
"""Methods with a printed column, IMRC with both presets."""

TIMED = ("gem", "mer", "ella", "ewc")
"""Methods with printed running times for each dataset."""

_VALUES = ["ours", "std", "stderr", "repetitions", "printed", "printed_std"]


def error_cells(n: int, error: ErrorKind = "average", methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """Return the cells of the table of errors for one n.

    Parameters
    ----------
    n : {10, 50, 100, 150}
        Samples per task.
    error : {"average", "released"}
        Definition of our error, see `imrc.evaluation.comparison.SCORE_KINDS`. The printed value is the same.
    methods : sequence of str
        Of `METHODS`, and references, which have no printed value.

    Returns
    -------
    DataFrame
        One row per dataset of the paper and method: dataset, title (of the dataset), column (title of the method),
        ours, std, stderr (NaN where not measured), repetitions, printed, printed_std, gap (ours minus printed).
    """
    measured = kept.table("errors").query("n == @n and error_kind == @error")
    found = {(row.dataset, row.method): row for row in measured.itertuples()}
    rows: list[tuple[object, ...]] = []
    for name in printed_datasets():
        printed = printed_errors(name, n)
        for method in methods:
            key = "imrc" if method.startswith("imrc:") and method.count(":") == 1 else method
            mean, std = printed.get(key, (math.nan, math.nan))
            rows.append((name, title_of_method(method), *_ours(found.get((name, method))), mean, std))
    return _frame(rows)


def _ours(row: Any) -> tuple[float, float, float, int]:  # noqa: ANN401 - a row of a table
    return (math.nan, math.nan, math.nan, 0) if row is None else (row.error, row.std, row.stderr, row.repetitions)


def setting_cells(n: int) -> pd.DataFrame:
    """Return the cells of the table over W and b for n = 10 or 100, with the columns of `error_cells`."""
    measured = kept.table("settings").query("n == @n")
    found = {(row.dataset, row.setting): row for row in measured.itertuples()}
    rows: list[tuple[object, ...]] = []
    for name in printed_datasets():
        for setting in (*(f"W{W}" for W in WINDOWS), *(f"b{b}" for b in BACKWARD_STEPS)):
            ours, printed = _ours(found.get((name, setting))), printed_error_of(name, n, setting)
            rows.append((name, f"{setting[0]} = {setting[1:]}", *ours, printed, math.nan))
    return _frame(rows)


def time_cells(n: int) -> pd.DataFrame:
    """Return the cells of the table of running times for n = 10 or 100: seconds per task in ours and printed."""
    by_setting = kept.table("settings").query("n == @n")
    by_method = kept.table("errors").query("n == @n and error_kind == 'average'")
    found = {(row.dataset, row.setting): row for row in by_setting.itertuples()}
    found |= {(row.dataset, row.method): row for row in by_method.itertuples()}
    rows: list[tuple[object, ...]] = []
    for name in printed_datasets():
        for key in (*(f"b{b}" for b in BACKWARD_STEPS), *TIMED):
            row = found.get((name, key))
            seconds, repetitions = (math.nan, 0) if row is None else (row.seconds, row.repetitions)
            column = title_of_method(key) if key in TIMED else f"IMRC, b = {key[1:]}"
            printed = printed_seconds(name, n, key)
            rows.append((name, column, seconds, math.nan, math.nan, repetitions, printed, math.nan))
    return _frame(rows)


def _frame(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    import pandas as pd

    cells = pd.DataFrame(rows, columns=["dataset", "column", *_VALUES])
    cells.insert(1, "title", [datasets.entry(name).title for name in cells["dataset"]])
    # Rows without anything of ours at the end: in between they tear the others apart.
    measured = cells["ours"].notna().groupby(cells["dataset"]).transform("any")
    cells = cells.loc[(~measured).sort_values(kind="stable").index].reset_index(drop=True)
    return cells.assign(gap=cells["ours"] - cells["printed"])


def wide(cells: pd.DataFrame, *, milliseconds: bool = False) -> pd.DataFrame:
    """Return the cells as a table of texts: one row per dataset, "ours ± std | printed ± std" in each column."""
    import pandas as pd

    rows: dict[str, dict[str, str]] = {}
    for cell in cells.itertuples():
        if milliseconds:
            ours = f"{1000 * cell.ours:.2f}" if math.isfinite(cell.ours) else "–"
            printed = f"{1000 * cell.printed:.0f}" if math.isfinite(cell.printed) else "–"
        else:
            ours = with_spread(cell.ours, cell.std) or "–"
            printed = with_spread(cell.printed, cell.printed_std, 2) or "–"
        rows.setdefault(cell.title, {})[cell.column] = f"{ours} | {printed}"
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("Dataset").reset_index()


def agreement(cells: pd.DataFrame) -> str:
    """Return in one sentence how many of the cells measured agree with print, IMRC's own and the others'."""
    both = cells[cells["gap"].notna()]
    if not len(both):
        return "Nothing was measured here."
    own = both["column"] == title_of_method(imrc_key("paper"))
    parts = []
    for words, part in (
        ("IMRC with the paper's choices", both[own]),
        ("the other methods", both[~own & _published(both)]),
    ):
        if len(part):
            near = int((part["gap"].abs() <= TOLERANCE).sum())
            parts.append(
                f"{words}: **{near} of {len(part)}** (median difference {decimal(part['gap'].abs().median())})"
            )
    return (
        f"Within {decimal(TOLERANCE, 2)} of the printed value are, of {both['dataset'].nunique()} datasets at hand, "
        + "; ".join(parts)
        + "."
    )


def _near(error: ErrorKind) -> dict[str, tuple[int, int]]:
    """Return how many cells of all n agree with print, of how many: IMRC's ("imrc") and the other methods'."""
    import pandas as pd

    table = pd.concat([error_cells(n, error) for n in SIZES])
    table = table[table["gap"].notna()]
    own = table["column"] == title_of_method(imrc_key("paper"))
    return {
        name: (int((part["gap"].abs() <= TOLERANCE).sum()), len(part))
        for name, part in (("imrc", table[own]), ("others", table[_published(table)]))
    }


def headline() -> str:
    """Return in one sentence what of the paper's errors comes out again, what does not, and what cannot be had."""
    (near, total), (others, all_others) = _near("released").values()
    return (
        f"IMRC's printed errors come out again in {near} of {total} cells, those of its rivals in {others} of "
        f"{all_others}; {len(missing())} of {len(printed_datasets())} datasets are not at hand"
    )


def both_readings() -> str:
    """Return in one sentence how many cells of all n agree with print, for both definitions of the error."""
    near = {error: _near(error) for error in get_args(ErrorKind)}
    return (
        f"Within {decimal(TOLERANCE, 2)} of print, over all n: IMRC with the paper's choices in "
        f"{near['released']['imrc'][0]} of {near['released']['imrc'][1]} cells with the error of the authors' script, "
        f"in {near['average']['imrc'][0]} with the average the paper describes; the other methods in "
        f"{near['released']['others'][0]} and {near['average']['others'][0]} of {near['released']['others'][1]}."
    )


def backward_sentence(error: ErrorKind = "average") -> str:
    """Say in how many of the cells measured backward learning lowers the error of preset ``paper``, over all n."""
    measured = kept.table("errors").query("error_kind == @error")
    rules = [imrc_key("paper"), imrc_key("paper", "forward")]
    part = measured[measured["method"].isin(rules)]
    both = part.pivot_table(index=["dataset", "n"], columns="method", values="error").dropna()
    change = both[rules[0]] - both[rules[1]]
    return (
        f"The paper says that backward learning always lowers the error of forward learning. Here it does in "
        f"{int((change < 0).sum())} of {len(change)} cells (all n, preset *paper*), and raises it in "
        f"{int((change > 0).sum())}."
    )


def _published(cells: pd.DataFrame) -> pd.Series[bool]:
    return cells["column"].isin([title_of_method(name) for name in PUBLISHED])


def missing(name: Literal["errors", "settings"] = "errors") -> pd.DataFrame:
    """Return the paper's datasets without results here: title, and how to get the data."""
    import pandas as pd

    measured = set(kept.table(name)["dataset"])
    names = [other for other in printed_datasets() if other not in measured]
    rows = [(datasets.entry(other).title, datasets.status(other).in_words, how_to_get(other)) for other in names]
    return pd.DataFrame(rows, columns=["Dataset", "On this computer", "How to get it"])


def measured_here() -> list[str]:
    """Return the titles of the datasets with results kept on this computer (`imrc table --keep`), in print's order."""
    found: set[str] = set()
    for name in ("errors", "settings"):
        rows = kept.own(name)
        found |= set() if rows is None else set(rows["dataset"])
    return [datasets.entry(name).title for name in printed_datasets() if name in found]


def sample_size_curve(dataset: str, error: ErrorKind = "average") -> pd.DataFrame:
    """Return the error of IMRC's rules against n: method, title, x, value, stderr, half, as figures take them."""
    measured = kept.table("errors").query("dataset == @dataset and error_kind == @error")
    rules = [imrc_key("paper"), imrc_key("paper", "forward"), imrc_key("paper", "single")]
    part = measured[measured["method"].isin(rules)].sort_values(["method", "n"])
    half = half_width(part["stderr"], part["repetitions"])
    return part.assign(title=part["method"].map(title_of_method), x=part["n"], value=part["error"], half=half)[
        ["method", "title", "x", "value", "stderr", "half"]
    ]
