"""The words of the diagnosis: what each verdict is called, the evidence in sentences, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from imrc.diagnostics.by_lag import PartialAutocorrelation
from imrc.diagnostics.changed import SHIFTS, Changed, Shift
from imrc.diagnostics.evidence import FLAG_LIMIT, MEAN_LIMIT, ChangePattern
from imrc.diagnostics.models import ChangeKind, ModelFit
from imrc.wording import capital, decimal, feature_names_or_numbers, listed, number, p_text

if TYPE_CHECKING:
    from imrc.diagnostics.assessment import Assessment


VerdictName = Literal["too_few", "dependent", "differ", ChangeKind]
Assumption = Literal["supported", "open", "contradicted"]

LEVEL = 0.05  #: Of the tests that lead to a verdict.
LEAD = 2.0  #: Models whose BIC differs by less are both named.
RECURRING_SHARE = 0.15
RECURRING_BELOW = 10  #: With fewer tasks, pairs of similar tasks decide whether tasks recur; with more, models do.
_SHORT_BELOW = 20


class Term(NamedTuple):
    """What a verdict is called."""

    title: str
    finding: str  # for readers who do not know the terms


_ROWS = "successive rows are correlated"
VERDICTS: dict[VerdictName, Term] = {
    "no_change": Term("no detectable change", "no change can be seen"),
    "too_few": Term("too few tasks or samples to tell", "there are too few tasks or samples to see a change"),
    "dependent": Term(f"not judged: {_ROWS}", f"{_ROWS}, so nothing is judged"),
    "differ": Term(
        "tasks differ; too few to say whether the order matters",
        "tasks differ, but there are too few to judge their order",
    ),
    "recurring": Term("recurring", "some tasks recur"),
    "iid": Term("i.i.d.-like: the order does not matter", "tasks differ, but in no particular order"),
    "evolving": Term("evolving", "tasks change step by step"),
    "mean_reverting": Term("mean-reverting", "tasks change, but return towards a mean"),
    "trend": Term("trend", "tasks follow a trend"),
    "jump": Term("jump", "tasks change abruptly"),
    "periodic": Term("periodic", "tasks repeat periodically"),
}

CHANGES: dict[ChangePattern | None, str] = {
    "unremarkable": "look independent and zero-mean",
    "direction": "drift in one direction",
    "same_way": "look positively correlated",
    "come_back": "look negatively correlated",
}
"""What the tests show about the changes. All but the first contradict the assumption:"""
_MISSED = {name: "not zero-mean" if name == "direction" else "not independent" for name in [*CHANGES][1:]}
_ON_THEIR_OWN = "nothing unusual on their own"
_TRENDS = {"direction": "changes keep going in one direction", "same_way": "changes keep their direction for a while"}

_PROMISES = {
    "supported": ("promise", ", and these tasks evolve as they assume"),
    "open": ("promise", " if the tasks evolve"),
    "contradicted": ("would promise", ", if the tasks evolved as assumed, which they do not seem to do"),
    "no_change": ("promise", ", because the tasks look alike"),
    "dependent": ("would promise", ", if the rows were independent, which they do not seem to be"),
}


@dataclass(frozen=True)
class Verdict:
    """Conclusion drawn from the evidence."""

    name: VerdictName  #: The best supported verdict.
    second: VerdictName | None  #: A second verdict that the models do not distinguish from the first.
    title: str  #: Short title.
    sentence: str  #: The evidence for it, in one sentence.
    notes: tuple[str, ...]  #: Reservations: short sequence, bounded features.
    changes: ChangePattern | None = None  #: Finding about the changes, which are judged only if the order matters.

    @property
    def assumption(self) -> Assumption:
        """Whether the evidence supports changes that are independent and zero-mean, contradicts them, or neither."""
        if "evolving" in (self.name, self.second) and self.changes not in _MISSED:
            return "supported" if self.second is None else "open"
        return "open" if self.name in ("no_change", "too_few", "dependent", "differ") else "contradicted"

    @property
    def promise(self) -> tuple[str, str]:
        """The verb for what the theorems promise about these tasks, and the condition at the end of the sentence."""
        return _PROMISES.get(self.name, _PROMISES[self.assumption])

    @property
    def finding(self) -> str:
        """The verdict for readers who do not know the terms."""
        first = VERDICTS[self.name].finding
        if self.name == "trend":
            first = _TRENDS.get(str(self.changes), first)
        if self.second is not None:
            return f"{first}, or {VERDICTS[self.second].finding}"
        if self.name == "evolving" and self.changes in _MISSED:
            return f"{first}, but the changes {CHANGES[self.changes]}"
        return first

    @property
    def changes_text(self) -> str:
        """Short description of the changes, worded as in the sentence."""
        if self.changes is None:
            return f"not judged: {VERDICTS[self.name].finding}"
        if self.changes == "unremarkable" and "evolving" not in (self.name, self.second):
            return _ON_THEIR_OWN
        return CHANGES[self.changes]


def not_judged(verdict: Verdict) -> Verdict:
    """Return the verdict on tasks whose rows depend on each other, with what it would be if they did not."""
    otherwise = f"If the rows were independent, the verdict would be “{verdict.title}”."
    sentence = f"Every test assumes independent rows. {otherwise}"
    return Verdict("dependent", None, VERDICTS["dependent"].title, sentence, ())


def _shape(name: VerdictName, fit: ModelFit, k: int) -> str:
    """Describe the distances between tasks under the best model of a kind."""
    if name == "evolving":
        return "neighbours are alike, and distance grows with lag"
    if name == "mean_reverting":
        half = math.log(0.5) / math.log(fit.parameters["phi"])
        return f"neighbours are alike, but the tasks are pulled back (half-life about {half:.1f} tasks)"
    if name == "trend":
        return f"the tasks move along a {'smooth curve' if fit.name == 'smooth' else 'straight line'}"
    if name == "jump":
        many = "s" if len(fit.starts) > 1 else ""
        return f"abrupt change{many} at task{many} {listed([str(start + 1) for start in fit.starts], 5)}"
    if name == "recurring":
        stretches: dict[int, list[str]] = {}
        for state, first, after in zip(fit.states, (0, *fit.starts), (*fit.starts, k), strict=True):
            stretches.setdefault(state, []).append(f"{first + 1}" if after == first + 1 else f"{first + 1} to {after}")
        most, kinds = listed(max(stretches.values(), key=len), 4), f"there are {len(stretches)} kinds of task in all"
        return f"tasks {most} are alike, and those between them are not; {kinds}"
    period, times = round(1.0 / fit.parameters["f"], 1), max(round(k * fit.parameters["f"]), 1)
    often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    return f"the pattern repeats about every {period:g} tasks, {often} in these {k}"


def _named_sentence(
    name: VerdictName, second: VerdictName | None, found: Assessment, changes: ChangePattern | None
) -> str:
    """Describe the evidence for one or two kinds of change, and what the tests show about the changes."""
    best: dict[str, ModelFit] = {fit.group: fit for fit in reversed(found.models)}
    shape, named = _shape(name, best[name], found.k), (name, second)
    said, missed = f"{capital(shape)}.", f": {_MISSED[changes]}" if changes in _MISSED else ""
    if named == ("evolving", None):
        supported = "neighbours are alike, distance grows with lag, and changes look independent and zero-mean."
        return f"{said[:-1]}, but the changes {CHANGES[changes]}{missed}." if missed else f"Supported: {supported}"
    if second is not None:
        said = f"The data do not distinguish two models. As {VERDICTS[name].title}: {shape}. "
        said += f"As {VERDICTS[second].title}: {_shape(second, best[second], found.k)}."
    if changes is not None and (missed or "evolving" in named):
        return f"{said} The changes {CHANGES[changes]}{missed}."
    return f"{said} The changes show {_ON_THEIR_OWN}." if changes is not None and "trend" in named else said


def _pairs_text(pairs: tuple[tuple[int, int], ...]) -> str:
    shown = ", ".join(f"{i + 1} and {j + 1}" for i, j in pairs[:4])
    return shown + (f" and {len(pairs) - 4} more pairs" if len(pairs) > 4 else "")


def _limit_text(found: Assessment) -> str:
    if found.change is None:
        return "No component varies."
    if math.isinf(found.change.high):
        return "The data give no upper limit on the change per step."
    average = "one given average" if found.n is None else f"an average over all samples (about {found.n:.0f} per task)"
    return (
        f"The change per step is at most {found.change.high:.2g} times the noise of {average} (95 % limit from the "
        "random-walk model)."
    )


def word_verdict(name: VerdictName, second: VerdictName | None, found: Assessment) -> Verdict:
    """Put the verdict on the evidence into words, which never claim a proof."""
    notes: list[str] = []
    changes: ChangePattern | None = None
    k, pairs = found.k, found.returns
    title = VERDICTS[name].title + (f" or {VERDICTS[second].title}" if second is not None else "")
    if name == "no_change":
        sentence = f"The tasks look identical. {_limit_text(found)}"
    elif name == "too_few":
        sentence = f"No change is detectable, but a large one cannot be ruled out. {_limit_text(found)}"
    elif name == "differ":
        sentence = f"The tasks differ, but {k} tasks are too few to judge their order."
    elif name == "recurring" and pairs and k < RECURRING_BELOW:
        sentence = f"Tasks {_pairs_text(pairs)} are alike, while the tasks between them are not."
    elif name == "iid":
        sentence = "The tasks differ, but neighbours are no more alike than other pairs."
        if found.returns_share >= RECURRING_SHARE and k <= _SHORT_BELOW:
            notes.append(f"Some tasks recur: {_pairs_text(pairs)}.")
        if k < _SHORT_BELOW:
            notes.append(f"With fewer than {_SHORT_BELOW} tasks, a slow change can go unnoticed.")
    else:
        # Recurring tasks change only between pieces, too rarely to judge.
        changes = found.innovations.pattern if found.innovations is not None and name != "recurring" else None
        sentence = _named_sentence(name, second, found, changes)
        if name == "evolving" and second is None and changes in _MISSED:
            title += f", but the changes {CHANGES[changes]}"
        if found.is_bounded and "mean_reverting" in (name, second):
            notes.append(
                "The features are bounded, so mean vectors cannot drift indefinitely: long walks look mean-reverting."
            )
    if k < _SHORT_BELOW and name != "too_few":
        notes.append(f"Only {k} tasks.")
    return Verdict(name, second, title, sentence, tuple(notes), changes)


def evolve_sentence(verdict: Verdict) -> str:
    """Return the verdict as the answer to the question that a report asks.

    >>> evolve_sentence(Verdict("evolving", None, "evolving", "", ()))
    'Do the tasks evolve? Yes.'
    """
    return f"Do the tasks evolve? {'Yes' if verdict.title == 'evolving' else capital(verdict.title)}."


class Question(NamedTuple):
    """One step on the way to a verdict."""

    text: str
    answer: str
    evidence: str  # the number behind the answer
    turns_at: str = ""  # the threshold of that number

    @property
    def in_words(self) -> str:
        """Evidence and threshold, beside each other."""
        return self.evidence + (f", threshold {self.turns_at}" if self.turns_at else "")


def questions(result: Assessment, n: float) -> list[Question]:
    """Return the five questions that lead to a verdict, with the numbers behind the answers for n samples per task."""
    asked = []
    for text, p in (("Do the tasks differ?", result.p_same), ("Does their order matter?", result.p_order)):
        answer = "Not testable" if p is None else "Yes" if p <= LEVEL else "No"
        asked.append(Question(text, answer, p_text(p), "" if p is None else f"p = {decimal(LEVEL, 2)}"))
    if result.change is not None:
        ratio, low, high = result.ratio_at(n)
        size = "Yes" if high < 1 else "No" if low > 1 else "Perhaps"
        interval = f"change ÷ noise, n d² / σ² = {number(ratio)} ({number(low)} to {number(high)})"
        asked.append(Question("Is a step smaller than the noise?", size, interval, "1"))
    tests, verdict = result.innovations, result.verdict
    if tests is not None:
        drift = "Yes" if tests.z_mean > MEAN_LIMIT else "No"
        linked = "No" if not tests.is_flagged else "Yes, they persist" if tests.largest > 0 else "Yes, they reverse"
        mean, largest = (f"z = {z:.1f}".replace("-", "−") for z in (tests.z_mean, tests.largest))
        asked.append(Question("Do changes keep going in one direction?", drift, mean, f"z = {MEAN_LIMIT:g}"))
        asked.append(Question("Do changes depend on earlier ones?", linked, largest, f"z = ± {FLAG_LIMIT:g}"))
        if verdict.changes is None:  # they are judged only if the order of the tasks matters
            why = VERDICTS[verdict.name].finding
            asked[-2:] = (Question(one.text, "Not judged", why) for one in asked[-2:])
    if verdict.name == "dependent":
        return [Question(one.text, "Not judged", _ROWS) for one in asked]
    return asked


def feature_label(position: int, width: int, names: tuple[str, ...]) -> str:
    """Name a component within its class block of `width` D + 1, by the name of its input if each feature has one.

    >>> feature_label(0, 3, ("age", "height")), feature_label(2, 3, ("age", "height")), feature_label(2, 5, ("age",))
    ('share of the class', 'height', 'feature 2')
    """
    if position == 0:
        return "share of the class"
    return feature_names_or_numbers(names, width - 1)[position - 1]


def setting_sentence(result: Assessment) -> str:
    """State what a verdict is based on: representation, samples, components."""
    samples = "given means" if result.n is None else f"all samples (about {number(result.n)} per task)"
    dropped = f", {result.dropped} constant ones left out," if result.dropped else ""
    return (
        f"Judged on {samples}, {result.k} tasks, representation: {result.representation}; "
        f"{result.m} components{dropped}, worth about {number(result.m_eff)} independent ones. "
        "The verdict can change with the representation and with the number of samples."
    )


def meaning_sentence(result: Assessment, n: float, learning: str = "forward and backward") -> str:
    """State what the theorems promise of `learning` at this size of the change with n samples per task, and when."""
    ratio, low, high = result.ratio_at(n)
    if result.verdict.name == "dependent":
        return f"Neither the size of the change nor the gain of {learning} learning can be predicted from such rows."
    if result.verdict.name == "too_few":
        return f"Without more tasks or samples, the gain of {learning} learning cannot be predicted."
    small = "a gain that may be small (the interval contains 1)" if low < 1 else "only a little"
    gain = "a large gain" if high < 0.3 else "a clear gain" if high < 1 else small
    if low >= 1 and ratio >= 5:
        gain = "hardly anything"
    promise, condition = result.verdict.promise
    size = f"At n = {n:g}, the change per step is n d² / σ² = {number(ratio)} times the noise of an average"
    return f"{size}. The theorems {promise} {gain} from learning {learning}{condition}."


def report(result: Assessment, n: float) -> str:
    """Return verdict and evidence as lines of text, the size of the change for n samples per task."""
    lines = [f"{result.name}: {result.verdict.title}", result.verdict.sentence, *result.verdict.notes]
    lines += [setting_sentence(result), ""]
    lines += [f"{one.text} {one.answer}: {one.in_words}" for one in questions(result, n)]
    if result.pacf is not None:
        lines.append(f"Partial autocorrelation at lag 1: {result.pacf.mean[0]:.2f} ± {result.pacf.std[0]:.2f} (spread)")
    if result.models:
        gaps = ", ".join(f"{group} {gap:.1f}" for group, gap in result.gaps.items())
        lines.append(f"BIC above the best: {gaps}")
    return "\n".join(lines)


def changed_sentence(result: Changed) -> str:
    """State which kinds of change were found, in how many columns, and what share each has."""
    if result.note:
        return "Not judged, because successive rows are correlated. The table below assumes independent rows."
    tests, found = result.table["kind"].value_counts(), result.found
    if not any(found.values()):
        return (
            f"Nothing moves by more than noise. Of {len(result.table):,} comparisons of classes and columns, none is "
            f"clear at a false-discovery rate of {100 * result.level:g} %."
        )
    share = result.table.groupby("kind")["share"].sum()
    concept = result.table[(result.table["kind"] == "concept") & result.table["found"]]["column_index"].nunique()
    columns = int(tests.get("input", 0))
    names: dict[Shift, str] = {
        "input": f"{found['input']:,} of {columns:,} columns move in the same way in all classes",
        "concept": f"{concept:,} of {columns:,} move in one class relative to the others",
        "label": f"the shares of the classes {'change' if found['label'] else 'stay the same'}",
    }
    parts = [
        f"{text} ({SHIFTS[kind]}" + (f", {share[kind]:.0f} % of the change)" if found[kind] else ")")
        for kind, text in names.items()
        if kind in tests or kind == "input"
    ]
    return f"{capital(listed(parts))}."


def pacf_sentence(title: str, pacf: PartialAutocorrelation) -> str:
    """State the partial autocorrelation at lag 1, and at which lags it leaves the band.

    >>> import numpy as np
    >>> low, high = np.full(3, -0.1), np.full(3, 0.1)
    >>> found = PartialAutocorrelation(np.arange(1, 4), np.empty((3, 0)), np.array([0.5, 0, -0.2]), low, low, high)
    >>> pacf_sentence("Spam", found)
    'Spam: .50 at lag 1; outside the band of tasks without order at lags 1, 3.'
    """
    start = f"{title}: {decimal(float(pacf.mean[0]), 2)} at lag 1"
    if pacf.low is None or pacf.high is None:
        return f"{start}."
    outside = pacf.lags[(pacf.mean < pacf.low) | (pacf.mean > pacf.high)].tolist()
    if not outside:
        return f"{start}; inside the band of tasks without order at every lag shown."
    lags = f"lag{'s' * (len(outside) > 1)} {', '.join(map(str, outside))}"
    only = outside == [1] and len(pacf.lags) > 1
    return (
        f"{start}; outside the band of tasks without order at {lags}{' only, as the method assumes' if only else ''}."
    )
