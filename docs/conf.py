"""Configuration of the documentation: ``python -m sphinx -W docs docs/_build/html`` builds it, without a network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The extension stands beside this file, the package above it.
sys.path[:0] = [str(HERE), str(HERE.parent)]

import imrc  # noqa: E402

project = "imrc"
author = "The imrc contributors"
version = release = imrc.__version__
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser", "_extension"]
exclude_patterns = ["_build", "article", "atlas", "paper"]

html_theme = "furo"
html_title = f"imrc {release}"
html_baseurl = "https://imrc.example/docs/"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("plotly.min.js", {"defer": "defer"}), ("figures.js", {"defer": "defer"}), "copy.js"]
# The article and the atlas are one file each, with a script of their own; they are shown as they are.
html_extra_path = ["article", "atlas", "llms.txt"]
html_show_sphinx = html_show_copyright = False
html_copy_source = False
html_math_renderer = "mathml"

# Names in single backticks are links where the reference has them.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections say them
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
