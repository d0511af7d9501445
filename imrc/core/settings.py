"""All settings in one table, and the settings of the learner.

Python, the command line, the page, links, sweeps and the documentation read `SETTINGS`. Add a setting here, with a
field of `IMRCSettings` if the learner reads it, and to `imrc.core.presets` if presets differ in it.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from imrc._checks import InputError, check_choice, check_int, check_real
from imrc.core.presets import DEFAULT, PRESET_DESCRIPTIONS, PRESETS, VALUES, Preset, iterations_by_n
from imrc.features import FEATURE_KINDS, FEATURE_TITLES, FREQUENCIES, SIGMA2, FeatureSpec
from imrc.tasks import MAX_TASKS

if TYPE_CHECKING:
    from imrc.solvers.api import SolverName

T = TypeVar("T")
Window = int | Literal["all"]
Loss = Literal["0-1", "log"]


@dataclass(frozen=True)
class Setting:
    """Name, label, help and possible values of a setting."""

    name: str
    label: str  # on the page
    help: str
    default: Any = None  # None: the preset decides
    limits: tuple[float, float] | None = None  # smallest and largest number; the dataset can narrow the range
    words: Mapping[str, str] = field(default_factory=dict)  # instead of a number, with their titles on the page
    real: bool = False  # a number with decimals
    optional: bool = False  # None is a value of its own

    def check(self, value: object, name: str = "") -> Any:  # noqa: ANN401 - a number or a word
        """Return a value in its range; raise ValueError or TypeError with the name otherwise."""
        name = name or self.name
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return value
        if self.limits is None:
            return check_choice(name, value, tuple(self.words))
        low, high = self.limits
        return check_real(name, value, low, high) if self.real else check_int(name, value, int(low), int(high))

    def parse(self, text: str) -> Any:  # noqa: ANN401 - a number or a word
        """Return the value of a typed text. ValueError if it is neither a number nor a word."""
        return text if text in self.words else float(text) if self.real else int(text)

    @property
    def possible(self) -> str:
        """The possible values, in words, such as "1 to 100 or all"."""
        numbers = [] if self.limits is None else [f"{self.limits[0]:,} to {self.limits[1]:,}"]
        return " or ".join([*numbers, *self.words])

    @property
    def entry(self) -> str:
        """Its entry in a docstring, by numpydoc's rules."""
        numbers = [] if self.limits is None else ["float" if self.real else "int"]
        words = [f'"{word}"' for word in self.words]
        kind = " or ".join([*numbers, *words]) if numbers else f"{{{', '.join(words)}}}"
        usual = f", default {self.default!r}" if self.default is not None else " or None"
        text = self.help if self.limits is None else f"{self.help} Range {self.possible}."
        if self.words and self.limits is None:
            text += " " + "; ".join(f'"{word}": {title.rstrip(".")}' for word, title in self.words.items()) + "."
        if self.default is None and not self.optional:
            own = (f"{VALUES[preset][self.name]} ({preset})" for preset in PRESETS if self.name in VALUES[preset])
            text += f" The presets set it to {' and '.join(own)}."
        return f"{self.name} : {kind}{usual}\n{textwrap.indent(textwrap.fill(text, 112), '    ')}"


SETTINGS: dict[str, Setting] = {
    one.name: one
    for one in (
        Setting(
            "n",
            "Samples n",
            "Training samples drawn from each task. The fewer there are, the more other tasks can help. The "
            "dataset limits n, because test samples are set aside first.",
            10,
            (1, 10_000),
        ),
        Setting(
            "k",
            "Tasks k",
            "Length of the sequence. Turning digits and synthetic sequences are cut into k tasks; for other datasets, "
            "the first k tasks are used.",
            20,
            (2, MAX_TASKS),
        ),
        Setting(
            "b",
            "Backward b",
            "At each step, the b tasks before the newest one are revised with its help. 0 means forward "
            "learning only. Time grows linearly with b.",
            3,
            (0, MAX_TASKS),
        ),
        Setting(
            "W",
            "Window W",
            "How many recent changes are used to estimate how fast tasks change. In the paper, W squared differences "
            "are averaged, eq. (7); the default is 2. The recommended preset judges each rate of change by how well "
            "it predicted the last W tasks as they arrived; the default is all tasks.",
            None,
            (1, 100),
            {"all": "all"},
        ),
        Setting(
            "preset",
            "Preset",
            "Sets every value that you do not choose yourself.",
            DEFAULT,
            words={name: PRESET_DESCRIPTIONS[name] for name in PRESETS},
        ),
        Setting(
            "features",
            "Representation",
            "How an instance is turned into features.",
            words={kind: FEATURE_TITLES[kind] for kind in FEATURE_KINDS},
        ),
        Setting(
            "frequencies",
            "Frequencies N",
            "Number of random frequencies, each with a cosine and a sine. Blended uses twice as many for pixels.",
            FeatureSpec.frequencies,
            FREQUENCIES,
        ),
        Setting(
            "sigma2",
            "sigma²",
            "Scale of random Fourier features on raw inputs. The paper uses 10.",
            FeatureSpec.sigma2,
            SIGMA2,
            real=True,
        ),
        Setting(
            "repetitions",
            "Repetitions",
            "How often samples are split and drawn again. Means, bands and standard errors are taken over these "
            "repetitions.",
            10,
            (1, 200),
        ),
        Setting(
            "seed",
            "Seed",
            "Every random choice (splits, draws, random features, synthetic data) follows from this number.",
            0,
            (0, 2**31 - 1),
        ),
        Setting(
            "lambda0",
            "lambda₀",
            "Size of the uncertainty set: lambda = lambda₀ · √s (see confidence). The paper uses 1, and 0 trusts the "
            "mean vectors completely. For log loss, it multiplies the penalty.",
            limits=(0, 100),
            real=True,
        ),
        Setting(
            "instances",
            "Instances X of the worst case",
            "The maximum in problem (3) is over these instances. Single-task rules always use their own.",
            words={
                "own": "the task's own samples (paper)",
                "reach": "samples of the last b + 1 tasks",
                "recent": "about the last 100 samples",
                "all": "all samples so far",
            },
        ),
        Setting(
            "solver",
            "Solver of the worst case",
            "**Subgradient**: the paper's accelerated scheme, stopped after K iterations. **Exact**: the optimum of "
            "problem (3), to within a certified gap; slower, and without the effect of early stopping. If the "
            "uncertainty set is empty, |mu| is bounded by 1.",
            words={"subgradient": "Subgradient (paper)", "exact": "Exact (linear program)"},
        ),
        Setting(
            "max_iter",
            "Iterations K",
            "Iterations of the subgradient method. The paper's 2000 act as early stopping; by_n is min(2000, "
            "max(500, 40 n)).",
            limits=(1, 100_000),
            words={"by_n": "by n"},
        ),
        Setting(
            "tracking",
            "Tracking",
            "Gains of the recursions.",
            words={
                "component": "each component has its own variance and change, as in the paper",
                "rate": "variances pooled over tasks and one rate of change for all components",
            },
        ),
        Setting(
            "confidence",
            "Confidence",
            "Scale of lambda in the 0-1 rule; the minimax risk is evaluated with √s in either case, so that it stays "
            "a bound.",
            words={"root_mse": "lambda₀ · √s, as in the paper", "over_ess": "lambda₀ · √(s / ESS)"},
        ),
        Setting(
            "loss",
            "Loss",
            "What the rule minimises in the worst case. Only the error probability, as in the paper, has guarantees.",
            words={"0-1": "the error probability", "log": "log loss"},
        ),
        Setting(
            "rate",
            "Rate of change",
            "For tracking rate only: a single rate of change d² / σ² per task, instead of four side by side (None).",
            limits=(0, 100),
            real=True,
            optional=True,
        ),
        Setting(
            "change",
            "Backward change",
            "For tracking component only: the squared differences that the backward change averages.",
            words={"released": "those of the authors' code", "printed": "the W closest ones, eq. (7) as printed"},
        ),
    )
}
"""All settings in the order of the page, except for the scenario (`imrc.evaluation.SCENARIOS`)."""


def documented(thing: T) -> T:
    """Replace names in braces, as in "{b, W}", by entries of the table in the docstring of a class or function."""

    def entries(found: re.Match[str]) -> str:
        names = [name for given in found[1].split(", ") for name in (OVERRIDES if given == "overrides" else (given,))]
        return "\n".join(SETTINGS[name].entry for name in names)

    # Without indentation, which Python 3.13 and later remove themselves.
    thing.__doc__ = re.sub(r"\{([\w, ]+)\}", entries, inspect.cleandoc(str(thing.__doc__)))
    return thing


@dataclass(frozen=True)
class IMRCSettings:
    """Everything that determines what the learner computes.

    The section "Choices" of `tests/benchmarks/README.md` shows what each choice of a preset is worth.

    Attributes
    ----------
    {b, W, preset, overrides}

    Raises
    ------
    ValueError, TypeError
        For a value out of range, or a combination that does not exist.
    """

    b: int = SETTINGS["b"].default
    W: Window = VALUES["paper"]["W"]
    preset: Preset = "paper"
    lambda0: float = VALUES["paper"]["lambda0"]
    instances: str = VALUES["paper"]["instances"]
    solver: SolverName = VALUES["paper"]["solver"]
    max_iter: int | Literal["by_n"] = VALUES["paper"]["max_iter"]
    tracking: str = VALUES["paper"]["tracking"]
    confidence: str = VALUES["paper"]["confidence"]
    loss: Loss = VALUES["paper"]["loss"]
    rate: float | None = None
    change: str = VALUES["paper"]["change"]

    def __post_init__(self) -> None:
        for one in fields(self):
            object.__setattr__(self, one.name, SETTINGS[one.name].check(getattr(self, one.name)))
        if self.W == "all" and self.tracking != "rate":
            raise InputError(
                "W='all' needs tracking='rate' (preset recommended): eq. (7) averages W squared "
                f"differences. Give a number, {SETTINGS['W'].possible}."
            )
        if self.change != "released" and self.tracking != "component":
            raise InputError("change='printed' needs tracking='component': eq. (7) is used only there.")
        if self.loss == "log" and self.tracking != "rate":
            raise InputError(
                "loss='log' needs tracking='rate', because its sample weights are common to all components."
            )
        if self.loss == "log" and self.lambda0 == 0.0:
            raise InputError("loss='log' needs lambda0 above 0: without a penalty, separable samples have no solution.")

    def iterations(self, n: int) -> int:
        """Return the iterations of the subgradient method for tasks of n samples."""
        return iterations_by_n(n) if self.max_iter == "by_n" else self.max_iter


OVERRIDES = tuple(one.name for one in fields(IMRCSettings) if one.name not in ("b", "W", "preset"))
"""Other settings of the learner, which replace values of a preset."""
documented(IMRCSettings)


def resolve_settings(
    preset: str,
    *,
    b: int,
    **overrides: Any,  # noqa: ANN401 - values are checked by IMRCSettings
) -> IMRCSettings:
    """Return the settings of a preset, replaced by those in `overrides` that are not None."""
    chosen = check_choice("preset", preset, PRESETS)
    own = {name: value for name, value in VALUES[chosen].items() if name != "features"}
    return IMRCSettings(
        b=b, preset=chosen, **own | {name: value for name, value in overrides.items() if value is not None}
    )
