"""The card of a dataset in the sidebar: what it is, whether it is here, and how to get it."""

from __future__ import annotations

import streamlit as st

from imrc import datasets
from pages.shell import data, state
from pages.shell.choice import OWN, Choice
from pages.shell.words import plain


def _line(samples: int, features: int, classes: int) -> str:
    return f":small[{samples:,} samples · {features:,} features · {classes} classes]"


def _published(name: str) -> None:
    """Show what a published dataset is, without loading it."""
    facts = datasets.facts(name)
    with st.popover(
        _line(facts.samples, facts.features, facts.classes),
        type="tertiary",
        help="What the dataset holds, how its tasks are cut, where it is from, and how to cite it.",
    ):
        st.markdown(
            f"**{facts.title}.** {facts.description}\n\n**Tasks:** {facts.tasks:,}; {facts.cut}.  \n"
            f"**Label:** {facts.label}.\n\n**Source:** {facts.source}. **Licence:** {facts.licence}.  \n"
            f"**Cite:** {facts.citation}.  \n[Homepage]({facts.homepage})"
        )
        if facts.note:
            st.caption(f":material/info: {facts.note}")
    if facts.opens_with < facts.tasks and st.session_state["k"] < facts.tasks and datasets.status(name).loadable:
        st.button(
            f"All {facts.tasks:,} tasks",
            key="all_tasks",
            type="tertiary",
            icon=":material/unfold_more:",
            on_click=_take_all,
            args=(facts.tasks,),
            help=f"It opens with its first {facts.opens_with}: all of them take longer, and the line under *Run* says "
            "how long. Any number between can be typed as *Tasks k*.",
        )


def _take_all(tasks: int) -> None:
    st.session_state["k"] = tasks


def _made_here(name: str) -> None:
    """Show what a built-in sequence or a visitor's own holds."""
    visit = state.visit()
    sequence = visit.sequence_for(Choice(name, st.session_state["k"], "paper", visit.choice.settings))
    info = sequence.info
    with st.popover(
        _line(int(sequence.sizes.sum()), sequence.n_features, sequence.n_classes),
        type="tertiary",
        help="What the dataset holds and where it is from.",
    ):
        st.markdown(
            f"{sequence.description}\n\n**Tasks:** {len(sequence)}.  \n**Source:** {info.get('source', 'your file')}. "
            f"**Licence:** {info.get('licence', 'yours')}."
        )


def _download(name: str) -> None:
    """Download with progress; a message instead of a failure."""
    bar = st.progress(0.0, text="Connecting …")

    def show(file: str, done: int, total: int) -> None:
        size = datasets.size_in_words(done)
        share = min(done / total, 1.0) if total else 0.0
        bar.progress(share, text=f"{file}: {size}" + (f" of {datasets.size_in_words(total)}" if total else ""))

    try:
        datasets.download(name, progress=show)
    except datasets.DownloadError as error:
        bar.empty()
        st.error(f"{plain(error.reason)} *By hand* says another way.", icon=":material/cloud_off:")
    else:
        data.looked().clear()
        st.rerun()


def offer(name: str) -> None:
    """Offer the one way to a dataset that is not here."""
    status = datasets.status(name)
    if status.downloadable:
        size = f" ({datasets.size_in_words(status.size_bytes)})" if status.size_bytes else ""
        if st.button(
            f"Download{size}",
            key=f"download_{name}",
            type="primary",
            icon=":material/download:",
            width="stretch",
            help="Fetches the dataset once, checks it, and keeps it on this computer. Until then the result shown "
            "stays.",
        ):
            _download(name)
    else:
        st.caption(f":material/cloud_off: {status.in_words}")
    with st.expander("By hand"):
        st.markdown(plain(status.by_hand))


def show(name: str) -> bool:
    """Draw the card of the dataset selected in the sidebar; return whether it is here."""
    if name == OWN or datasets.status(name).where == "built in":
        try:
            _made_here(name)
        except datasets.DataError as error:
            st.error(plain(str(error)), icon=":material/broken_image:")
        return True
    _published(name)
    return datasets.status(name).loadable
