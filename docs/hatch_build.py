"""Adds README with links that work anywhere, and the documentation, to what is installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

MARK = "Built during installation"  # all its pages say so


class Readme(MetadataHookInterface):
    """Makes the links of README absolute: the page of the package shows no files of the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the text, with links to the files of this version."""
        root = Path(self.root)
        version = re.search(r'__version__ = "(.*)"', (root / "imrc" / "__init__.py").read_text(encoding="utf-8"))[1]
        source = metadata["urls"]["Source"]
        text = (root / "README.md").read_text(encoding="utf-8")
        text = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\1{source}/raw/v{version}/", text)
        text = re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:)", rf"\1{source}/blob/v{version}/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class Site(BuildHookInterface):
    """Builds the documentation if nobody has, without running the library, and adds it beside the installed app."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the site, and name its folder. An editable installation reads it where it is."""
        site = Path(self.root, "docs", "_build", "html")
        if not _is_complete(site) and not _built(site):
            self.app.display_warning("The documentation cannot be built: the app will open the article alone.")
        if version == "standard" and (site / "index.html").is_file():
            build_data["force_include"][str(site)] = "imrc/_app/docs/_build/html"


def _is_complete(site: Path) -> bool:
    """Return whether somebody built the site with the outputs of its examples."""
    index = site / "index.html"
    return index.is_file() and MARK not in index.read_text(encoding="utf-8")


def _built(site: Path) -> bool:
    """Build the site in a few seconds; return whether that worked."""
    with tempfile.TemporaryDirectory() as trees:
        command = [sys.executable, "-m", "sphinx", "-q", "-t", "quick", "-d", trees, site.parents[1], site]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own pages
