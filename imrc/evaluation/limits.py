"""What a run will need, before it starts: memory from the shapes of what is kept, time from counts of operations.

Every setting has a range, but the product of several settings at the ends of their ranges has none. A server asks here
before it starts a run somebody sent it as a link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from imrc._checks import InputError
from imrc.core.rules_log import CANDIDATES, STORED_ROWS, STORED_TASKS
from imrc.core.zero_one_rules import RECENT_SAMPLES
from imrc.evaluation.run import MAPPED_LIMIT
from imrc.evaluation.settings import RunSettings
from imrc.evaluation.splits import held_out
from imrc.features import FeatureSpec, Identity, make
from imrc.solvers import cores
from imrc.solvers._batch import GRAM_NUMBERS, incremental_pays
from imrc.tasks import TaskSequence

_NUMBER = 8
_MEANS = 16
"""Arrays as large as all mean vectors that a diagnosis holds at once: measured."""
_ENTRY = 230
"""Bytes of one small array in a dictionary, besides its numbers: measured."""

# Seconds of one core, fitted to runs on the machine of the benchmarks; others differ by a factor of 3.
_STEP_S = 1.5e-3
_ESTIMATE_S = 1.0e-4
_PER_NUMBER_S = 4.0e-10
_MAPPED_NUMBER_S = 5e-8
_LOG_LOSS_ITERATIONS = 6  # on all stored samples, from a solution close by


@dataclass(frozen=True)
class RunNeeds:
    """About what a run takes.

    `parts` are the bytes at the moment when most is held, by what holds them: "rows", "tests", "tracking", "rules",
    "estimates", "results". The seconds, on the cores of this process, are right within a factor of about 4.
    """

    parts: dict[str, float]
    seconds: float

    @property
    def bytes(self) -> float:
        """Bytes of all parts."""
        return sum(self.parts.values())

    def in_words(self) -> str:
        """Return memory and time for people.

        >>> RunNeeds({"rules": 3.2e9}, 400.0).in_words()
        'about 3.2 GB of memory and 7 minutes'
        """
        return f"about {_size(self.bytes)} of memory and {_duration(self.seconds)}"


def _size(amount: float) -> str:
    if amount < 1e9:
        return f"{max(round(amount / 1e6), 1)} MB"
    return f"{amount / 1e9:.1f} GB" if amount < 1e10 else f"{amount / 1e9:,.0f} GB"


def _duration(seconds: float) -> str:
    for unit, length in (("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 1.5 * length:
            return f"{round(seconds / length):,} {unit}s"
    whole = max(round(seconds), 1)
    return f"{whole} second{'s' * (whole != 1)}"


@dataclass(frozen=True)
class RunLimits:
    """How much a run may need before somebody is asked, and before it is refused: a multiple of that."""

    bytes: float = 1e9
    seconds: float = 120.0

    MOST_BYTES_TIMES = 4.0
    MOST_SECONDS_TIMES = 30.0

    @classmethod
    def parse(cls, text: str) -> RunLimits:
        """Return limits from what somebody typed: gigabytes, and minutes after a comma; InputError says what to type.

        >>> RunLimits.parse("2,10")
        RunLimits(bytes=2000000000.0, seconds=600.0)
        """
        try:
            gigabytes, minutes = (float(part) for part in text.split(","))
            if not (0.0 < gigabytes <= 1e6 and 0.0 < minutes <= 1e6):
                raise ValueError
        except ValueError:
            raise InputError(
                f"The limit {text!r} is not understood. Give gigabytes and minutes with a comma between them, such as "
                "1,2: runs that need more than 1 GB or 2 minutes wait for a click."
            ) from None
        return cls(gigabytes * 1e9, minutes * 60.0)

    @property
    def together(self) -> float:
        """Bytes that runs at the same time may need together; a run that needs more runs alone."""
        return self.bytes / 2

    @property
    def most_bytes(self) -> float:
        """Above this a run is refused."""
        return self.MOST_BYTES_TIMES * self.bytes

    @property
    def most_seconds(self) -> float:
        """Above this a run is refused."""
        return self.MOST_SECONDS_TIMES * self.seconds

    def most_in_words(self) -> str:
        """Return what is refused, for people.

        >>> RunLimits().most_in_words()
        '4.0 GB and 60 minutes'
        """
        return f"{_size(self.most_bytes)} and {_duration(self.most_seconds)}"

    def asks(self, needs: RunNeeds) -> bool:
        """Whether a run should wait for a click."""
        return needs.bytes > self.bytes or needs.seconds > self.seconds

    def refuses(self, needs: RunNeeds) -> bool:
        """Whether a run should not start at all."""
        return needs.bytes > self.most_bytes or needs.seconds > self.most_seconds


def diagnosis_needs(sequence: TaskSequence, features: FeatureSpec, seed: int = 0) -> RunNeeds:
    """Return about how much memory and time the diagnosis of a sequence will take.

    >>> import imrc
    >>> diagnosis_needs(imrc.datasets.load("random_walk", tasks=20), FeatureSpec()).in_words()
    'about 5 MB of memory and 1 second'
    """
    width = make(features, sequence, seed).n_outputs + 1
    means = len(sequence) * sequence.n_classes * width
    rows = int(sequence.sizes.max()) * width
    seconds = int(sequence.sizes.sum()) * width * _MAPPED_NUMBER_S
    return RunNeeds({"means": float(_NUMBER * _MEANS * means), "rows": float(_NUMBER * 3 * rows)}, seconds)


def lower(sequence: TaskSequence, settings: RunSettings) -> str:
    """Say which setting to lower for a smaller run: those whose half saves most.

    >>> import imrc
    >>> lower(imrc.datasets.load("random_walk", tasks=30), RunSettings(b=2, repetitions=100))
    'Fewer repetitions or tasks k would make it smaller.'
    """
    features = settings.features
    half = {
        "tasks k": replace(settings, k=max(min(settings.k or len(sequence), len(sequence)) // 2, 1)),
        "backward steps b": replace(settings, b=settings.b // 2),
        "repetitions": replace(settings, repetitions=max(settings.repetitions // 2, 1)),
        "samples n": replace(settings, n=max(settings.n // 2, 1)),
        "frequencies": replace(settings, features=replace(features, frequencies=max(features.frequencies // 2, 1))),
    }
    whole = run_needs(sequence, settings)

    def share(name: str) -> float:
        needs = run_needs(sequence, half[name])
        return max(needs.bytes / max(whole.bytes, 1.0), needs.seconds / max(whole.seconds, 1e-9))

    saving = sorted((share(name), name) for name in half)
    names = [name for left, name in saving[:2] if left < 0.9]
    return f"Fewer {' or '.join(names)} would make it smaller." if names else "Choose a smaller dataset."


@dataclass(frozen=True)
class _Shape:
    """The numbers everything else is a product of."""

    tasks: int
    reach: int
    n: int
    test: int
    outputs: int
    classes: int
    repetitions: int
    workers: int

    @property
    def m(self) -> int:
        """Components of a mean vector."""
        return self.classes * (self.outputs + 1)

    @property
    def estimates(self) -> int:
        """Estimates of forward and backward learning over all steps of one repetition."""
        return sum(1 + min(step, self.reach) for step in range(self.tasks))


def run_needs(sequence: TaskSequence, settings: RunSettings) -> RunNeeds:
    """Return about how much memory and time a run will take.

    Memory is added up from the shapes of what the run holds when it holds most, its last step; what the process held
    before, the sequence included, does not count. Compared methods are counted as if they kept every sample.

    >>> import imrc
    >>> few, many = (imrc.datasets.load("random_walk", tasks=tasks) for tasks in (10, 200))
    >>> run_needs(few, RunSettings()).bytes < run_needs(many, RunSettings(b=199, repetitions=100)).bytes
    True
    """
    sequence = settings.fit_to(sequence)
    k, feature_map = len(sequence), make(settings.features, sequence, settings.seed)
    shape = _Shape(
        tasks=k,
        reach=settings.reach(k),
        n=settings.n,
        test=max(held_out(int(size)) for size in sequence.sizes),
        outputs=feature_map.n_outputs,
        classes=sequence.n_classes,
        repetitions=settings.repetitions,
        workers=max(1, min(settings.repetitions, cores())),
    )
    kept = not isinstance(feature_map, Identity)
    parts = {"rows": _rows(shape, settings, kept=kept), "results": _results(shape, settings)}
    seconds = 0.0
    if "imrc" in settings.methods:
        parts |= {
            "tests": shape.repetitions * (shape.reach + 1) * shape.test * (shape.outputs + 2 if kept else 2),
            "tracking": _tracking(shape, settings),
            "rules": _rules(shape, settings),
            "estimates": _estimates(shape, settings),
        }
        seconds += _seconds(shape, settings)
        if kept:
            mapped = shape.repetitions * k * (shape.n + shape.test) * shape.outputs
            seconds += mapped * (sequence.n_features / 2 + 20) * _PER_NUMBER_S
    for name in settings.compared:
        parts[name] = shape.repetitions * k * shape.n * (shape.outputs + 1)
        seconds += shape.repetitions * _PER_NUMBER_S * shape.m * shape.test * k**2 / 2
    return RunNeeds({name: float(_NUMBER * numbers) for name, numbers in parts.items()}, seconds / shape.workers)


def _rows(shape: _Shape, settings: RunSettings, *, kept: bool) -> float:
    width = shape.outputs + 1
    # While rows are mapped, projections, their cosines and what they are put together in exist side by side.
    passing = 3 * shape.workers * (shape.n + shape.test) * width
    if not kept:
        return passing
    tests = shape.tasks * shape.test * width if settings.compared else 0
    return passing + shape.repetitions * ((shape.n + shape.test) * width + min(tests, MAPPED_LIMIT / shape.repetitions))


def _tracking(shape: _Shape, settings: RunSettings) -> float:
    s, stored = settings.learner, shape.reach + 1
    if s.tracking == "rate":
        samples, _ = _stored(shape)
        means = min(max(STORED_TASKS, s.b + 1) + samples // shape.n, shape.tasks) * shape.m
        return shape.repetitions * (means + _log_rules(shape, settings))
    differences = min(s.b + int(s.W) + 1, shape.tasks)
    return shape.repetitions * shape.m * (4 * stored + differences) + shape.workers * shape.m * differences


def _stored(shape: _Shape) -> tuple[int, bool]:
    """Return how many samples the learner for log loss keeps, and whether it solves for features instead of these."""
    tasks = min(max(STORED_TASKS, shape.reach + 1, -(-STORED_ROWS // shape.n)), shape.tasks)
    return shape.n * tasks, shape.n * tasks > 2 * (shape.outputs + 1)


def _log_rules(shape: _Shape, settings: RunSettings) -> float:
    samples, primal = _stored(shape)
    width = shape.outputs + 1
    # Until features make the smaller matrix, that of samples grows to this.
    gram = min(samples, 2 * width) ** 2
    starts = len(CANDIDATES) + 1 + (shape.reach + 1 if settings.learner.loss == "log" else 0)
    return samples * width + gram + starts * shape.classes * (width if primal else samples)


def _rules(shape: _Shape, settings: RunSettings) -> float:
    s, stored, width = settings.learner, shape.reach + 1, shape.outputs + 1
    if s.loss == "log":
        samples, _ = _stored(shape)
        # A step copies the samples twice, and the Gram matrix to let the newest task in.
        return shape.workers * 2 * (samples * width + min(samples, 2 * width) ** 2)
    samples = shape.n * min(stored, shape.tasks)
    if s.instances == "all":
        samples = shape.n * shape.tasks
    elif s.instances == "recent":
        samples = min(max(samples, RECENT_SAMPLES + shape.n), shape.n * shape.tasks)
    layouts = 3 if incremental_pays(shape.n) else 2
    kept = stored * (layouts * shape.n * width + 2 * shape.m) + (0 if s.instances == "own" else samples * width)
    together = shape.n if s.instances == "own" else samples
    gram = min(together**2, GRAM_NUMBERS) if s.solver == "subgradient" else together * shape.m
    passing = (4 * together * width if s.instances != "own" else 0) + gram
    return shape.repetitions * kept + shape.workers * passing


def _estimates(shape: _Shape, settings: RunSettings) -> float:
    """Mean vector, its error, parameters and weights of all estimates of a step, one repetition per worker."""
    s = settings.learner
    vectors = 6 if s.loss == "0-1" else 3  # the 0-1 rule also has a confidence vector, and its last iterate
    weights = 0 if s.tracking == "rate" else shape.m
    return shape.workers * (shape.reach + 1) * (vectors * shape.m + 2 * weights)


def _results(shape: _Shape, settings: RunSettings) -> float:
    """Count what is measured, once as it comes in and once as tables."""
    k, entry = shape.tasks, shape.repetitions + _ENTRY / _NUMBER
    numbers = 0.0
    if "imrc" in settings.methods:
        numbers += 3 * (shape.estimates + 2 * k) * entry + 3 * shape.repetitions * k * (shape.reach + 3)
    again = k * (k + 1) / 2
    return numbers + len(settings.compared) * (again * entry + shape.repetitions * k * k)


def _seconds(shape: _Shape, settings: RunSettings) -> float:
    """Processor seconds of learning and testing IMRC's rules."""
    s, k, problems = settings.learner, shape.tasks, shape.estimates + shape.tasks
    numbers = problems * shape.m * (shape.test + 20)
    if s.loss == "log":
        stored, _ = _stored(shape)
        once = min(stored, shape.outputs + 1) * stored * shape.classes * _LOG_LOSS_ITERATIONS
        scored = k * (2 * len(CANDIDATES) - 1)
        numbers += (problems + scored) * once + 3 * problems * stored * (shape.outputs + 1)
        numbers += k * stored * shape.n * (shape.outputs + 1)
        problems += scored
    else:
        together = shape.n if s.instances == "own" else max(RECENT_SAMPLES, shape.n * (shape.reach + 1))
        per_iteration = together + 4 * shape.m if incremental_pays(together) else together * shape.m
        numbers += problems * s.iterations(shape.n) * per_iteration
    return shape.repetitions * (k * _STEP_S + problems * _ESTIMATE_S + numbers * _PER_NUMBER_S)
