"""Does the chosen sequence evolve as the theorems assume: verdict and evidence."""

import streamlit as st

from imrc.diagnostics import tracks, words
from imrc.plots import evolving as pictures
from imrc.report.sentences import measured_sentence
from pages.evolving import changes, evidence, watching
from pages.shell import assessing, charts, data, formulas, running, state
from pages.shell.choice import OWN
from pages.shell.controls import switch

visit = state.visit()
choice = visit.choice
sequence = visit.sequence()
title, n = data.title_of(choice.dataset), choice.settings.n
result = assessing.assessment(choice)
verdict = result.verdict

# Places that are always there: Play, further down, is a fragment, and must not move.
head, path, ranked, watched = (st.container() for _ in range(4))
with path:
    hidden = evidence.ask(result, (sequence.fingerprint, choice.settings.features))
with head:
    if hidden:
        st.markdown(f"# {title}: what kind of change is this?")
    else:
        st.markdown(f"# {title}: {verdict.finding}")
        st.markdown(f"{verdict.sentence} (Verdict: **{verdict.title}**.)")
        run = running.stored_result(choice)
        measured = "*Result* shows whether errors fall." if run is None else measured_sentence(run)
        st.markdown(f"{measured} {words.meaning_sentence(result, n) if result.change is not None else ''}")
        for note in verdict.notes:
            st.info(note, icon=":material/info:")
if not hidden:
    with path:
        evidence.path(result, choice.settings)
        evidence.reliability(result)
with ranked:
    changes.what_changed(choice)
with watched:
    watching.watch(choice, sequence)

if result.variogram is None:
    st.stop()  # with fewer than two tasks
COMPARE = {"nothing": "nothing", "independent": "independent tasks", "random_walk": "a random walk"}
panels = {title: result.pacf} if result.pacf is not None else {}
if panels:
    compare = switch(
        "Compare with",
        COMPARE,
        "evolving_compare",
        "A synthetic sequence with as many tasks, whose kind of change is known.",
        index=1,
    )
    if compare != "nothing":
        panels[f"Beside it: {COMPARE[compare]}"] = assessing.reference(compare, choice).pacf
    charts.show(
        pictures.pacf_panels,
        panels,
        name=f"evolving-pacf-{compare}",
        alt="Partial autocorrelation of the mean vectors by lag, averaged over components, with their spread and the "
        f"band for tasks without order. At lag 1: {result.pacf.mean[0]:.2f}.",
    )
    formulas.show("pacf")
else:
    st.info("Partial autocorrelations need at least 4 tasks.", icon=":material/info:")
charts.show(
    pictures.variogram_chart,
    result,
    name="evolving-variogram",
    alt="Squared distance of tasks by lag minus noise, with the envelope for tasks without order and the fitted random "
    f"walk. At lag 1: {result.variogram.gamma[0]:.2g}.",
)
formulas.show("variogram")
charts.show(
    pictures.change_chart,
    result,
    name="evolving-change",
    alt=f"Change at each step minus noise, the common n ρ = {result.change.ratio:.2g}, and where 95 % of single steps "
    "would lie at that rate.",
)
formulas.show("ratio")
row = st.container(horizontal=True)
with row.container(width=440):
    charts.show(
        pictures.distance_heatmap,
        result,
        name="evolving-distances",
        alt=f"Heatmap of the squared distances of all pairs of {result.k} tasks minus noise.",
    )
if result.models and not hidden:
    with row.container(width=440):
        charts.show(
            pictures.model_gaps,
            result,
            name="evolving-models",
            alt="BIC of each kind of change behind the best: "
            + ", ".join(f"{pictures.GROUP_NAMES[group]} {gap:.0f}" for group, gap in result.gaps.items()),
        )
    formulas.show("models")

shown, names = assessing.in_columns(choice)
evidence.component_browser(shown, sequence, names, in_link=choice.dataset != OWN)
if shown is not result:
    st.caption(
        "Shown are the columns of the data, standardised. The rules learn from features that mix them, without names."
    )
formulas.show("tracks")
if not hidden:
    st.download_button(
        "Download the evidence as JSON",
        lambda: tracks.as_json(result, n),
        f"imrc-assess-{sequence.name}.json",
        "application/json",
        icon=":material/download:",
        on_click="ignore",
        help="The verdict and every number behind it, for programs.",
    )
