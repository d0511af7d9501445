"""Is it evolving? The finding, the five questions behind it, one picture at a time."""

from dataclasses import replace

import streamlit as st

from imrc.report import Report
from pages.evolving import views
from pages.shell import charts, controls, frame, running, state

choice = state.visit().choice
head = st.empty()


def draw(report: Report) -> None:
    """Draw what is found; what the errors say comes in with the run."""
    diagnosis = report.diagnosis or running.assessment(choice)
    report = replace(report, diagnosis=diagnosis)
    with head.container():
        st.markdown(f"# {report.finding}")
        st.markdown(" ".join(report.evidence))
        for note in diagnosis.verdict.notes:
            st.caption(f":material/info: {note}")
        if frame.narrow():  # no room for five columns
            st.markdown("\n".join(f"1. {one.text} **{one.answer}** ({one.in_words})" for one in report.questions))
        else:
            told = enumerate(report.questions, start=1)
            rows = [(str(i), one.text, f"**{one.answer}**", one.evidence, one.turns_at) for i, one in told]
            charts.rows([("#", "Question", "Answer", "Evidence", "Threshold"), *rows])


report = running.current_report(diagnosed=True, first_look=draw)
if report is None:
    st.stop()
draw(report)
diagnosis = report.diagnosis
if diagnosis is not None and diagnosis.variogram is not None:  # with two tasks or more
    row = st.container(horizontal=True)
    told = "Partial autocorrelation is the paper's last figure. The other charts show the same tasks in other ways."
    controls.part("Picture", views.PICTURES, "evolving_picture", told, row)(choice, diagnosis, row)
    with controls.for_experts("evolving_experts") as fold:
        if fold.open:
            told = "How we get the five answers, how far you can trust them, and what else these tests can do."
            controls.part("Show", views.EXPERTS, "evolving_part", told)(choice, diagnosis)
