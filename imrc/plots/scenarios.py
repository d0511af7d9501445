"""One small picture per scenario: which tasks are learnt from, and which are tested."""

from __future__ import annotations

import plotly.graph_objects as go

from imrc._checks import check_choice
from imrc.evaluation.scenarios import SCENARIO_NAMES, SCENARIOS, ScenarioName
from imrc.plots._panels import axis, chart
from imrc.plots._style import COLOURS, DATA, rgba
from imrc.plots.task_pictures import arrow, dots

_TASKS = 4
_HEIGHT = 96


def pictogram(scenario: ScenarioName) -> go.Figure:
    """Return four tasks and the next one: filled where learnt from, ringed where tested, arrows where helped."""
    check_choice("scenario", scenario, SCENARIO_NAMES)
    tasks = list(range(1, _TASKS + 1))
    last = _TASKS + 1 if scenario == "next_task" else _TASKS
    tested = {"adaptation": [_TASKS], "next_task": [last]}.get(scenario, tasks)
    both = scenario in ("continual", "multi_task")
    colour = COLOURS["forward_backward" if both else "forward"]
    arrows = []
    for i in range(1, last):
        arrows.append(arrow(i + 0.3, i + 0.7, 0.16 if both else 0.0, colour))
        if both:
            arrows.append(arrow(i + 0.7, i + 0.3, -0.16, colour))
    traces = [dots(tasks, 15, rgba(colour, 0.4), colour), dots(tested, 25, "rgba(0,0,0,0)", DATA)]
    shapes = []
    if scenario == "multi_task":
        # All of them are there from the start: one frame around them, and no task to come.
        frame = {"type": "rect", "x0": 0.55, "x1": _TASKS + 0.45, "y0": -0.92, "y1": 0.92}
        shapes.append({**frame, "line": {"color": COLOURS["reference"], "width": 1, "dash": "dot"}})
    else:
        traces.insert(0, dots([_TASKS + 1], 13, "rgba(0,0,0,0)", COLOURS["reference"]))
    return chart(
        traces,
        axis(range=[0.4, _TASKS + 1.6], visible=False),
        axis(range=[-1.0, 1.0], visible=False),
        title=SCENARIOS[scenario].title,
        height=_HEIGHT,
        legend=False,
        below=4,
        annotations=arrows,
        shapes=shapes,
        margin={"l": 4, "r": 4},
    )
