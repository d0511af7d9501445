"""Controls whose value is part of the link of a page, under their key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import streamlit as st


def start_anew(of: Hashable, **defaults: Any) -> None:  # noqa: ANN401 - values of widgets
    """Give controls, by their keys, their defaults once they belong to something else than what the link was about."""
    name = f"{next(iter(defaults))}_of"
    if st.session_state.setdefault(name, of) != of:
        st.session_state[name] = of
        st.session_state.update(defaults)


T = TypeVar("T")


def switch(label: str, titles: Mapping[T, str], key: str, help: str, *, place: Any = st, **more: Any) -> Any:  # noqa: ANN401 - a container, options of st.radio, one of the keys
    """Draw a choice among a few, beside each other; return the key of the one chosen."""
    more |= {"horizontal": True, "format_func": titles.get}
    return place.radio(label, list(titles), key=key, bind="query-params", help=help, **more)


def menu(label: str, titles: Mapping[T, str], key: str, help: str, *, place: Any = st, **more: Any) -> Any:  # noqa: ANN401 - as above, of st.selectbox
    """Draw a choice among many in a list; return the key of the one chosen."""
    more = {"bind": "query-params", "format_func": titles.get} | more
    return place.selectbox(label, list(titles), key=key, help=help, **more)


def number(label: str, low: T, high: T, usual: T, key: str, help: str, of: Hashable, place: Any = st, **more: Any) -> T:  # noqa: ANN401 - as above, of st.number_input
    """Draw a field for a number, the usual one until another is chosen for what it belongs to; return what is in it."""
    start_anew(of, **{key: usual})
    found: T = place.number_input(label, low, high, usual, key=key, bind="query-params", help=help, **more)
    return found


def toggle(label: str, key: str, help: str, *, place: Any = st) -> bool:  # noqa: ANN401 - as above
    """Draw a switch that is off at first; return whether it is on."""
    return bool(place.toggle(label, key=key, bind="query-params", help=help))


Parts = Mapping[str, tuple[str, Callable[..., object]]]


def part(label: str, parts: Parts, key: str, help: str, place: Any = st, **more: Any) -> Callable[..., object]:  # noqa: ANN401 - as above
    """Draw a choice among parts of a page, each with a title; return what draws the one chosen."""
    titles = {name: title for name, (title, _) in parts.items()}
    return parts[switch(label, titles, key, help, place=place, **more)][1]


def for_experts(key: str, label: str = "For experts") -> Any:  # noqa: ANN401 - Streamlit's own element
    """Return the fold for what few visitors need; nothing of it is to be computed while it is not `open`."""
    return st.expander(label, icon=":material/science:", key=key, bind="query-params")


def save(label: str, content: Any, file: str, kind: str, key: str, icon: str = "download", **more: Any) -> None:  # noqa: ANN401 - of st.download_button
    """Draw a button that saves a file, whose content is made when somebody asks for it; the page does not run again."""
    st.download_button(label, content, file, kind, key=key, icon=f":material/{icon}:", on_click="ignore", **more)


def button(label: str, icon: str, key: str, help: str | None = None, *, place: Any = st, **more: Any) -> bool:  # noqa: ANN401 - as above, of st.button
    """Draw a button with an icon; return whether it was clicked."""
    return bool(place.button(label, icon=f":material/{icon}:", key=key, help=help, **more))
