"""The HTML around a report, which escapes all names and loads nothing."""

from __future__ import annotations

import base64
import gzip
import html
import math
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from imrc.plots import describe, on_phone
from imrc.plots.fitting import PHONE_PX, untitled

# The browser refuses any request, should a library ever try one.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 "Source Sans 3", "Source Sans Pro", "Segoe UI", Helvetica, Arial, sans-serif; color: #1b2330;
  max-width: 1040px; margin: 2.5rem auto 4rem; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.3; margin: .2rem 0 .8rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .4rem; border-top: 1px solid #d9dee5; padding-top: 1.4rem; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .3rem; }
p { max-width: 46rem; }
.quiet, figcaption { color: #4b5563; font-size: .92rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .32rem 1.1rem .32rem 0; border-bottom: 1px solid #e3e7ec; vertical-align: top;
}
td { overflow-wrap: anywhere; }
thead th { border-bottom: 2px solid #b9c1cc; vertical-align: bottom; }
tbody th { font-weight: 500; }
figure { margin: 0 0 .6rem; }
.chart { width: 100%; overflow: hidden; }
pre { background: #f4f6f8; padding: .8rem 1rem; border-radius: .5rem; overflow-x: auto; font-size: .88rem; }
@page { margin: 15mm; }
@media print {
  figure, table, pre { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
  details { display: none; }
  body { font-size: 13px; margin: 0; padding: 0; }
  .scroll { overflow: visible; }
  th, td { padding-right: .7rem; }
  pre { white-space: pre-wrap; }
}
"""
_PAPER_PX = 675
"""Width between the margins of A4."""
_DRAW = f"""
const phone = window.matchMedia("(max-width: {PHONE_PX}px)");
const charts = {{}};
async function unpacked(id) {{
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}}
function draw(printed = false) {{
  for (const [id, [data, page, narrow]] of Object.entries(charts)) {{
    const place = document.getElementById(id), layout = structuredClone(phone.matches && !printed ? narrow : page);
    // Charts do not follow the width of paper by themselves.
    if (printed) layout.width = {_PAPER_PX};
    place.style.height = layout.height + "px";
    Plotly.react(place, structuredClone(data), layout, {{
      responsive: true, displaylogo: false,
      toImageButtonOptions: {{ format: "svg", filename: "imrc-" + id }},
    }});
  }}
}}
async function start() {{
  const library = document.createElement("script");
  library.textContent = await unpacked("plotly");
  document.head.append(library);
  const read = async (id) => JSON.parse(await unpacked(id));
  for (const {{ id }} of document.querySelectorAll(".chart"))
    charts[id] = await Promise.all(["data", "page", "phone"].map((part) => read(id + "-" + part)));
  draw();
  phone.addEventListener("change", () => draw());
  window.addEventListener("beforeprint", () => draw(true));
  window.addEventListener("afterprint", () => {{
    draw();
    document.querySelectorAll(".chart").forEach((place) => Plotly.Plots.resize(place));
  }});
}}
if (window.DecompressionStream) start();
else for (const place of document.querySelectorAll(".chart"))
  place.textContent = "Charts need a browser from 2023 or later. What this chart shows is described below in words.";
"""
_MANY, _CELLS = 200, 10_000
"""A chart is made light if an axis has more numbers, or a heatmap more cells, than this."""
_LIBRARY = "plotly.min.js.gz"
"""The build of plotly.js for charts with two axes, version 4.1.1, with its licence: a third of the whole."""


def _packed(name: str, content: bytes) -> str:
    """Return an element with compressed bytes, which no text can close."""
    return f'<script type="text/plain" id="{escape(name)}">{base64.b64encode(content).decode()}</script>'


def escape(text: object) -> str:
    """Return a text as HTML shows it literally."""
    return html.escape(str(text))


def sentence(markdown: str) -> str:
    """Return one of the library's own sentences as HTML: emphasis is kept, everything else escaped.

    >>> sentence("On *<digits>*, **17 % fewer errors**.")
    'On <em>&lt;digits&gt;</em>, <strong>17 % fewer errors</strong>.'
    """
    text = escape(markdown)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)


def paragraph(markdown: str) -> str:
    """Return one of the library's own texts as a paragraph."""
    return f"<p>{sentence(markdown)}</p>"


def note(markdown: str) -> str:
    """Return one of the library's own texts as a paragraph in small print."""
    return f'<p class="quiet">{sentence(markdown)}</p>'


def grid(rows: Iterable[Sequence[object]], columns: Sequence[str] = ()) -> str:
    """Return a table, with a head where its columns have names; the first column names the rows."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    head = f"<thead><tr>{head}</tr></thead>" if columns else ""
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def listed(texts: Iterable[object]) -> str:
    """Return texts as a list; nothing if there are none."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return items and f"<ul>{items}</ul>"


def _json(name: str, content: object) -> str:
    return _packed(name, gzip.compress(to_json_plotly(content).encode(), mtime=0))


def _light(figure: go.Figure) -> go.Figure:
    """Make a figure of many numbers small: few digits, and hover texts made from the place of a cell."""
    for trace in figure.data:
        for name in {"x", "y", "z"} & set(trace.to_plotly_json()):
            values = np.asarray(trace[name])
            if values.dtype.kind == "f" and values.size > _MANY:
                largest = float(np.nanmax(np.abs(values), initial=1e-9))
                digits = 3 if name == "z" else 4
                trace[name] = np.round(values, digits - math.ceil(math.log10(largest))).astype(np.float32)
        if trace.type == "heatmap" and np.size(trace.z) > _CELLS and trace.customdata is not None:
            trace.update(customdata=None, hovertemplate="%{x}, %{y}: %{z:.3g}<extra></extra>")
    return figure


def chart(name: str, figure: go.Figure) -> str:
    """Return a figure under its title, with its description in words, laid out for pages and for phones."""
    words = describe(figure)
    page = _light(go.Figure(figure))
    title, unit = untitled(page)
    phone = on_phone(go.Figure(page))
    drawn = page.to_dict()
    note = f' <span class="quiet">{escape(unit)}</span>' if unit else ""
    return (
        f"<h3>{escape(title)}{note}</h3>\n<figure>"
        f'<div class="chart" id="{escape(name)}" role="group" aria-label="{escape(words)}"></div>'
        + _json(f"{name}-data", drawn["data"])
        + _json(f"{name}-page", drawn["layout"])
        + _json(f"{name}-phone", phone.layout.to_plotly_json())
        + f"<details><summary>In words</summary><figcaption>{escape(words)}</figcaption></details></figure>"
    )


def page(title: str, body: Sequence[str]) -> str:
    """Return the whole file, plotly.js included once."""
    library = _packed("plotly", files("imrc.report").joinpath(_LIBRARY).read_bytes())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f"<!-- plotly.js v4.1.1, (c) Plotly, Inc., MIT licence -->{library}\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + f"\n</main>\n<script>{_DRAW}</script>\n</body>\n</html>\n"
    )
