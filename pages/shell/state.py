"""Sequences all visitors share, and what one visitor has chosen, brought along and stopped."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import parse_qs, parse_qsl, urlencode

import streamlit as st

import imrc
from imrc import datasets
from imrc.core.presets import own_features
from imrc.core.settings import SETTINGS
from imrc.datasets import Cut, DataError, Table
from imrc.diagnostics import Assessment
from imrc.evaluation import RunResult, RunSettings, StepResult
from imrc.report import Report
from pages.shell import controls
from pages.shell.choice import CHOICE_NAMES, OWN, Choice, fit_to_dataset, from_values, plain
from pages.shell.keeping import Kept

T = TypeVar("T", RunResult, Assessment)

_sequences = Kept[tuple[str, int, int], imrc.TaskSequence]("sequences")


# One is kept, and loaded again after ten minutes, so that it does not stay for ever.
@st.cache_resource(show_spinner="Loading the dataset …", max_entries=1, ttl=600.0)
def _load_large(name: str, tasks: int, seed: int) -> imrc.TaskSequence:
    return datasets.load(name, tasks=tasks, seed=seed)


@st.cache_resource(ttl=10.0, show_spinner=False)
def here(*folders: str) -> frozenset[str]:
    """Return the datasets whose files are on this computer, in the `folders` named, as seen a few seconds ago."""
    return frozenset(name for name in datasets.names() if datasets.status(name).loadable)


def is_large(name: str) -> bool:
    """Return whether a dataset takes long to load."""
    facts = datasets.facts(name) if name in datasets.catalogue() else None
    return facts is not None and facts.samples * facts.features > 10_000_000  # 80 MB


def title_of(name: str) -> str:
    """Name of a dataset for people; of a visitor's own table the name of the file."""
    if name != OWN:
        return datasets.entry(name).title
    mine = st.session_state.get("visit")
    return mine.own_sequence.name if mine is not None and mine.own_sequence is not None else "Your file"


def sequence_for(choice: Choice) -> imrc.TaskSequence:
    """Return the tasks of a choice of a dataset all visitors share; k is lowered to what there is."""
    name, entry = choice.dataset, datasets.entry(choice.dataset)
    tasks, seed = min(choice.k, entry.max_tasks), choice.settings.seed if entry.seeded else 0
    if is_large(name):
        return _load_large(name, tasks, seed)
    # Arrays of a sequence are read-only, so one copy can serve everyone.
    return _sequences.get_or_make((name, tasks, seed), lambda: datasets.load(name, tasks=tasks, seed=seed))


def named(result: T, sequence: imrc.TaskSequence) -> T:
    """Return a kept result under this visitor's name of the sequence: others may have the same content."""
    return result if result.name == sequence.name else replace(result, name=sequence.name)


OWN_TASKS = 60
"""So many tasks of a visitor's file, the newest, are used unless all are asked for."""

PIN, COLUMNS = "pin", "columns"
"""Names, in a link, of the pinned run, and of what was chosen about the columns of a visitor's own file."""

_LINK_ARRIVES_S = 1.0
"""A browser has shown a new link by then. Until then a click may still bring the link before."""

RunKey = tuple[str, tuple[Any, ...]]


def key_of(sequence: imrc.TaskSequence, settings: RunSettings, **changes: Any) -> RunKey:  # noqa: ANN401 - its fields
    """Return what the result of a run is kept by, with `changes` to the settings."""
    return sequence.fingerprint, settings.key(**changes)


@dataclass
class Visit:
    """Everything kept for one visitor from run to run of the script."""

    choice: Choice = field(default_factory=Choice)  # what is shown
    notes: list[str] = field(default_factory=list)  # what was corrected in it
    failure: str = ""  # why the values of the widgets could not become the choice
    pinned: Choice | None = None  # the run that stays beside the present one
    link: dict[str, str] = field(default_factory=dict)  # what the address bar says of the choice and the pinned run
    link_waits: bool = False  # the address bar has yet to be told
    linked_at: float = 0.0
    page: str = ""  # title of the page that was drawn last
    own_sequence: imrc.TaskSequence | None = None
    own_used: Any = None  # the cut it is of, which is open, and counted, as long as it is here
    own_columns: str = ""  # what the link says about its columns: what was chosen where it is not the suggestion
    own_source: tuple[str, dict[str, Any]] = ("", {})  # file and how it was cut, for the code that repeats a run
    own_heads: dict[int, imrc.TaskSequence] = field(default_factory=dict)  # its first tasks, by how many were used
    # Settings of a link to a file that is not here (again): they wait until it is chosen.
    own_wanted: dict[str, object] = field(default_factory=dict)
    own_asked: bool = False  # the page that asks for it has been opened
    own_file: str = ""  # open on the page *Your data*
    own_adopted: bool = False  # it has just become the dataset, and no page has shown that yet
    # The file read last and the table cut last, or why that did not work.
    own_table: tuple[str, Table | DataError] | None = None
    own_cut: tuple[Hashable, Cut | DataError] | None = None
    # What was chosen about its columns, by the keys of the widgets, which forget it when another page is opened.
    own_choices: dict[str, Any] = field(default_factory=dict)
    stopped: Hashable = None  # the key of what was ended by Stop
    # How far the run in progress, or stopped, has come, and its settings.
    partial: tuple[RunKey, RunSettings, list[StepResult]] | None = None
    report: tuple[Hashable, Report] | None = None  # of the run shown, with what it depends on
    begun: dict[RunKey, RunResult] = field(default_factory=dict)  # the first repetitions of runs that go on
    # Writes the result of the present run into the frame of the page, and the place in it for progress.
    show_result: Callable[[RunResult], object] | None = None
    line: Any = None
    job: Any = None  # the `running.Job` that the runs under way are part of
    asked: Hashable = None  # the key of what *Run* was clicked for

    def open_files(self) -> list[object]:
        """Return what this visitor has open, which is no reason to refuse this visitor another file."""
        opened = [None if pair is None else pair[1] for pair in (self.own_table, self.own_cut)]
        return [*opened, self.own_used, self.own_choices.get("content")]

    def forget_file(self) -> None:
        """Let go of the file that is open on *Your data*."""
        self.own_table, self.own_cut, self.own_choices = None, None, {}

    def asks_for(self) -> str:
        """Return what the link that waits for a file was made with, and what to do."""
        if "sample" in parse_qs(str(self.own_wanted.get(COLUMNS, ""))):
            return "This link was made with the sample file. Click *Try a sample file*"
        return "This link was made with an uploaded file, and files are never part of a link. Choose it again"

    def known_datasets(self) -> set[str]:
        """Names this visitor can run."""
        folders = (os.environ.get(name, "") for name in ("IMRC_DATA", "IMRC_CACHE"))
        return self.listed_datasets() & {*here(*folders), OWN}

    def listed_datasets(self) -> set[str]:
        """Names in the list, also of datasets that are not on this computer."""
        return {*datasets.names(), *([] if self.own_sequence is None else [OWN])}

    def sequence_for(self, choice: Choice) -> imrc.TaskSequence:
        """Return the tasks of a choice; k is lowered to what there is."""
        if choice.dataset != OWN or self.own_sequence is None:
            return sequence_for(choice)
        k = min(choice.k, len(self.own_sequence))
        # The same object again for every click: its fingerprint, a checksum of all values, is known then.
        if k not in self.own_heads:
            self.own_heads[k] = self.own_sequence.head(k)
        return self.own_heads[k]

    def sequence(self) -> imrc.TaskSequence:
        """Return the tasks shown."""
        return self.sequence_for(self.choice)

    def adopt(self, values: Mapping[str, object]) -> None:
        """Make these values the choice, corrected where needed, and let the widgets show it."""
        values, notes = dict(values), []
        wanted, known = str(values.get("dataset", datasets.DEFAULT)), self.known_datasets()
        default = f"*{title_of(datasets.DEFAULT)}*"
        missing = wanted not in known and wanted in (OWN, *datasets.names())
        if missing and wanted == OWN:
            # No other dataset is shown under these settings: they wait for the file.
            self.own_wanted, values = values, {}
            asked = f"{self.asks_for()} on the page *Your data*, and its settings are restored."
            notes.append(f"{asked} Until then, you see {default}.")
        elif missing:
            notes.append(f"{title_of(wanted)} is not on this computer; {default} is shown until it is.")
            values.pop("k", None)
        if missing:
            values["dataset"] = datasets.DEFAULT
        try:
            choice, corrected = self.fitted(values)
        except DataError as error:
            notes.append(f"{plain(str(error))} {default} is shown.")
            choice, corrected = self.fitted({**values, "dataset": datasets.DEFAULT})
        self.become(choice, [*notes, *corrected.values()])
        if missing and wanted != OWN:
            # The dataset asked for stays selected: its download is then at hand.
            st.session_state["dataset"] = wanted
            self.fit_widgets()

    def fitted(self, values: Mapping[str, object]) -> tuple[Choice, dict[str, str]]:
        """Return the choice these values make with its data, and what was corrected."""
        asked, notes = from_values(values, self.known_datasets())
        return fit_to_dataset(asked, self.sequence_for(asked), notes), notes

    def become(self, choice: Choice, notes: list[str]) -> None:
        """Make this the choice, and let the widgets show it."""
        self.choice, self.notes, self.failure, self.stopped, self.asked = choice, notes, "", None, None
        self.begun = {}
        st.session_state.update(choice.values())

    def fit_widgets(self) -> None:
        """Give k, and n where nobody chose it, the values of the dataset selected."""
        self.failure, name = "", st.session_state["dataset"]
        before, now = (
            int(SETTINGS["n"].default if one == OWN else datasets.entry(one).labels)
            for one in (self.choice.dataset, name)
        )
        if st.session_state["n"] == before:
            st.session_state["n"] = now
        own = self.own_sequence
        st.session_state["k"] = len(own) if name == OWN and own is not None else datasets.entry(name).opens_with

    def link_to_present(self) -> None:
        """Let the link say what is chosen and pinned now."""
        self.link = self.choice.to_query()
        if self.pinned is not None:
            self.link[PIN] = urlencode(self.pinned.to_query())
        if self.choice.dataset == OWN and self.own_columns:
            self.link[COLUMNS] = self.own_columns
        self.link_waits = True

    def follow_link(self, link: dict[str, str]) -> None:
        """Make what a link says the choice and the pinned run."""
        self.link, self.pinned = link, None
        if link.get("dataset") == OWN and link.get(COLUMNS, "") != self.own_columns:
            # Tasks cut in another way are not shown under this link: it waits for *Use this*.
            self.own_sequence, self.own_used, self.own_asked = None, None, False
            self.forget_columns()
        if pinned := dict(parse_qsl(link.get(PIN, "")[:2000])):
            with contextlib.suppress(DataError):
                if pinned.get("dataset") in self.known_datasets():
                    self.pinned = self.fitted(pinned)[0]
        self.adopt({name: value for name, value in link.items() if name != PIN})

    def forget_columns(self) -> None:
        """Forget what was chosen about the columns of the file that is open."""
        self.own_choices = {name: value for name, value in self.own_choices.items() if not name.startswith("own_")}
        widgets = {str(key) for key in st.session_state if str(key).startswith("own_")}
        for widget in widgets - {"own_upload", "own_sample"}:
            del st.session_state[widget]

    def pin(self, choice: Choice | None) -> None:
        """Pin a run, or none."""
        self.pinned = choice
        self.link_to_present()


def visit() -> Visit:
    """Return the state of this visitor; a new one starts with what the link asks for."""
    found: Visit | None = st.session_state.get("visit")
    if found is None:
        found = Visit()
        found.follow_link(_said_by_link())
        st.session_state["visit"] = found
    return found


def _said_by_link() -> dict[str, str]:
    """Return what the address bar says of the choice and the pinned run; controls of pages read theirs themselves."""
    return {name: value for name, value in st.query_params.to_dict().items() if name in (*CHOICE_NAMES, PIN, COLUMNS)}


def follow_address(page: str) -> None:
    """Do what the address bar says if the visitor went back or forward to the page with this title."""
    mine, said = visit(), _said_by_link()
    moved, mine.page = mine.page != page, page
    if said == mine.link or mine.link_waits:
        return
    # Navigation drops the link, and a click soon after a Run may still carry the one before. All else is the browser
    # going back or forward.
    if (moved and not said) or time.monotonic() - mine.linked_at < _LINK_ARRIVES_S:
        mine.link_waits = True
    else:
        mine.follow_link(said)


def write_link() -> None:
    """Tell the address bar what is chosen and pinned, if that has changed; the browser then has one step to go back."""
    mine, said = visit(), _said_by_link()
    if mine.link_waits and said != mine.link:
        if len(said) == len(st.query_params):
            # One change, one step to go back; in one order, because each way to write a link is a step of its own.
            st.query_params.from_dict(mine.link)
        else:
            # Parameters of the pages' own controls belong to their widgets and stay.
            for name in set(said) - set(mine.link):
                del st.query_params[name]
            st.query_params.update(mine.link)
        mine.linked_at = time.monotonic()
    mine.link_waits = False


def widget_values() -> dict[str, Any]:
    """Return what the widgets of the sidebar hold."""
    return {name: st.session_state[name] for name in CHOICE_NAMES}


def wanted_values() -> dict[str, Any]:
    """Return what the widgets of the sidebar ask for."""
    before, values = visit().choice.values(), widget_values()
    if values["preset"] != before["preset"]:  # what nobody set is the new preset's own
        own = {"W": before["W"], "features": own_features(visit().choice.settings.preset).kind}
        for name in own:
            if values[name] == before[name] == own[name]:
                del values[name]
    return values


def keep_widgets(names: Iterable[str] = CHOICE_NAMES) -> None:
    """Keep what widgets of the sidebar hold through a run of the script that may not draw them."""
    st.session_state.update({name: st.session_state[name] for name in names})


def ask_for_file() -> bool:
    """Whether the page that asks for a file should be opened now: once, after a reload."""
    mine = visit()
    ask, mine.own_asked = bool(mine.own_wanted) and not mine.own_asked, True
    return ask


def use_own(sequence: imrc.TaskSequence, file: str, options: dict[str, Any], n: int, columns: dict[str, Any]) -> None:
    """Make a sequence, cut from a file by options, the dataset of this visitor; the link contains `columns`."""
    mine = visit()
    waiting, mine.own_wanted = mine.own_wanted, {}
    # Who opens a table of months asks about the next one; a link, and whoever has chosen before, asks for itself.
    asked_before = bool(waiting) or mine.own_sequence is not None
    ahead = {"scenario": "next_task"} if "period" in options and not asked_before else {}
    mine.own_sequence, mine.own_source, mine.own_heads = sequence, (file, options), {}
    mine.own_used = None if mine.own_cut is None else mine.own_cut[1]
    said = urlencode(columns, doseq=True)
    mine.own_columns = said if len(said) <= 6000 else ""  # a server in between may refuse a longer address
    use_values({**ahead, "k": len(sequence), **waiting, "dataset": OWN, "n": n})
    if said != mine.own_columns:
        mine.notes.append("So many columns were chosen or left out that the link does not keep them for a reload.")
    if len(sequence) == options.get("newest"):
        mine.notes.append(
            f"The newest {len(sequence):,} tasks of {plain(sequence.name)} are used. To use the others too, choose "
            "*All tasks* or longer tasks on the page *Your data*."
        )
    mine.own_adopted = True


def use_values(values: dict[str, object]) -> None:
    """Set the widgets to these values as if a visitor had, and had pressed Run."""
    mine = visit()
    mine.adopt({**widget_values(), **values})
    mine.link_to_present()


def show_notes() -> None:
    """Say what was corrected, in one box, until the next change or until it is closed."""
    mine = visit()
    if mine.notes:
        row = st.container(horizontal=True, vertical_alignment="center")
        row.warning("  \n".join(mine.notes), icon=":material/build:")
        close = {"place": row, "type": "tertiary", "on_click": mine.notes.clear}
        controls.button("Close", "close", "close_notes", "Hides this message.", **close)
