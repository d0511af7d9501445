"""Images cannot be built where tests run: Dockerfile and requirements against the files and commands they name."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from imrc.cli import parser
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
PUBLISHED = ("*.toml", "*.md", "*.cff", "*.yml", "docs/*.py", ".github/*.py", "LICENSE")
PINS = {pin.name: pin for pin in map(Requirement, REQUIREMENTS)}


def instructions(name: str) -> list[str]:
    """Return what stands behind each instruction of this name in the Dockerfile."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [line.split(None, 1)[1].strip() for line in lines if line.startswith(name + " ")]


def test_all_that_the_wheel_needs_is_copied():
    copies = [shlex.split(rest)[:-1] for rest in instructions("COPY") if not rest.startswith("--from")]
    copied = {source for sources in copies for source in sources}
    assert [source for source in copied if not (ROOT / source).exists()] == []
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"README.md", "pyproject.toml", *PROJECT["project"]["license-files"]}
    needed |= {*wheel["packages"], *wheel["force-include"]}
    assert [name for name in needed if not any(Path(name).is_relative_to(source) for source in copied)] == []


def test_the_container_starts_the_app_as_a_user_where_the_health_check_asks():
    start = json.loads(instructions("CMD")[-1])
    options = parser().parse_args(start[1:])
    assert start[0] == "imrc"
    assert f"http://127.0.0.1:{options.port}/_stcore/health" in instructions("HEALTHCHECK")[0]
    assert instructions("EXPOSE") == [str(options.port)]
    # The only place that listens on more than the machine itself, and it says so.
    assert options.address == "0.0.0.0"
    assert options.no_browser
    assert instructions("USER")[-1] not in ("root", "0")


def test_what_a_publisher_decides_is_filled_in_everywhere(tmp_path):
    files = subprocess.run(["git", "ls-files", "-z", *PUBLISHED], cwd=ROOT, capture_output=True, check=True, text=True)
    for name in files.stdout.split("\0")[:-1]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    script, decided = tmp_path / ".github" / "publish.py", tmp_path / ".github" / "PUBLISHING.md"

    def publish(*options: str) -> int:
        return subprocess.run([sys.executable, str(script), *options], capture_output=True).returncode

    assert publish("--check") == 1  # nothing is decided yet
    decided.write_text(decided.read_text(encoding="utf-8").replace("imrc.example", "imrc.test"), encoding="utf-8")
    assert publish("--check") == 1  # decided, and not filled in
    assert publish() == publish("--check") == 0
    left = [file.name for file in tmp_path.rglob("*") if file.is_file() and "imrc.example" in file.read_text("utf-8")]
    assert left == ["publish.py"]  # what it looks for


def test_requirements_pin_the_dependencies_and_all_that_these_need():
    wanted = list(map(Requirement, PROJECT["project"]["dependencies"]))
    assert {requirement.name for requirement in wanted} <= set(PINS)
    for requirement in wanted:
        (pin,) = PINS[requirement.name].specifier
        assert pin.operator == "=="
        assert requirement.specifier.contains(pin.version), f"pyproject.toml does not allow {PINS[requirement.name]}"
    # Names and versions only: where packages come from is for the machine to say.
    assert [line for line in REQUIREMENTS if "://" in line or line.startswith((" ", "-"))] == []
    for name in set(PINS) & {canonicalize_name(distribution.name) for distribution in distributions()}:
        (pin,) = PINS[name].specifier
        if Version(version(name)) < Version(pin.version):
            continue  # what older versions needed is not asked of the pins
        needed = map(Requirement, requires(name) or [])
        here = {canonicalize_name(one.name) for one in needed if not one.marker or one.marker.evaluate({"extra": ""})}
        assert here <= set(PINS), f"{name} needs more than is pinned"


def test_what_is_compiled_while_building_is_what_there_is_to_compile():
    (code,) = [shlex.split(line)[2] for line in instructions("RUN") if line.startswith("python -c")]
    exec(compile(code, "Dockerfile", "exec"))  # the image could not be built if this failed


def test_the_example_of_a_web_server_fits_what_the_explorer_does():
    text = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    options = parser().parse_args(["app", "--no-browser", "--port", "8501", "--allow-host", "explorer.example.org"])
    assert f"127.0.0.1:{options.port}" in text
    # Uploads as large as the explorer takes pass, and the page's own connection does.
    upload = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["server"]["maxUploadSize"]
    assert int(re.search(r"client_max_body_size (\d+)m", text)[1]) > upload
    assert "proxy_set_header Upgrade" in text
