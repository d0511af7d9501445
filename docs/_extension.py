"""The documentation with what the library gives: executed examples, tables of settings, the reference."""

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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import _plain
import plotly
import plotly.graph_objects as go
from _plain import PACKAGES, heading, output, write
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import imrc
from imrc.cli import main, parser
from imrc.core.presets import PRESETS, VALUES
from imrc.core.settings import SETTINGS, Setting
from imrc.plots import on_dark

logger = logging.getLogger(__name__)


# Executed examples.


def _ran(code: str, names: dict[str, Any], where: str) -> tuple[str, go.Figure | None]:
    """Run code; return what it printed, and the figure its last line is, if it is one."""
    tree, printed, value = ast.parse(code), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), names)  # noqa: S102 - the project's own pages
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)  # noqa: S307 - as above
            if value is not None and not isinstance(value, go.Figure):
                print(repr(value))  # noqa: T201 - as an interactive session does
    return printed.getvalue(), value if isinstance(value, go.Figure) else None


def _drawing(figure: go.Figure, name: str) -> nodes.Node:
    """Return a figure as data, which `figures.js` draws: the page has no script of its own."""
    height = figure.layout.height or 420
    data = "".join(
        f'<script type="application/json">{one.to_json().replace("</", "<" + chr(92) + "/")}</script>'
        for one in (figure, on_dark(go.Figure(figure)))
    )
    place = f'<div class="figure" style="height: {height}px" role="img" aria-label="{html.escape(name)}">{data}</div>'
    return nodes.raw("", place, format="html")


class Run(_plain.Run):
    """``run``: Python that is executed when the page is built, its output and its figure below; one session a page."""

    def run(self) -> list[nodes.Node]:
        """Return the code with what it gave."""
        names = self.env.temp_data.setdefault("imrc_names", {"__name__": "__main__"})
        code = "\n".join(self.content)
        where = f"{self.env.docname}, line {self.lineno}"
        try:
            with _elsewhere(self.env.temp_data):
                printed, figure = _ran(code, names, where)
        except Exception as error:
            logger.warning("%s: %s", type(error).__name__, error, location=self.get_location())
            return super().run()
        found: list[nodes.Node] = super().run()
        if printed:
            found.append(output(printed))
        if figure is None:
            return found
        told = self.options.get("alt", "figure")
        found.append(_drawing(figure, told))
        return _card(told, found) if self.env.docname == "gallery" else found


def _card(told: str, inside: list[nodes.Node]) -> list[nodes.Node]:
    """Return a thumbnail that opens to the lines and the figure; `figures.js` draws the thumbnail from the figure."""
    summary = f'<details class="card"><summary><div class="thumb"></div>{html.escape(told)}</summary>'
    return [nodes.raw("", summary, format="html"), *inside, nodes.raw("", "</details>", format="html")]


class Command(_plain.Command):
    """``command``: lines ``$ imrc ...`` that are executed when the page is built, with what they print."""

    def run(self) -> list[nodes.Node]:
        """Return the commands with their output."""
        shown = []
        for line in self.content:
            printed = io.StringIO()
            words = shlex.split(line.removeprefix("$ "))
            with (
                _elsewhere(self.env.temp_data),
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                status = main(words[1:])
            if words[0] != "imrc" or status != 0:
                logger.warning("%r ended with %s", line, status, location=self.get_location())
            shown.append(f"{line}\n{printed.getvalue()}")
        return [output("\n".join(shown), language="console")]


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


# The reference.

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
    for package in PACKAGES:
        module = importlib.import_module(package)
        docs = _attribute_docs(package)
        lines = [heading(package), f".. automodule:: {package}", "   :no-members:", ""]
        called = [name for name in module.__all__ if name in CONTRACT.get(package, ())]
        for name in [*called, *(name for name in module.__all__ if name not in called)]:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            lines += _entry(package, name, thing, docs)
        write(Path(app.srcdir, "reference", "api", f"{package}.rst"), "\n".join(lines))


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


class CommandLine(SphinxDirective):
    """``command-line``: every command with its options, from the parsers themselves."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each command."""
        found: list[nodes.Node] = []
        for name, command in _commands(parser(), "imrc"):
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(name, name)
            usage = argparse.ArgumentParser.format_usage(command).removeprefix("usage: ")
            section += output(" ".join(usage.split()))
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


# Links.


def name_not_found(_app: Sphinx, _env: object, node: nodes.Element, _content: object) -> None:
    """Warn of a name in a text that the reference does not have; docstrings may name what is not public."""
    if not node.get("refdoc", "").startswith("reference/api/") and node.get("refdomain") == "py":
        logger.warning("no such public name: %s", node["reftarget"], location=node)


def copy_plotly(app: Sphinx, error: Exception | None) -> None:
    """Put the library that draws the figures beside the pages."""
    if error is None and app.builder.name == "html":
        source = Path(plotly.__file__).with_name("package_data") / "plotly.min.js"
        shutil.copyfile(source, Path(app.outdir, "_static", "plotly.min.js"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add everything above to Sphinx, in place of what only shows code."""
    app.setup_extension("_plain")
    app.add_directive("run", Run, override=True)
    app.add_directive("command", Command, override=True)
    app.add_directive("settings-table", SettingsTable, override=True)
    app.add_directive("command-line", CommandLine, override=True)
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", escape, priority=100)
    app.connect("autodoc-skip-member", without_requests)
    app.connect("missing-reference", name_not_found)
    app.connect("build-finished", copy_plotly, priority=100)
    return {"version": imrc.__version__, "parallel_read_safe": True, "parallel_write_safe": True}
