"""The verdict that follows from the evidence, and its wording."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from imrc._types import Floats
from imrc.diagnostics._change import ChangeEstimate
from imrc.diagnostics._innovations import ChangePattern, Innovations
from imrc.diagnostics._models import Group, ModelFit, group_gaps
from imrc.wording import capital, listed

VerdictName = Literal[
    "no_change",
    "too_few",
    "dependent",
    "differ",
    "recurring",
    "iid",
    "evolving",
    "mean_reverting",
    "trend",
    "jump",
    "periodic",
]

Assumption = Literal["supported", "open", "contradicted"]

LEVEL = 0.05
NAMED: tuple[Group, ...] = ("evolving", "mean_reverting", "trend", "jump", "periodic", "recurring")
RECURRING_SHARE = 0.15
RECURRING_BELOW = 10
SHORT_BELOW = 20
RETURNS_UP_TO = 60
LEAST_ORDER = 5
LEAD = 2.0

TITLES: dict[VerdictName, str] = {
    "no_change": "no detectable change",
    "too_few": "too few tasks or samples to tell",
    "dependent": "not judged: rows follow each other",
    "differ": "tasks differ; too few to say whether the order matters",
    "recurring": "recurring",
    "iid": "i.i.d.-like: the order does not matter",
    "evolving": "evolving",
    "mean_reverting": "mean-reverting",
    "trend": "trend",
    "jump": "jump",
    "periodic": "periodic",
}


FINDINGS: dict[VerdictName, str] = {
    "no_change": "no change can be seen",
    "too_few": "too few tasks or samples to see a change",
    "dependent": "not judged, because rows follow each other",
    "differ": "tasks differ, but are too few to judge their order",
    "recurring": "some tasks come back",
    "iid": "tasks differ in no order",
    "evolving": "tasks change step by step",
    "mean_reverting": "tasks change and are pulled back",
    "trend": "tasks move along a course",
    "jump": "tasks change abruptly",
    "periodic": "tasks repeat in a rhythm",
}
"""What a verdict says to anybody."""

CHANGES: dict[ChangePattern, str] = {
    "unremarkable": "look independent and zero-mean",
    "direction": "drift in one direction",
    "same_way": "look positively correlated",
    "come_back": "look negatively correlated",
}
_FAILS: dict[ChangePattern, str] = {
    "direction": "not zero-mean",
    "same_way": "not independent",
    "come_back": "not independent",
}
_ON_THEIR_OWN = "nothing unusual on their own"


@dataclass(frozen=True)
class Verdict:
    """Conclusion drawn from the evidence."""

    name: VerdictName
    """The best supported verdict."""
    second: VerdictName | None
    """A second verdict that the models cannot tell apart from the first."""
    title: str
    """Short title."""
    sentence: str
    """The evidence for it, in one sentence."""
    notes: tuple[str, ...]
    """Reservations: short sequence, bounded features."""
    changes: ChangePattern | None = None
    """Finding of the tests on the changes; None where they are not judged because the order does not matter."""

    @property
    def assumption(self) -> Assumption:
        """Whether the evidence supports changes that are independent and zero-mean, contradicts them, or neither."""
        if "evolving" in (self.name, self.second) and self.changes in ("unremarkable", None):
            return "supported" if self.second is None and self.name == "evolving" else "open"
        return "open" if self.name in ("no_change", "too_few", "dependent", "differ") else "contradicted"

    @property
    def finding(self) -> str:
        """The verdict for anybody, without its term."""
        if self.name == "trend" and self.changes == "direction":
            first = "changes keep one direction"
        elif self.name == "trend" and self.changes == "same_way":
            first = "changes keep their direction for a while"
        else:
            first = FINDINGS[self.name]
        if self.second is not None:
            return f"{first}, or {FINDINGS[self.second]}"
        if self.name == "evolving" and self.changes in _FAILS:
            return f"{first}, but the changes {CHANGES[self.changes]}"
        return first

    @property
    def changes_text(self) -> str:
        """Short description of the changes, worded as in the sentence."""
        if self.changes is None:
            return f"not judged: {_NOT_JUDGED.get(self.name, 'too few tasks')}"
        if self.changes == "unremarkable" and "evolving" not in (self.name, self.second):
            return _ON_THEIR_OWN
        return CHANGES[self.changes]


_NOT_JUDGED: dict[VerdictName, str] = {
    "no_change": "no change is seen",
    "too_few": "no change is seen",
    "dependent": "rows follow each other",
    "iid": "the order does not matter",
    "recurring": "tasks come back",
}


def not_judged(verdict: Verdict) -> Verdict:
    """Return what can be said where rows depend on each other: what the verdict would be if they did not."""
    sentence = f"Every test assumes independent rows. Of such rows the verdict would be “{verdict.title}”."
    return Verdict("dependent", None, TITLES["dependent"], sentence, ())


def find_returns(distance: Floats, h: Floats, components: float) -> tuple[tuple[tuple[int, int], ...], float]:
    """Find pairs of tasks (from 0) that are alike although one between them is not, most alike first, and their share.

    `distance` (k, k) are squared, minus noise, which has so many effective `components`.

    >>> far = np.array([[0.0, 9.0, 0.0], [9.0, 0.0, 9.0], [0.0, 9.0, 0.0]])
    >>> find_returns(far, np.full(3, 0.1), 10.0)
    (((0, 2),), 0.3333333333333333)
    """
    k = len(h)
    error = math.sqrt(2.0) * (h[:, None] + h[None, :]) / math.sqrt(components)
    found = []
    for i, j in np.argwhere(np.triu(distance <= 2.0 * error, 2)):
        near, se = distance[i, j], error[i, j]
        between = np.minimum(distance[i, i + 1 : j], distance[i + 1 : j, j]).max()
        if between >= max(4.0 * se, 4.0 * near):
            found.append((float(near), int(i), int(j)))
    pairs = tuple((i, j) for _, i, j in sorted(found))
    return pairs, len(pairs) / (k * (k - 1) / 2) if k > 1 else 0.0


def decide(
    k: int,
    p_same: float,
    p_order: float | None,
    change: ChangeEstimate,
    returns_share: float,
    fits: tuple[ModelFit, ...],
) -> tuple[VerdictName, VerdictName | None, float]:
    """Apply the rules; return the verdict, a second name or None, and p_change."""
    smallest = p_same if p_order is None else min(p_same, p_order)
    p_change = min(1.0, 2.0 * smallest)
    if p_change > LEVEL:
        return ("no_change" if k >= 3 and change.high <= 1.0 else "too_few"), None, p_change
    if p_order is None or k < LEAST_ORDER:
        return "differ", None, p_change
    if p_order > LEVEL:
        if k < RECURRING_BELOW:
            return ("recurring" if returns_share >= RECURRING_SHARE else "differ"), None, p_change
        return "iid", None, p_change
    gaps = {group: gap for group, gap in group_gaps(fits).items() if group in NAMED}
    ranked = sorted(gaps, key=lambda group: gaps[group])
    first, second = ranked[0], ranked[1]
    return first, (second if gaps[second] - gaps[first] < LEAD else None), p_change


def _shape(name: VerdictName, fit: ModelFit, k: int) -> str:
    """Describe the distances between tasks under the best model of a kind; single changes are described elsewhere."""
    if name == "evolving":
        return "neighbours are alike and distance grows with lag"
    if name == "mean_reverting":
        half = math.log(0.5) / math.log(fit.parameters["phi"])
        return f"neighbours are alike, but the tasks are pulled back (half-life about {half:.1f} tasks)"
    if name == "trend":
        return f"the tasks move along a {'smooth curve' if fit.name == 'smooth' else 'straight line'}"
    if name == "jump":
        many = "s" if len(fit.starts) > 1 else ""
        return f"abrupt change{many} at task{many} {listed([str(start + 1) for start in fit.starts], 5)}"
    if name == "recurring":
        return _states_text(fit, k)
    return f"the pattern repeats about every {round(1.0 / fit.parameters['f'], 1):g} tasks"


def _states_text(fit: ModelFit, k: int) -> str:
    """Name the tasks of the state that comes back most often; of as many, the longest."""
    edges = (0, *fit.starts, k)
    stretches: dict[int, list[str]] = {}
    for state, first, after in zip(fit.states, edges[:-1], edges[1:], strict=True):
        stretches.setdefault(state, []).append(f"{first + 1}" if after == first + 1 else f"{first + 1} to {after}")
    most = max(stretches.values(), key=len)
    return f"tasks {listed(most, 4)} are alike, those between them are not; {len(stretches)} kinds of task in all"


def _named_sentence(
    name: VerdictName, second: VerdictName | None, best: dict[str, ModelFit], changes: ChangePattern | None, k: int
) -> str:
    """Describe the evidence for one or two named kinds of change, with what the tests on the changes add."""
    shape = _shape(name, best[name], k)
    if name == "evolving" and second is None:
        if changes in ("unremarkable", None):
            return "Supported: neighbours are alike, distance grows with lag, changes look independent and zero-mean."
        return f"{capital(shape)}, but the changes {CHANGES[changes]}: {_FAILS[changes]}."
    sentence = f"{capital(shape)}."
    if second is not None:
        sentence = f"The models cannot be told apart. As {TITLES[name]}: {shape}. "
        sentence += f"As {TITLES[second]}: {_shape(second, best[second], k)}."
    if changes in _FAILS:
        sentence += f" The changes {CHANGES[changes]}: {_FAILS[changes]}."
    elif changes is not None and "evolving" in (name, second):
        sentence += f" The changes {CHANGES[changes]}."
    elif changes is not None and "trend" in (name, second):
        sentence += f" The changes show {_ON_THEIR_OWN}."
    return sentence


def _pairs_text(pairs: tuple[tuple[int, int], ...]) -> str:
    shown = ", ".join(f"{i + 1} and {j + 1}" for i, j in pairs[:4])
    return shown + (f" and {len(pairs) - 4} more pairs" if len(pairs) > 4 else "")


def _limit_text(change: ChangeEstimate, n: float | None) -> str:
    if math.isinf(change.high):
        return "The data put no upper limit on the change per step."
    average = "one given average" if n is None else f"an average over all samples (about {n:.0f} per task)"
    return (
        f"The change per step is at most {change.high:.2g} times the noise of {average} (95 % limit from the "
        "random-walk model)."
    )


def word_verdict(
    name: VerdictName,
    second: VerdictName | None,
    *,
    k: int,
    change: ChangeEstimate | None = None,
    pairs: tuple[tuple[int, int], ...] = (),
    share: float = 0.0,
    fits: tuple[ModelFit, ...] = (),
    tests: Innovations | None = None,
    is_bounded: bool = False,
    n: float | None = None,
) -> Verdict:
    """Put the verdict into words, which never claim a proof."""
    notes: list[str] = []
    changes: ChangePattern | None = None
    title = TITLES[name]
    if second is not None:
        title = f"{TITLES[name]} or {TITLES[second]}"
    best: dict[str, ModelFit] = {fit.group: fit for fit in reversed(fits)}
    if name == "no_change":
        sentence = "The tasks look identical. " + (_limit_text(change, n) if change else "")
    elif name == "too_few":
        sentence = "No change is detectable, but a large one cannot be ruled out. "
        sentence += _limit_text(change, n) if change else "No component varies."
    elif name == "differ":
        sentence = f"The tasks are not all alike, but {k} tasks are too few to judge their order."
    elif name == "recurring" and pairs and k < RECURRING_BELOW:
        sentence = f"Tasks {_pairs_text(pairs)} are alike, while the tasks between them are not."
    elif name == "iid":
        sentence = "The tasks differ, but neighbours are no more alike than other pairs."
        if share >= RECURRING_SHARE and k <= SHORT_BELOW:
            notes.append(f"Some tasks recur: {_pairs_text(pairs)}.")
        if k < SHORT_BELOW:
            notes.append(f"With fewer than {SHORT_BELOW} tasks a slow change can go unnoticed.")
    else:
        # Between pieces that are alike the changes are few, and not what matters.
        changes = tests.pattern if tests is not None and name != "recurring" else None
        sentence = _named_sentence(name, second, best, changes, k)
        if name == "evolving" and second is None and changes in _FAILS:
            title += f", but the changes {CHANGES[changes]}"
        if is_bounded and "mean_reverting" in (name, second):
            notes.append(
                "The features are bounded, so mean vectors cannot drift indefinitely: long walks look mean-reverting."
            )
    if k < SHORT_BELOW and name != "too_few":
        notes.append(f"Only {k} tasks.")
    return Verdict(name, second, title, sentence.strip(), tuple(notes), changes)
