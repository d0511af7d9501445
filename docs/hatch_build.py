"""Adds to the archives README with links that work anywhere, and the documentation if it was built before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


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
    """Adds docs/_build/html at the same place beside the installed app; not for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder, if it is there."""
        site = Path(self.root, "docs", "_build", "html")
        if version != "standard":
            return
        if not (site / "index.html").is_file():
            self.app.display_warning("The documentation is not built: the app will open the article alone.")
        else:
            build_data["force_include"][str(site)] = "imrc/_app/docs/_build/html"
