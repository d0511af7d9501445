"""The card of a dataset in the sidebar: what it is, whether it is here, and how to get it."""

from __future__ import annotations

import streamlit as st

from imrc import datasets
from pages.ui import state
from pages.ui.choice import OWN, Choice
from pages.ui.words import plain


def _facts(name: str) -> None:
    """Show counts, source and licence of a published dataset, without loading it."""
    facts = datasets.facts(name)
    st.caption(
        f"{facts.summary}  \n**{facts.tasks:,}** tasks · **{facts.samples:,}** samples · **{facts.classes}** classes · "
        f"**{facts.features}** features  \nSource: {facts.source}. Licence: {facts.licence}."
    )
    if facts.note:
        st.caption(f":material/info: {facts.note}")


def _about(name: str) -> None:
    facts = datasets.facts(name)
    with st.popover(
        "About this dataset",
        icon=":material/menu_book:",
        width="stretch",
        help="What it holds, how its tasks are cut, and how to cite it.",
    ):
        st.markdown(
            f"**{facts.title}.** {facts.description}\n\n**Tasks:** {facts.cut}.  \n**Label:** {facts.label}.\n\n"
            f"**Cite:** {facts.citation}.  \n[Homepage]({facts.homepage})"
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
        st.error(f"{plain(error.reason)} See *By hand*.", icon=":material/cloud_off:")
    else:
        st.rerun()


def _missing(name: str) -> None:
    status = datasets.status(name)
    st.warning(status.in_words, icon=":material/cloud_download:")
    if status.downloadable:
        label = f"Download ({datasets.size_in_words(status.size_bytes)})"
        if st.button(
            label,
            key=f"download_{name}",
            icon=":material/download:",
            width="stretch",
            help="Fetches it once, checks it, and keeps it on this computer.",
        ):
            _download(name)
    with st.expander("By hand"):
        st.markdown(plain(status.by_hand))


def show(name: str) -> bool:
    """Draw the card of the dataset selected in the sidebar; return whether it can be run."""
    published = name != OWN and datasets.status(name).where != "built in"
    if published:
        _facts(name)
        _about(name)
        if not datasets.status(name).loadable:
            _missing(name)
            return False
    try:
        visit = state.visit()
        sequence = visit.sequence_for(Choice(name, st.session_state["k"], "paper", visit.choice.settings))
    except datasets.DataError as error:
        st.error(plain(str(error)), icon=":material/broken_image:")
        return False
    if not published:
        info = sequence.info
        st.caption(
            f"{sequence.description}  \n**{len(sequence)}** tasks · **{sequence.sizes.sum():,}** samples · "
            f"**{sequence.n_classes}** classes · **{sequence.n_features}** features  \n"
            f"Source: {info.get('source', 'your file')}. Licence: {info.get('licence', 'yours')}."
        )
    return True
