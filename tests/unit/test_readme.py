"""README and the documentation say what is true: code runs and prints what they show, commands exist.

What pages of the documentation execute when they are built (`{run}`, `{command}`) needs no test of its own.
"""

import contextlib
import io
import pydoc
import re
import shlex

import pytest

from imrc.baselines import registry
from imrc.cli import main, parser
from tests.conftest import ROOT
from tests.documents import assert_as_shown

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
pytestmark = pytest.mark.slow


@pytest.mark.first
def test_python_examples_print_what_readme_shows():
    blocks = re.findall(r"```python\n(.*?)```.*?```text\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 3
    namespace: dict[str, object] = {}
    for code, shown in blocks:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, "README.md", "exec"), namespace)
        assert_as_shown(output.getvalue(), shown)


# Each once: the documentation shows some of README's again.
BLOCKS = list(
    dict.fromkeys(
        block
        for text in (README, *PAGES.values())
        for block in re.findall(r"(<!-- needs the paper's data -->\n)?```text\n(\$ imrc .*?)```", text, re.DOTALL)
    )
)


def commands(block: str) -> list[tuple[str, str]]:
    """Commands of a block with the output shown below each."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command.removeprefix("imrc "), shown) for command, _, shown in (part.partition("\n") for part in parts)]


# The plan of a sweep is written to standard error: its block is checked by tests/sweeps/test_sweep_command.py.
@pytest.mark.parametrize(
    ("needs", "block"),
    [pair for pair in BLOCKS if not pair[1].startswith("$ imrc sweep")],
    ids=lambda text: text.splitlines()[0][:40] if text else "",
)
def test_commands_print_what_is_shown(request, capsys, tmp_path, monkeypatch, needs, block):
    if needs:
        request.getfixturevalue("real_data")
    else:
        monkeypatch.setenv("IMRC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("IMRC_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for command, shown in commands(block):
        assert main(shlex.split(command)) == 0, command
        output = capsys.readouterr().out
        if "…" in shown:  # README shows the beginning
            shown = shown.partition("…")[0].rstrip("\n")
            output = "\n".join(output.splitlines()[: len(shown.splitlines())])
        assert_as_shown(output, shown)


(COMMANDS,) = (action.choices for action in parser()._actions if isinstance(action.choices, dict))


def test_every_command_is_shown():
    shown = {command.split()[0] for _, block in BLOCKS for command, _ in commands(block)}
    for text in PAGES.values():
        for block in re.findall(r"```\{command\}\n(.*?)```", text, re.DOTALL):
            shown |= {command.split()[0] for command, _ in commands(block)}
    # The app ends only when it is stopped.
    assert set(COMMANDS) - {"app"} <= shown
    assert "imrc app" in README


DOCUMENTS = [
    ROOT / "README.md",
    *(ROOT / ".github").glob("*.md"),
    *PAGES,
    *(ROOT / "tests" / "benchmarks").glob("*.md"),
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_commands_and_names_exist(document):
    text = re.sub(r"`git show [^`]+`|`[^`]+` in the history", "", document.read_text(encoding="utf-8"))
    files = re.findall(r"(?<![\w/.~])(?:imrc|pages|tests|docs|data|\.github|\.ci)/(?!_build)[\w./-]*\w", text)
    assert [name for name in files if not (ROOT / name).exists() and "_build" not in name] == []
    names = set(re.findall(r"(?<![\w/.@])imrc(?:\.[A-Za-z_]\w*)+", text)) - {"imrc.example"}
    assert [name for name in names if pydoc.locate(name) is None] == []
    for command, options in re.findall(r"(?:^(?:\$ | {4})?|`)imrc ([a-z]+)([^`\n]*)", text, re.MULTILINE):
        assert set(re.findall(r"--[a-z0-9-]+", options)) <= set(COMMANDS[command]._option_string_actions), options
    profiles = [pair for pair in re.findall(r"`([a-z_]+):(\w+)`", text) if pair[0] in registry]
    assert [profile for method, profile in profiles if profile not in registry[method].profiles] == []
    if document.parent != ROOT / "docs":  # links of the site are checked when it is built
        links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
        assert [link for link in links if not (document.parent / link).is_file()] == []
