"""Controls of pages that depend on the sequence: kept while it stays, back at their defaults when another comes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import streamlit as st


def start_anew(of: Hashable, **defaults: Any) -> None:  # noqa: ANN401 - values of widgets
    """Give controls, by their keys, their defaults once they belong to something else than before.

    On the first visit nothing is changed: what the controls hold then comes from the link.
    """
    name = f"{next(iter(defaults))}_of"
    if st.session_state.setdefault(name, of) != of:
        st.session_state[name] = of
        st.session_state.update(defaults)
