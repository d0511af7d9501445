"""The sidebar: what to run. It only draws; `state` holds what was chosen, and the page does the rest."""

from __future__ import annotations

from functools import partial

import streamlit as st

import imrc
from imrc import datasets
from imrc.core.settings import SETTINGS
from imrc.features import FEATURE_DESCRIPTIONS, WITH_FREQUENCIES
from pages.shell import controls, frame, guard, running, state
from pages.shell.choice import OWN, PRESET_TITLES, Choice, plain

_STEPS = {"frequencies": 10, "sigma2": 1.0}
_DOWNLOADS = "Downloads the dataset once, verifies it, and keeps it on this computer."

# Where the sidebar is closed, as on phones, a browser draws its widgets only when it is opened, and takes their values
# from the defaults of the last run of the script: a value set in the session before that is lost, and the smallest
# numbers would be sent. So every widget has its present value as its default.


def _setting(name: str, most: int | None = None) -> None:
    """Draw the widget of a setting; `most` is what the dataset can give."""
    one = SETTINGS[name]
    if one.limits is None:
        words, switch = list(one.words), name == "preset"
        titles = PRESET_TITLES if switch else one.words
        texts = {"preset": one.words, "features": FEATURE_DESCRIPTIONS}.get(name, {})
        explained = "  \n".join(f"**{titles[word]}**: {text}" for word, text in texts.items()) or one.help
        draw = partial(st.radio, horizontal=True) if switch else st.selectbox
        draw(one.label, words, words.index(st.session_state[name]), format_func=titles.get, help=explained, key=name)
        return
    low, high = (float(limit) if one.real else int(limit) for limit in one.limits)
    st.number_input(
        one.label,
        low,
        high,
        st.session_state[name],
        step=_STEPS.get(name, 1),
        width=122 if len(name) == 1 else "stretch",  # two numbers side by side, also on a phone
        placeholder="all" if name == "W" else None,
        # A number above what the dataset can give is taken, lowered and said: the browser alone would only turn red.
        help=f"{one.help} Range {one.limits[0]:,} to {one.limits[1] if most is None else most:,}."
        + (" Leave it empty to use all, or 2 with the paper's preset." if name == "W" else ""),
        key=name,
    )


def _facts(name: str, visit: state.Visit) -> None:
    """Draw what the dataset selected is: of a published one without loading it."""
    if name in datasets.catalogue():
        one = datasets.facts(name)
        numbers = one.samples, one.features, one.classes
        told = (
            f"**{one.title}.** {one.description}\n\n**Tasks:** {one.tasks:,}; {one.cut}.  \n**Label:** {one.label}."
            f"\n\n**Source:** {one.source}. **Licence:** {one.licence}.  \n**Cite:** {one.citation}.  \n"
            f"[Homepage]({one.homepage})" + (f"\n\n{one.note}" if one.note else "")
        )
    else:
        try:
            sequence = visit.sequence_for(Choice(name, st.session_state["k"], visit.choice.settings))
        except datasets.DataError as error:
            st.error(plain(str(error)), icon=":material/broken_image:")
            return
        numbers, info = (int(sequence.sizes.sum()), sequence.n_features, sequence.n_classes), sequence.info
        told = (
            f"{sequence.description}\n\n**Tasks:** {len(sequence)}.  \n**Source:** {info.get('source', 'your file')}. "
            f"**Licence:** {info.get('licence', 'yours')}."
        )
    label = ":small[{:,} samples · {:,} features · {} classes]".format(*numbers)
    about = "What it contains, how it is cut into tasks, and where it comes from."
    with st.popover(label, type="tertiary", help=about):
        st.markdown(told)


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
        st.error(f"{plain(error.reason)} *By hand* shows another way.", icon=":material/cloud_off:")
    else:
        state.here.clear()
        st.rerun()


def _offer(name: str) -> None:
    """Offer the ways to a dataset that is not here."""
    status = datasets.status(name)
    if status.downloadable:
        size = f" ({datasets.size_in_words(status.size_bytes)})" if status.size_bytes else ""
        look = {"type": "primary", "width": "stretch"}
        if controls.button(f"Download{size}", "download", f"download_{name}", _DOWNLOADS, **look):
            _download(name)
    else:
        st.caption(f":material/cloud_off: {status.in_words}")
    with st.expander("By hand"):
        st.markdown(plain(status.by_hand))


def _settings(visit: state.Visit, waits: float) -> None:
    listed, known = visit.listed_datasets(), visit.known_datasets()
    names = [name for name in (OWN, *datasets.names()) if name in listed]
    titles = {name: f"{state.title_of(name)}{'' if name in known else ' ⤓'}" for name in names}
    name = st.selectbox(
        "Dataset",
        names,
        names.index(st.session_state["dataset"]),
        key="dataset",
        format_func=titles.get,
        on_change=visit.fit_widgets,
        help="Built-in sequences need no network. Synthetic ones have a known truth. Datasets of the paper and other "
        "real data are files on this computer. Download datasets marked ⤓ first.",
    )
    _facts(name, visit)
    if name not in known:
        _offer(name)
        st.caption(f"Until it is here, you see *{plain(state.title_of(visit.choice.dataset))}*, dimmed.")
    own = visit.own_sequence if name == OWN else None
    with st.container(horizontal=True):
        _setting("n")
        _setting("k", datasets.entry(name).max_tasks if own is None else len(own))
        _setting("b")
        _setting("W")
    _setting("preset")
    if visit.failure:
        st.error(visit.failure, icon=":material/broken_image:")
    elif running.waits("run", "run", waits, width="stretch") or name not in known:
        st.html("<style>.st-key-frame0, .st-key-frame3 { opacity: 0.45; }</style>")
    with st.expander("More"):  # what few visitors change; what has no effect now is left out and kept
        state.keep_widgets(("frequencies", "sigma2", "loss"))
        _setting("features")
        if st.session_state["features"] in WITH_FREQUENCIES:
            _setting("frequencies")
        if st.session_state["features"] == "rff":
            _setting("sigma2")
        _setting("repetitions")
        _setting("seed")
        if st.session_state["preset"] == "recommended":
            _setting("loss")


def show(settings: bool) -> None:
    """Draw the sidebar; with settings if the page shows a run, so that they have an effect."""
    with st.sidebar:
        st.caption("Learn tasks from few samples each, and see whether borrowing between them pays.")
        if settings:
            _settings(state.visit(), running.follow())
        else:
            state.keep_widgets()
        st.markdown(f":small[{guard.LINK} · Version {imrc.__version__}]")
        frame.watch()
