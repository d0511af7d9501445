"""The sidebar: what to run. It only draws; `state` holds what was chosen, and the page does the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

import imrc
from imrc import datasets
from imrc.core.settings import SETTINGS
from imrc.features import FEATURE_DESCRIPTIONS, WITH_FREQUENCIES
from pages.shell import bar, cards, data, documentation, exporting, running, screen, state
from pages.shell.choice import CUSTOM, OWN, PRESET_TITLES

_HALF_PX = 122
"""Two numbers stand beside each other, also on a phone."""
_GROUPS = {"built in": "Built in", "synthetic": "Synthetic", "from the paper": "Paper", "other real data": "Real"}
_STEPS = {"frequencies": 10, "sigma2": 1.0, "max_iter": 100}

# Where the sidebar is closed, as on phones, a browser draws its widgets only when it is opened, and takes their values
# from the defaults of the last run of the script: a value set in the session before that is lost, and Run would send
# the smallest numbers. So every widget has its present value as its default.


def _index(name: str, options: Sequence[Any]) -> int:
    return list(options).index(st.session_state[name])


def _setting(name: str, most: int | None = None, on_change: Callable[[], None] | None = None) -> None:
    """Draw the widget of a setting; `most` is what the dataset can give."""
    one = SETTINGS[name]
    told: dict[str, Any] = {"key": name, "on_change": on_change}
    if one.limits is None:
        words, texts = list(one.words), FEATURE_DESCRIPTIONS if name == "features" else {}
        explained = "  \n".join(f"**{one.words[word]}**: {text}" for word, text in texts.items()) or one.help
        st.selectbox(one.label, words, _index(name, words), format_func=one.words.get, help=explained, **told)
        return
    low, high = (float(limit) if one.real else int(limit) for limit in one.limits)
    st.number_input(
        one.label,
        low,
        high,
        st.session_state[name],
        step=_STEPS.get(name, 0.1 if one.real else 1),
        width=_HALF_PX if len(name) == 1 else "stretch",
        placeholder="all" if name == "W" else None,
        # A number above what the dataset can give is taken, lowered and said: the browser alone would only turn red.
        help=f"{one.help} Range {one.limits[0]:,} to {one.limits[1] if most is None else most:,}."
        + (" Empty: all, or the paper's 2." if name == "W" else ""),
        **told,
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
        help="  \n".join(f"**{PRESET_TITLES[name]}**: {text}" for name, text in SETTINGS["preset"].words.items())
        + "  \n**Custom**: the paper's choices with the values under *More* in place.",
    )


def _loss_changed() -> None:
    st.session_state["loss"] = "0-1" if st.session_state["rule_01"] else "log"


def _more() -> None:
    """Draw what few visitors change; what has no effect now is left out and kept."""
    state.keep_widgets(("frequencies", "sigma2", "max_iter", "loss"))
    _setting("features")
    if st.session_state["features"] in WITH_FREQUENCIES:
        _setting("frequencies")
    if st.session_state["features"] == "rff":
        _setting("sigma2")
    _setting("repetitions")
    _setting("seed")
    if st.session_state["preset"] == "recommended":
        st.session_state["rule_01"] = st.session_state["loss"] == "0-1"
        st.toggle(
            "Rule for 0-1 loss, with guarantees",
            key="rule_01",
            on_change=_loss_changed,
            help="The paper's rule, problem (3), on the same tracked mean vectors, with more instances and smaller "
            "confidence vectors. Off: one logistic regression a task; fewer errors on average.",
        )
    if st.session_state["preset"] != "custom":
        st.caption("Changing one of these values selects *Custom*: the paper's choices with your values in place.")
    for name in CUSTOM:
        if name != "max_iter" or st.session_state["solver"] == "subgradient":
            _setting(name, on_change=state.custom_changed)


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
        _setting("n")
        _setting("k", len(visit.own_sequence) if name == OWN and visit.own_sequence else _most_tasks(name))
        _setting("b")
        _setting("W")
    _preset()
    _run(visit, here)
    with st.expander("More"):
        _more()
    exporting.copy_buttons(visit.choice)
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
