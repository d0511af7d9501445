"""Cells of the paper's tables for page *The paper*: ours, printed, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from imrc import datasets
from imrc.baselines import PUBLISHED
from imrc.evaluation.comparison import imrc_key, title_of_method
from imrc.evaluation.significance import half_width
from imrc.paper import shipped
from imrc.paper.measure import BACKWARD_STEPS, SIZES, TOLERANCE, WINDOWS, how_to_get
from imrc.paper.printed import (
    PRINTED_AVERAGE_N,
    STAND_INS,
    datasets_with_settings,
    printed_average_seconds,
    printed_characteristics,
    printed_datasets,
    printed_error_of,
    printed_errors,
    printed_seconds,
)
from imrc.wording import decimal, listed, with_spread

if TYPE_CHECKING:
    import pandas as pd

ErrorKind = Literal["average", "released"]
_PAPER = imrc_key("paper")
_RULES = (imrc_key("paper", "forward"), imrc_key("paper", "single"))
METHODS = (_PAPER, *_RULES, imrc_key("recommended"), *PUBLISHED)
"""Methods with a printed column, IMRC with both presets, and the paper's other two rules, which it does not print."""

AVERAGE = "Average running time"
"""Title of the last row of the table of running times."""

_NOT_RUN = {
    "covertype": "on all 1,936 tasks only IMRC was run, with other b and W at n = 10; at n = 10 every method on the "
    "first 60, in a row of its own",
    "rotated_mnist": "GEM and MER, by far the slowest of the methods, were run at n = 10 and 50 only",
    "utkfaces_grey": "only IMRC was run on this stand-in",
}
"""Datasets at hand of which not every cell was measured, and what was."""

_NOT_BESIDE = {
    "utkfaces_grey": "the paper has network features, not pixels: its numbers do not belong beside this row",
    "covertype_60": "the paper's numbers are of all 1,936 tasks: they do not belong beside this row, which is that of "
    "imrc table --datasets covertype -k 60 --methods published --preset paper recommended --repetitions 3",
}
"""Why the stand-ins have no printed values."""

_VALUES = ["ours", "std", "stderr", "repetitions", "printed", "printed_std"]


def error_cells(n: int, error: ErrorKind = "average", methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """Return the cells of the table of errors for one n, with an `error` of `SCORE_KINDS`; the printed one is the same.

    One row per dataset of the paper and method, and per stand-in measured: dataset, title (of the dataset), column
    (title of the method), ours, std, stderr (NaN where not measured), repetitions, printed, printed_std, gap (ours
    minus printed), why (ours or the printed value is missing, else empty). References have no printed value.
    """
    return _frame(_error_rows(shipped.table("errors"), n, error, methods))


def _error_rows(table: pd.DataFrame, n: int, error: ErrorKind, methods: Sequence[str]) -> list[tuple[object, ...]]:
    measured = table[(table["n"] == n) & (table["error_kind"] == error)]
    found = {(row.dataset, row.method): row for row in measured.itertuples()}
    stand_ins = [name for name in STAND_INS if name in set(measured["dataset"])]
    rows: list[tuple[object, ...]] = []
    for name in (*printed_datasets(), *stand_ins):
        printed = printed_errors(name, n)
        for method in methods:
            key = "imrc" if method.startswith("imrc:") and method.count(":") == 1 else method
            mean, std = printed.get(key, (math.nan, math.nan))
            rows.append((name, title_of_method(method), *_ours(found.get((name, method))), mean, std))
    return rows


def _ours(row: Any) -> tuple[float, float, float, int]:  # noqa: ANN401 - a row of a table
    return (math.nan, math.nan, math.nan, 0) if row is None else (row.error, row.std, row.stderr, row.repetitions)


def setting_cells(n: int) -> pd.DataFrame:
    """Return the cells of the table over W and b for n = 10 or 100, with the columns of `error_cells`."""
    measured = shipped.table("settings").query("n == @n")
    found = {(row.dataset, row.setting): row for row in measured.itertuples()}
    rows: list[tuple[object, ...]] = []
    for name in datasets_with_settings():
        for setting in (*(f"W{W}" for W in WINDOWS), *(f"b{b}" for b in BACKWARD_STEPS)):
            ours, printed = _ours(found.get((name, setting))), printed_error_of(name, n, setting)
            rows.append((name, f"{setting[0]} = {setting[1:]}", *ours, printed, math.nan))
    return _frame(rows)


def time_cells(n: int) -> pd.DataFrame:
    """Return the cells of the table of running times for n = 10 or 100: seconds per task in ours and printed."""
    by_setting = shipped.table("settings").query("n == @n")
    by_method = shipped.table("errors").query("n == @n and error_kind == 'average'")
    found = {(row.dataset, row.setting): row for row in by_setting.itertuples()}
    found |= {(row.dataset, row.method): row for row in by_method.itertuples()}
    rows: list[tuple[object, ...]] = []
    keys = (*(f"b{b}" for b in BACKWARD_STEPS), *PUBLISHED)
    titles = {key: title_of_method(key) if key in PUBLISHED else f"IMRC, b = {key[1:]}" for key in keys}
    times: dict[str, list[float]] = {key: [] for key in keys}
    for name in printed_datasets():
        for key in keys:
            row = found.get((name, key))
            seconds, repetitions = (math.nan, 0) if row is None else (row.seconds, row.repetitions)
            times[key] += [] if row is None else [row.seconds]
            printed = printed_seconds(name, n, key)
            rows.append((name, titles[key], seconds, math.nan, math.nan, repetitions, printed, math.nan))
    averages = printed_average_seconds() if n == PRINTED_AVERAGE_N else {}
    for key in keys:
        ours = sum(times[key]) / len(times[key]) if times[key] else math.nan
        printed = averages.get({"b3": "imrc"}.get(key, key), math.nan)
        rows.append(("", titles[key], ours, math.nan, math.nan, len(times[key]), printed, math.nan))
    return _frame(rows)


def _frame(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    import pandas as pd

    cells = pd.DataFrame(rows, columns=["dataset", "column", *_VALUES])
    cells.insert(1, "title", [_title(name) for name in cells["dataset"]])
    # Rows without anything of ours at the end, in between they tear the others apart; averages below all others.
    measured = cells["ours"].notna().groupby(cells["dataset"]).transform("any")
    place = (~measured).astype(int) + 2 * (cells["dataset"] == "")
    cells = cells.loc[place.sort_values(kind="stable").index].reset_index(drop=True)
    at_hand = {name: datasets.status(name).loadable for name in set(cells["dataset"]) - {"", *STAND_INS}}
    return cells.assign(gap=cells["ours"] - cells["printed"], why=[_why(cell, at_hand) for cell in cells.itertuples()])


def _title(name: str) -> str:
    return STAND_INS.get(name) or (datasets.entry(name).title if name else AVERAGE)


def _why(cell: Any, at_hand: Mapping[str, bool]) -> str:  # noqa: ANN401 - a row of a table
    """Return why a cell is without colour, empty if it is not: the missing dataset, method or printed value."""
    if math.isnan(cell.ours):
        if not cell.dataset:
            return "not measured: the method was not timed at this n"
        if not at_hand.get(cell.dataset, True):
            return "not measured: the data are not on this computer"
        return f"not measured: {_NOT_RUN.get(cell.dataset, 'it was not run yet')}"
    if not math.isnan(cell.printed):
        return ""
    return _NOT_BESIDE.get(cell.dataset, "the paper does not print it")


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
    own = both["column"] == title_of_method(_PAPER)
    parts = []
    for words, part in (
        ("IMRC with the paper's choices", both[own]),
        ("the other methods", both[~own & _published(both)]),
    ):
        if len(part):
            parts.append(
                f"{words}: **{_agreeing(part)} of {len(part)}** (median difference "
                f"{decimal(part['gap'].abs().median())})"
            )
    return (
        f"Within {decimal(TOLERANCE, 2)} of the printed value are, of {both['dataset'].nunique()} datasets at hand, "
        + "; ".join(parts)
        + "."
    )


def _agreeing(cells: pd.DataFrame) -> int:
    return int((cells["gap"].abs() <= TOLERANCE).sum())


def _near(error: ErrorKind) -> dict[str, tuple[int, int]]:
    """Return how many cells of all n agree with print, of how many: IMRC's ("imrc") and the other methods'."""
    import pandas as pd

    measured = shipped.table("errors")
    rows = [row for n in SIZES for row in _error_rows(measured, n, error, METHODS)]
    table = pd.DataFrame(rows, columns=["dataset", "column", *_VALUES])
    table = table.assign(gap=table["ours"] - table["printed"]).dropna(subset="gap")
    own = table["column"] == title_of_method(_PAPER)
    return {
        name: (_agreeing(part), len(part))
        for name, part in (("imrc", table[own]), ("others", table[_published(table)]))
    }


def headline() -> str:
    """Return in one sentence what of the paper's errors comes out again, what does not, and what cannot be had."""
    near = _near("released")
    (agree, total), (others, all_others) = near["imrc"], near["others"]
    return (
        f"IMRC's printed errors come out again in {agree} of {total} cells, those of its rivals in {others} of "
        f"{all_others}; {len(missing())} of {len(printed_datasets())} datasets are not at hand"
    )


def not_at_hand() -> str:
    """Say which of the datasets without results can be fetched, and which cannot be had as the paper uses them."""
    measured = set(shipped.table("errors")["dataset"])
    absent = [name for name in printed_datasets() if name not in measured]
    titles = {
        fetched: listed([datasets.entry(name).title for name in absent if datasets.facts(name).downloadable == fetched])
        or "no dataset"
        for fetched in (True, False)
    }
    return (
        f"Not at hand: {titles[True]} can be fetched with the commands in the list of grey cells; {titles[False]} "
        "cannot be had, because the paper uses features of a network that nobody published."
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
    """Say in how many of the cells measured each step of learning lowers the error of preset ``paper``, over all n."""
    measured = shipped.table("errors").query("error_kind == @error")
    return transfer_sentence(measured[measured["dataset"].isin(printed_datasets())])


def transfer_sentence(measured: pd.DataFrame) -> str:
    """Say beside the printed claim in how many cells of a table of errors each step of learning lowers the error."""
    rules = [_PAPER, *_RULES]
    both = measured.pivot_table(index=["dataset", "n"], columns="method", values="error").reindex(columns=rules)
    both = both.dropna()
    change, before = both[_PAPER] - both[_RULES[0]], both[_RULES[0]] - both[_RULES[1]]
    return (
        f"The paper says that backward learning always lowers the error of forward learning. Here it does in "
        f"{int((change < 0).sum())} of {len(change)} cells (preset *paper*), and raises it in "
        f"{int((change > 0).sum())}; forward learning lowers that of single-task learning in {int((before < 0).sum())} "
        f"and raises it in {int((before > 0).sum())}."
    )


def weather_sentence() -> str:
    """Say how far Weather, printed in the table over W and b alone, is from print; empty if it was not measured."""
    parts, agrees = [], []
    for n in (10, 100):
        row = setting_cells(n).query("dataset == 'weather'").dropna(subset="ours")
        if len(row):
            low, high = decimal(row["ours"].min()), decimal(row["ours"].max())
            agrees.append(bool((row["gap"].abs() <= TOLERANCE).all()))
            ours = low if low == high else f"{low} to {high}"
            parts.append(f"{ours} at n = {n}, which {'agrees' if agrees[-1] else 'does not'}")
    if not parts:
        return ""
    printed = decimal(printed_error_of("weather", 10, "W2"), 2)
    start = "Weather agrees" if all(agrees) else "Weather disagrees"
    return (
        f"**{start}**: {printed} is printed for every W, b and n, and we measure {'; '.join(parts)}. The paper has "
        "it in no other table; its tasks here are blocks of 300 days."
    )


def reasons(cells: pd.DataFrame) -> pd.DataFrame:
    """Return why cells are without colour: Dataset, Columns, Why, How to get it; one row per dataset and reason."""
    import pandas as pd

    found: dict[tuple[str, str, str], list[str]] = {}
    for (name, title, why), part in cells[cells["why"] != ""].groupby(["dataset", "title", "why"], sort=False):
        every = len(part) == cells["column"].nunique()
        fetched = not name or part["ours"].notna().any() or datasets.status(name).loadable
        columns = "all" if every else "; ".join(part["column"])
        found.setdefault((columns, why, "" if fetched else how_to_get(name)), []).append(title)
    rows = [(", ".join(titles), *reason) for reason, titles in found.items()]
    return pd.DataFrame(rows, columns=["Dataset", "Columns", "Why", "How to get it"])


def characteristics() -> pd.DataFrame:
    """Return the table of datasets: ours | printed for classes, samples and tasks, and what the paper does not say."""
    import pandas as pd

    measured = {row.dataset: row for row in shipped.table("characteristics").itertuples()}
    rows = []
    for name in printed_datasets():
        ours, printed = measured.get(name), printed_characteristics(name)
        texts: list[str] = [datasets.entry(name).title]
        for fact, value in printed.items():
            texts.append(f"{'–' if ours is None else f'{getattr(ours, fact):,}'} | {value:,}")
        more = ["–"] * 3
        if ours is not None:
            more = [f"{ours.columns:,}", f"{ours.task_samples:,}", decimal(ours.rarest_class)]
        rows.append([*texts, *more, "" if ours is not None else how_to_get(name)])
    titles = ["Dataset", "Classes", "Samples", "Tasks", "Columns", "Samples of a task", "Rarest class", "How to get it"]
    return pd.DataFrame(rows, columns=titles)


def covertype_runs() -> pd.DataFrame:
    """Return what `imrc sweep` kept of all tasks of Covertype: one row per representation and preset."""
    import pandas as pd

    # The paper's own representation and choices first.
    measured = shipped.table("covertype").sort_values(["features", "preset"], ascending=[False, True])
    rows = []
    for (features, preset), part in measured.groupby(["features", "preset"], sort=False):
        rules = part.groupby("rule")
        error, released, seconds = (rules[name].mean() for name in ("average", "released", "seconds"))
        repetitions, tasks = part["repetition"].nunique(), int(part["k"].iloc[0])
        rows.append(
            {
                "Representation": features,
                "Preset": preset,
                "Single task": decimal(error["single"]),
                "Forward": decimal(error["forward"]),
                "Forward and backward": decimal(error["forward_backward"]),
                "The same, authors' script": decimal(released["forward_backward"]),
                "Printed": decimal(printed_errors("covertype", int(part["n"].iloc[0]))["imrc"][0], 2),
                "ms a task": f"{1000 * seconds['forward_backward'] / tasks:.1f}",
                "Repetitions": repetitions,
            }
        )
    return pd.DataFrame(rows)


def _published(cells: pd.DataFrame) -> pd.Series[bool]:
    return cells["column"].isin([title_of_method(name) for name in PUBLISHED])


def missing(name: Literal["errors", "settings"] = "errors") -> pd.DataFrame:
    """Return the paper's datasets without results here: title, and how to get the data."""
    import pandas as pd

    measured = set(shipped.table(name)["dataset"])
    names = [other for other in printed_datasets() if other not in measured]
    rows = [(datasets.entry(other).title, datasets.status(other).in_words, how_to_get(other)) for other in names]
    return pd.DataFrame(rows, columns=["Dataset", "On this computer", "How to get it"])


def sample_size_curve(dataset: str) -> pd.DataFrame:
    """Return the error of IMRC's rules against n: method, title, x, value, stderr, half, as figures take them."""
    measured = shipped.table("errors").query("dataset == @dataset and error_kind == 'average'")
    part = measured[measured["method"].isin([_PAPER, *_RULES])].sort_values(["method", "n"])
    half = half_width(part["stderr"], part["repetitions"])
    return part.assign(title=part["method"].map(title_of_method), x=part["n"], value=part["error"], half=half)[
        ["method", "title", "x", "value", "stderr", "half"]
    ]
