"""Images cannot be built where tests run: what can be said about Dockerfile and requirements without building."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from imrc.commands.main import _parser

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = [
    Requirement(line) for line in (ROOT / "requirements.txt").read_text().splitlines() if line and line[0] not in "#-"
]


def instructions() -> list[tuple[str, str]]:
    """Return (instruction, rest) with continued lines joined and comments dropped."""
    lines = [line for line in TEXT.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def stage(number: int) -> list[tuple[str, str]]:
    """Return the instructions of one stage."""
    starts = [i for i, (name, _) in enumerate(instructions()) if name == "FROM"] + [None]
    return instructions()[starts[number] : starts[number + 1]]


def all_of(name: str, where: list[tuple[str, str]]) -> list[str]:
    return [rest for instruction, rest in where if instruction == name]


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps a path out: the last line that fits counts."""
    out = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.lstrip("!").removeprefix("**/")
        if fnmatch.fnmatch(path, pattern) or path.startswith(pattern + "/") or pattern.startswith(path + "/"):
            out = not line.startswith("!")
    return out


def test_images_are_slim_and_named_with_a_version_python_is_supported_in():
    bases = [rest.split()[0] for rest in all_of("FROM", instructions())]
    assert len(bases) == 2
    for base in bases:
        minor = int(re.fullmatch(r"python:3\.(\d+)-slim", base)[1])
        assert minor >= int(re.search(r">=3\.(\d+)", PROJECT["requires-python"])[1])


def test_it_does_not_run_as_root():
    last = stage(1)
    (user,) = all_of("USER", last)
    assert user not in ("root", "0")
    assert re.search(rf"useradd [^&]*\b{user}\b", TEXT)
    names = [name for name, _ in last]
    # Nothing that runs later does so as root.
    assert names.index("USER") < names.index("HEALTHCHECK") < names.index("CMD")


def test_every_copied_file_exists_and_is_not_ignored():
    for rest in all_of("COPY", instructions()):
        parts = shlex.split(rest)
        if parts[0].startswith("--from"):
            continue
        for source in parts[:-1]:
            assert (ROOT / source).exists(), source
            assert not ignored(source), source
    for secret in (".git", ".env", "tests", "notes.txt", "id_rsa", ".streamlit/secrets.toml", "data/screenshots"):
        assert ignored(secret), secret


def test_all_that_the_wheel_needs_is_copied():
    copied = {source for rest in all_of("COPY", stage(0)) for source in shlex.split(rest)[:-1]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    for needed in [*wheel["packages"], *wheel["force-include"], project["project"]["readme"], "pyproject.toml"]:
        assert needed in copied, needed


def test_health_check_asks_the_address_the_server_answers():
    (check,) = all_of("HEALTHCHECK", stage(1))
    command = json.loads(check.split("CMD", 1)[1])
    start = json.loads(all_of("CMD", stage(1))[-1])
    options = _parser().parse_args(start[1:])
    assert start[0] == "imrc"
    assert f"http://127.0.0.1:{options.port}/_stcore/health" in command[-1]
    # The only place that listens on more than the machine itself, and it says so.
    assert options.address == "0.0.0.0"
    assert options.no_browser
    assert str(options.port) in all_of("EXPOSE", stage(1))[0]


def test_kernels_are_compiled_while_building_by_the_user_who_runs_them():
    last = stage(1)
    position = next(i for i, (name, rest) in enumerate(last) if name == "RUN" and "warm_up" in rest)
    assert [name for name, _ in last].index("USER") < position
    environment = " ".join(all_of("ENV", last))
    folder = re.search(r"NUMBA_CACHE_DIR=(\S+)", environment)[1]
    assert any("chown" in rest and str(Path(folder).parent) in rest for rest in all_of("RUN", last))


def test_nothing_secret_is_written_down():
    for path in ("Dockerfile", "requirements.txt", ".streamlit/config.toml"):
        text = (ROOT / path).read_text()
        assert not re.search(r"(?i)(password|passwd|token|secret|api_?key)\s*[=:]", text)
        assert "http://" not in text.replace("http://127.0.0.1", "")
        assert "https://" not in text
    assert not (ROOT / ".streamlit" / "secrets.toml").exists()
    assert not any("--index-url" in line or "--hash" in line for line in TEXT.splitlines())


# requirements.txt


def test_requirements_are_the_dependencies_of_the_project_each_with_one_version():
    wanted = {requirement.name: requirement for requirement in map(Requirement, PROJECT["dependencies"])}
    assert {pin.name for pin in PINS} == set(wanted)
    for pin in PINS:
        (specifier,) = pin.specifier
        assert specifier.operator == "=="
        assert wanted[pin.name].specifier.contains(specifier.version), f"{pin} is older than pyproject.toml allows"


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.name)
def test_requirements_are_what_the_tests_run_with(pin):
    try:
        installed = version(pin.name)
    except PackageNotFoundError:
        pytest.skip(f"{pin.name} is not installed")
    if not pin.specifier.contains(installed):
        pytest.skip(f"installed is {installed}; requirements.txt was tested with {pin.specifier}")
