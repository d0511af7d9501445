"""Settings as they stand in the columns of a results store, and the files they are exported to."""

from __future__ import annotations

from pathlib import Path

from imrc._checks import InputError
from imrc.evaluation import RunSettings
from imrc.features import FeatureSpec


def features_text(features: FeatureSpec) -> str:
    """Return a representation as one word; numbers that are not the default ones in brackets.

    Examples
    --------
    >>> features_text(FeatureSpec("rff")), features_text(FeatureSpec("rff", 50))
    ('rff', 'rff(N=50, sigma2=10)')
    """
    if features == FeatureSpec(features.kind) or features.kind in ("paper", "identity", "standardised"):
        return features.kind
    # Runs are listed by this word: two numbers that differ in the last digit must not look the same.
    short = f"{features.sigma2:g}"
    exact = short if float(short) == features.sigma2 else repr(features.sigma2)
    scale = f", sigma2={exact}" if features.kind == "rff" else ""
    return f"{features.kind}(N={features.frequencies}{scale})"


def preset_text(settings: RunSettings) -> str:
    """Return a preset as one word, with the values that replace its own in brackets."""
    changed = ", ".join(f"{name}={value}" for name, value in settings.overrides)
    return f"{settings.preset}({changed})" if changed else settings.preset


def check_export(path: str | Path) -> Path:
    """Return the path of a file to export to; raise ValueError unless it ends in .csv or .parquet."""
    path = Path(path).expanduser()
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"The file to export to must end in .csv or .parquet; got {path.name!r}.")
    return path
