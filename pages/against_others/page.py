"""Compare: IMRC, seven published methods and simple baselines on the same draws."""

import streamlit as st

from imrc.baselines import method_title
from imrc.evaluation import RunResult
from imrc.evaluation.comparison import (
    SCORE_KINDS,
    comparison_table,
    default_reference,
    methods_with,
    score_table,
    title_of_method,
)
from imrc.paper.printed import with_printed
from imrc.plots import method_differences, method_errors
from imrc.report.sentences import comparison_summary, comparison_view, significance_note, winner_sentence
from imrc.wording import duration
from pages.against_others import comparison
from pages.shell import charts, comparing, controls, data, links, state

visit = state.visit()
choice = visit.choice
sequence, title = visit.sequence(), data.title_of(choice.dataset)
settings = choice.settings
headline = st.container()
slot = headline.empty()
chosen = st.expander("Methods and error", icon=":material/tune:")
names = chosen.multiselect(
    "Methods",
    comparison.choices(),
    default=comparing.DEFAULT_METHODS,
    format_func=method_title,
    key="compare_methods",
    bind="query-params",
    help="Published methods and simple baselines, with named sets of hyper-parameters in brackets. IMRC is always "
    "there. All see the same training and test samples in the same representation.",
)
links.start_anew(settings.scenario, compare_kind=comparison.kind_of(settings))
kind = controls.switch(
    "Error",
    comparison.KINDS,
    "compare_kind",
    "  \n".join(f"**{comparison.KINDS[name]}**: {words}." for name, words in SCORE_KINDS.items()),
    place=chosen,
    index=list(comparison.KINDS).index(comparison.kind_of(settings)),
)


def partly(there: list[RunResult]) -> None:
    """Show what is known while methods are still being run: what was measured earlier, and who is ahead so far."""
    with slot.container():
        st.markdown(f"# Comparing {len(names) + len(comparing.PRESETS)} methods on *{title}*")
        if there:
            ahead = comparison_table(score_table(there), kind=kind)
            st.markdown(f"So far: {comparison_summary(ahead, title)}")
            view = comparison_view(ahead)
            st.dataframe(
                view[[*view.columns[:2], "ms per task"]],
                hide_index=True,
                column_config={"ms per task": st.column_config.NumberColumn(format="%.1f")},
            )
        elif len(earlier := comparison.measured_earlier(sequence.name, settings.n)):
            st.markdown("Measured earlier, with other draws; these are measured now:")
            st.dataframe(earlier, hide_index=True)


results, left_out, long = comparison.compared_results(sequence, settings, tuple(names), partly)
slot.empty()
for name, seconds in long.items():
    st.button(
        f"Run {method_title(name)} (about {duration(seconds)})",
        icon=":material/play_arrow:",
        key=f"compare_long_{name}",
        on_click=comparison.run_long,
        args=(name,),
        help=f"It was stopped after the first of {len(sequence)} tasks: at that pace all of them take longer than a "
        "minute, and later tasks may take longer than the first.",
    )
names = tuple(name for name in names if name not in long)
if left_out:
    st.warning(f"Stopped: {', '.join(left_out)} not run.", icon=":material/stop:")
    st.button("Run the rest", icon=":material/play_arrow:", key="compare_rest", on_click=comparison.stop, args=(None,))
if not results:
    st.stop()
scores = score_table(results)
if kind == "before" and len(sequence) < 2:
    st.warning("It takes two tasks to test one before it is learnt.", icon=":material/info:")
    st.stop()
present = methods_with(scores, kind)
if st.session_state.get("compare_reference", present[0]) not in present:
    del st.session_state["compare_reference"]
reference = st.selectbox(
    "Tested against",
    present,
    index=present.index(default_reference(present)),
    format_func=title_of_method,
    key="compare_reference",
    bind="query-params",
    help="The method all others are compared with, repetition by repetition.",
    width=320,
)
table = with_printed(comparison_table(scores, kind=kind, reference=reference))
headline.markdown(f"# {comparison_summary(table, title)}")
headline.markdown(winner_sentence(table))
headline.caption(comparison.rules_sentence(settings))
charts.show(method_errors, table, name="method-errors", alt="Errors of all methods, with bands.")
charts.table(
    comparison_view(table),
    name=f"compare-{sequence.name}",
    height=38 + 35 * len(table),
    column_config=comparison.columns(kind),
)
if len(table) > 1:
    charts.show(
        method_differences,
        table,
        name="method-differences",
        alt="Differences to the reference with the intervals they are judged by; hollow where the interval holds 0.",
    )
    st.caption(significance_note(table, settings.repetitions))

comparison.curves(sequence, settings, results, table, names, kind=kind)
comparison.about_methods(names)
charts.csv(scores, name=f"scores-{sequence.name}", label="Scores of every repetition as CSV")
