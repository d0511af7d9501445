"""What all charts have in common: axes that stay, ticks, names at the ends of lines, a page that is dark or narrow."""

import math

import numpy as np
import plotly.io as pio
import pytest

from imrc.plots import on_dark, on_phone
from imrc.plots._axes import decimals, task_ticks, whole_numbers
from imrc.plots._panels import End, Traces, axis, chart, legend_rows, line_ends, panels
from imrc.plots._style import (
    COLOURS,
    DIVERGING,
    DIVERGING_ON_DARK,
    INK,
    LEGEND_PX,
    PAPER,
    SEQUENTIAL,
    SEQUENTIAL_ON_DARK,
)
from imrc.plots._themes import DIFFERENCE, SCALE
from imrc.plots.compare import METHOD_COLOURS
from imrc.plots.stacking import untitled


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def figure_of(names, **options):
    traces = Traces()
    for name in names:
        traces.add(x=[1, 2], y=[0.1, 0.2], name=name, mode="lines")
    return chart(traces, axis("task"), axis("error"), title="What?", height=400, **options)


class TestAxes:
    @pytest.mark.parametrize("template", ["imrc_light", "imrc_dark"])
    def test_nothing_can_be_dragged(self, template):
        layout = pio.templates[template].layout
        assert layout.dragmode is False
        assert layout.xaxis.fixedrange
        assert layout.yaxis.fixedrange

    @pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 12, 13, 99])
    def test_ticks_of_tasks_are_at_least_one_apart(self, count):
        settings = whole_numbers(count)
        # Plotly's step is the range over the number of ticks, rounded up to 1, 2 or 5 times a power of ten.
        step = settings.get("dtick", (count - 1) / settings["nticks"])
        assert step > 0.5
        assert settings["tickformat"] == "d"

    def test_names_and_dates_stand_at_their_tasks(self):
        months = [f"2024-{month:02d}" for month in range(1, 13)]
        ticks = task_ticks(months, ticks=6)
        assert ticks["ticktext"] == months[::2]
        assert ticks["tickvals"] == [1, 3, 5, 7, 9, 11]
        assert task_ticks(["<b>", "x"])["ticktext"] == ["&lt;b&gt;", "x"]
        assert "tickvals" not in task_ticks(["1", "2"])

    @pytest.mark.parametrize("scale", [0.002, 0.03, 0.4, 1.0])
    @pytest.mark.parametrize("low", [0.0, 0.0214, 0.31])
    def test_decimals_are_as_fine_as_the_range(self, low, scale):
        ticks = decimals([low, low + scale])
        values, texts = ticks["tickvals"], ticks["ticktext"]
        assert len(set(texts)) == len(texts) >= 3
        assert not any(text.startswith("0.") for text in texts)
        np.testing.assert_allclose([float(text) for text in texts], values, atol=1e-9)
        assert ticks["range"][0] <= low
        assert ticks["range"][1] >= low + scale

    def test_nothing_to_show_is_no_error(self):
        assert decimals([math.nan])["ticktext"][0] == "0"


class TestNames:
    def test_close_names_are_moved_apart_and_stay_in_the_plot(self):
        ends = [End(f"method {i}", "#0072B2", 0.99 + i / 1000) for i in range(8)]
        places = [label["y"] for label in line_ends(ends, (0.0, 1.0), 300)]
        assert (np.diff(places) >= 15 / 300 - 1e-9).all()
        assert places[-1] <= 1.0

    def test_names_are_in_the_order_of_their_lines(self):
        ends = [End("high", "#000000", 0.9), End("none", "#000000", math.nan), End("low", "#000000", 0.1)]
        texts = [label["text"].partition("</span> ")[2] for label in line_ends(ends, (0.0, 1.0), 300)]
        assert texts == ["low", "high"]

    def test_the_legend_has_its_room_above_the_plot(self):
        with_none, with_one = figure_of([]), figure_of(["one"])
        assert not with_none.layout.showlegend
        assert with_one.layout.margin.t - with_none.layout.margin.t == LEGEND_PX
        many = figure_of([f"a rather long name, number {i}" for i in range(8)])
        assert legend_rows(many.data) > 1
        assert many.layout.margin.t - with_none.layout.margin.t == LEGEND_PX * legend_rows(many.data)

    def test_on_a_phone_the_legend_gets_more_rows_and_the_plot_keeps_its_height(self):
        figure = figure_of([f"a rather long name, number {i}" for i in range(4)])
        before = figure.layout.height - figure.layout.margin.t
        untitled(figure)
        on_phone(figure)
        assert figure.layout.height - figure.layout.margin.t == before
        assert figure.layout.legend.y == pytest.approx(1.0)


class TestPages:
    @pytest.mark.parametrize("count", [2, 3])
    def test_panels_below_each_other_fit_on_a_phone(self, count):
        traces = Traces()
        for panel in range(1, count + 1):
            traces.add(x=[1, 2], y=[1, 2], panel=panel, name="line", showlegend=panel == 1)
        axes = [axis("task")] * count
        figure = panels(traces, ["a", "b", "c"][:count], axes, axes, gap=0.1, title="What?", height=400)
        untitled(figure)
        on_phone(figure)
        assert figure.layout.height <= 700

    @pytest.mark.parametrize("ground", PAPER.values())
    @pytest.mark.parametrize("colour", [*METHOD_COLOURS.values(), COLOURS["reference"]])
    def test_colours_of_methods_are_seen_on_both_pages(self, colour, ground):
        assert contrast(colour, ground) >= 2.5

    def test_what_has_no_colour_has_the_ink_of_the_page_and_no_colour_turns(self):
        traces, colours = Traces(), COLOURS | METHOD_COLOURS | {"truth": None}
        for name, colour in colours.items():
            traces.add(x=[1, 2], y=[1, 2], name=name, line={"color": colour})
        figure = chart(traces, axis(), axis(), title="What?", height=300)
        assert figure.layout.template.layout.colorway == (INK["light"],)
        figure = on_dark(figure)
        assert {trace.name: trace.line.color for trace in figure.data} == colours
        assert figure.layout.template.layout.colorway == (INK["dark"],)

    @pytest.mark.parametrize(
        ("name", "light", "dark"),
        [(SCALE, SEQUENTIAL, SEQUENTIAL_ON_DARK), (DIFFERENCE, DIVERGING, DIVERGING_ON_DARK)],
    )
    def test_what_is_small_recedes_on_a_dark_page_as_on_a_light_one(self, name, light, dark):
        small = 0 if light is SEQUENTIAL else 2
        for scale, ground in ((light, PAPER["light"]), (dark, PAPER["dark"])):
            against = [contrast(colour, ground) for _, colour in scale]
            assert min(against) == against[small]
        for template, scale in (("imrc_light", light), ("imrc_dark", dark)):
            assert [list(step) for step in pio.templates[template].layout[name].colorscale] == scale

    def test_light_letters_can_be_read_on_all_differences_of_a_dark_page(self):
        assert min(contrast(colour, INK["dark"]) for _, colour in DIVERGING_ON_DARK) >= 4.0
