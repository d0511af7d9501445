"""Configuration of the documentation: ``python -m sphinx -M html docs docs/_build -W`` builds it, without a network.

With ``-t quick`` the library is not run: an installation builds the site that way, before its dependencies are there.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The extension stands beside this file, the package above it.
sys.path[:0] = [str(HERE), str(HERE.parent)]

from _plain import MISSING  # noqa: E402

import imrc  # noqa: E402

project = "imrc"
author = "The imrc contributors"
version = release = imrc.__version__
QUICK = tags.has("quick")  # noqa: F821 - Sphinx gives it
extensions = ["myst_parser", *(["_plain"] if QUICK else ["sphinx.ext.autodoc", "numpydoc", "_extension"])]
exclude_patterns = ["_build", "article", "atlas", "paper"]

html_theme = "furo"
html_title = f"imrc {release}"
html_baseurl = "https://imrc.example/docs/"
html_static_path = ["_static"]
html_css_files = ["site.css"]
figures = [] if QUICK else [(name, {"defer": "defer"}) for name in ("plotly.min.js", "figures.js")]
html_js_files = [*figures, "copy.js"]
# The article and the atlas are one file each, with a script of their own; they are shown as they are.
html_extra_path = ["article", "atlas", "llms.txt"]
if QUICK:
    html_theme_options = {"announcement": MISSING}
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
