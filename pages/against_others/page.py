"""Against others: errors of IMRC, the rivals a reader would try and published methods, on the same draws."""

import streamlit as st

from imrc import datasets
from imrc.baselines import method_title
from imrc.evaluation import SCENARIOS
from imrc.evaluation.comparison import comparison_table, preset_in
from imrc.paper.printed import with_printed
from imrc.plots import method_errors
from imrc.report.against_others import (
    comparison_settings,
    comparison_summary,
    comparison_view,
    shipped_view,
    winner_sentence,
)
from pages.against_others import views
from pages.shell import charts, controls, frame, running, state

visit = state.visit()
choice = visit.choice
sequence, title = visit.sequence(), state.title_of(choice.dataset)
shipped = views.shipped_scores(choice)
head = st.container(key="head_rivals")
head.empty()  # a container of nothing would take no room
place = st.container(horizontal=True, vertical_alignment="bottom")
told = "Runs the methods now, with the settings of the sidebar. You see the progress and can stop at any time."
measure = shipped is None or controls.toggle("Measure with these settings", "compare_measure", told, place=place)
if shipped is not None and not measure:
    n = views.size_chosen(shipped, choice.settings.n, place)
    kind = "newest" if SCENARIOS[choice.settings.scenario].kind == "newest" else "average"
    scores, every = shipped[shipped["n"] == n], shipped
    table = comparison_table(scores, kind=kind)
    view = shipped_view(shipped, table, kind)
else:
    names = place.multiselect(
        "Methods",
        views.choices(),
        default=running.COMPARED_METHODS,
        format_func=method_title,
        key="compare_methods",
        bind="query-params",
        help="Simple rivals and published methods, with named sets of hyper-parameters in brackets. IMRC is always "
        "included. All methods get the same training and test samples in the same representation.",
    )
    kind = views.kind_chosen(choice.settings, place)
    scores = every = views.measured_scores(choice, names, kind, head)
    table = with_printed(comparison_table(scores, kind=kind, reference=views.reference_in(scores, kind)))
    view = comparison_view(table, kind)

views.about(list(table["method"]), place)
with head:
    first, against, rest = comparison_summary(table, title if measure else f"{title}, n = {n}").partition(" Against **")
    st.markdown(f"# {first}\n\n{f'Against **{rest} ' if against else ''}{winner_sentence(table)}")
    presets = [preset_in(one, choice.settings.features) for one in running.COMPARED_PRESETS]
    tasks = None if measure else datasets.entry(choice.dataset).opens_with
    st.caption(comparison_settings(presets, tasks, kind, without_mer="mer" not in set(table["method"])))
charts.show(method_errors, table, name="method-errors")
if frame.narrow():  # first what is seen without scrolling sideways
    shown = ["Method", view.columns[1] if measure else f"n = {n}", "Against reference"]
    view = view[[*shown, *view.columns.drop(shown, errors="ignore")]] if "Against reference" in view else view
look = {"row_height": 20, "height": 38 + 20 * len(view), "placeholder": "unknown"}
st.dataframe(view, hide_index=True, column_config=views.columns(kind), **look)
with controls.for_experts("compare_experts") as fold:
    if fold.open:
        views.experts(table, scores, kind, choice, every, measured=measure)
