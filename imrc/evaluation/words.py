"""Results in words: numbers with their uncertainty, one sentence, and code that repeats a run."""

from __future__ import annotations

import math
from dataclasses import asdict

from imrc.evaluation.results import Headline, HeadlineKind, RunResult
from imrc.evaluation.settings import RunSettings
from imrc.features import FeatureSpec


def decimal(value: float, digits: int = 3) -> str:
    """Return a number without the leading zero, as the field prints error rates.

    Examples
    --------
    >>> decimal(0.4051), decimal(-0.02), decimal(1.0)
    ('.405', '-.020', '1.000')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{abs(value):.{digits}f}"
    sign = "-" if value < 0 and float(text) != 0 else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def with_error(headline: Headline) -> str:
    """Return mean ± standard error; the mean alone if there was one repetition.

    Examples
    --------
    >>> with_error(Headline(0.405, 0.0134, 0.006))
    '.405 ± .006'
    """
    if not math.isfinite(headline.stderr):
        return decimal(headline.mean)
    return f"{decimal(headline.mean)} ± {decimal(headline.stderr)}"


def summary(result: RunResult, title: str, kind: HeadlineKind = "average") -> str:
    """Return one sentence on what forward and backward learning did, in Markdown.

    A difference below two standard errors of the paired difference is called no clear difference.
    """
    headlines = result.headline(kind)
    single, both = headlines["single"], headlines["forward_backward"]
    difference = result.difference("forward_backward", "single", kind)
    numbers = f"{with_error(both)} against {with_error(single)}"
    if result.settings.repetitions > 1 and abs(difference.mean) < 2 * difference.stderr:
        change = "makes **no clear difference** to"
        return f"On *{title}*, learning forward and backward {change} learning each task alone ({numbers})."
    if single.mean <= 0:
        return f"On *{title}*, single-task rules make no errors already ({numbers})."
    share = abs(difference.mean) / single.mean
    word = "fewer" if difference.mean < 0 else "more"
    caution = "" if result.settings.repetitions > 1 else " One repetition only: the difference may be chance."
    return (
        f"On *{title}*, learning forward and backward makes **{share:.0%} {word} errors** than learning each task "
        f"alone ({numbers}).{caution}"
    )


def as_python(dataset: str, tasks: int, settings: RunSettings) -> str:
    """Return a script that repeats a run on a sequence that `imrc.datasets.load` knows.

    Examples
    --------
    >>> print(as_python("identical", 5, RunSettings(n=4)))
    import imrc
    <BLANKLINE>
    sequence = imrc.datasets.load("identical", tasks=5, seed=0)
    result = imrc.evaluate(sequence, n=4, b=3, W=2, preset="paper", repetitions=5, seed=0)
    for rule, error in result.headline().items():
        print(f"{rule:16s} {error.mean:.3f} ± {error.stderr:.3f}")
    """
    arguments = [
        f"{name}={getattr(settings, name)!r}".replace("'", '"')
        for name in ("n", "b", "W", "preset", "repetitions", "seed")
    ]
    imports = "import imrc\n"
    if settings.features != FeatureSpec():
        arguments.append(f"features={_feature_code(settings.features)}")
        if settings.features != FeatureSpec(settings.features.kind):
            imports += "from imrc.features import FeatureSpec\n"
    arguments += [f"{name}={value!r}".replace("'", '"') for name, value in settings.overrides]
    return (
        f"{imports}\n"
        f'sequence = imrc.datasets.load("{dataset}", tasks={tasks}, seed={settings.seed})\n'
        f"result = imrc.evaluate(sequence, {', '.join(arguments)})\n"
        "for rule, error in result.headline().items():\n"
        '    print(f"{rule:16s} {error.mean:.3f} ± {error.stderr:.3f}")'
    )


def _feature_code(spec: FeatureSpec) -> str:
    if spec == FeatureSpec(spec.kind):
        return f'"{spec.kind}"'
    values = ", ".join(f"{name}={value!r}" for name, value in asdict(spec).items())
    return f"FeatureSpec({values})".replace("'", '"')
