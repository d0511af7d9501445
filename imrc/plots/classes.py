"""Distribution of the rows of a sequence over tasks and classes."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from imrc.plots._panels import Traces, axis, chart

CLASS_COLOURS = ("#0072B2", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#8A8F98")
"""Distinct from the colours of the rules, so that a class is never mistaken for a rule."""


def class_balance(table: pd.DataFrame) -> go.Figure:
    """Draw rows per task, stacked by class; above six classes the five most frequent and the others together.

    `table` is from `Cut.task_table`: task (from 1), name, rows, and one column "class NAME" per class.
    """
    classes = [column for column in table.columns if column.startswith("class ")]
    counts = table[classes].to_numpy()
    names = [html.escape(column.removeprefix("class ")) for column in classes]
    if len(classes) > len(CLASS_COLOURS):
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        first, rest = order[: len(CLASS_COLOURS) - 1], order[len(CLASS_COLOURS) - 1 :]
        counts = np.column_stack([counts[:, first], counts[:, rest].sum(axis=1)])
        names = [*(names[j] for j in first), f"{len(rest)} other classes"]
    labels = [html.escape(str(name)) for name in table["name"]]
    share = counts / np.maximum(table["rows"].to_numpy()[:, None], 1)
    traces = Traces()
    for j, name in enumerate(names):
        traces.add(
            kind="bar",
            x=table["task"],
            y=counts[:, j],
            name=name,
            marker={"color": CLASS_COLOURS[j]},
            customdata=np.column_stack([labels, np.char.mod("%.0f %%", 100 * share[:, j])]),
            hovertemplate="Task %{x} (%{customdata[0]})<br>%{y} rows, %{customdata[1]}<extra>" + name + "</extra>",
        )
    return chart(
        traces,
        axis("task", showgrid=False),
        axis("samples", rangemode="tozero"),
        title="How many samples of each class does each task have?",
        height=320,
        barmode="stack",
        order="normal",
        bargap=0.12 if len(table) <= 100 else 0.0,
    )
