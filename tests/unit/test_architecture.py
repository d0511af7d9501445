"""The package from outside: it imports fast and every public name is there. What may import what: pyproject.toml."""

import pkgutil

import pytest

import imrc
from tests.conftest import run_python


def test_import_is_light_and_so_is_the_list_of_methods():
    code = (
        "import sys, imrc; print(*sorted(set(sys.modules) & {'numba', 'sklearn', 'pandas', 'plotly', 'scipy'}));"
        "from imrc.baselines import registry; [method.title for method in registry.values()];"
        "print(*sorted(set(sys.modules) & {'numba', 'sklearn', 'pandas', 'scipy.optimize'}))"
    )
    assert run_python("-c", code).stdout.split() == []


def test_public_names_resolve_and_are_listed():
    for name in imrc.__all__:
        assert getattr(imrc, name).__doc__
        assert name in dir(imrc)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        imrc.nothing  # noqa: B018


@pytest.mark.slow
def test_every_module_is_an_attribute_and_loaded_when_used():
    names = {module.name for module in pkgutil.iter_modules(imrc.__path__) if not module.name.startswith("_")}
    assert {"paper", "tasks", "cli"} < names <= set(dir(imrc))
    code = (
        "import sys, imrc; "
        f"early = [name for name in {sorted(names)!r} if f'imrc.{{name}}' in sys.modules]; "
        f"print(early, [getattr(imrc, name).__name__ for name in {sorted(names)!r}])"
    )
    assert run_python("-c", code).stdout.strip() == f"[] {[f'imrc.{name}' for name in sorted(names)]}"
