"""README says what is true: its code runs and prints what it shows, its commands exist."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from imrc.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_examples_print_what_readme_shows():
    blocks = re.findall(r"```python\n(.*?)```.*?```text\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 2
    namespace: dict[str, object] = {}
    for code, shown in blocks:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, "README.md", "exec"), namespace)
        assert output.getvalue() == shown


def test_command_line_example_prints_what_readme_shows(capsys):
    command, shown = re.search(r"```text\n\$ imrc (run .*?)\n(.*?)```", README, re.DOTALL).groups()
    assert main(command.split()) == 0
    seconds = r"\d+\.\d\d s"  # the time differs from run to run
    assert re.sub(seconds, "", capsys.readouterr().out) == re.sub(seconds, "", shown)


def test_ci_runs_the_test_command_of_readme():
    assert re.search(r"<!-- test command -->\n```bash\npython3 -m venv .*pytest", README)
    assert "test command" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", README))
def test_links_and_screenshots_exist(target):
    if not target.startswith("http"):
        assert (ROOT / target).is_file()
