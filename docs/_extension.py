"""What the documentation needs besides Sphinx: executed examples, tables of settings, the reference, checked links."""

from __future__ import annotations

import argparse
import ast
import contextlib
import html
import importlib
import inspect
import io
import os
import pkgutil
import re
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

import plotly
import plotly.graph_objects as go
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.directives.code import CodeBlock
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec
from sphinx.writers.html5 import HTML5Translator

import imrc
from imrc.commands.main import main, parser
from imrc.core.presets import PRESETS, VALUES
from imrc.core.settings import SETTINGS, Setting
from imrc.plots import on_dark

logger = logging.getLogger(__name__)


# Executed examples.


def _ran(code: str, names: dict[str, Any], where: str) -> tuple[str, go.Figure | None]:
    """Run code; return what it printed, and the figure its last line is, if it is one."""
    tree, output, value = ast.parse(code), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(output):
        exec(compile(tree, where, "exec"), names)  # noqa: S102 - the project's own pages
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)  # noqa: S307 - as above
            if value is not None and not isinstance(value, go.Figure):
                print(repr(value))  # noqa: T201 - as an interactive session does
    return output.getvalue(), value if isinstance(value, go.Figure) else None


def _drawing(figure: go.Figure, name: str) -> nodes.Node:
    """Return a figure as data, which `figures.js` draws: the page has no script of its own."""
    height = figure.layout.height or 420
    data = "".join(
        f'<script type="application/json">{one.to_json().replace("</", "<" + chr(92) + "/")}</script>'
        for one in (figure, on_dark(go.Figure(figure)))
    )
    place = f'<div class="figure" style="height: {height}px" role="img" aria-label="{html.escape(name)}">{data}</div>'
    return nodes.raw("", place, format="html")


class Run(CodeBlock):
    """``run``: Python that is executed when the page is built, its output and its figure below; one session a page."""

    option_spec: ClassVar[OptionSpec] = {**CodeBlock.option_spec, "alt": directives.unchanged}
    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return the code with what it gave."""
        names = self.env.temp_data.setdefault("imrc_names", {"__name__": "__main__"})
        self.arguments, code = ["python"], "\n".join(self.content)
        where = f"{self.env.docname}, line {self.lineno}"
        try:
            with _elsewhere(self.env.temp_data):
                output, figure = _ran(code, names, where)
        except Exception as error:
            logger.warning("%s: %s", type(error).__name__, error, location=self.get_location())
            return super().run()
        found: list[nodes.Node] = super().run()
        if output:
            found.append(_output(output))
        if figure is None:
            return found
        told = self.options.get("alt", "figure")
        found.append(_drawing(figure, told))
        return _card(told, found) if self.env.docname == "gallery" else found


def _card(told: str, inside: list[nodes.Node]) -> list[nodes.Node]:
    """Return a thumbnail that opens to the lines and the figure; `figures.js` draws the thumbnail from the figure."""
    summary = f'<details class="card"><summary><div class="thumb"></div>{html.escape(told)}</summary>'
    return [nodes.raw("", summary, format="html"), *inside, nodes.raw("", "</details>", format="html")]


class Command(SphinxDirective):
    """``command``: lines ``$ imrc ...`` that are executed when the page is built, with what they print."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the commands with their output."""
        shown = []
        for line in self.content:
            output = io.StringIO()
            words = shlex.split(line.removeprefix("$ "))
            with (
                _elsewhere(self.env.temp_data),
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                status = main(words[1:])
            if words[0] != "imrc" or status != 0:
                logger.warning("%r ended with %s", line, status, location=self.get_location())
            shown.append(f"{line}\n{output.getvalue()}")
        return [_output("\n".join(shown), language="console")]


@contextlib.contextmanager
def _elsewhere(page: dict[str, Any]) -> Iterator[None]:
    """Run in a folder of the page's own, with its own results store."""
    folder = page.setdefault("imrc_folder", tempfile.TemporaryDirectory(prefix="imrc-page-"))
    before, store = Path.cwd(), os.environ.get("IMRC_STORE")
    os.chdir(folder.name)
    os.environ["IMRC_STORE"] = str(Path(folder.name, "results.sqlite"))
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.pop("IMRC_STORE")
        if store is not None:
            os.environ["IMRC_STORE"] = store


def _output(text: str, language: str = "text") -> nodes.Node:
    text = text.rstrip("\n")
    block = nodes.literal_block(text, text, classes=["output"])
    block["language"] = language
    return block


# The reference.

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
    "imrc.contracts": "What a learner of tasks must hold",
    "imrc.sweeps": "Sweeps and the results store",
    "imrc.plots": "Figures",
    "imrc.report": "Reports",
}

# What people call: these names and the public members of their classes (of some, those of MEMBERS) have all sections,
# and come first on their pages. Everything else says in one to three lines what its signature does not.
# `tests/unit/test_docstrings.py` checks both.
CONTRACT = {
    "imrc": tuple(imrc.__all__),
    "imrc.datasets": ("names", "load", "gaussian_tasks", "rotated_digits"),
    "imrc.core.theory": ("ess_forward", "ess_forward_backward", "ess_recursion"),
    "imrc.solvers": ("solve", "Solution"),
    "imrc.diagnostics": (
        *("assess", "Assessment", "partial_autocorrelation", "PartialAutocorrelation", "variogram", "Variogram"),
        *("what_changed", "Changed"),
    ),
    "imrc.baselines": ("OwnMethod",),
    "imrc.watch": ("Watcher", "Arrival"),
    "imrc.contracts": ("check_learner",),
    "imrc.plots": ("describe",),
}
# The members of these classes that people call; the others are for the library itself.
MEMBERS = {
    "TaskSequence": (),
    "RunSettings": (),
    "RunResult": ("headline", "to_frame", "save", "load"),
    "IMRCSettings": (),
    "Headline": (),
    "Difference": (),
    "Assessment": (),
    "Changed": (),
    "OwnMethod": (),
    "Evolving": ("fit", "partial_fit"),
    "Watcher": ("read",),
    "Report": ("plot", "save", "fit"),
}


def _attribute_docs(package: str) -> dict[str, str]:
    """Return the texts below the constants of a package's modules."""
    found: dict[str, str] = {}
    module = importlib.import_module(package)
    names = [package, *(f"{package}.{one.name}" for one in pkgutil.iter_modules(getattr(module, "__path__", [])))]
    for name in [*names, "imrc.core.settings", "imrc.tables.cut", "imrc.tables.table"]:
        for (owner, attribute), lines in ModuleAnalyzer.for_module(name).find_attr_docs().items():
            if not owner:
                found.setdefault(attribute, "\n".join(lines))
    return found


def _entry(package: str, name: str, thing: object, docs: dict[str, str]) -> list[str]:
    full = f"{package}.{name}"
    if inspect.isclass(thing):
        return [f".. autoclass:: {full}", "   :members:", ""]
    if inspect.isfunction(thing):
        return [f".. autofunction:: {full}", ""]
    value = repr(thing)
    value = value if len(value) <= 100 else f"{value[:97]}..."
    text = docs.get(name, "").strip().splitlines()
    return [f".. py:data:: {full}", f"   :value: {value}", "", *(f"   {line}" for line in text), ""]


def write_reference(app: Sphinx) -> None:
    """Write a page for every public package: its text, and all names it exports."""
    folder = Path(app.srcdir, "reference", "api")
    folder.mkdir(parents=True, exist_ok=True)
    for package, title in PACKAGES.items():
        module = importlib.import_module(package)
        docs = _attribute_docs(package)
        heading = f"{package}: {title}"
        lines = [heading, "=" * len(heading), "", f".. automodule:: {package}", "   :no-members:", ""]
        called = [name for name in module.__all__ if name in CONTRACT.get(package, ())]
        for name in [*called, *(name for name in module.__all__ if name not in called)]:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            lines += _entry(package, name, thing, docs)
        _write(folder / f"{package}.rst", "\n".join(lines))


def _write(file: Path, text: str) -> None:
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    cells = [" | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows]
    names = list(head)
    return [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}", *(f"| {row} |" for row in cells), ""]


class SettingsTable(SphinxDirective):
    """``settings-table``: what can be set, with the values the code takes and what the presets have."""

    def run(self) -> list[nodes.Node]:
        """Return the table of settings."""
        rows = [(f"`{one.name}`", one.label, one.possible, *self._usual(one), one.help) for one in SETTINGS.values()]
        head = ("name", "on the page", "values", *(f"`{preset}`" for preset in PRESETS), "what it is")
        return self.parse_text_to_nodes("\n".join(_table(head, rows)))

    @staticmethod
    def _usual(one: Setting) -> list[str]:
        values = [VALUES[preset].get(one.name, one.default) for preset in PRESETS]
        return ["" if value is None else str(getattr(value, "kind", value)) for value in values]


class Architecture(SphinxDirective):
    """``architecture``: the packages in rows, each above those it may import, from the contract that is checked."""

    def run(self) -> list[nodes.Node]:
        """Return a row of boxes for each layer."""
        project = tomllib.loads(Path(self.env.srcdir).with_name("pyproject.toml").read_text(encoding="utf-8"))
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
        told = inspect.getdoc(importlib.import_module(name)) or ""
        return PACKAGES.get(name) or told.split("\n")[0].split(":")[0].rstrip(".")

    def _page(self, name: str) -> str:
        target = f"reference/api/{name}"
        return self.env.app.builder.get_relative_uri(self.env.docname, target) if name in PACKAGES else ""

    @staticmethod
    def _box(box: tuple[str, str, str]) -> str:
        name, title, link = box
        shown = f"<code>{name}</code><br>{html.escape(title)}"
        return f'<a href="{link}">{shown}</a>' if link else f"<span>{shown}</span>"


class CommandLine(SphinxDirective):
    """``command-line``: every command with its options, from the parsers themselves."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each command."""
        found: list[nodes.Node] = []
        for name, command in _commands(parser(), "imrc"):
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(name, name)
            usage = argparse.ArgumentParser.format_usage(command).removeprefix("usage: ")
            section += _output(" ".join(usage.split()))
            rows = []
            for action in command._actions:
                if isinstance(action, (argparse._HelpAction, argparse._SubParsersAction)):
                    continue
                flags = ", ".join(f"`{flag}`" for flag in action.option_strings) or f"`{action.metavar or action.dest}`"
                values = f" ({', '.join(map(str, action.choices))})" if action.choices and action.option_strings else ""
                text = command._get_formatter()._expand_help(action) if action.help else ""
                rows.append([flags, text + values])
            section += self.parse_text_to_nodes("\n".join(_table(("option", "what it does"), rows)))
            found.append(section)
        return found


def _commands(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child, sub in action.choices.items():
                yield from _commands(sub, f"{name} {child}")
            return
    yield name, parser


def escape(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Let |x| and n_tasks_ in docstrings be what they say: reStructuredText would take them for markup."""
    example = False
    for at, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            lines[at] = re.sub(r"(\w)_(?=[,)])", r"\1\\_", line.replace("|", r"\|"))


def without_requests(_app: Sphinx, _what: str, name: str, _thing: object, skip: bool, _options: object) -> bool | None:
    """Leave out what scikit-learn adds to every estimator for its own metadata."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


# Formulas: browsers draw MathML themselves.


def _inline_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _display_math(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math-block">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


# Links.


def name_not_found(_app: Sphinx, _env: object, node: nodes.Element, _content: object) -> None:
    """Warn of a name in a text that the reference does not have; docstrings may name what is not public."""
    if not node.get("refdoc", "").startswith("reference/api/") and node.get("refdomain") == "py":
        logger.warning("no such public name: %s", node["reftarget"], location=node)


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


def copy_plotly(app: Sphinx, error: Exception | None) -> None:
    """Put the library that draws the figures beside the pages."""
    if error is None and app.builder.name == "html":
        source = Path(plotly.__file__).with_name("package_data") / "plotly.min.js"
        shutil.copyfile(source, Path(app.outdir, "_static", "plotly.min.js"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add everything above to Sphinx."""
    app.add_directive("run", Run)
    app.add_directive("command", Command)
    app.add_directive("settings-table", SettingsTable)
    app.add_directive("command-line", CommandLine)
    app.add_directive("architecture", Architecture)
    app.add_html_math_renderer("mathml", (_inline_math, None), (_display_math, None))
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", escape, priority=100)
    app.connect("autodoc-skip-member", without_requests)
    app.connect("missing-reference", name_not_found)
    app.connect("build-finished", copy_plotly, priority=100)
    app.connect("build-finished", check_links, priority=900)
    return {"version": imrc.__version__, "parallel_read_safe": False, "parallel_write_safe": False}
