"""What a visitor takes away: a report, the model, what repeats the run elsewhere, and what the link contains."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st

import imrc
from imrc._checks import InputError
from imrc.evaluation.run import run_all
from imrc.evaluation.settings import STRATEGIES, STRATEGY_TITLES
from imrc.model import Model, fit_model, scored_in_words
from imrc.report import Report
from imrc.report._report import readable
from imrc.report._write import page_of
from imrc.tables import csv_text
from pages.shell import controls, running, state
from pages.shell.choice import OWN, Choice, plain


def _source(choice: Choice) -> tuple[str, dict[str, Any] | None]:
    """Return the name of the data; of a visitor's file also the choice of columns, which is enough to cut it again."""
    return state.visit().own_source if choice.dataset == OWN else (choice.dataset, None)


def buttons(found: Report, choice: Choice, sequence: imrc.TaskSequence) -> None:
    """Offer what a visitor takes away of a run: Model, Score a file, Report, Link, Code."""
    with st.container(horizontal=True, gap="xsmall"):
        made = _model(found, choice, sequence)
        _score(made, choice)
        _report(found, choice, sequence)
        with st.popover("Link", help="The address of this view, including all its settings."):
            st.code(f"{st.context.url}?{urlencode(st.query_params.to_dict())}".rstrip("?"), wrap_lines=True)
            if choice.dataset == OWN:
                said = parse_qs(state.visit().own_columns)
                names = ", only names of columns" * bool(said.keys() & {"label", "task", "exclude", "words"})
                again = "clicks *Try a sample file*" if "sample" in said else "uploads it again"
                st.caption(f"It never contains your file{names}. Whoever opens it {again}.")
        with st.popover("Code", help="Code that reproduces this run, in Python or in a terminal."):
            texts = found.repeated_by(*_source(choice))
            for (name, text), language in zip(texts.items(), ("python", "bash"), strict=True):
                st.caption(name)
                st.code(text, language=language, wrap_lines=True)
            st.caption("For LaTeX, end the script with `print(report.to_latex())`; *Against others* has a table, too.")


def _html(found: Report, sequence: Callable[[], imrc.TaskSequence], **options: Any) -> str:  # noqa: ANN401
    tasks, run, curve = sequence(), found.run, found.curve
    if not run.ess_tables:  # a report has more than errors
        run = run_all(tasks, run.settings)
        curve = tuple(run if one.settings.n == found.n else one for one in curve)
    return page_of(replace(found, sequence=tasks, run=run, curve=curve), **options)


def _report(found: Report, choice: Choice, sequence: imrc.TaskSequence) -> None:
    compared = tuple(running.comparison_kept(sequence, choice.settings))
    controls.save(
        "Report",
        # Everything it needs is bound here: it runs outside the script, without the visitor's session.
        partial(
            _html,
            # The server keeps this button for a while after its visitor has left. It must not keep the data alive.
            replace(found, sequence=None, as_text=readable),
            partial(state.sequence_for, choice) if choice.dataset != OWN else lambda: sequence,
            compared=compared if any(one.settings.methods != ("imrc",) for one in compared) else (),
            commands=found.repeated_by(*_source(choice)),
        ),
        f"imrc-report-{found.run.name}.html",
        "text/html",
        "report",
        "description",
        help="Verdict, numbers, all charts, settings, versions and how to reproduce them, in one file of about 1 "
        "MB that you can open offline. The comparison is included once *Against others* has run with these settings.",
    )


def _model(found: Report, choice: Choice, sequence: imrc.TaskSequence) -> Callable[[], Model] | None:
    """Offer the model by a strategy, the advised one first: the file, and the script that learns it."""
    name, file_options = _source(choice)
    with st.popover("Model", help="The advised rule, or another one, as a file."):
        titles = {"advice": "As advised", **{name: STRATEGY_TITLES[name] for name in STRATEGIES}}
        chosen = controls.menu("Learn by", titles, "model_by", "The strategy, with these settings.")
        strategy = found.advice.advised if chosen == "advice" else chosen
        if strategy not in STRATEGIES:
            st.caption("No strategy is advised here. To learn one anyway, choose it above.")
            return None
        # Said here and not in tips of the buttons, which would lie over the button beside.
        first, last = sequence.labels[0], sequence.labels[-1]
        of = f"the newest task, {last}" if strategy == "single" else f"{len(sequence)} tasks, {first} to {last}"
        st.caption(
            f"{STRATEGY_TITLES[strategy]}, learnt from all rows of {plain(of)}. Open it with imrc.load in Python "
            "or with imrc predict. It stores rows so that you can update it. The script learns it again with imrc."
        )
        made = partial(fit_model, sequence, strategy=strategy, settings=choice.settings, n_measured=choice.settings.n)
        content, file = partial(_model_bytes, made), f"{sequence.name}.imrc"
        controls.save("Model", content, file, "application/octet-stream", "model_file")
        script = found.repeated_by(name, file_options, strategy)["Python"]
        controls.save("Script", script, "imrc_model.py", "text/x-python", "model_script", "code")
        return made


def _score(made: Callable[[], Model] | None, choice: Choice) -> None:
    """Let the visitor drop the next file, and give its rows back with class and probabilities."""
    why = "Upload a file with the same columns. You get its rows back with a predicted class and probabilities."
    if choice.dataset != OWN:
        why = "Scores the next file of your own table. First upload one on the page *Your data*."
    elif made is None:
        why = "There is no model to score with. Choose one under *Model*."
    cannot = choice.dataset != OWN or made is None
    place = st.popover("Score a file", disabled=cannot, help=why)
    next_file = None if cannot else place.file_uploader("Score the next file", key="score_file", help=why)
    if next_file is None or made is None:
        return
    with place:
        try:
            with st.spinner("Reading and scoring"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the notes below
                model = made()
                table = model.recipe.read(next_file)
                frame = model.predict_frame(table)
        except InputError as error:
            st.error(plain(str(error)))
            return
        for note in model.notes[:5]:
            st.caption(plain(note))
        st.markdown(plain(scored_in_words(model, frame)[1]))
        # With a byte-order mark, Excel reads it as UTF-8.
        content, kind = csv_text(frame, table).encode("utf-8-sig"), "tsv" if table.format.startswith("TSV") else "csv"
        file = f"{table.name}-scored.{kind}"
        of_kind = "text/csv" if kind == "csv" else "text/tab-separated-values"
        controls.save(f"Scored rows ({kind.upper()})", content, file, of_kind, "scored", type="primary")


def _model_bytes(made: Callable[[], Model]) -> bytes:
    buffer = io.BytesIO()
    made().save(buffer)
    return buffer.getvalue()
