"""Colours, names and layout shared by all figures."""

from __future__ import annotations

from imrc.wording import RULES, SHORT_RULES

COLOURS = {
    "single": "#8A8F98",
    "forward": "#E69F00",
    "forward_backward": "#009E73",
    "reference": "#747B87",
    "majority": "#747B87",
    "pooled": "#0072B2",
}
"""The same meaning everywhere; readable for colour-blind people (Okabe and Ito).

All are seen on light and dark pages alike, at 3 : 1 or more on both where they draw lines alone. What has no colour,
such as the truth, is drawn in the ink of the page (`imrc.plots._themes`)."""

DATA = "#0072B2"
"""What is measured on data and belongs to no rule."""

NAMES, SHORT_NAMES = RULES, SHORT_RULES

DASHES = {"single": "dot", "forward": "dash", "forward_backward": "solid"}
"""Line styles repeat the colour code, for print and for colour-blind readers."""

SEQUENTIAL = [[0.0, "#F5F9FD"], [0.25, "#C3DAEE"], [0.5, "#7FB2D9"], [0.75, "#3379B5"], [1.0, "#0A2F66"]]
"""Sequential scale, light = small values."""

DIVERGING = [[0.0, "#00604A"], [0.25, "#5DB89C"], [0.5, "#F4F4F2"], [0.75, "#E8A25A"], [1.0, "#9A4A00"]]
"""Diverging scale, white at 0; green = better than the reference, brown = worse."""

SEQUENTIAL_ON_DARK = [[0.0, "#0A121D"], [0.25, "#16385C"], [0.5, "#2A679D"], [0.75, "#69A8D8"], [1.0, "#D6E8F7"]]
DIVERGING_ON_DARK = [[0.0, "#008262"], [0.25, "#075240"], [0.5, "#171C24"], [0.75, "#66350A"], [1.0, "#AD5A12"]]
"""The same on dark pages: what is small or equal recedes there too. Light letters can be read on all of the second."""

STROKE = [[0.0, "rgba(128,136,150,0.10)"], [1.0, "#0072B2"]]
"""Colours of images, to be seen on light and dark pages alike."""

GRID = "rgba(128,136,150,0.22)"

INK = {"light": "#0A0F18", "dark": "#E8EBF0"}
"""Colour of texts on light and dark pages."""
PAPER = {"light": "#FFFFFF", "dark": "#020305"}
"""Colour of the pages (`.streamlit/config.toml`)."""

FONT = "Source Sans, Source Sans Pro, Segoe UI, Helvetica, Arial, sans-serif"


def rgba(colour: str, alpha: float) -> str:
    """Return a hex colour with transparency, for bands."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


MARGIN = {"l": 56, "r": 16, "t": 56, "b": 52}
"""Pixels around the plot; at the top with room for the title, at the bottom for ticks and the name of the axis."""

TITLE_PX = 50
"""Pixels the title of a figure takes."""

LEGEND_PX = 26
"""Pixels a row of the legend takes, between title and plot."""
