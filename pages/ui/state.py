"""What one visitor has chosen, brought along and stopped: the one place that reads and changes it.

Values of widgets stay where Streamlit keeps them, under the keys of the widgets; everything else is a `Visit`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

import imrc
from imrc import datasets
from imrc.datasets import Cut, DataError, Table
from imrc.evaluation import RunSettings, StepResult
from pages.ui import data
from pages.ui.choice import NUMBERS, OWN, Choice, fit_to_dataset, from_values
from pages.ui.words import plain

OWN_FIRST_TASKS = 60

WIDGETS = (
    "dataset",
    "features",
    "preset",
    "frequencies",
    "sigma2",
    "lambda0",
    "instances",
    "solver",
    "max_iter",
    *NUMBERS,
)
"""Keys of the widgets of the sidebar that make up a choice."""

RunKey = tuple[str, RunSettings]


@dataclass
class Visit:
    """Everything kept for one visitor from run to run of the script.

    Attributes
    ----------
    choice : Choice
        What the last Run asked for.
    notes : list of str
        What was corrected in it.
    own_sequence : TaskSequence or None
        The visitor's own tasks.
    own_source : (str, dict)
        Name of their file and how it was cut, for the code that repeats a run.
    own_head : TaskSequence or None
        Their first tasks, as many as were used last.
    own_file : str
        Name of the file open on the page *Your data*.
    own_adopted : bool
        Whether they have just become the dataset, and no page has shown that yet.
    own_sample : bool
        Whether the sample file was asked for in place of a file.
    own_table, own_cut : (key, value) or None
        The file read last and the table cut last, or why that did not work.
    stopped : RunKey or None
        The run that was stopped.
    partial : (RunKey, list of StepResult) or None
        How far the run in progress, or stopped, has come.
    compare_stopped : hashable
        The comparison that was stopped.
    clicked : int or None
        Task of the heatmap clicked last.
    say_timing : callable or None
        Writes under the sidebar how long the run took.
    """

    choice: Choice = field(default_factory=Choice)
    notes: list[str] = field(default_factory=list)
    own_sequence: imrc.TaskSequence | None = None
    own_source: tuple[str, dict[str, Any]] = ("", {})
    own_head: imrc.TaskSequence | None = None
    own_file: str = ""
    own_adopted: bool = False
    own_sample: bool = False
    own_table: tuple[str, Table | DataError] | None = None
    own_cut: tuple[Hashable, Cut | DataError] | None = None
    stopped: RunKey | None = None
    partial: tuple[RunKey, list[StepResult]] | None = None
    compare_stopped: Hashable = None
    clicked: int | None = None
    say_timing: Callable[[str], object] | None = None

    def known_datasets(self) -> set[str]:
        """Names this visitor can run."""
        return {name for name in self.listed_datasets() if name == OWN or datasets.status(name).loadable}

    def listed_datasets(self) -> set[str]:
        """Names in the list, also of data sets that are not on this computer."""
        return {*datasets.names(), *([] if self.own_sequence is None else [OWN])}

    def sequence_for(self, choice: Choice) -> imrc.TaskSequence:
        """Return the tasks of a choice; k is lowered to what there is."""
        if choice.dataset != OWN or self.own_sequence is None:
            return data.sequence_for(choice)
        k = min(choice.k, len(self.own_sequence))
        # The same object again for every click: its fingerprint, a checksum of all values, is known then.
        if self.own_head is None or len(self.own_head) != k:
            self.own_head = self.own_sequence.head(k)
        return self.own_head

    def sequence(self) -> imrc.TaskSequence:
        """Return the tasks of the last Run."""
        return self.sequence_for(self.choice)

    def adopt(self, values: dict[str, object]) -> None:
        """Make these values the choice, corrected where needed, and let the widgets show it."""
        self.stopped = None
        self.choice, self.notes = self._corrected(values)
        st.session_state.update(self.choice.values())

    def _corrected(self, values: dict[str, object]) -> tuple[Choice, list[str]]:
        notes: list[str] = []
        wanted, values = str(values.get("dataset", datasets.DEFAULT)), dict(values)
        default, known = data.title_of(datasets.DEFAULT), self.known_datasets()
        if wanted == OWN and OWN not in known:
            notes.append(
                "This link was made with an uploaded file, and files are never part of a link. Its other settings are "
                "restored; upload the file on the page *Your data* to use it. Until then, "
                f"{default} is shown."
            )
            values["dataset"] = datasets.DEFAULT
            values.pop("k", None)
        if wanted in datasets.names() and wanted not in known:
            notes.append(f"{data.title_of(wanted)} is not on this computer; {default} is shown.")
            values["dataset"] = datasets.DEFAULT
        choice, more = from_values(values, known)
        try:
            sequence = self.sequence_for(choice)
        except DataError as error:
            notes.append(f"{plain(str(error))} {default} is shown.")
            choice, more = from_values({**values, "dataset": datasets.DEFAULT}, known)
            sequence = self.sequence_for(choice)
        notes += more
        return fit_to_dataset(choice, sequence, notes), notes


def visit() -> Visit:
    """Return the state of this visitor; a new one starts with what the link asks for."""
    found: Visit | None = st.session_state.get("visit")
    if found is None:
        found = Visit()
        found.adopt(st.query_params.to_dict())
        st.session_state["visit"] = found
    return found


def widget_values() -> dict[str, Any]:
    """Return what the widgets of the sidebar hold."""
    return {name: st.session_state[name] for name in WIDGETS}


def keep_widgets() -> None:
    """Keep what the widgets of the sidebar hold through a run of the script that does not draw them."""
    st.session_state.update(widget_values())


def run_pressed() -> None:
    """Make what the widgets hold the choice."""
    mine, values = visit(), widget_values()
    before = mine.choice.values()
    if values["preset"] != before["preset"] and values["W"] == before["W"]:
        del values["W"]  # nobody set it: the new preset has its own
    mine.adopt(values)


def dataset_changed() -> None:
    """Give the number of tasks the value of the dataset selected."""
    name, own = st.session_state["dataset"], visit().own_sequence
    st.session_state["k"] = len(own) if name == OWN and own is not None else datasets.entry(name).tasks


def use_own(sequence: imrc.TaskSequence, file: str, options: dict[str, Any]) -> None:
    """Make a visitor's own sequence the dataset of all pages, for this visitor only, and show its results.

    Parameters
    ----------
    sequence : TaskSequence
        The tasks.
    file, options
        Name of the file and how it was cut, for the code that repeats a run.
    """
    mine = visit()
    mine.own_sequence, mine.own_source, mine.own_head = sequence, (file, options), None
    # Many tasks take long; a person can ask for them all after the first look.
    mine.adopt({**widget_values(), "dataset": OWN, "k": min(len(sequence), OWN_FIRST_TASKS)})
    mine.own_adopted = True


def use_values(values: dict[str, object]) -> None:
    """Set the widgets to these values as if a visitor had, and had pressed Run."""
    visit().adopt({**widget_values(), **values})
