"""The tests on every supported Python that is installed, and with the lowest versions of what the library needs.

Usage: nox -f .ci/noxfile.py [-s tests-3.13] [-- tests/unit ...]        needs nox (`pip install nox`)
"""

from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False
ROOT = Path(__file__).resolve().parents[1]


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run the tests, or those asked for."""
    session.chdir(ROOT)
    session.install("-e", ".[test]")
    # Code compiled by one version of numba says nothing to another.
    session.run("python", "-m", "pytest", "-q", *session.posargs, env={"NUMBA_CACHE_DIR": session.create_tmp()})


@nox.session(venv_backend="none")
def lowest(session: nox.Session) -> None:
    """Run the tests without a browser with the lowest versions."""
    session.run("bash", str(ROOT / "tests/bounds/run"), *session.posargs, external=True)
