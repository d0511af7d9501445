"""Guess first, on the page *Is it evolving?*: the verdict is hidden until somebody has chosen one."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from imrc.diagnostics import Assessment
from imrc.diagnostics.words import GUESSES, guess_sentence
from pages.ui import controls

_REVEALED = "guess_revealed"


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
        list(GUESSES),
        index=None,
        key="guess_kind",
        bind="query-params",
        format_func=GUESSES.get,
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
    agrees, text = guess_sentence(result, guess)
    with answer.container():
        if agrees:
            st.success(text, icon=":material/check:")
        else:
            st.info(text, icon=":material/compare_arrows:")
    return False
