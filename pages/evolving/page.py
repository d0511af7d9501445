"""Is it evolving? The finding, the five questions behind it, one picture at a time."""

import streamlit as st

from imrc.diagnostics import words
from imrc.report.worth import measured_sentence
from pages.evolving import experts, pictures
from pages.shell import assessing, controls, frame, running, state
from pages.shell.choice import plain

visit = state.visit()
choice = visit.choice
n = choice.settings.n
result = assessing.assessment(choice)
verdict = result.verdict

st.markdown(f"# On *{plain(state.title_of(choice.dataset))}*, {verdict.finding}")
run = running.stored_result(choice)
measured = "*Result* shows whether errors fall." if run is None else measured_sentence(run)
meaning = words.meaning_sentence(result, n) if result.change is not None else ""
st.markdown(f"{verdict.sentence} (Verdict: **{verdict.title}**.) {measured} {meaning}")
for note in verdict.notes:
    st.caption(f":material/info: {note}")
asked = words.questions(result, n)
if frame.narrow():  # no room for five columns
    told = [f"{one.evidence}, threshold {one.turns_at}".removesuffix(", threshold ") for one in asked]
    lines = [f"1. {one.text} **{one.answer}** ({evidence})" for one, evidence in zip(asked, told, strict=True)]
else:
    lines = ["| | Question | Answer | Evidence | Threshold |", "|---|---|---|---|---|"]
    for number, one in enumerate(asked, start=1):
        lines.append(f"| {number} | {one.text} | **{one.answer}** | {one.evidence} | {one.turns_at} |")
st.markdown("\n".join(lines))
if result.variogram is not None:  # with two tasks or more
    pictures.show(choice, result)
    controls.for_experts("evolving_experts", experts.show, choice, result)
