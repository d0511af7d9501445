"""Controls whose value is part of the link of a page, under their key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st


def start_anew(of: Hashable, **defaults: Any) -> None:  # noqa: ANN401 - values of widgets
    """Give controls, by their keys, their defaults once they belong to something else than before.

    On the first visit nothing is changed: what the controls hold then comes from the link.
    """
    name = f"{next(iter(defaults))}_of"
    if st.session_state.setdefault(name, of) != of:
        st.session_state[name] = of
        st.session_state.update(defaults)


T = TypeVar("T")


def switch(
    label: str,
    titles: Mapping[T, str],
    key: str,
    help: str,
    *,
    among: Sequence[T] | None = None,
    place: Any = st,  # noqa: ANN401 - Streamlit or a container
    **more: Any,  # noqa: ANN401 - of st.radio
) -> Any:  # noqa: ANN401 - one of the keys, None where nothing is chosen at first
    """Draw a choice among a few, beside each other, or among some of them; return the key of the one chosen."""
    options = list(titles) if among is None else among
    more |= {"horizontal": True, "format_func": titles.get}
    return place.radio(label, options, key=key, bind="query-params", help=help, **more)


def toggle(label: str, key: str, help: str, *, place: Any = st) -> bool:  # noqa: ANN401 - as above
    """Draw a switch that is off at first; return whether it is on."""
    return bool(place.toggle(label, key=key, bind="query-params", help=help))


def part(
    label: str,
    parts: Mapping[str, tuple[str, Callable[..., object]]],
    key: str,
    help: str,
    place: Any = st,  # noqa: ANN401 - as above
) -> Callable[..., object]:
    """Draw a choice among parts of a page, each with a title; return what draws the one chosen."""
    return parts[switch(label, {name: title for name, (title, _) in parts.items()}, key, help, place=place)][1]


def for_experts(key: str) -> Any:  # noqa: ANN401 - Streamlit's own element
    """Return the fold for what few visitors need; nothing of it is to be computed while it is not `open`."""
    return st.expander("For experts", icon=":material/science:", key=key, bind="query-params")
