"""Which code made a number: a fingerprint of the source a method's results depend on.

Two runs of a method are the same cell only if this fingerprint is the same. It covers the method's own module and
every module of `imrc` it imports, directly or not, the feature maps, the draws, and the loop that runs, times and tests
methods. Data are not part of it (a cell has the fingerprint of its data), nor are comments, docstrings and layout.
Versions of Python and of libraries are kept with each cell but are not part of its key: they change results by rounding
at most.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import imrc
from imrc.baselines import parse_method, registry

_ROOT = Path(imrc.__file__).resolve().parent
_SHARED = ("imrc.features", "imrc.evaluation.splits", "imrc.tasks")
"""Modules every method's numbers depend on, with all they import."""

_LOOP = (
    "imrc.evaluation.run",
    "imrc.evaluation.methods",
    "imrc.evaluation.results",
    "imrc.evaluation.lagtable",
    "imrc.evaluation._threads",
    "imrc.core.prediction",
    "imrc.solvers._api",
)
"""The loop around the methods and what it uses itself; it imports every method, so these files count alone."""


def _file(module: str) -> Path | None:
    """Source of a module of this package, or None if there is no such module."""
    inside = _ROOT.joinpath(*module.split(".")[1:])
    for path in (inside.with_suffix(".py"), inside / "__init__.py"):
        if path.is_file():
            return path
    return None


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            # Texts after attributes are documentation too: no expression of text alone does anything.
            node.body = [
                line
                for line in body
                if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
                or not isinstance(line.value.value, str)
            ] or [ast.Pass()]
    return tree


@cache
def _parsed(module: str) -> tuple[str, tuple[str, ...]]:
    """Return the code of a module without comments, docstrings and layout, and the modules of imrc it imports."""
    path = _file(module)
    if path is None:
        raise LookupError(f"{module} has no source file.")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        used |= {name for name in names if name.startswith("imrc.") and _file(name) is not None}
    return ast.unparse(_without_docstrings(tree)), tuple(sorted(used))


def modules_of(method: str) -> tuple[str, ...]:
    """Return the modules the code version of a method covers, sorted.

    Parameters
    ----------
    method : str
        "imrc", or a name of `imrc.baselines.registry` with or without a profile.

    Raises
    ------
    ValueError
        If the method is unknown.

    Examples
    --------
    >>> "imrc.core.learner" in modules_of("imrc"), "imrc.core.learner" in modules_of("gem")
    (True, False)
    """
    own = "imrc.core.learner" if method == "imrc" else registry[parse_method(method)[0]].__module__
    found: set[str] = set()
    waiting = [own, *_SHARED]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _parsed(module)[1]
    return tuple(sorted(found | set(_LOOP)))


@cache
def code_version(method: str) -> str:
    """Return a fingerprint of the code that makes a method's numbers, 16 hexadecimal digits.

    Parameters
    ----------
    method : str
        As for `modules_of`. All profiles of a method share a version: their values are in its source.

    Examples
    --------
    >>> code_version("gem") == code_version("mer"), len(code_version("imrc"))
    (False, 16)
    """
    digest = hashlib.sha256()
    try:
        for module in modules_of(method):
            digest.update(f"{module}\n{_parsed(module)[0]}\n".encode())
    except LookupError:
        # Installed without sources: the release is all that is known.
        digest.update(f"release {imrc.__version__}".encode())
    return digest.hexdigest()[:16]
