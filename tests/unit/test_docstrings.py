"""Every public function, class and method says what it takes, gives and raises, and the text fits the signature."""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable

import pytest

PACKAGES = (
    "imrc", "imrc.core.theory", "imrc.baselines", "imrc.datasets", "imrc.diagnostics", "imrc.evaluation",
    "imrc.features", "imrc.plots", "imrc.solvers",
)  # fmt: skip
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\s*$", re.MULTILINE)
HEADINGS = {
    "Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Examples", "References", "See Also", "Warns",
}  # fmt: skip
SMALL = ("self", "cls")


def sections(docstring: str) -> dict[str, str]:
    """Split a numpydoc text into its sections; the text before the first is called "Summary"."""
    text = inspect.cleandoc(docstring)
    parts = SECTION.split(text)
    return {"Summary": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def listed(section: str) -> list[str]:
    """Return the names a section of parameters explains."""
    heads = [line for line in section.splitlines() if line and not line[0].isspace()]
    return [name.strip() for head in heads for name in head.split(" : ")[0].split(",")]


def raised(function: object) -> set[str]:
    """Return the kinds of errors a function raises itself."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            call = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(call, ast.Name) and call.id[0].isupper():
                found.add(call.id)
    return found - {"NotImplementedError", "AssertionError"}


def explained(error: str, section: str, module: object) -> bool:
    """Whether a section Raises names an error or one of its kinds."""
    cls = getattr(module, error, None) or getattr(importlib.import_module("builtins"), error, None)
    names = [base.__name__ for base in cls.__mro__[:-3]] if isinstance(cls, type) else [error]
    return any(name in section for name in names)


def problems_of_function(function: Callable, text: str | None) -> list[str]:
    """Return what is wrong with the docstring of a function."""
    if not text:
        return ["no docstring"]
    parts = sections(text)
    problems = [f"unknown section {name}" for name in parts if name not in HEADINGS | {"Summary"}]
    if not parts["Summary"].strip().split("\n\n")[0].rstrip().endswith((".", ":")):
        problems.append("the summary is no sentence")
    signature = inspect.signature(function)
    wanted = []
    for parameter in signature.parameters.values():
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.name not in SMALL and not parameter.name.startswith("_"):
            wanted.append(star + parameter.name)
    names = [name.replace("\\", "") for name in listed(parts.get("Parameters", ""))]
    if names != wanted:
        problems.append(f"Parameters {names}, signature {wanted}")
    gives = signature.return_annotation not in (None, "None", inspect.Signature.empty, "NoReturn")
    if (
        gives
        and not {"Returns", "Yields"} & set(parts)
        and not re.match(r"(Return|Yield|Whether|Number|Name)", parts["Summary"])
    ):
        problems.append("neither Returns nor Yields")
    for error in sorted(raised(function)):
        if not explained(error, parts.get("Raises", ""), inspect.getmodule(function)):
            problems.append(f"raises {error} and does not say so")
    return problems


def documented_fields(cls: type) -> list[str]:
    """Return the fields of a class, and of its parents, with a text of their own below them."""
    found = []
    for one in cls.__mro__[:-1]:
        try:
            body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0].body
        except (OSError, TypeError):
            continue
        for field, text in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found.append(field.target.id)
    return found


def problems_of_class(cls: type) -> list[str]:
    """Return what is wrong with the docstrings of a class and its public methods."""
    text = cls.__dict__.get("__doc__")
    if not text or (dataclasses.is_dataclass(cls) and text.startswith(f"{cls.__name__}(")):
        return ["no docstring"]
    parts = sections(text)
    problems = []
    is_protocol = getattr(cls, "_is_protocol", False)
    is_made_by_people = "__init__" in cls.__dict__ and not is_protocol and not issubclass(cls, (Exception, enum.Enum))
    if is_made_by_people:
        explained_names = listed(parts.get("Parameters", "")) + listed(parts.get("Attributes", ""))
        explained_names = [name.lstrip("*") for name in explained_names] + documented_fields(cls)
        for parameter in list(inspect.signature(cls).parameters):
            if parameter not in explained_names and not parameter.startswith("_"):
                problems.append(f"{parameter} is not explained")
    start = None
    if is_made_by_people:
        start = cls.__dict__.get("__post_init__") if dataclasses.is_dataclass(cls) else cls.__dict__.get("__init__")
    for error in sorted(raised(start)) if start else []:
        if not explained(error, parts.get("Raises", ""), inspect.getmodule(cls)):
            problems.append(f"raises {error} and does not say so")
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property) and not inspect.getdoc(member):
            problems.append(f"{name}: no docstring")
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if inspect.isfunction(function):
            # A method that overrides one of a parent may leave the explaining to it.
            inherited = any(name in vars(base) for base in cls.__mro__[1:])
            if not inherited or function.__doc__:
                problems += [f"{name}: {one}" for one in problems_of_function(function, function.__doc__)]
    return problems


def public() -> dict[str, object]:
    """Return everything exported, by full name."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{package}.{name}"] = thing
    return found


@pytest.mark.parametrize("name", sorted(public()))
def test_docstring_is_complete(name):
    thing = public()[name]
    problems = problems_of_class(thing) if inspect.isclass(thing) else problems_of_function(thing, thing.__doc__)
    assert problems == []


def test_the_check_finds_what_is_missing():
    def wrong(x: int, y: int) -> int:
        """Add numbers.

        Parameters
        ----------
        x : int
            One.
        z : int
            Not there.
        """
        if x < 0:
            raise ValueError("x")
        return x + y

    found = " ".join(problems_of_function(wrong, wrong.__doc__))
    for part in ("['x', 'z']", "neither Returns", "raises ValueError"):
        assert part in found
    assert problems_of_function(wrong, None) == ["no docstring"]
