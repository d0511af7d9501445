"""Results of the paper's tables and figures that come with the package: measured once, read here, never computed.

``data/results/index.toml`` describes every file and names the command that made it.
"""

from __future__ import annotations

import json
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from imrc._checks import check_choice
from imrc.evaluation.results import RunResult

if TYPE_CHECKING:
    import pandas as pd

Name = Literal["errors", "settings", "characteristics", "covertype", "tasks", "lags", "growth", "verdicts", "against"]


def results_folder() -> Path:
    """Return where the results are: inside the package once installed, in ``data/`` in a checkout."""
    here = Path(__file__).resolve()
    for folder in (here.with_name("results"), here.parents[2] / "data" / "results"):
        if (folder / "index.toml").is_file():
            return folder
    raise FileNotFoundError("The results that come with imrc are missing. Install imrc again.")


@lru_cache(maxsize=1)
def index() -> dict[str, dict[str, Any]]:
    """Return the description (``what``) of each file, the ``command`` that made it, and the ``date``."""
    with (results_folder() / "index.toml").open("rb") as stream:
        return tomllib.load(stream)


@lru_cache(maxsize=8)
def _table(name: str) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(results_folder() / f"{name}.csv")


def table(name: Name) -> pd.DataFrame:
    """Return a copy of a table; "settings" has other W and b, "growth" times against n, k and b."""
    return _table(check_choice("name", name, get_args(Name))).copy()


def comparison(dataset: str) -> pd.DataFrame:
    """Return what methods made of a built-in dataset at several n, as `imrc.evaluation.comparison.score_table`."""
    from imrc.evaluation.comparison import SCORES, title_of_method

    wide = _table("against").query("dataset == @dataset").drop(columns="dataset")
    known = ["n", "method", "kind", "ms", "state"]
    long = wide.melt(known, var_name="repetition").astype({"repetition": int})
    scores = long.pivot_table("value", [*known[:2], "ms", "state", "repetition"], "kind", sort=False).reset_index()
    scores = scores.assign(dataset=dataset, seconds=scores.pop("ms") / 1000, measure="error", measure_before="error")
    nothing = dict.fromkeys(("released", "before"), float("nan"))
    scores = scores.assign(title=scores["method"].map(title_of_method), **nothing)
    return scores.rename_axis(columns=None)[SCORES]


def measured_when(name: str) -> str:
    """Return in words when a file was measured, and with which versions where these are known.

    >>> measured_when("lags")
    'Measured on 2026-11-22.'
    """
    about = index()[name]
    rows = _table(name) if about["file"].endswith(".csv") else {}
    days = sorted({about["date"]} if "date" in about else set(rows["date"]))
    named = (
        sorted(set(rows["versions"]), key=lambda text: (text.split(",")[0], len(text))) if "versions" in rows else []
    )
    with_ = f"{', the newest' * (len(named) > 1)} with {named[-1]}" if named else ""
    return f"Measured on {' to '.join(dict.fromkeys((days[0], days[-1])))}{with_}."


@lru_cache(maxsize=1)
def turning_digits() -> dict[str, Any]:
    """Return pictures of sixes and nines, and errors where they turn, by degrees and labels per task ("360,4")."""
    found: dict[str, Any] = json.loads((results_folder() / index()["six_or_nine"]["file"]).read_text(encoding="utf-8"))
    return found


def run_names() -> tuple[str, ...]:
    """Return the names of the runs kept whole, for curves and heatmaps, such as "power_supply_n10"."""
    return tuple(name for name, about in index().items() if about["file"].endswith(".npz"))


@lru_cache(maxsize=8)
def run(name: str) -> RunResult:
    """Return a run kept whole; ValueError for an unknown name."""
    return RunResult.load(results_folder() / index()[check_choice("name", name, run_names())]["file"])
