"""Puts the built documentation into the wheel, where somebody built it before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Site(BuildHookInterface):
    """Adds docs/_build/html at the same place beside the installed app; not for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder, if it is there."""
        site = Path(self.root, "docs", "_build", "html")
        if version == "standard" and (site / "index.html").is_file():
            build_data["force_include"][str(site)] = "imrc/_app/docs/_build/html"
