"""What all charts have in common: axes that stay, ticks, names at the ends of lines, a page that is dark or narrow."""

import numpy as np
import pytest

from imrc.plots._drawing import COLOURS, DIVERGING_ON_DARK, INK, PAPER, Chart, decimals, task_ticks, whole_numbers
from imrc.plots.against_others import METHOD_COLOURS


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


class TestAxes:
    @pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 12, 13, 99])
    def test_ticks_of_tasks_are_at_least_one_apart(self, count):
        settings = whole_numbers(count)
        # Plotly's step is the range over the number of ticks, rounded up to 1, 2 or 5 times a power of ten.
        step = settings.get("dtick", (count - 1) / settings["nticks"])
        assert step > 0.5
        assert settings["tickformat"] == "d"

    def test_names_and_dates_stand_at_their_tasks(self):
        months = [f"{2023 + month // 12}-{month % 12 + 1:02d}" for month in range(6, 18)]
        ticks = task_ticks(months, ticks=6)
        assert ticks["ticktext"] == ["Jul<br>2023", "Sep", "Nov", "Jan<br>2024", "Mar", "May"]
        assert ticks["tickvals"] == [1, 3, 5, 7, 9, 11]
        assert task_ticks(months, ticks=4, down=True)["ticktext"] == ["Jul 2023", "Oct", "Jan 2024", "Apr"]
        assert task_ticks(["2019", "2020"])["ticktext"] == ["2019", "2020"]
        assert task_ticks(["<b>", "x"])["ticktext"] == ["&lt;b&gt;", "x"]
        assert task_ticks(["a long name 1", "a long name 2"])["ticktext"] == ["…long name 1", "…long name 2"]
        assert "tickvals" not in task_ticks(["1", "2"])

    @pytest.mark.parametrize("scale", [0.002, 0.03, 0.4, 1.0])
    @pytest.mark.parametrize("low", [0.0, 0.0214, 0.31])
    def test_decimals_are_as_fine_as_the_range(self, low, scale):
        ticks = decimals([low, low + scale])
        values, texts = ticks["tickvals"], ticks["ticktext"]
        assert len(set(texts)) == len(texts) >= 3
        assert not any(text.startswith("0.") for text in texts)
        np.testing.assert_allclose([float(text) for text in texts], values, atol=1e-9)
        assert ticks["range"][0] <= low < low + scale <= ticks["range"][1]
        assert sum(low <= mark <= low + scale for mark in decimals([low, low + scale], ticks=5)["tickvals"]) >= 2


class TestNames:
    def test_close_names_are_moved_apart_and_stay_in_the_plot(self):
        drawn = Chart("t", height=408)
        drawn.y(range=[0.0, 1.0])
        for i in range(8):
            drawn.line([0, 1], [0.5, 0.99 + i / 1000], f"method {i}", "#0072B2")
        places = [label.y for label in drawn.figure(ends=True).layout.annotations]
        assert (np.diff(places) >= 15 / 300 - 1e-9).all()
        assert places[-1] <= 1.0


class TestPages:
    @pytest.mark.parametrize("ground", PAPER.values())
    @pytest.mark.parametrize("colour", [*METHOD_COLOURS.values(), COLOURS["reference"]])
    def test_colours_of_methods_are_seen_on_both_pages(self, colour, ground):
        assert contrast(colour, ground) >= 2.5

    def test_light_letters_can_be_read_on_all_differences_of_a_dark_page(self):
        assert min(contrast(colour, INK["dark"]) for _, colour in DIVERGING_ON_DARK) >= 4.0
