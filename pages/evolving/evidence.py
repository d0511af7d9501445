"""Evidence on the page *Is it evolving?*: the questions, a guess before them, how reliable they are, one component."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import streamlit as st

import imrc
from imrc.diagnostics import Assessment, tracks, words
from imrc.diagnostics.evidence import LEAST_TASKS
from imrc.diagnostics.power import SIMULATED, power_rows, power_sentences, power_table
from imrc.evaluation import RunSettings
from imrc.features import FEATURE_TITLES
from imrc.paper import shipped
from imrc.plots import evolving as pictures
from pages.shell import charts, controls, links

_REVEALED = "guess_revealed"

_TESTS = """
1. p-value of *all tasks share one distribution*. Q = {q:.3g} is the variance between tasks over its expectation for
   identical tasks (1 if nothing changes).
2. Exact permutation test of *every order of the tasks is equally likely*; it looks for similar neighbours, slow change
   and periods. With fewer than 5 tasks no order is unusual enough.
3. Change per step over the noise of one average of n samples, n ρ with the rate of change ρ = d² / σ², and its 95 %
   interval; estimated on all samples and converted to n. Effective sample sizes follow from it: the smaller, the more
   neighbours help.
4. On changes with the sampling noise filtered out: do they drift in one direction throughout? A negative value means
   that they partly cancel.
5. Are changes 2 to 5 tasks apart correlated? Positive: they go on in the same way for a while; negative: they turn
   back. The last two count only where the order of the tasks matters.
"""


def _turn(of: Hashable) -> None:
    st.session_state[_REVEALED] = None if st.session_state.get(_REVEALED) == of else of


def ask(result: Assessment, of: Hashable) -> bool:
    """Offer to guess the kind of change; return whether the verdict stays hidden for now.

    That on another sequence, `of`, is hidden again.
    """
    place = st.container()
    if not controls.toggle(
        "Guess first",
        "guess_first",
        "For teaching: hides the verdict, here and in the link, until you have looked at the evidence and chosen.",
        place=place,
    ):
        st.session_state[_REVEALED] = None
        return False
    revealed = st.session_state.get(_REVEALED) == of
    guess = place.radio(
        "What kind of change is it?",
        list(words.GUESSES),
        index=None,
        key="guess_kind",
        bind="query-params",
        format_func=words.GUESSES.get,
        help="Look at the charts below first: partial autocorrelations, distances by lag, the size of each change.",
    )
    place.button(
        "Hide the verdict" if revealed else "Reveal the verdict",
        key="guess_reveal",
        icon=":material/visibility_off:" if revealed else ":material/visibility:",
        on_click=_turn,
        args=(of,),
        disabled=guess is None,
        help="Says whether your guess agrees with the diagnosis, and why; then shows all of it.",
    )
    answer = place.empty()
    if guess is None or not revealed:
        return True
    agrees, text = words.guess_sentence(result, guess)
    show, icon = (answer.success, "check") if agrees else (answer.info, "compare_arrows")
    show(text, icon=f":material/{icon}:")
    return False


def path(result: Assessment, settings: RunSettings) -> None:
    """Show the five questions that lead to the verdict, with their answers and where these would turn."""
    rows = ["| | Question | Answer | Evidence | Threshold |", "|---|---|---|---|---|"]
    for number, asked in enumerate(words.questions(result, settings.n), start=1):
        rows.append(f"| {number} | {asked.text} | **{asked.answer}** | {asked.evidence} | {asked.turns_at} |")
    st.markdown("\n".join(rows))
    with st.expander("How these are tested", icon=":material/science:"):
        st.markdown(_TESTS.format(q=result.q))
        st.caption(words.setting_sentence(result))
        if settings.features != settings.features.diagnosed:
            st.caption(
                f"Rules learn in *{FEATURE_TITLES[settings.features.kind]}*. How often the verdict is wrong was "
                f"measured in *{FEATURE_TITLES[settings.features.diagnosed.kind]}*, so tasks are judged there."
            )


def reliability(result: Assessment) -> None:
    """Offer what the diagnosis says of sequences of known kinds, where it names kinds at all."""
    if result.k < LEAST_TASKS or result.change is None or result.verdict.name == "dependent":
        return
    if not controls.toggle(
        "How reliable is this?", "power", "What the diagnosis said of simulated sequences of each kind of change."
    ):
        return
    table = power_table(shipped.table("verdicts"), result.k)
    said = power_sentences(table, result.verdict)
    st.markdown(f"**{said[0]}** {said[1]}")
    named = ", ".join(f"{SIMULATED[one.kind][1]} {one.named:.0f}" for one in table.itertuples())
    charts.show(
        pictures.power_chart,
        table,
        [result.verdict.name, result.verdict.second],
        name="power-chart",
        alt=f"For each kind of change, of 100 simulated sequences: in how many the diagnosis names it. {named}.",
    )
    st.caption(said[2])
    with st.expander("All numbers", icon=":material/table:"):
        st.markdown(
            "Only how tasks follow each other differs between the kinds. Each sequence is judged by the same tests and "
            "models as yours; intervals are 95 % (Wilson). A kind that is rarely recognised cannot be excluded because "
            "the verdict does not name it."
        )
        st.dataframe(power_rows(table), hide_index=True)
        charts.csv(table, name="power")


def component_browser(
    result: Assessment, sequence: imrc.TaskSequence, names: tuple[str, ...], *, in_link: bool
) -> None:
    """Show one component of the mean vectors over the tasks, chosen by class and feature.

    The link may name them, `in_link`, unless they come from a visitor's own file.
    """
    width = result.moments.tau.shape[1] // sequence.n_classes
    first = tracks.most_changing(result)
    # Another sequence or representation has other components.
    links.start_anew(
        (sequence.fingerprint, result.representation, width),
        evolving_class=first // width,
        evolving_component=first % width,
    )
    bound: dict[str, Any] = {"bind": "query-params"} if in_link else {}
    left, right = st.columns(2)
    block = left.selectbox(
        "Class",
        range(sequence.n_classes),
        index=first // width,
        format_func=sequence.class_names.__getitem__,
        key="evolving_class",
        help="Each class has its own block of the mean vector.",
        **bound,
    )
    position = right.selectbox(
        "Component",
        range(width),
        index=first % width,
        format_func=lambda i: tracks.feature_label(i, width, names),
        key="evolving_component",
        help="Component of the mean vector: the share of the class, or a feature where the class occurs. Default: the "
        "one that changes most.",
        **bound,
    )
    component = tracks.component_tracks(result, block * width + position)
    name = f"{tracks.feature_label(position, width, names)}, class {sequence.class_names[block]}"
    charts.show(
        pictures.component_chart,
        component,
        name,
        name="evolving-component",
        alt=f"Component {name} over {result.k} tasks: sample averages with error bars, forward and smoothed bands.",
    )
