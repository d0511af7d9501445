"""Why it helps: what errors showed, and beside it what the theorems promise for changes of this size."""

import math
from functools import partial
from typing import Any

import streamlit as st

from imrc.diagnostics.assessment import recent_ratio
from imrc.evaluation import effective_samples
from imrc.evaluation.settings import seconds_of
from imrc.features import FEATURE_TITLES, FeatureSpec
from imrc.planning import PLACES, more_sentence, plan_table, way_sentence
from imrc.plots import ess
from imrc.report import Report, guarantees
from imrc.report.worth import measured_sentence, next_task_sentence
from pages.shell import charts, controls, running, state
from pages.shell.choice import PRESET_TITLES, loss_in_words
from pages.shell.keeping import Kept

TOO_FEW = "Too few tasks or samples to estimate how much the tasks change."
_LARGEST_KAPPA = 1e9
_plug_ins = Kept[tuple[str, FeatureSpec, int], guarantees.PlugIn]("plug ins")
_REGIMES = r"""
**Theorems 2 and 4** for the effective sample size (ESS) of task j of k with forward (⇀), and forward and backward
learning (⇌); d² is the largest expected quadratic change between neighbours, σ² the variance of a sample.

$$
\begin{gathered}
n_j^{\rightharpoonup} \ge n\Big(1+\tfrac{(1+\alpha)^{2j-1}-1-\alpha}{\alpha(1+\alpha)^{2j-1}+\alpha}\Big) \\[6pt]
n_j^{\rightleftharpoons k} \ge n_j^{\rightharpoonup} + n\,
\tfrac{(1+\alpha)^{2(k-j)+1}-1-\alpha}{\alpha(1+\alpha)^{2(k-j)+1}+\alpha} \\[6pt]
\alpha = \tfrac{2}{\sqrt{1+4\,\sigma^2/(n d^2)}-1}
\end{gathered}
$$
The curves are the exact closed forms of Theorems 2 and 4; the three names are labels of regimes, which meet
at n d²/σ² = 1/j² (for the largest j shown) and n d²/σ² = 1.

* **n d²/σ² < 1/j²**: j tasks are worth at least three quarters of what they would be worth without change; n d²/σ² → 0
  pools all k tasks, ESS = k n.
* **1/j² ≤ n d²/σ² < 1**: the gain grows like 1/√(n d²/σ²).
* **n d²/σ² ≥ 1**: the gain is at most of the order 1/(n d²/σ²); n d²/σ² → ∞ leaves ESS = n.

The paper states both theorems without σ², "for M ≤ 1". They need the opposite, σ² ≥ 1. Divided by σ², as here, they
agree with Theorem 1 for every σ². The documentation has numbers for this and another erratum (*The theorems*).
"""
_BOUND = r"""
**Theorems 1 and 3**, with probability 1 − δ, for n, n⇀ or n⇌ effective samples, M the bound of the features, m their
number, κ at most max(M / min σ, 2M / min d) (remark after Theorem 1). Risk and rule for exactly known mean vectors are
replaced by those for the averages over all samples of the task.

$$
\begin{gathered}
R(\mathcal{U}_j) \le R_j^\infty + \tfrac{c}{\sqrt{n_j^{\text{eff}}}}\,\|\mu_j^\infty\|_1 \\[6pt]
c = M(\kappa+1)\sqrt{2\log(2m/\delta)}
\end{gathered}
$$
"""


def by_change(report: Report) -> None:
    """Draw the theorems for one task after the other against the size of the change, this run among them."""
    diagnosis, n, k = report.diagnosis, report.n, report.run.n_tasks
    own = None
    if diagnosis is not None and diagnosis.change is not None:
        W = report.run.settings.learner.W
        recent = None if W == "all" else (W, recent_ratio(diagnosis, W, n))
        own = ess.OwnRatio(*diagnosis.ratio_at(n), recent)
    charts.show(ess.ess_by_task, k, report.run.settings.reach(k), own, effective_samples(report.run), name="ess-curves")


def by_task(report: Report) -> None:
    """Draw what each task is worth in the run: own samples, those of tasks before it, those of tasks after it."""
    table = ess.ess_parts_table(ess.run_parts(report.run), report.run.labels)
    charts.show(ess.ess_parts_chart, table, name="ess-parts")


def more(report: Report) -> None:
    """Show what more samples, tasks or steps back would be worth, and what a target would take."""
    if report.plan is None:
        st.info(TOO_FEW, icon=":material/info:")
        return
    row = st.container(horizontal=True, vertical_alignment="bottom")
    told = "How many samples a task alone would need for the same result."
    of, shown = (report.run.fingerprint, report.n), {"format": "%g", "width": 240}
    wish = controls.number("Effective samples wanted", 1.0, 1e6, 4.0 * report.n, "plan_ess", told, of, row, **shown)
    told = "The mean over all tasks with b steps back; the last task; or the one after it, before it has samples."
    where = controls.switch("Of", PLACES, "plan_of", told, place=row)
    plan = report.planned(ess=wish, of=where)
    ways = " ".join(f"*{way.vary}*: {way_sentence(plan, way)}" for way in plan.ways)
    st.markdown(f"By the theorems, at the rate measured on all samples: **{more_sentence(plan)}** {ways}")
    charts.show(ess.plan_chart, plan_table(plan), plan, name="plan-curves")


PICTURES = {
    "change": ("By the size of the change", by_change),
    "tasks": ("Task by task", by_task),
    "more": ("What more would add", more),
}


def numbers(report: Report) -> None:
    """Show what is behind the charts: shares, the next task, formulas and effective samples."""
    for text in report.worth[2 + (len(report.curve) > 1) :]:
        st.markdown(text)
    found = report.diagnosis
    ratio = found.ratio_at(report.n) if found is not None and found.change is not None else None
    if said := next_task_sentence(report.run, ratio):
        st.markdown(said)
    st.caption(
        "Samples of its own, of tasks before and of tasks after, by Theorems 1 and 3 (documentation: *The theorems*)."
    )
    table = ess.ess_parts_table(ess.run_parts(report.run), report.run.labels)
    charts.table(table, name=f"ess-{report.run.name}", height=280)


def guarantee(report: Report) -> None:
    """Say what the bounds are worth, and draw them with what a run reached."""
    choice, diagnosis = state.visit().choice, report.diagnosis
    zero_one: dict[str, Any] = {}  # the visitor's own run if it has this loss, otherwise the rule beside it
    if choice.settings.learner.loss != "0-1":
        # Bounds are stated with what the diagnosis measures, in its representation.
        features = choice.settings.features.diagnosed
        zero_one = {"preset": "recommended", "overrides": (("loss", "0-1"),), "features": features}
    run = running.result_of(choice, **zero_one)
    if run is None or diagnosis is None:
        return
    if run.settings.scenario != "multi_task":
        run = run.seen_as("continual")  # bounds are of what was learnt, not of what is averaged
    sequence, spec, seed = state.visit().sequence(), run.settings.features, run.settings.seed
    make = partial(guarantees.plug_in, sequence, spec, seed=seed)
    expected = partial(seconds_of, "bounds", sequence.head(guarantees.SOLVED), spec, seed)
    key = sequence.fingerprint, spec, seed
    stand_in = running.waited(_plug_ins, key, make, "Solving the tasks with all samples", expected)
    limit = guarantees.admissible_kappa(stand_in, diagnosis)
    allowed = limit.value if math.isfinite(limit.value) else limit.from_features
    suggested = min(float(math.ceil(max(allowed, 1.0))), _LARGEST_KAPPA)
    left, right = st.columns(2)
    told = (
        "Sub-Gaussian parameters of features and changes, divided by the standard deviations used. At best 1, if both "
        "are normal with known standard deviations. Default: what the paper allows for any bounded features."
    )
    of, field = (run.fingerprint, diagnosis.representation), {"place": left, "format": "%g"}
    kappa = controls.number("κ (sub-Gaussian ratio)", 1.0, _LARGEST_KAPPA, suggested, "ess_kappa", told, of, **field)
    linked = {"key": "ess_delta", "bind": "query-params", "help": "The bound holds with probability 1 − δ."}
    delta = right.select_slider("δ (1 − confidence)", [0.001, 0.01, 0.05, 0.1, 0.2], 0.05, **linked)
    parts = ess.run_parts(run)
    sizes = {"single": parts[:, 0], "forward": parts[:, :2].sum(axis=1), "forward_backward": parts.sum(axis=1)}
    table, trivial = guarantees.bound_table(stand_in, sizes, delta=delta, kappa=kappa)
    st.markdown(
        guarantees.vacuous_sentence(stand_in, table["forward_backward"] >= trivial, trivial, delta, kappa)
        + " Risks and errors below are those of the 0-1 rule (minimax error probability), "
        + f"preset *{PRESET_TITLES[run.settings.preset]}{loss_in_words(run.settings)}*, "
        f"representation *{FEATURE_TITLES[run.settings.features.kind]}*. "
        + guarantees.order_sentence(diagnosis.verdict)
    )
    charts.show(ess.bound_chart, ess.with_reached(table, run), trivial, name="ess-bound")
    st.caption(f"{guarantees.constants_sentence(stand_in)} {guarantees.kappa_sentence(limit)}")
    st.markdown(_BOUND)


EXPERTS = {
    "regimes": ("Regimes and formulas", lambda _report: st.markdown(_REGIMES)),
    "guarantee": ("The guarantee", guarantee),
    "numbers": ("Numbers", numbers),
}

head = st.container(key="head_worth")
head.empty()  # a container of nothing would take no room
row = st.container(horizontal=True, vertical_alignment="bottom")
told = "The paper's figure with this run, what each task is worth, and what other values of n, k and b would add. "
told += "The run may be above a curve or ceiling: these are for one rate, and a run by default averages over several."
picture = controls.part("Picture", PICTURES, "ess_picture", told, row)
told = "Runs several values of n and finds the one at which learning alone reaches the same error."
asked = "realised" in st.session_state or "realised" in st.query_params
counted = not asked and running.runs_by_n(kept=True)
count = not counted and controls.toggle("Count in errors", "realised", told, place=row)
report = running.current_report(diagnosed=True, labels=count, whole=True)
if report is None:
    st.stop()
with head:
    st.markdown(f"# {measured_sentence(report.run, report.name)}")
    # The headline has what was measured; shares and Theorem 4 are for experts.
    said = (text.removeprefix(report.measured).strip() for text in report.worth[: 2 + (len(report.curve) > 1)])
    gain = report.run.difference(report.run.scenario.main)
    advice = "" if report.pays and gain.clear else report.decision.sentence  # unless the headline says as much
    st.markdown("\n\n".join(filter(None, (advice, *said))))
    told = "" if report.diagnosis is None or report.diagnosis.change is not None else f" {TOO_FEW}"
    st.caption(f"Verdict on the page *Is it evolving?*: {report.verdict.title if report.verdict else 'none'}.{told}")
picture(report)
with controls.for_experts("ess_experts") as fold:
    if fold.open:
        told = "Where the curves come from, how informative the theorems' guarantee is, and all numbers."
        controls.part("Show", EXPERTS, "ess_part", told)(report)
