"""Why it helps: what errors showed, and beside it what the theorems promise for changes of this size."""

import streamlit as st

from imrc.diagnostics.assessment import recent_ratio
from imrc.evaluation import effective_samples
from imrc.planning import PLACES, more_sentence, plan_table, way_sentence
from imrc.plots import ess
from imrc.report import Report
from imrc.report.worth import measured_sentence
from pages.shell import charts, controls, running, state
from pages.why_it_helps import experts

TOO_FEW = "Too few tasks or samples to estimate how much the tasks change."


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
    controls.start_anew((report.run.fingerprint, report.n), plan_ess=4.0 * report.n)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    told = "How many samples a task alone would need for the same result."
    usual, more = 4.0 * report.n, {"format": "%g", "width": 240, "place": row}
    wish = controls.number("Effective samples wanted", 1.0, 1e6, usual, "plan_ess", told, **more)
    of = controls.switch(
        "Of",
        PLACES,
        "plan_of",
        "The mean over all tasks with b steps back; the last task; or the one after it, before it has samples.",
        place=row,
    )
    plan = report.planned(ess=wish, of=of)
    ways = " ".join(f"*{way.vary}*: {way_sentence(plan, way)}" for way in plan.ways)
    st.markdown(f"By the theorems, at the rate measured on all samples: **{more_sentence(plan)}** {ways}")
    charts.show(ess.plan_chart, plan_table(plan), plan, name="plan-curves")


PICTURES = {
    "change": ("By the size of the change", by_change),
    "tasks": ("Task by task", by_task),
    "more": ("What more would add", more),
}

head = st.container(key="head_worth")
head.empty()  # a container of nothing would take no room
row = st.container(horizontal=True, vertical_alignment="bottom")
picture = controls.part(
    "Picture",
    PICTURES,
    "ess_picture",
    "The paper's figure with this run marked, what each task is worth, and what other values of n, k and b would add.",
    place=row,
)
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
        controls.part("Show", experts.EXPERTS, "ess_part", told)(state.visit().choice, report)
