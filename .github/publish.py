#!/usr/bin/env python3
"""Write what a publisher decides in PUBLISHING.md into every file that needs it; ``--check`` says what is open.

Usage: python .github/publish.py [--check] [--notes]
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "imrc.example"


def decisions() -> dict[str, str | list[str]]:
    """Return the values of the block in PUBLISHING.md."""
    text = (ROOT / ".github" / "PUBLISHING.md").read_text(encoding="utf-8")
    return tomllib.loads(re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1])


def places(said: dict) -> list[tuple[str, str, str]]:
    """Return file, pattern and text of every place: what the pattern matches becomes the text."""
    people = ", ".join(f'{{ name = "{name}", email = "{said["email"]}" }}' for name in said["authors"])
    cited = "".join(f'\n  - name: "{name}"' for name in said["authors"])
    doi = f"\ndoi: {said['doi']}" if said["doi"] else ""
    contact = f"<{said['security']}>"
    return [
        ("pyproject.toml", r'(?<=\[project\]\n)name = ".*"', f'name = "{said["distribution"]}"'),
        ("pyproject.toml", r"(?m)^authors = .*", f"authors = [{people}]"),
        ("pyproject.toml", r'(?m)^Homepage = ".*"', f'Homepage = "{said["source"]}"'),
        ("pyproject.toml", r'(?m)^Documentation = ".*"', f'Documentation = "{said["documentation"]}"'),
        ("pyproject.toml", r'(?m)^Source = ".*"', f'Source = "{said["source"]}"'),
        ("pyproject.toml", r'(?m)^Changelog = ".*"', f'Changelog = "{said["source"]}/blob/main/CHANGELOG.md"'),
        ("LICENSE", r"(?m)(?<=^Copyright \(c\) 2026 ).*", str(said["copyright"])),
        ("CITATION.cff", r'(?<=\nauthors:)(\n  - name: ".*")+', cited),
        ("CITATION.cff", r"(?m)^license: MIT(\ndoi: .*)?", f"license: MIT{doi}"),
        ("CITATION.cff", r'(?m)^repository-code: ".*"', f'repository-code: "{said["source"]}"'),
        ("docs/conf.py", r'(?m)^html_baseurl = ".*"', f'html_baseurl = "{said["documentation"]}/"'),
        (".github/SECURITY.md", r"<\S+@\S+>", contact),
        (".github/CODE_OF_CONDUCT.md", r"<\S+@\S+>", contact),
        (".github/ISSUE_TEMPLATE/config.yml", r"(?m)(?<=url: )\S+$", f"{said['source']}/security/advisories/new"),
    ]


def fill(said: dict, *, write: bool) -> list[str]:
    """Put every value in its place; return the files whose text was another one."""
    changed = []
    for name, pattern, text in places(said):
        file = ROOT / name
        before = file.read_text(encoding="utf-8")
        after, count = re.subn(pattern, lambda _, text=text: text, before)
        if count == 0:
            raise SystemExit(f"publish: {name} has no place for {pattern}")
        if after != before:
            changed.append(name)
            if write:
                file.write_text(after, encoding="utf-8")
    return list(dict.fromkeys(changed))


def notes() -> str:
    """Return the topmost part of the changelog, without its heading."""
    return re.split(r"(?m)^## .*\n", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1].strip()


def main() -> int:
    """Fill in, or check, or print the notes of the release."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if something is open")
    parser.add_argument("--notes", action="store_true", help="print the topmost part of the changelog")
    options = parser.parse_args()
    if options.notes:
        print(notes())
        return 0
    said = decisions()
    changed = fill(said, write=not options.check)
    undecided = [name for name, value in said.items() if PLACEHOLDER in value]
    for name in undecided:
        print(f"still to decide in .github/PUBLISHING.md: {name}")
    for name in changed:
        print(f"{name}: {'does not say what PUBLISHING.md says' if options.check else 'filled in'}")
    return int(options.check and bool(undecided or changed))


if __name__ == "__main__":
    sys.exit(main())
