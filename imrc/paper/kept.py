"""Tables of `imrc table --keep` on this computer, shown on page *The paper* with those that come with the package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from imrc._checks import InputError
from imrc._folders import default_store_path, replacing
from imrc.paper import shipped
from imrc.paper.printed import STAND_INS, datasets_with_settings, printed_datasets

if TYPE_CHECKING:
    import pandas as pd

    from imrc.paper.measure import TableRequest

Name = Literal["errors", "settings"]

_CELL = {"errors": ["dataset", "n", "method", "error_kind"], "settings": ["dataset", "n", "setting"]}
"""Columns that say which cell of a table a row is."""


def kept_folder() -> Path:
    """Return where the tables are kept: beside the results of `imrc sweep`. Nothing is made here."""
    return default_store_path().parent / "paper"


def check(request: TableRequest) -> None:
    """Refuse what is not one of the paper's tables, naming what to leave out."""
    if request.kind in ("characteristics", "tasks", "growth"):
        raise InputError("--keep is for tables of errors and of running times per task.")
    usual: dict[str, tuple[object, object]] = {
        "-b": (request.settings.b, 3),
        "-W": (request.settings.learner.W, replace(request.settings, W=None).learner.W),
        "-k": (request.k, None),
        "--features": (request.settings.features.kind, "paper"),
    }
    if request.kind == "errors" and request.error not in ("average", "released"):
        raise InputError(f"--keep is for --error average or released, which page The paper shows; not {request.error}.")
    if request.kind != "errors":
        usual |= {"--error": (request.error, "released"), "--preset": (request.settings.preset, "paper")}
    for option, (value, wanted) in usual.items():
        if value != wanted:
            raise InputError(f"--keep is for the tables of page The paper, which do not have {option} {value}.")
    known = datasets_with_settings() if request.kind in ("window", "backward") else (*printed_datasets(), *STAND_INS)
    others = [name for name in request.names if name not in known]
    if others:
        raise InputError(f"--keep is for the paper's datasets; {', '.join(others)} is none of them.")


def keep(table: pd.DataFrame, name: Name) -> Path:
    """Keep the rows of a table of "errors", or of "settings" (other W and b), in place of those for the same cells."""
    import pandas as pd

    # Running times of other methods stand in the table of errors.
    new = table[table["setting"] != ""] if name == "settings" else table
    file = kept_folder() / f"{name}.csv"
    rows = pd.concat([own(name), new.reindex(columns=shipped.table(name).columns)])
    with replacing(file) as part:
        rows.drop_duplicates(_CELL[name], keep="last").to_csv(part, index=False)
    return file


def own(name: Name) -> pd.DataFrame | None:
    """Return the rows kept on this computer, or None if there are none or the file cannot be read."""
    import pandas as pd

    try:
        rows = pd.read_csv(kept_folder() / f"{name}.csv")
    except (OSError, ValueError):  # of the letters, the table or its absence: all errors of pandas are ValueErrors
        return None
    return rows if set(shipped.table(name).columns) <= set(rows.columns) else None


def table(name: Name) -> pd.DataFrame:
    """Return the table that comes with the package, with the rows kept on this computer in place of theirs."""
    import pandas as pd

    rows, mine = shipped.table(name), own(name)
    if mine is None:
        return rows
    return pd.concat([rows, mine[rows.columns]]).drop_duplicates(_CELL[name], keep="last", ignore_index=True)
