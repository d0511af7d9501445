"""The documentation is complete: every figure in the gallery, every public package in the reference."""

import ast
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import imrc

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")


def figure_functions() -> set[str]:
    """Return the names of the public functions of `imrc.plots` that return a figure."""
    return {
        node.name
        for path in (ROOT / "imrc" / "plots").glob("[!_]*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and node.returns is not None
        and "go.Figure" in ast.unparse(node.returns)
    }


def test_every_figure_is_in_the_gallery():
    assert len(figure_functions()) > 30
    drawn = "\n".join(re.findall(r"```\{run\}\n(.*?)```", GALLERY, re.DOTALL))
    assert [name for name in sorted(figure_functions()) if not re.search(rf"\b{name}\(", drawn)] == []


def test_every_public_package_has_a_page():
    spec = importlib.util.spec_from_file_location("_extension", DOCS / "_extension.py")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    found = [module for module in pkgutil.walk_packages(imrc.__path__, "imrc.") if module.name != "imrc.cli"]
    # A package of one file is public like the others.
    packages = ["imrc", *(one.name for one in found if one.ispkg or re.fullmatch(r"imrc\.(core\.)?[a-z]\w*", one.name))]
    public = {name: getattr(importlib.import_module(name), "__all__", ()) for name in packages}
    assert set(extension.PACKAGES) == {name for name, exported in public.items() if exported}
    # One way for each thing: nothing is exported twice, and little is beside the pictures.
    pictures = set(public.pop("imrc.plots"))
    assert figure_functions() <= pictures
    exported = [id(getattr(importlib.import_module(home), name)) for home, names in public.items() for name in names]
    assert len(exported) == len(set(exported)) <= 70
