"""Figures of a run: what one could do, heatmaps, ladder, curves, the story of a task, shares of the candidates."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc._checks import check_choice
from imrc.evaluation import RunResult
from imrc.evaluation.scenarios import STRATEGY_TITLES, HeadlineKind
from imrc.plots._drawing import (
    COLOURS,
    DASHES,
    DIFFERENCE,
    NAMES,
    SCALE,
    SHORT_NAMES,
    Traces,
    axis,
    band_key,
    chart,
    colour_axis,
    decimals,
    error_ends,
    names_axis,
    on_panel,
    panels,
    rgba,
    task_ticks,
    whole_numbers,
)
from imrc.plots.tables import QUANTITIES, Quantity, matrix_table, step_table, story_table, task_table
from imrc.wording import decimal

_AXIS = {"error": "share of wrong answers", "balanced error": "balanced error"}


def decision_chart(errors: pd.DataFrame, measure: str = "error") -> go.Figure:
    """Return errors of the strategies with 95 % intervals, simplest at the top, lowest in bold, advised with a tick.

    `errors` are those of a report (`Report.errors`), and `measure` is what they are.
    """
    strategies, best = list(errors.itertuples()), int(errors["error"].to_numpy().argmin())
    titles = ["<br>".join(map(html.escape, textwrap.wrap(one.title, 20))) for one in strategies]
    mean, ends = errors["error"].to_numpy(), errors[["low", "high"]].to_numpy()
    known = bool(np.isfinite(ends).all())
    colours = [COLOURS.get(one.strategy, COLOURS["reference"]) for one in strategies]
    # Plotly draws one colour of bars per trace.
    traces = Traces()
    for (low, high), title, colour in zip(ends, titles, colours, strict=True):
        if high > low:
            traces.straight([low, high], [title, title], colour=rgba(colour, 0.45), width=5, dash=None)
    symbols = ["diamond" if one.strategy in ("majority", "pooled") else "circle" for one in strategies]
    interval = "<br>95 % interval %{customdata[0]:.3f} to %{customdata[1]:.3f}" if known else ""
    hover = "%{x:.3f}" + interval + "<extra></extra>"
    traces.dots(mean, titles, None, colours, symbol=symbols, size=13, customdata=ends, hovertemplate=hover)
    # The numbers stand in a column of their own, where no interval covers them.
    numbers = [
        {
            "x": 1.0,
            "xref": "paper",
            "y": title,
            "yref": "y",
            "xanchor": "left",
            "xshift": 6,
            "showarrow": False,
            "text": (f"<b>{decimal(one.error)}</b>" if one.Index == best else decimal(one.error)) + " ✓" * one.advised,
            "font": {"size": 14},
        }
        for title, one in zip(titles, strategies, strict=True)
    ]
    said = ["bars: 95 % intervals" if known else "one repetition: no intervals", "bold: lowest", "✓ advised"]
    return chart(
        traces,
        axis(_AXIS[measure], **decimals([mean, *ends.T])),
        names_axis(titles, range=[-0.6, len(titles) - 0.4]),
        title="What could one do?",
        subtitle=" · ".join(said if errors["advised"].any() else said[:2]),
        height=106 + 36 * len(titles),
        legend=False,
        annotations=numbers,
        hovermode="closest",
        margin={"r": 68},
    )


TITLES: dict[Quantity, str] = {
    "error": "Where are the errors?",
    "difference": "Where does transfer help?",
    "risk": "What does each rule promise?",
}
_BAR: dict[Quantity, str] = {
    "error": "error",
    "difference": "difference to alone",
    "risk": "minimax risk",
}
BAR_BELOW = {"orientation": "h", "thickness": 10, "x": 0.5, "y": 0.0, "yref": "container", "yanchor": "bottom"}
"""Colour bar below the panels: on a narrow page one at the side would take up the width of a panel."""
_CLICKABLE = 1900  # Up to this many cells each gets a marker, so that a click can select its task.


def _range(tables: Mapping[str, pd.DataFrame], quantity: Quantity) -> tuple[float, float]:
    values = np.concatenate([table["value"].to_numpy() for table in tables.values()])
    if quantity == "difference":
        largest = max(float(np.abs(values).max()), 0.01)
        return -largest, largest
    low, high = float(values.min()), float(values.max())
    # A risk can be negative: with an early-stopped solver or an empty uncertainty set nothing keeps it above 0.
    low = np.floor(low * 20) / 20
    return low, max(np.ceil(high * 20) / 20, low + 0.05)


def _hover(table: pd.DataFrame, unit: str) -> list[str]:
    texts = []
    for row in table.itertuples():
        spread = "" if np.isnan(row.stderr) else f" ± {row.stderr:.3f}"
        tested = f"<br>{row.test_samples} test samples" if "test_samples" in table else ""  # else not known
        texts.append(
            f"<b>Task {row.task}</b> ({html.escape(str(row.label))})<br>step {row.step}, {row.lag} tasks later"
            f"<br>{unit} {row.value:.3f}{spread}{tested}"
        )
    return texts


def error_heatmaps(
    tables: Mapping[str, pd.DataFrame],
    quantity: Quantity = "error",
    risk: str = "minimax risk",
    marked: int | None = None,
) -> go.Figure:
    """Return heatmaps side by side with one colour scale, from `matrix_table` or `ErrorMatrix.table` by rule.

    Rows with step = task + lag for all later steps, or for every q-th, give the triangle (rows: task, columns: step);
    otherwise columns are lags. `risk` names that quantity, the row of task `marked` (from 1) is marked. Clicking a cell
    selects it where there are not too many (``customdata`` holds the task from 1).
    """
    check_choice("quantity", quantity, QUANTITIES)
    unit = {**_BAR, "risk": risk}[quantity]
    first = next(iter(tables.values()))
    tasks = int(first["task"].max())
    by_lag = int(first["lag"].max()) < tasks - 1
    column = "lag" if by_lag else "step"
    row_at, column_at = np.unique(first["task"]), np.unique(first[column])
    columns = len(column_at)
    half = 0.5 * (int(row_at[1] - row_at[0]) if len(row_at) > 1 else 1)
    low, high = _range(tables, quantity)
    scale = DIFFERENCE if quantity == "difference" else SCALE
    clickable = len(first) <= _CLICKABLE
    traces = Traces()
    for number, table in enumerate(tables.values(), start=1):
        grid = np.full((len(row_at), columns), np.nan)
        row, col = np.searchsorted(row_at, table["task"]), np.searchsorted(column_at, table[column])
        grid[row, col] = table["value"]
        texts = np.full(grid.shape, "", dtype=object)
        texts[row, col] = _hover(table, unit)
        traces.add(
            kind="heatmap",
            z=grid,
            x=column_at,
            y=row_at,
            coloraxis=scale,
            hoverongaps=False,
            xgap=1 if columns <= 30 else 0,
            ygap=1 if tasks <= 30 else 0,
            # Markers, where present, take the hover events; their texts need not be sent twice.
            **({"hoverinfo": "skip"} if clickable else {"hoverinfo": "text", "text": texts}),
            panel=number,
        )
        if clickable:
            said, task = texts[row, col], table["task"].to_numpy()
            traces.targets(table[column].to_numpy(), task, task, 14, text=said, hoverinfo="text", panel=number)
    text = "lag: tasks learnt after it" if by_lag else "step (tasks learnt)"
    middle = (len(tables) - 1) // 2
    return panels(
        traces,
        [SHORT_NAMES.get(rule, html.escape(rule)) for rule in tables],
        [
            axis(
                text if i == middle else None,
                range=[column_at[0] - (0.5 if by_lag else half), column_at[-1] + (0.5 if by_lag else half)],
                showgrid=False,
                **whole_numbers(columns, 6),
            )
            for i in range(len(tables))
        ],
        [
            axis(
                "task" if i == 0 else None,
                range=[tasks + half, row_at[0] - half],
                showgrid=False,
                # Names stand at tasks that follow each other.
                **(task_ticks(first.drop_duplicates("task")["label"].tolist(), ticks=10) if half == 0.5 else {}),
            )
            for i in range(len(tables))
        ],
        gap=0.025,
        share_y=True,
        # In the subtitle: a horizontal colour bar leaves no room for the name of its unit.
        title=TITLES[quantity],
        subtitle=f"colour: {html.escape(unit)}",
        height=384 if tasks <= 30 else 540,
        legend=False,
        above=72,
        below=98,
        **colour_axis(scale, low, high, {**BAR_BELOW, "len": 0.6, "tickformat": ".2f", "nticks": 6}),
        shapes=[marked_row(marked, number) for number in range(1, len(tables) + 1)] if marked else [],
        clickmode="event+select",
    )


def run_heatmaps(
    result: RunResult,
    quantity: Quantity = "error",
    risk: str = "minimax risk",
    marked: int | None = None,
    *,
    triangle: bool = False,
) -> go.Figure:
    """Return `error_heatmaps` of the rules of a run; single-task learning is left out of differences to itself."""
    rules = [rule for rule in NAMES if rule in result.rules and not (quantity == "difference" and rule == "single")]
    tables = {rule: matrix_table(result, rule, quantity, triangle=triangle) for rule in rules}
    return error_heatmaps(tables, quantity, risk, marked)


_SYMBOLS = {"single": "line-ns", "forward": "circle-open", "forward_backward": "circle"}
_TITLES = {"single": "Alone", "forward": "When learnt (forward)", "forward_backward": "Now (forward and backward)"}


def run_ladder(result: RunResult, marked: int | None = None) -> go.Figure:
    """Return a rung per task, from its error when learnt to that now, the error alone beside it; `marked` is from 1."""
    table = pd.DataFrame({rule: result.error_tables[rule].final().mean(axis=0) for rule in NAMES})
    table = table.assign(task=np.arange(1, result.n_tasks + 1), label=result.labels)
    tasks = table["task"].to_numpy()
    few = len(tasks) <= 60
    gap = np.full(len(tasks), np.nan)
    traces = Traces()
    traces.straight(
        np.column_stack([table["forward"], table["forward_backward"], gap]).ravel(),
        np.column_stack([tasks, tasks, gap]).ravel(),
        colour=rgba(COLOURS["forward_backward"], 0.5),
        width=3 if few else 1,
        dash=None,
        showlegend=False,
    )
    texts = [
        f"<b>Task {row.task}</b> ({html.escape(str(row.label))})<br>"
        + "<br>".join(f"{_TITLES[rule]}: {getattr(row, rule):.3f}".replace(" 0.", " .") for rule in NAMES)
        for row in table.itertuples()
    ]
    for rule in NAMES:
        traces.dots(
            table[rule],
            tasks,
            _TITLES[rule],
            COLOURS[rule],
            symbol=_SYMBOLS[rule],
            size=10 if few else 4,
            edge=2,
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            customdata=tasks,
            text=texts,
            hoverinfo="text",
        )
    return chart(
        traces,
        axis("error", **decimals(table[list(NAMES)].to_numpy())),
        axis("task", range=[len(tasks) + 0.7, 0.3], **task_ticks(list(table["label"]), ticks=12)),
        title="What did each task gain?",
        subtitle="left is better",
        height=int(np.clip(190 + 15 * len(tasks), 300, 560)),
        shapes=[marked_row(marked)] if marked else [],
        clickmode="event+select",
        hovermode="closest",
    )


def marked_row(task: int, number: int = 1) -> dict[str, object]:
    """Return the shape that marks the row of a task on a panel; panels count from 1."""
    panel = on_panel({}, number)
    return {
        "type": "rect",
        "xref": f"{panel['xaxis']} domain",
        "yref": panel["yaxis"],
        "x0": 0,
        "x1": 1,
        "y0": task - 0.5,
        "y1": task + 0.5,
        "line": {"width": 2, "color": "#D55E00"},
        "layer": "above",
    }


_NAMES = STRATEGY_TITLES | NAMES
_DASHES = {**DASHES, "majority": "dash", "pooled": "longdashdot"}


def add_curves(traces: Traces, table: pd.DataFrame, rules: Iterable[str] | None = None, panel: int = 1) -> None:
    """Draw the rules of a table, those of the first panel in the legend: a line each, before it its band if any."""
    for rule in table["rule"].unique() if rules is None else rules:
        x, value, half = (table.loc[table["rule"] == rule, column].to_numpy() for column in ("x", "value", "half"))
        name = _NAMES.get(rule, html.escape(rule))
        colour = COLOURS.get(rule, COLOURS["reference"])
        own = rule in NAMES
        shown: dict[str, Any] = {"legendgroup": rule, "panel": panel}
        spread = " ± %{customdata:.3f}" if np.isfinite(half).any() else ""
        if own and np.isfinite(half).all():
            said = f"{name}, confidence band"
            traces.band(x, *error_ends(value, half), colour, 0.16, name=said, showlegend=False, **shown)
        traces.line(
            x,
            value,
            name,
            colour,
            width=2.5 if own else 1.5,
            dash=_DASHES.get(rule, "solid"),
            mode="lines+markers" if len(x) <= 40 and own else "lines",
            showlegend=panel == 1,
            marker={"size": 6},
            customdata=np.where(np.isfinite(half), half, 0.0),
            hovertemplate="%{y:.3f}" + spread + "<extra>" + name + "</extra>",
            **shown,
        )


def limits(table: pd.DataFrame) -> dict[str, Any]:
    """Return range and ticks of the vertical axis for lines with their bands."""
    half = table["half"].where(table["rule"].isin(list(NAMES)))
    return decimals(np.concatenate(error_ends(table["value"], half)))


_PLAIN = {"balanced error": "Plain error"}
_PANELS: dict[HeadlineKind, tuple[str, str]] = {
    "average": ("Mean error of the tasks seen", "Error at the last step"),
    "end": ("Mean error of tasks 1 to k at the end", "Error at the end"),
    "newest": ("Mean error of newest tasks so far", "Error of each newest task"),
    "before": ("Mean error before learning so far", "Error before learning each task"),
}


def run_curves(result: RunResult, references: RunResult | None = None) -> go.Figure:
    """Return errors by step (mean over the tasks seen) and by task (at the last step) with bands, with references."""
    parts = step_table(result, references), task_table(result, references)
    labels, titles, measure = result.labels, _PANELS[result.scenario.kind], result.measure()
    traces = Traces()
    for number, part in enumerate(parts, start=1):
        add_curves(traces, part, panel=number)
    return panels(
        [*traces, *band_key(parts[0])],
        (titles[0].replace("error", measure), titles[1].replace("Error", _PLAIN.get(measure, "Error"))),
        [axis("step (tasks learnt)", **whole_numbers(len(labels), 8)), axis("task", **task_ticks(labels, ticks=6))],
        [axis(**limits(part)) for part in parts],
        gap=0.1,
        title="Do errors fall as tasks arrive, and for which tasks?",
        height=420,
        hovermode="x unified",
    )


def run_story(result: RunResult, task: int, quantity: Quantity = "error") -> go.Figure:
    """Return the error, or the risk, of one task, from 1, as steps go by, one line per rule."""
    table = story_table(result, task - 1, "risk" if quantity == "risk" else "error")
    label = result.labels[task - 1]
    name = "" if label == str(task) else f" ({html.escape(label)})"
    traces = Traces()
    add_curves(traces, table)
    return chart(
        traces + band_key(table),
        axis(f"step (of {result.n_tasks})", **whole_numbers(int(table["x"].nunique()), 8)),
        axis(**limits(table)),
        title=f"What do later tasks add to task {task}{name}?",
        height=380,
        hovermode="x unified",
    )


RATES = {
    "rate 0": ("All tasks alike", "#0072B2"),
    "rate 0.1": ("Slow change (ρ = .1)", "#56B4E9"),
    "rate 1": ("Fast change (ρ = 1)", "#E69F00"),
    "rate inf": ("The task alone", "#D55E00"),
}
"""Names and colours of the rates of change that the recommended preset follows side by side."""


def run_choices(result: RunResult) -> go.Figure:
    """Return the share of each rate of change in the rules of tasks so far, step by step, mean over repetitions."""
    x, traces = np.arange(1, result.n_tasks + 1), Traces()
    mode = "lines+markers" if len(x) <= 40 else "lines"
    for name, (title, colour) in RATES.items():
        if name in result.choices:
            traces.line(x, result.choices[name].mean(axis=0), title, colour, width=2, mode=mode)
    return panels(
        traces,
        ["Share in the rules, by how well each predicted"],
        [axis("step (tasks learnt)", tickformat="d", nticks=8)],
        [axis(range=[-0.05, 1.05], tickvals=[0, 0.5, 1], ticktext=["0 %", "50 %", "100 %"])],
        gap=0.0,
        title="How fast were tasks taken to change at each step?",
        height=340,
    )
