"""The sidebar: what to run. It only draws; `state` holds what was chosen, and the page does the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

import imrc
from imrc import datasets
from imrc.core.settings import DESCRIPTIONS as PRESET_DESCRIPTIONS
from imrc.core.settings import INSTANCES, LIMITS, SOLVERS
from imrc.evaluation import PARAMETERS
from imrc.features import FREQUENCIES, KINDS, SIGMA2, WITH_FREQUENCIES
from imrc.features._spec import DESCRIPTIONS, TITLES
from pages.ui import bar, cards, copying, data, documentation, exporting, running, screen, state
from pages.ui.choice import OWN, PRESET_TITLES

_INSTANCE_TITLES = {
    "own": "the task's own samples (paper)",
    "reach": "samples of the last b + 1 tasks",
    "recent": "about the last 100 samples",
    "all": "all samples so far",
}
_HALF_PX = 122
"""Two numbers stand beside each other, also on a phone."""
_GROUPS = {"built in": "Built in", "synthetic": "Synthetic", "from the paper": "Paper", "other real data": "Real"}
_SOLVER_TITLES = {"subgradient": "Subgradient (paper)", "exact": "Exact (linear program)"}

# Where the sidebar is closed, as on phones, a browser draws its widgets only when it is opened, and takes their values
# from the defaults of the last run of the script: a value set in the session before that is lost, and Run would send
# the smallest numbers. So every widget has its present value as its default.


def _index(name: str, options: Sequence[Any]) -> int:
    return list(options).index(st.session_state[name])


def _number(name: str, most: int | None = None) -> None:
    parameter = PARAMETERS[name]
    st.number_input(
        parameter.label,
        min_value=parameter.low,
        max_value=parameter.high,
        value=st.session_state[name],
        step=1,
        key=name,
        width=_HALF_PX if name in ("n", "k", "b", "W") else "stretch",
        placeholder="all" if parameter.by_preset else None,
        # A number above what the dataset can give is taken, lowered and said: the browser alone would only turn red.
        help=f"{parameter.help} Range {parameter.low:,} to {parameter.high if most is None else most:,}."
        + (" Empty: all, or the paper's 2." if parameter.by_preset else ""),
    )


def _dataset(visit: state.Visit) -> None:
    listed, known = visit.listed_datasets(), visit.known_datasets()
    names = [name for name in (OWN, *datasets.names()) if name in listed]
    titles = {name: data.title_of(name) for name in names}

    def title(name: str) -> str:
        # Lists have no headings in Streamlit: each entry begins with its group.
        group = "Yours" if name == OWN else _GROUPS[datasets.entry(name).group]
        return f"{group} · {titles[name]}{'' if name in known else ' ⤓'}"

    st.selectbox(
        "Dataset",
        names,
        index=_index("dataset", names),
        key="dataset",
        format_func=title,
        on_change=state.dataset_changed,
        help="Built-in sequences need no network. Synthetic ones have a known truth. Those of the paper and other real "
        "data are read from files on this computer; those marked ⤓ are not here yet.",
    )


def _preset() -> None:
    """Draw the presets as a switch."""
    names = ("paper", "recommended", "custom")
    st.radio(
        "Preset",
        names,
        index=_index("preset", names),
        horizontal=True,
        format_func=PRESET_TITLES.__getitem__,
        key="preset",
        help="  \n".join(f"**{PRESET_TITLES[name]}**: {text}" for name, text in PRESET_DESCRIPTIONS.items())
        + "  \n**Custom**: the paper's choices with the values under *More* in place.",
    )


def _loss_changed() -> None:
    st.session_state["loss"] = "0-1" if st.session_state["rule_01"] else "log"


def _more() -> None:
    """Draw what few visitors change; what has no effect now is left out and kept."""
    state.keep_widgets(("frequencies", "sigma2", "max_iter", "loss"))
    st.selectbox(
        "Representation",
        KINDS,
        index=_index("features", KINDS),
        format_func=TITLES.__getitem__,
        key="features",
        help="  \n".join(f"**{TITLES[kind]}**: {DESCRIPTIONS[kind]}" for kind in KINDS),
    )
    if st.session_state["features"] in WITH_FREQUENCIES:
        st.number_input(
            "Frequencies N",
            *FREQUENCIES,
            value=st.session_state["frequencies"],
            step=10,
            key="frequencies",
            help="Random frequencies, each with a cosine and a sine; Blended takes twice as many for pixels.",
        )
    if st.session_state["features"] == "rff":
        st.number_input(
            "sigma²",
            *SIGMA2,
            value=st.session_state["sigma2"],
            step=1.0,
            key="sigma2",
            help="Scale of random Fourier features on raw inputs; paper: 10.",
        )
    _number("repetitions")
    _number("seed")
    if st.session_state["preset"] == "recommended":
        st.session_state["rule_01"] = st.session_state["loss"] == "0-1"
        st.toggle(
            "Rule for 0-1 loss, with guarantees",
            key="rule_01",
            on_change=_loss_changed,
            help="The paper's rule, problem (3), on the same tracked mean vectors, with more instances and smaller "
            "confidence vectors. Off: one logistic regression a task; fewer errors on average.",
        )
    _custom_values()


def _custom_values() -> None:
    if st.session_state["preset"] != "custom":
        st.caption("Changing one of these values selects *Custom*: the paper's choices with your values in place.")
    st.number_input(
        "lambda₀",
        *map(float, LIMITS["lambda0"]),
        value=st.session_state["lambda0"],
        step=0.1,
        key="lambda0",
        on_change=state.custom_changed,
        help="Size of the uncertainty set: lambda = lambda₀ · √s. The paper uses 1; 0 trusts the mean vectors fully.",
    )
    st.selectbox(
        "Instances X of the worst case",
        INSTANCES,
        index=_index("instances", INSTANCES),
        format_func=_INSTANCE_TITLES.__getitem__,
        key="instances",
        on_change=state.custom_changed,
        help="The maximum in problem (3) runs over these instances.",
    )
    st.selectbox(
        "Solver of the worst case",
        SOLVERS,
        index=_index("solver", SOLVERS),
        format_func=_SOLVER_TITLES.__getitem__,
        key="solver",
        on_change=state.custom_changed,
        help="**Subgradient**: the paper's accelerated scheme, stopped after K iterations. **Exact**: the optimum of "
        "problem (3), to a certified gap; slower, and without the effect of early stopping. Where the uncertainty set "
        "is empty, |mu| is bounded by 1.",
    )
    if st.session_state["solver"] == "subgradient":
        st.number_input(
            "Iterations K",
            *LIMITS["max_iter"],
            value=st.session_state["max_iter"],
            step=100,
            key="max_iter",
            on_change=state.custom_changed,
            help="Iterations of the subgradient method. The paper's 2000 act as early stopping.",
        )


def _run(visit: state.Visit, here: bool) -> None:
    """Draw the button, and under it what it would do or what it did."""
    st.button(
        "Run",
        type="primary" if here else "secondary",
        icon=":material/play_arrow:",
        width="stretch",
        key="run",
        disabled=not here,
        on_click=state.run_pressed,
        help="Short runs start by themselves while values change; longer ones wait for this button. All pages then "
        "show the result, and the link in the address bar follows.",
    )
    below = st.empty()
    if visit.failure:
        below.error(visit.failure, icon=":material/broken_image:")
    elif here and visit.slow is not None:
        seconds = visit.slow[1]
        takes = (
            "" if seconds == 0.0 else f": about {seconds:.0f} s" if seconds < 90 else f": about {seconds / 60:.0f} min"
        )
        below.markdown(f":small[:material/edit: **Not applied yet**{takes}]")
    visit.show_result = None if visit.slow is not None or visit.failure else bar.timed(below)


def _settings(visit: state.Visit) -> None:
    _dataset(visit)
    name = st.session_state["dataset"]
    here = cards.show(name)
    if not here:
        cards.offer(name)
    with st.container(horizontal=True):
        _number("n")
        _number("k", len(visit.own_sequence) if name == OWN and visit.own_sequence else _most_tasks(name))
        _number("b")
        _number("W")
    _preset()
    _run(visit, here)
    with st.expander("More"):
        _more()
    copying.buttons(visit.choice)
    exporting.about_the_link(visit.choice)


def _most_tasks(name: str) -> int:
    return datasets.entry(datasets.DEFAULT if name == OWN else name).max_tasks


def show(settings: bool) -> None:
    """Draw the sidebar; with settings if the page shows a run, so that they have an effect."""
    visit = state.visit()
    visit.show_result = None
    with st.sidebar:
        screen.watch()
        st.caption("Learn a sequence of tasks from few samples each, and see whether it pays.")
        if settings:
            running.run_if_short()
            _settings(visit)
        else:
            state.keep_widgets()
        exporting.image_format()
        st.caption(f"{documentation.LINK} · Version {imrc.__version__}")
