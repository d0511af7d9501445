"""What people call says what it takes, gives and raises, by numpydoc's rules; everything else is short."""

import ast
import builtins
import dataclasses
import importlib
import inspect
import itertools
import pkgutil
import re
import sys
import textwrap
from pathlib import Path

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import imrc
from tests.conftest import ROOT

CHECKS = {
    "GL01", "GL03", "GL06", "GL07", "GL08",  # a docstring in numpydoc's sections
    "SS01", "SS03", "SS06",  # a summary, one line, one sentence
    "PR01", "PR02", "PR03", "PR04", "PR06", "PR07",  # the parameters of the signature, in its order, each explained
    "RT01", "YD01",  # what comes back
}  # fmt: skip
SAYS_IT = re.compile(r"(Return|Yield|Whether|Number|Name)")
"""A summary that is itself the description of what comes back."""


sys.path.append(str(ROOT / "docs"))
EXTENSION = vars(importlib.import_module("_extension"))
CONTRACT, MEMBERS = EXTENSION["CONTRACT"], EXTENSION["MEMBERS"]


def public() -> dict[str, object]:
    """Return what the contract names, with the public members of classes, by full name."""
    found: dict[str, object] = {}
    for package, names in CONTRACT.items():
        for name in names:
            thing = found[f"{package}.{name}"] = getattr(importlib.import_module(package), name)
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                # A method that overrides one of a parent may leave the explaining to it.
                left_out = any(member in vars(base) for base in thing.__mro__[1:]) or member not in MEMBERS.get(
                    name, member
                )
                if not member.startswith("_") and (callable(value) or isinstance(value, property)) and not left_out:
                    found[f"{package}.{name}.{member}"] = value
    return found


def tree(thing: object) -> ast.AST:
    """Return the syntax tree of a class or function."""
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def fields_explained(cls: type) -> set[str]:
    """Return the fields of a class that have an entry under Attributes, or a text of their own: `#:` or below them."""
    names = {
        name for field in NumpyDocString(inspect.getdoc(cls) or "")["Attributes"] for name in field.name.split(", ")
    }
    for one in cls.__mro__[:-1]:
        names |= set(re.findall(r"^    (\w+): .*  #: \S", inspect.getsource(one), re.MULTILINE))
        for field, text in itertools.pairwise(tree(one).body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                names.add(field.target.id)
    return names


def raised_in_silence(function: object, documented: object) -> set[str]:
    """Return the kinds of errors a function raises itself which Raises does not name, nor a parent of them."""
    section = " ".join(str(part) for part in NumpyDocString(inspect.getdoc(documented) or "")["Raises"])
    silent = set()
    for node in ast.walk(tree(function)):
        name = getattr(getattr(node, "exc", None), "func", None)
        if isinstance(node, ast.Raise) and isinstance(name, ast.Name) and name.id[0].isupper():
            kind = getattr(inspect.getmodule(function), name.id, None) or getattr(builtins, name.id, None)
            names = [base.__name__ for base in kind.__mro__[:-3]] if isinstance(kind, type) else [name.id]
            if not any(one in section for one in names):
                silent.add(name.id)
    return silent - {"NotImplementedError", "AssertionError"}


def problems(name: str, thing: object) -> list[str]:
    """Return what is wrong with the docstring of something public."""
    codes = CHECKS - {"RT01", "YD01"} if SAYS_IT.match(inspect.getdoc(thing) or "") else CHECKS
    found = []
    if dataclasses.is_dataclass(thing):
        codes = codes - {"PR01"}
        fields = {field.name for field in dataclasses.fields(thing) if field.init and not field.name.startswith("_")}
        listed = NumpyDocString(inspect.getdoc(thing) or "")["Parameters"]
        fields -= fields_explained(thing) | {name for entry in listed for name in entry.name.split(", ")}
        found += [f"{field} is not explained" for field in sorted(fields)]
    found += [f"{code} {text}" for code, text in validate(name)["errors"] if code in codes]
    start = thing
    if inspect.isclass(thing):
        start = vars(thing).get("__post_init__" if dataclasses.is_dataclass(thing) else "__init__")
    if inspect.isfunction(start):
        found += [f"raises {kind} and does not say so" for kind in sorted(raised_in_silence(start, thing))]
    return [f"{name}: {one}" for one in found]


def test_docstrings_are_complete():
    assert [one for name, thing in public().items() for one in problems(name, thing)] == []


def sections_elsewhere(file: Path, called: set[str]) -> list[str]:
    """Return the functions and classes of a file with sections, other than those of the contract and their members."""
    others = [
        node for node in ast.parse(file.read_text(encoding="utf-8")).body if getattr(node, "name", "") not in called
    ]
    parts = [one for node in others for one in ast.walk(node) if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    return [one.name for one in parts if re.search(r"^ *-{4,}$", ast.get_docstring(one) or "", re.MULTILINE)]


def test_everything_else_is_short():
    called = {name for names in CONTRACT.values() for name in names}
    files = [file for folder in ("imrc", "pages") for file in sorted((ROOT / folder).rglob("*.py"))]
    assert [(file.name, name) for file in files for name in sections_elsewhere(file, called)] == []


# The documentation has every figure, and every public package


def figure_functions() -> set[str]:
    """Return the names of the public functions of `imrc.plots` that return a figure."""
    files = pkgutil.iter_modules(importlib.import_module("imrc.plots").__path__, "imrc.plots.")
    modules = [importlib.import_module(file.name) for file in files if "._" not in file.name]
    found = [one for module in modules for one in vars(module).values() if inspect.isfunction(one)]
    figures = [one for one in found if one.__annotations__.get("return") == "go.Figure"]
    return {one.__name__ for one in figures if "._" not in one.__module__ and one.__name__[0] != "_"}


def test_every_figure_is_in_the_gallery():
    assert len(figure_functions()) > 30
    drawn = "\n".join(re.findall(r"```\{run\}\n(.*?)```", (ROOT / "docs" / "gallery.md").read_text("utf-8"), re.DOTALL))
    assert [name for name in sorted(figure_functions()) if not re.search(rf"\b{name}\(", drawn)] == []


def test_every_public_package_has_a_page():
    found = [module for module in pkgutil.walk_packages(imrc.__path__, "imrc.") if module.name != "imrc.cli"]
    # A package of one file is public like the others.
    packages = ["imrc", *(one.name for one in found if one.ispkg or re.fullmatch(r"imrc\.(core\.)?[a-z]\w*", one.name))]
    public = {name: getattr(importlib.import_module(name), "__all__", ()) for name in packages}
    assert set(EXTENSION["PACKAGES"]) == {name for name, exported in public.items() if exported}
    # One way for each thing: nothing is exported twice, and little is beside the pictures.
    pictures = set(public.pop("imrc.plots"))
    assert figure_functions() <= pictures
    exported = [id(getattr(importlib.import_module(home), name)) for home, names in public.items() for name in names]
    assert len(exported) == len(set(exported)) <= 70
