"""The paper's tables as text: our value and the printed one in each cell, missing datasets below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from imrc import datasets
from imrc.baselines import PUBLISHED
from imrc.commands.output import print_table
from imrc.evaluation.comparison import SCORE_KINDS, UNTUNED, imrc_key
from imrc.paper.cells import transfer_sentence
from imrc.paper.measure import TableRequest, how_to_get
from imrc.paper.printed import PRINTED_AVERAGE_N, printed_average_seconds
from imrc.wording import RULES, decimal, signed, with_spread

if TYPE_CHECKING:
    import pandas as pd


def print_tables(found: Sequence[tuple[pd.DataFrame, TableRequest, Sequence[str]]]) -> None:
    """Print measured tables, one block per n, each with how to get the datasets that are missing."""
    kinds = {"characteristics": _print_characteristics, "tasks": _print_curves, "growth": _print_curves}
    for position, (table, request, missing) in enumerate(found):
        if position:
            print()
        kinds.get(request.kind, _print_by_size)(table, request)
        for name in missing:
            print(f"Not on this computer: {datasets.entry(name).title}. {how_to_get(name)}")


def _repetitions(request: TableRequest) -> str:
    return f"{request.settings.repetitions} repetition{'s' * (request.settings.repetitions > 1)}"


def _print_by_size(table: pd.DataFrame, request: TableRequest) -> None:
    b, W, timed = f"b = {request.settings.b}", f"W = {request.settings.learner.W}", request.kind == "time"
    fixed = {"errors": f"{b}, {W}", "window": b}.get(request.kind, W)
    what = "Running time per task over" if timed else "Classification error, mean ± std over"
    for n in request.sizes:
        part = table[table["n"] == n]
        print(f"n = {n}, {fixed}. {what} {_repetitions(request)}, seed {request.settings.seed}.")
        if not timed:
            print(f"Error: {SCORE_KINDS[request.error]}.")
        print()
        if request.kind == "errors" and all(name.startswith("imrc:") for name in part["method"]):
            _print_imrc(part)
        else:
            _print_matrix(part, request)
        print()


def _print_curves(table: pd.DataFrame, request: TableRequest) -> None:
    """Curves as numbers: a row per k, a column per n and rule or number of backward steps."""
    of_tasks = request.kind == "tasks"
    column = "rule" if of_tasks else "b"
    for (name, preset), part in table.groupby(["dataset", "preset"], sort=False):
        print(f"{datasets.entry(str(name)).title}, preset {preset}, seed {request.settings.seed}.")
        if of_tasks:
            print(f"Error, in brackets divided by that of single-task learning; {_repetitions(request)}.")
            texts = [f"{decimal(row.error)} ({row.ratio:.2f})" for row in part.itertuples()]
        else:
            print("Processor seconds of learning k tasks, all three rules together.")
            texts = [f"{seconds:.3f} s" for seconds in part["seconds"]]
        keys = [(n, key) for n in part["n"].unique() for key in part[column].unique()]
        wide = part.assign(text=texts).pivot_table("text", "k", ["n", column], aggfunc="first", sort=False)
        wide = wide.reindex(columns=keys).fillna("–")
        wide.columns = [f"n = {n}, {RULES[key].lower() if of_tasks else f'b = {key}'}" for n, key in keys]
        if of_tasks:
            wide.insert(0, "sequences", part.groupby("k")["windows"].first().map("{:.0f}".format))
        print_table(["k", *wide], [[str(k), *row] for k, row in zip(wide.index, wide.to_numpy(), strict=True)])
        print()


def _print_characteristics(table: pd.DataFrame, _request: TableRequest) -> None:
    rows = []
    for row in table.to_dict("records"):
        both = []
        for fact in ("classes", "samples", "tasks"):
            said = row[f"printed_{fact}"]
            both += [f"{row[fact]:,}", "–" if said is None or said != said else f"{int(said):,}"]
        more = [f"{row['columns']:,}", f"{row['task_samples']:,}", decimal(row["rarest_class"])]
        rows.append([datasets.entry(row["dataset"]).title, *both, *more])
    header = ["dataset", "classes", "printed", "samples", "printed", "tasks", "printed"]
    print_table([*header, "columns", "samples of a task", "rarest class"], rows)
    print("rarest class: mean over tasks of the share of the class that is rarest in the task")


def _print_imrc(table: pd.DataFrame) -> None:
    """IMRC alone: one row per dataset and preset, with its other two rules."""
    errors = table.set_index(["dataset", "method"])["error"]
    rows = [
        [
            datasets.entry(row.dataset).title,
            row.method.partition(":")[2],
            str(row.tasks),
            with_spread(row.error, row.std),
            with_spread(row.printed, row.printed_std, 2),
            signed(row.gap),
            f"± {decimal(row.gap_two_stderr)}" if math.isfinite(row.gap) else "",
            *(decimal(errors[row.dataset, f"{row.method}:{rule}"]) for rule in ("forward", "single")),
        ]
        for row in table.itertuples()
        if row.method.count(":") == 1
    ]
    header = ["dataset", "preset", "tasks", "IMRC", "printed", "ours - printed", "2 s.e.", "forward", "single task"]
    print_table(header, rows, left=2)
    if imrc_key("paper") in set(table["method"]):
        print(transfer_sentence(table))


def _print_matrix(table: pd.DataFrame, request: TableRequest) -> None:
    """One row per dataset, one column per method or setting; below ours the printed values."""
    timed, columns = request.kind == "time", _columns(table, request)
    keys = [*zip(table["method"], table["setting"], strict=True)]
    shown = table.assign(key=keys)[[key in columns for key in keys]]
    blocks = [(datasets.entry(str(name)).title, part) for name, part in shown.groupby("dataset", sort=False)]
    if timed:
        averages = printed_average_seconds() if (shown["n"] == PRINTED_AVERAGE_N).all() else {}
        mean = shown.groupby("key", as_index=False)["seconds"].mean()
        printed = [averages.get({"b3": "imrc"}.get(setting, method), math.nan) for method, setting in mean["key"]]
        blocks.append(("average", mean.assign(printed_seconds=printed)))
    rows = []
    for title, part in blocks:
        best = math.nan if timed else part["error"].min()
        texts = {row.key: _times(row) if timed else _errors(row, best) for row in part.itertuples()}
        ours, theirs = zip(*(texts.get(key, ("–", "")) for key in columns), strict=True)
        rows.append([title, "ours", *ours])
        if any(theirs):
            rows.append(["", "printed", *theirs])
    print_table(["dataset", "", *columns.values()], rows, left=2)
    if timed:
        print("average: over the datasets here; printed: over all of the paper's, n = 10 and b = 3 only")
        return
    print("* smallest error of the row")
    if request.kind == "errors" and imrc_key("paper") in request.methods:
        print(transfer_sentence(table))
    if shown["method"].str.partition(":")[0].isin(PUBLISHED).any():
        print(UNTUNED)


def _times(row: Any) -> tuple[str, str]:  # noqa: ANN401 - a row of a table
    printed = f"{1000 * row.printed_seconds:.0f} ms" if math.isfinite(row.printed_seconds) else ""
    return f"{1000 * row.seconds:.2f} ms", printed


def _errors(row: Any, best: float) -> tuple[str, str]:  # noqa: ANN401 - a row of a table
    star = "*" if row.error == best else ""
    return star + with_spread(row.error, row.std), with_spread(row.printed, row.printed_std, 2)


def _columns(table: pd.DataFrame, request: TableRequest) -> dict[tuple[str, str], str]:
    """Return the titles of the columns by method and setting."""
    titles = {(row.method, row.setting): row.title for row in table.itertuples()}
    if request.kind == "errors":
        # Below the rule of a preset its other two, as the paper compares them.
        rules = [(name, (":forward", ":single") if name == imrc_key("paper") else ()) for name in request.methods]
        keys = [(f"{name}{rule}", "") for name, others in rules for rule in ("", *others)]
        return {key: titles[key] for key in keys if key in titles}
    if sum(name.startswith("imrc:") for name in request.methods) == 1:
        titles |= {key: f"IMRC, {key[1][0]} = {key[1][1:]}" for key in titles if key[1]}
    return dict(sorted(titles.items(), key=lambda entry: request.methods.index(entry[0][0])))
