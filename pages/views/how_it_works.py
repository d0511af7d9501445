"""Learn: a story in six steps, from one task alone to what goes wrong, with known truth."""

import streamlit as st

from pages.ui import controls, lessons, player

names = list(lessons.LESSONS)


def move(by: int) -> None:
    """Go to another step of the story."""
    at = names.index(st.session_state[lessons.STEP])
    st.session_state[lessons.STEP] = names[min(max(at + by, 0), len(names) - 1)]


bar = st.container(horizontal=True, vertical_alignment="center")
step = bar.radio(
    "Step of the story",
    names,
    horizontal=True,
    key=lessons.STEP,
    bind="query-params",
    label_visibility="collapsed",
    help="Each step has one idea, with its control beside its picture, and an address of its own.",
)
at = names.index(step)
bar.button(
    "Back",
    key="teach_back",
    on_click=move,
    args=(-1,),
    disabled=at == 0,
    shortcut="Shift+Left",
    help="The step before.",
)
bar.button(
    "Next",
    key="teach_next",
    on_click=move,
    args=(1,),
    disabled=at == len(names) - 1,
    shortcut="Shift+Right",
    help="The next step of the story.",
)
large = controls.toggle("Projector", "teach_projector", "Large type, for a room.", place=bar)
title = st.container()
controls, picture = st.columns([3, 7], gap="medium")
lessons.LESSONS[step](lessons.Screen(title, controls, picture, large))
if large:
    player.large_type()
