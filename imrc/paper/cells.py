"""Cells of the paper's tables for page *The paper*: ours, printed, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import pandas as pd

from imrc import datasets
from imrc.baselines import PUBLISHED
from imrc.evaluation.comparison import imrc_key, title_of_method
from imrc.evaluation.significance import half_width
from imrc.paper import printed, shipped
from imrc.paper.measure import BACKWARD_STEPS, SIZES, TOLERANCE, WINDOWS, how_to_get
from imrc.wording import decimal, listed, with_spread

ErrorKind = Literal["average", "released"]
_PAPER = imrc_key("paper")
_RULES = (imrc_key("paper", "forward"), imrc_key("paper", "single"))
METHODS = (_PAPER, *_RULES, imrc_key("recommended"), *PUBLISHED)
"""Methods with a printed column, IMRC with both presets, and the paper's other two rules, which it does not print."""

_NOT_RUN = {
    "covertype": "on all 1,936 tasks only IMRC was run, with other b and W at n = 10; every other method was run at n "
    "= 10 on the first 60, which have a row of their own",
    "rotated_mnist": "GEM and MER, by far the slowest of the methods, were run at n = 10 and 50 only",
    "utkfaces_grey": "only IMRC was run on this substitute",
}
"""Datasets of which not every cell was measured, and what was."""

_NOT_BESIDE = {
    "utkfaces_grey": "the paper uses network features, not pixels, so its numbers are not comparable with this row",
    "covertype_60": "the paper's numbers are of all 1,936 tasks: they do not belong beside this row, which comes from "
    "imrc table --datasets covertype -k 60 --methods published --preset paper recommended --repetitions 3",
}
"""Why the stand-ins have no printed values."""

_VALUES = ("ours", "std", "stderr", "repetitions", "printed", "printed_std")
_Found = Mapping[tuple[str, str], Any]  # by dataset, and method or setting: the row that was measured


def error_cells(n: int, error: ErrorKind = "average", methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """Return the cells of the table of errors for one n, with an `error` of `SCORE_KINDS`; the printed one is the same.

    One row per dataset of the paper and method, and per stand-in measured: dataset, title (of the dataset), column
    (title of the method), ours, std, stderr (NaN where not measured), repetitions, printed, printed_std, gap (ours
    minus printed), why (ours or the printed value is missing, else empty). References have no printed value.
    """
    measured = shipped.table("errors").query("n == @n and error_kind == @error")
    found = _by(measured, "method")
    names = (*printed.datasets(), *(name for name in printed.STAND_INS if name in set(measured["dataset"])))
    return _frame(
        [
            (name, title_of_method(method), *_ours(found, name, method), *printed.error(name, n, method))
            for name in names
            for method in methods
        ]
    )


def _by(measured: pd.DataFrame, column: str) -> dict[tuple[str, str], Any]:
    return {(row.dataset, getattr(row, column)): row for row in measured.itertuples()}


def _ours(found: _Found, name: str, key: str) -> tuple[float, float, float, int]:
    row = found.get((name, key))
    return (math.nan, math.nan, math.nan, 0) if row is None else (row.error, row.std, row.stderr, row.repetitions)


def setting_cells(n: int) -> pd.DataFrame:
    """Return the cells of the table over W and b for n = 10 or 100, with the columns of `error_cells`."""
    found = _by(shipped.table("settings").query("n == @n"), "setting")
    settings = (*(f"W{W}" for W in WINDOWS), *(f"b{b}" for b in BACKWARD_STEPS))
    return _frame(
        [
            (name, f"{key[0]} = {key[1:]}", *_ours(found, name, key), printed.of("error", name, n, key), math.nan)
            for name in printed.with_settings()
            for key in settings
        ]
    )


def time_cells(n: int) -> pd.DataFrame:
    """Return the cells of the table of running times for n = 10 or 100: seconds per task in ours and printed."""
    measured = shipped.table("settings").query("n == @n"), shipped.table("errors").query("n == @n")
    timed = [table.assign(error=table["seconds"], std=math.nan, stderr=math.nan) for table in measured]
    found = _by(timed[0], "setting") | _by(timed[1].query("error_kind == 'average'"), "method")
    titles = {f"b{b}": f"IMRC, b = {b}" for b in BACKWARD_STEPS} | {key: title_of_method(key) for key in PUBLISHED}
    rows: list[tuple[object, ...]] = [
        (name, title, *_ours(found, name, key), printed.of("seconds", name, n, key), math.nan)
        for name in printed.datasets()
        for key, title in titles.items()
    ]
    averages = printed.average_seconds() if n == printed.AVERAGE_N else {}
    for key, title in titles.items():
        times = [found[name, key].seconds for name in printed.datasets() if (name, key) in found]
        mean, theirs = sum(times) / max(len(times), 1), averages.get("imrc" if key == "b3" else key, math.nan)
        rows.append(("", title, mean if times else math.nan, math.nan, math.nan, len(times), theirs, math.nan))
    return _frame(rows)


def _frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    """Return cells with their titles, differences and reasons; rows without anything of ours below the others."""
    cells = pd.DataFrame(rows, columns=["dataset", "column", *_VALUES])
    titles = {"": "Average running time", **printed.STAND_INS}
    cells.insert(1, "title", [titles.get(name) or datasets.entry(name).title for name in cells["dataset"]])
    # In between they tear the others apart; averages are the last of all.
    measured = cells["ours"].notna().groupby(cells["dataset"]).transform("any")
    place = (~measured).astype(int) + 2 * (cells["dataset"] == "")
    cells = cells.loc[place.sort_values(kind="stable").index].reset_index(drop=True)
    here = {name for name in set(cells["dataset"]) - {"", *printed.STAND_INS} if datasets.status(name).loadable}
    why = [_why(cell, here | set(printed.STAND_INS)) for cell in cells.itertuples()]
    return cells.assign(gap=cells["ours"] - cells["printed"], why=why)


def _why(cell: Any, here: Collection[str]) -> str:  # noqa: ANN401 - a row of a table
    """Return why a cell is without colour, empty if it is not: the missing dataset, method or printed value."""
    if not math.isnan(cell.ours):
        missing = _NOT_BESIDE.get(cell.dataset, "the paper does not print it")
        return missing if math.isnan(cell.printed) else ""
    if not cell.dataset:
        return "not measured: the method was not timed at this n"
    usual = "it has not been run yet" if cell.dataset in here else "the data are not on this computer"
    return f"not measured: {_NOT_RUN.get(cell.dataset, usual)}"


def wide(cells: pd.DataFrame, *, milliseconds: bool = False) -> pd.DataFrame:
    """Return the cells as a table of texts: one row per dataset, "ours ± std | printed ± std" in each column."""

    def text(mean: float, spread: float, digits: int) -> str:
        if milliseconds:
            return f"{1000 * mean:.{2 if digits == 3 else 0}f} ms" if math.isfinite(mean) else "–"
        return with_spread(mean, spread, digits) or "–"

    rows: dict[str, dict[str, str]] = {}
    for cell in cells.itertuples():
        both = text(cell.ours, cell.std, 3), text(cell.printed, cell.printed_std, 2)
        rows.setdefault(cell.title, {})[cell.column] = " | ".join(both)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("Dataset").reset_index().fillna("")


def near(cells: pd.DataFrame) -> tuple[int, int]:
    """Return how many cells are near the printed value, and how many there are."""
    both = cells["gap"].dropna().abs()
    return int((both <= TOLERANCE).sum()), len(both)


def _own_and_others(cells: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cells of IMRC with the paper's choices, and those of the methods published by others."""
    titles = [title_of_method(name) for name in PUBLISHED]
    return cells[cells["column"] == title_of_method(_PAPER)], cells[cells["column"].isin(titles)]


@cache
def _near(error: ErrorKind) -> tuple[int, ...]:
    """Return `near` of all n: of IMRC's cells, and of the other methods'."""
    own, others = _own_and_others(pd.concat([error_cells(n, error) for n in SIZES]))
    return *near(own), *near(others)


def agreement(cells: pd.DataFrame) -> str:
    """Return in one sentence how many of the cells measured agree with print, IMRC's own and the others'."""
    both = cells[cells["gap"].notna()]
    if not len(both):
        return "Nothing has been measured here."
    words = "IMRC with the paper's choices", "the other methods"
    parts = [
        f"{who}: **{near(part)[0]} of {len(part)}** (median difference {decimal(part['gap'].abs().median())})"
        for who, part in zip(words, _own_and_others(both), strict=True)
        if len(part)
    ]
    return f"Within {decimal(TOLERANCE, 2)} of the printed value: {'; '.join(parts)}."


def headline() -> str:
    """Return in one sentence which of the paper's errors are reproduced, and how many datasets are missing."""
    agree, total, others, all_others = _near("released")
    return (
        f"We reproduce {agree} of the paper's {total} IMRC errors and {others} of {all_others} of its rivals' (within "
        f"{decimal(TOLERANCE, 2)}); {len(absent())} of {len(printed.datasets())} datasets are unavailable"
    )


def both_readings() -> str:
    """Return in one sentence how many cells of all n agree with print if the error is the one the paper describes."""
    own, _, others, _ = _near("average")
    return f"With the average over steps and tasks that its text describes, we reproduce {own} and {others}."


def absent() -> list[str]:
    """Return the paper's datasets without results here."""
    measured = set(shipped.table("errors")["dataset"])
    return [name for name in printed.datasets() if name not in measured]


def not_at_hand() -> str:
    """Say which of the datasets without results can be fetched, and which cannot be had as the paper uses them."""
    titles: dict[bool, list[str]] = {True: [], False: []}
    for name in absent():
        titles[datasets.facts(name).downloadable].append(datasets.entry(name).title)
    fetched, never = (listed(found) or "no dataset" for found in titles.values())
    return (
        f"Unavailable: {fetched} can be fetched with the commands in the list of grey cells. {never} "
        "cannot, because the paper uses network features that were never published."
    )


def backward_sentence(error: ErrorKind = "average") -> str:
    """Say in how many of the cells measured each step of learning lowers the error of preset ``paper``, over all n."""
    measured = shipped.table("errors").query("error_kind == @error")
    return transfer_sentence(measured[measured["dataset"].isin(printed.datasets())])


def transfer_sentence(measured: pd.DataFrame) -> str:
    """Say beside the printed claim in how many cells of a table of errors each step of learning lowers the error."""
    errors = measured.pivot_table(index=["dataset", "n"], columns="method", values="error")
    revised, forward, single = (errors.reindex(columns=[_PAPER, *_RULES]).dropna()[name] for name in (_PAPER, *_RULES))
    return (
        f"According to the paper, backward learning always lowers the error of forward learning. Here it does in "
        f"{int((revised < forward).sum())} of {len(revised)} cells (preset *paper*), and raises it in "
        f"{int((revised > forward).sum())}; forward learning lowers that of learning alone in "
        f"{int((forward < single).sum())} and raises it in {int((forward > single).sum())}."
    )


def weather_sentence() -> str:
    """Say how far Weather, printed in the table over W and b alone, is from print; empty if it was not measured."""
    rows = {n: setting_cells(n).query("dataset == 'weather'").dropna(subset="ours") for n in (10, 100)}
    parts, agrees = [], []
    for n, row in rows.items():
        if len(row):
            agrees.append(near(row)[0] == len(row))
            ours = " to ".join(dict.fromkeys((decimal(row["ours"].min()), decimal(row["ours"].max()))))
            parts.append(f"{ours} at n = {n}, which {'agrees' if agrees[-1] else 'does not'}")
    if not parts:
        return ""
    theirs = decimal(printed.of("error", "weather", 10, "W2"), 2)
    return (
        f"**Weather {'agrees' if all(agrees) else 'disagrees'}**: {theirs} is printed for every W, b and n, and we "
        f"measure {'; '.join(parts)}. Its tasks here are blocks of 300 days."
    )


def covertype_sentence(cells: pd.DataFrame) -> str:
    """Say why Covertype is far above print in these cells; empty if it is not."""
    far = cells[(cells["dataset"] == "covertype") & (cells["gap"] > TOLERANCE)].sort_values("gap")
    if not len(far):
        return ""
    ours, printed = decimal(far["ours"].iloc[-1]), decimal(far["printed"].iloc[-1], 2)
    return (
        f"**Covertype** (up to {ours}, printed {printed}): inputs in metres spoil the paper's features, see *Datasets*."
    )


def reasons(cells: pd.DataFrame) -> pd.DataFrame:
    """Return why cells are without colour: Dataset, Columns, Why, How to get it; one row per dataset and reason."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for (name, title, why), part in cells[cells["why"] != ""].groupby(["dataset", "title", "why"], sort=False):
        every = len(part) == cells["column"].nunique()
        fetched = not name or part["ours"].notna().any() or datasets.status(name).loadable
        columns = "all" if every else "; ".join(part["column"])
        found.setdefault((columns, why, "" if fetched else how_to_get(name)), []).append(title)
    rows = [(", ".join(titles), *reason) for reason, titles in found.items()]
    return pd.DataFrame(rows, columns=["Dataset", "Columns", "Why", "How to get it"])


def characteristics(measured: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the table of datasets, ours | printed, and what the paper does not print; by default as shipped."""
    found = (shipped.table("characteristics") if measured is None else measured).set_index("dataset")
    rows = []
    for name in printed.datasets() if measured is None else found.index:
        ours = found.loc[name] if name in found.index else None
        theirs = printed.characteristics(name)
        texts = [
            f"{'–' if ours is None else f'{ours[fact]:,}'} | {f'{theirs[fact]:,}' if theirs else '–'}"
            for fact in ("classes", "samples", "tasks")
        ]
        more = ["–"] * 3
        if ours is not None:
            more = [f"{ours['columns']:,}", f"{ours['task_samples']:,}", decimal(ours["rarest_class"])]
        rows.append([datasets.entry(name).title, *texts, *more, "" if ours is not None else how_to_get(name)])
    titles = ["Dataset", "Classes", "Samples", "Tasks", "Columns", "Samples of a task", "Rarest class", "How to get it"]
    return pd.DataFrame(rows, columns=titles)


def covertype_runs() -> pd.DataFrame:
    """Return what `imrc sweep` kept of all tasks of Covertype: one row per representation and preset."""
    # The paper's own representation and choices first.
    measured = shipped.table("covertype").sort_values(["features", "preset"], ascending=[False, True])
    runs = measured.groupby(["features", "preset"], sort=False)
    mean = measured.groupby(["features", "preset", "rule"], sort=False)[["average", "released", "seconds"]].mean()
    n, tasks = int(measured["n"].iloc[0]), int(measured["k"].iloc[0])
    both = mean.xs("forward_backward", level="rule")
    titles = {"Alone": "single", "Forward": "forward", "Forward and backward": "forward_backward"}
    view = {title: mean.xs(rule, level="rule")["average"].map(decimal) for title, rule in titles.items()}
    view |= {"The same, authors' script": both["released"].map(decimal)}
    view |= {"Printed": decimal(printed.errors("covertype", n)["imrc"][0], 2)}
    view |= {"ms a task": (1000 * both["seconds"] / tasks).map("{:.1f}".format)}
    table = pd.DataFrame(view).assign(Repetitions=runs["repetition"].nunique())
    return table.rename_axis(["Representation", "Preset"]).reset_index()


def sample_size_curve(dataset: str) -> pd.DataFrame:
    """Return the error of IMRC's rules against n: method, title, x, value, stderr, half, as figures take them."""
    measured = shipped.table("errors").query("dataset == @dataset and error_kind == 'average'")
    part = measured[measured["method"].isin([_PAPER, *_RULES])].sort_values(["method", "n"])
    half = half_width(part["stderr"], part["repetitions"])
    return part.assign(title=part["method"].map(title_of_method), x=part["n"], value=part["error"], half=half)[
        ["method", "title", "x", "value", "stderr", "half"]
    ]
