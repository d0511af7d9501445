"""The sidebar: what to run. It only draws; `state` holds what was chosen, and the page does the rest."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from imrc import datasets
from imrc.core.settings import DESCRIPTIONS as PRESET_DESCRIPTIONS
from imrc.core.settings import INSTANCES, LIMITS, SOLVERS
from imrc.evaluation import PARAMETERS
from imrc.features import FREQUENCIES, KINDS, SIGMA2
from imrc.features._spec import DESCRIPTIONS, TITLES
from pages.ui import cards, data, exporting, screen, state
from pages.ui.choice import CHOICE_NAMES, OWN, PRESET_TITLES, UI_PRESETS, Choice

_INSTANCE_TITLES = {
    "own": "the task's own samples (paper)",
    "reach": "samples of the last b + 1 tasks",
    "recent": "about the last 100 samples",
    "all": "all samples so far",
}
_SOLVER_TITLES = {"subgradient": "Subgradient (paper)", "exact": "Exact (linear program)"}

# Where the sidebar is closed, as on phones, a browser draws its widgets only when it is opened, and takes their values
# from the defaults of the last run of the script: a value set in the session before that is lost, and Run would send
# the smallest numbers. So every widget has its present value as its default.


def _index(name: str, options: Sequence[str]) -> int:
    return list(options).index(st.session_state[name])


def _number(name: str, high: int | None = None) -> None:
    parameter = PARAMETERS[name]
    st.number_input(
        parameter.label,
        min_value=parameter.low,
        max_value=parameter.high if high is None else high,
        value=st.session_state[name],
        step=1,
        key=name,
        placeholder="all" if parameter.by_preset else None,
        help=f"{parameter.help} Range {parameter.low} to {parameter.high if high is None else high}."
        + (" Empty: all, or the paper's 2." if parameter.by_preset else ""),
    )


def _form(max_tasks: int) -> None:
    with st.form("settings", border=False):
        left, right = st.columns(2)
        with left:
            _number("n")
            _number("b")
        with right:
            _number("k", max_tasks)
            _number("W")
        st.selectbox(
            "Representation",
            KINDS,
            index=_index("features", KINDS),
            format_func=TITLES.__getitem__,
            key="features",
            help="  \n".join(f"**{TITLES[kind]}**: {DESCRIPTIONS[kind]}" for kind in KINDS),
        )
        left, right = st.columns(2)
        with left:
            _number("repetitions")
        with right:
            _number("seed")
        st.selectbox(
            "Preset",
            UI_PRESETS,
            index=_index("preset", UI_PRESETS),
            format_func=PRESET_TITLES.__getitem__,
            key="preset",
            help="  \n".join(f"**{PRESET_TITLES[name]}**: {text}" for name, text in PRESET_DESCRIPTIONS.items())
            + "  \n**Custom**: the paper's choices with the values under *Custom values* in place.",
        )
        with st.expander("Custom values"):
            _custom_values()
        st.form_submit_button(
            "Run",
            type="primary",
            icon=":material/play_arrow:",
            width="stretch",
            on_click=state.run_pressed,
            help="Runs the settings above; all pages then show their results. The link in the address bar follows.",
        )


def _custom_values() -> None:
    st.caption("Frequencies and sigma² belong to the representation; the rest is used with the preset *Custom*.")
    st.number_input(
        "Frequencies N",
        *FREQUENCIES,
        value=st.session_state["frequencies"],
        step=10,
        key="frequencies",
        help="Random frequencies; the map has 2 N features.",
    )
    st.number_input(
        "sigma²",
        *SIGMA2,
        value=st.session_state["sigma2"],
        step=1.0,
        key="sigma2",
        help="Scale of random Fourier features on raw inputs; paper: 10.",
    )
    st.number_input(
        "lambda₀",
        *map(float, LIMITS["lambda0"]),
        value=st.session_state["lambda0"],
        step=0.1,
        key="lambda0",
        help="Size of the uncertainty set: lambda = lambda₀ · √s. The paper uses 1; 0 trusts the mean vectors fully.",
    )
    st.selectbox(
        "Instances X of the worst case",
        INSTANCES,
        index=_index("instances", INSTANCES),
        format_func=_INSTANCE_TITLES.__getitem__,
        key="instances",
        help="The maximum in problem (3) runs over these instances.",
    )
    st.selectbox(
        "Solver of the worst case",
        SOLVERS,
        index=_index("solver", SOLVERS),
        format_func=_SOLVER_TITLES.__getitem__,
        key="solver",
        help="**Subgradient**: the paper's accelerated scheme, stopped after K iterations. **Exact**: the optimum of "
        "problem (3), to a certified gap; slower, and without the effect of early stopping. Where the uncertainty set "
        "is empty, |mu| is bounded by 1.",
    )
    st.number_input(
        "Iterations K",
        *LIMITS["max_iter"],
        value=st.session_state["max_iter"],
        step=100,
        key="max_iter",
        help="Iterations of the subgradient method. The paper's 2000 act as early stopping. Exact: not used.",
    )


def show() -> None:
    """Draw the sidebar and keep the link in step with the last Run."""
    visit = state.visit()
    choice = visit.choice
    names = sorted(visit.listed_datasets(), key=_position)
    with st.sidebar:
        screen.watch()
        st.markdown("### Evolving tasks")
        st.selectbox(
            "Dataset",
            names,
            index=_index("dataset", names),
            key="dataset",
            format_func=lambda name: f"{data.title_of(name)}  ·  {_group(name)}",
            on_change=state.dataset_changed,
            help="Built-in sequences need no network. Synthetic ones have a known truth. Those of the paper are read "
            "from files on this computer; what is missing can be downloaded.",
        )
        name = st.session_state["dataset"]
        cards.show(name)
        own = visit.own_sequence if name == OWN else None
        _form(datasets.entry(name).max_tasks if own is None else len(own))
        if state.widget_values() != choice.values():
            st.info("Settings changed. Press **Run** to see their results.", icon=":material/edit:")
        _copies(choice)
        exporting.about_the_link(choice)
        exporting.image_format()
        visit.say_timing = st.empty().caption
    wanted = choice.to_query()
    # Parameters of the pages' own controls belong to their widgets and stay.
    if any(st.query_params.get(name) != wanted.get(name) for name in CHOICE_NAMES):
        for name in CHOICE_NAMES - set(wanted):
            st.query_params.pop(name, None)
        st.query_params.update(wanted)
    for note in visit.notes:
        st.warning(note, icon=":material/build:")


def _copies(choice: Choice) -> None:
    """Draw what repeats the last Run elsewhere: with the same numbers, for every control."""
    texts = exporting.repeated_by(choice)
    with st.popover(
        "Copy as Python", icon=":material/content_copy:", width="stretch", help="A script that gives the same numbers."
    ):
        st.code(texts["Python"], language="python", wrap_lines=True)
    with st.popover(
        "Copy as command",
        icon=":material/terminal:",
        width="stretch",
        help="A shell command that gives the same numbers.",
    ):
        st.code(texts["Command line"], language="bash", wrap_lines=True)


def _group(name: str) -> str:
    return "yours" if name == OWN else datasets.entry(name).group


def _position(name: str) -> int:
    return -1 if name == OWN else datasets.names().index(name)
