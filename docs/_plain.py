"""The documentation without running the library: code is shown, not executed. `_extension.py` adds what it gives."""

from __future__ import annotations

import ast
import html
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.directives.code import CodeBlock
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
MISSING = (
    "Built during installation, without outputs of examples and without the reference. README shows how to add them."
)
ROOT = Path(__file__).resolve().parents[1]

# Public packages, in the order of their pages.
PACKAGES = {
    "imrc": "What most people need",
    "imrc.datasets": "Sequences: built in, synthetic, published, your own",
    "imrc.features": "Representations",
    "imrc.core": "The method",
    "imrc.core.theory": "Effective sample sizes and bounds",
    "imrc.solvers": "The minimax problem",
    "imrc.diagnostics": "Is it evolving?",
    "imrc.baselines": "Compared methods",
    "imrc.evaluation": "Runs, results, decisions, comparisons",
    "imrc.model": "A model for the next file",
    "imrc.planning": "What past data are worth, before they are collected",
    "imrc.watch": "An alarm for tasks as they arrive",
    "imrc.contracts": "Guarantees of a learner of tasks",
    "imrc.sweeps": "Sweeps and the results store",
    "imrc.plots": "Figures",
    "imrc.report": "Reports",
}


def docstring(name: str) -> str:
    """Return the text at the top of a package or module, which is read and not imported."""
    place = ROOT.joinpath(*name.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def write(file: Path, text: str) -> None:
    """Write a page of the reference, unless it has this text already."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def heading(package: str) -> str:
    """Return the title of a package's page."""
    text = f"{package}: {PACKAGES[package]}"
    return f"{text}\n{'=' * len(text)}\n"


def write_packages(app: Sphinx) -> None:
    """Write a page for every public package: its text alone."""
    for package in PACKAGES:
        write(Path(app.srcdir, "reference", "api", f"{package}.rst"), f"{heading(package)}\n{docstring(package)}\n")


def output(text: str, language: str = "text") -> nodes.Node:
    """Return what something printed."""
    text = text.rstrip("\n")
    block = nodes.literal_block(text, text, classes=["output"])
    block["language"] = language
    return block


class Run(CodeBlock):
    """``run``: Python of a page."""

    option_spec: ClassVar[OptionSpec] = {**CodeBlock.option_spec, "alt": directives.unchanged}
    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return the code."""
        self.arguments = ["python"]
        return super().run()


class Command(SphinxDirective):
    """``command``: lines ``$ imrc ...``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the lines."""
        return [output("\n".join(self.content), language="console")]


class Missing(SphinxDirective):
    """A table that is made from the library."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence that says so."""
        return [nodes.paragraph("", MISSING)]


class Architecture(SphinxDirective):
    """``architecture``: the packages in rows, each above those it may import, from the contract that is checked."""

    def run(self) -> list[nodes.Node]:
        """Return a row of boxes for each layer."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        contracts = project["tool"]["importlinter"]["contracts"]
        (layers,) = (one["layers"] for one in contracts if one["name"] == "Data flows one way")
        rows = [[("pages", "The app, seven pages", "")]]
        for layer in layers:
            names = [f"imrc.{name.strip(' ()')}" for name in layer.split(":")]
            rows.append(
                [
                    (name, self._title(name), self._page(name))
                    for name in names
                    if not name.startswith(("imrc._", "imrc.cli"))
                ]
            )
        drawn = "".join(f"<div>{''.join(map(self._box, row))}</div>" for row in rows if row)
        return [nodes.raw("", f'<div class="layers">{drawn}</div>', format="html")]

    @staticmethod
    def _title(name: str) -> str:
        return PACKAGES.get(name) or docstring(name).split("\n")[0].split(":")[0].rstrip(".")

    def _page(self, name: str) -> str:
        target = f"reference/api/{name}"
        return self.env.app.builder.get_relative_uri(self.env.docname, target) if name in PACKAGES else ""

    @staticmethod
    def _box(box: tuple[str, str, str]) -> str:
        name, title, link = box
        shown = f"<code>{name}</code><br>{html.escape(title)}"
        return f'<a href="{link}">{shown}</a>' if link else f"<span>{shown}</span>"


# Formulas: browsers draw MathML themselves.


def _inline_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _display_math(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math-block">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


# Links.


class _Page(HTMLParser):
    """Links and places of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and what it is called."""
        values = dict(attrs)
        self.places |= {values[name] or "" for name in ("id", "name") if name in values}
        # What leaves a frame leads to the app around it, and is shown there only. A page's own address is no link.
        if values.get("target") != "_top" and values.get("rel") != "canonical":
            self.links += [(tag, values[name] or "") for name in ("href", "src") if name in values]


def check_links(app: Sphinx, error: Exception | None) -> None:
    """Warn of every link to a file or a place that is not there, and of what would be fetched from another host."""
    if error is not None or app.builder.name != "html":
        return
    root = Path(app.outdir)
    pages = {}
    for file in root.rglob("*.html"):
        pages[file] = _Page()
        pages[file].feed(file.read_text(encoding="utf-8"))
    for file, page in pages.items():
        for tag, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if tag != "a" and parts.scheme != "data":
                    logger.warning("%s fetches %s", file.relative_to(root), link)
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                logger.warning("%s links to %s, which is not there", file.relative_to(root), link)
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                logger.warning("%s links to %s, a place that is not there", file.relative_to(root), link)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add everything above to Sphinx."""
    app.add_directive("run", Run)
    app.add_directive("command", Command)
    app.add_directive("settings-table", Missing)
    app.add_directive("command-line", Missing)
    app.add_directive("architecture", Architecture)
    app.add_html_math_renderer("mathml", (_inline_math, None), (_display_math, None))
    if app.tags.has("quick"):
        app.connect("builder-inited", write_packages)
    app.connect("build-finished", check_links, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
