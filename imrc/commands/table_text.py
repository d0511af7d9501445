"""The paper's tables as text: our value and the printed one in each cell, missing datasets below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from imrc import datasets
from imrc.baselines import PUBLISHED
from imrc.commands.output import print_table
from imrc.evaluation.comparison import SCORE_KINDS, imrc_key
from imrc.evaluation.words import UNTUNED
from imrc.paper.cells import transfer_sentence
from imrc.paper.measure import TableRequest, how_to_get
from imrc.paper.printed import PRINTED_AVERAGE_N, printed_average_seconds
from imrc.wording import RULES, decimal, signed, with_spread

if TYPE_CHECKING:
    import pandas as pd


def print_tables(table: pd.DataFrame, request: TableRequest, missing: Sequence[str]) -> None:
    """Print the measured table, one block per n, and how to get the datasets that are missing."""
    if request.kind == "characteristics":
        _print_characteristics(table)
    elif request.kind in ("tasks", "growth"):
        _print_curves(table, request)
    else:
        _print_by_size(table, request)
    for name in missing:
        print(f"Not on this computer: {datasets.entry(name).title}. {how_to_get(name)}")


def _print_by_size(table: pd.DataFrame, request: TableRequest) -> None:
    settings = request.settings
    W = settings.learner.W
    b = f"b = {settings.b}"
    fixed = {"errors": f"{b}, W = {W}", "window": b}.get(request.kind, f"W = {W}")
    for n in request.sizes:
        part = table[table["n"] == n]
        many = f"{settings.repetitions} repetitions" if settings.repetitions > 1 else "1 repetition"
        what = "Running time per task" if request.kind == "time" else "Classification error, mean ± std over"
        print(f"n = {n}, {fixed}. {what}{' over' if request.kind == 'time' else ''} {many}, seed {settings.seed}.")
        if request.kind != "time":
            print(f"Error: {SCORE_KINDS[request.error]}.")
        print()
        if request.kind == "errors" and part["method"].nunique() <= 3 * _presets(part):
            _print_imrc(part)
        else:
            _print_matrix(part, request)
        print()


def _print_curves(table: pd.DataFrame, request: TableRequest) -> None:
    """Curves as numbers: a row per k, a column per n and rule or number of backward steps."""
    for (name, preset), part in table.groupby(["dataset", "preset"], sort=False):
        column = "rule" if request.kind == "tasks" else "b"
        cells = part.set_index(["k", "n", column])
        print(f"{datasets.entry(str(name)).title}, preset {preset}, seed {request.settings.seed}.")
        if request.kind == "tasks":
            many = request.settings.repetitions
            often = f"{many} repetition{'s' * (many > 1)}"
            print(f"Error, in brackets divided by that of single-task learning; {often}.")
        else:
            print("Processor seconds of learning k tasks, all three rules together.")
        keys = [(n, key) for n in part["n"].unique() for key in part[column].unique()]
        rows = []
        for k in part["k"].unique():
            texts = [str(k)]
            if request.kind == "tasks":
                texts.append(str(int(part.loc[part["k"] == k, "windows"].iloc[0])))
            for key in keys:
                cell = cells.loc[(k, *key)] if (k, *key) in cells.index else None
                if cell is None:
                    texts.append("–")
                elif request.kind == "tasks":
                    texts.append(f"{decimal(cell['error'])} ({cell['ratio']:.2f})")
                else:
                    texts.append(f"{cell['seconds']:.3f} s")
            rows.append(texts)
        titles = [f"n = {n}, {RULES[key].lower() if request.kind == 'tasks' else f'b = {key}'}" for n, key in keys]
        print_table(["k", *(["sequences"] if request.kind == "tasks" else []), *titles], rows)
        print()


def _print_characteristics(table: pd.DataFrame) -> None:
    rows = []
    for row in table.to_dict("records"):
        both = []
        for fact in ("classes", "samples", "tasks"):
            print_ = row[f"printed_{fact}"]
            both += [f"{row[fact]:,}", "–" if print_ is None or print_ != print_ else f"{int(print_):,}"]
        more = [f"{row['columns']:,}", f"{row['task_samples']:,}", decimal(row["rarest_class"])]
        rows.append([datasets.entry(row["dataset"]).title, *both, *more])
    header = ["dataset", "classes", "printed", "samples", "printed", "tasks", "printed"]
    print_table([*header, "columns", "samples of a task", "rarest class"], rows)
    print("rarest class: mean over tasks of the share of the class that is rarest in the task")


def _presets(table: pd.DataFrame) -> int:
    return int(table["method"].str.fullmatch(r"imrc:[^:]+").sum() / max(1, table["dataset"].nunique()))


def _print_imrc(table: pd.DataFrame) -> None:
    """IMRC alone: one row per dataset and preset, with its other two rules."""
    rows = []
    errors = table.set_index(["dataset", "method"])["error"]
    for row in table[table["method"].str.fullmatch(r"imrc:[^:]+")].itertuples():
        rows.append(
            [
                datasets.entry(row.dataset).title,
                row.method.partition(":")[2],
                str(row.tasks),
                with_spread(row.error, row.std),
                with_spread(row.printed, row.printed_std, 2),
                signed(row.gap),
                "" if not math.isfinite(row.gap) else f"± {decimal(row.gap_two_stderr)}",
                decimal(errors[row.dataset, f"{row.method}:forward"]),
                decimal(errors[row.dataset, f"{row.method}:single"]),
            ]
        )
    header = ["dataset", "preset", "tasks", "IMRC", "printed", "ours - printed", "2 s.e.", "forward", "single task"]
    print_table(header, rows, left=2)
    if imrc_key("paper") in set(table["method"]):
        print(transfer_sentence(table))


def _print_matrix(table: pd.DataFrame, request: TableRequest) -> None:
    """One row per dataset, one column per method or setting; below ours the printed values."""
    columns = _columns(table, request)
    shown = table[[_key(row) in columns for row in table.to_dict("records")]]
    rows = []
    for name, cell in shown.groupby("dataset", sort=False):
        by_column = {_key(row): row for row in cell.to_dict("records")}
        best = min(row["error"] for row in by_column.values())
        ours, printed = [datasets.entry(str(name)).title, "ours"], ["", "printed"]
        for key in columns:
            mine, theirs = _texts(by_column.get(key), request, best)
            ours.append(mine)
            printed.append(theirs)
        rows += [ours, printed] if any(printed[2:]) else [ours]
    if request.kind == "time":
        rows += _averages(shown, columns)
    print_table(["dataset", "", *columns.values()], rows, left=2)
    if request.kind == "time":
        print("average: over the datasets here; printed: over all of the paper's, n = 10 and b = 3 only")
    else:
        print("* smallest error of the row")
        if request.kind == "errors" and imrc_key("paper") in request.methods:
            print(transfer_sentence(table))
        if shown["method"].str.partition(":")[0].isin(PUBLISHED).any():
            print(UNTUNED)


def _averages(table: pd.DataFrame, columns: dict[tuple[str, str], str]) -> list[list[str]]:
    """Return the mean running time of each column, and the printed one below it."""
    seconds = table.groupby(["method", "setting"])["seconds"].mean()
    said = printed_average_seconds() if (table["n"] == PRINTED_AVERAGE_N).all() else {}
    ours, printed = ["average", "ours"], ["", "printed"]
    for method, setting in columns:
        theirs = said.get({"b3": "imrc"}.get(setting, method))
        ours.append(f"{1000 * seconds[method, setting]:.2f} ms")
        printed.append("" if theirs is None else f"{1000 * theirs:.0f} ms")
    return [ours, printed] if any(printed[2:]) else [ours]


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["method"], row["setting"]


def _columns(table: pd.DataFrame, request: TableRequest) -> dict[tuple[str, str], str]:
    titles = {_key(row): row["title"] for row in table.to_dict("records")}
    if request.kind == "errors":
        # Below the rule of a preset its other two, as the paper compares them.
        rules = [
            (f"{name}{rule}", "")
            for name in request.methods
            for rule in ("", ":forward", ":single")
            if not rule or name == imrc_key("paper")
        ]
        return {key: titles[key] for key in rules if key in titles}
    several = len([name for name in request.methods if name.startswith("imrc:")]) > 1
    short = {
        (method, setting): title if several or not setting else f"IMRC, {setting[0]} = {setting[1:]}"
        for (method, setting), title in titles.items()
    }
    return dict(sorted(short.items(), key=lambda entry: request.methods.index(entry[0][0])))


def _texts(row: dict[str, Any] | None, request: TableRequest, best: float) -> tuple[str, str]:
    if row is None:
        return "–", ""
    if request.kind == "time":
        printed = row["printed_seconds"]
        return f"{1000 * row['seconds']:.2f} ms", f"{1000 * printed:.0f} ms" if math.isfinite(printed) else ""
    star = "*" if row["error"] == best else ""
    return star + with_spread(row["error"], row["std"]), with_spread(row["printed"], row["printed_std"], 2)
