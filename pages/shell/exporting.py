"""What a visitor takes away: a report, the model, what repeats the run elsewhere, and what the link holds."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

import imrc
from imrc import report
from imrc._checks import InputError
from imrc.evaluation import RunResult
from imrc.evaluation.decision import STRATEGY_TITLES, Decision
from imrc.evaluation.reproduce import as_command, as_python, model_as_python
from imrc.model import STRATEGIES, Model, fit_model
from imrc.tables.write import csv_text
from pages.shell import comparing, data, state
from pages.shell.charts import IMAGE_FORMATS
from pages.shell.choice import OWN, Choice
from pages.shell.words import plain

# Streamlit's own button of a code block appears only under a mouse, and needs a second click to open the block.
_HTML = '<button type="button"><span aria-live="polite"></span></button>'
_CSS = """
button {
  width: 100%; min-height: 2.5rem; padding: .25rem; cursor: pointer; font: inherit; font-size: .8125rem;
  white-space: nowrap;
  color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, .5rem);
}
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
"""
# While a page is drawn, the browser is busy for seconds at a time. A click is answered at once, without waiting for a
# promise, and the answer stays until the browser had two seconds to show it, whatever is drawn again meanwhile.
_JS = """
function copied(text) {
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.style.position = "fixed";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button"), words = button.querySelector("span");
  button.label = data.label;
  if (!button.answered) words.textContent = data.label;
  button.onclick = async () => {
    clearTimeout(button.answered);
    let done = copied(data.text), left = 8;
    button.focus({ preventScroll: true });
    if (!done) done = await navigator.clipboard?.writeText(data.text).then(() => true, () => false);
    words.textContent = done ? "Copied" : "Not copied: see the code";
    const wait = () => {
      button.answered = left-- ? setTimeout(wait, 250) : 0;
      if (!button.answered) words.textContent = button.label;
    };
    wait();
  };
}
"""


def _source(choice: Choice) -> tuple[str, dict[str, Any] | None]:
    """Return the name of the data; of a visitor's file also the choice of columns, which is enough to cut it again."""
    return state.visit().own_source if choice.dataset == OWN else (choice.dataset, None)


def repeated_by(choice: Choice) -> dict[str, str]:
    """Return what repeats the last Run elsewhere, with the same numbers, by its name."""
    name, file_options = _source(choice)
    return {
        "Python": as_python(name, choice.k, choice.settings, file_options),
        "Command line": as_command(name, choice.k, choice.settings, file_options),
    }


def _report(result: RunResult, sequence: Callable[[], imrc.TaskSequence], **options: Any) -> str:  # noqa: ANN401
    return report.to_html(result, sequence=sequence(), **options)


def report_button(choice: Choice, sequence: imrc.TaskSequence, result: RunResult, references: RunResult | None) -> None:
    """Offer the report; it is made when somebody asks for it."""
    compared = comparing.stored(sequence, choice.settings)
    st.download_button(
        "Report",
        # Everything it needs is bound here: it runs outside the script, without the visitor's session.
        partial(
            _report,
            result,
            # The server keeps this button for a while after its visitor has left. It must not keep the data alive.
            partial(data.sequence_for, choice) if choice.dataset != OWN else lambda: sequence,
            compared=compared,
            references=references,
            title=data.title_of(choice.dataset),
            commands=repeated_by(choice),
        ),
        f"imrc-report-{result.name}.html",
        "text/html",
        key="report",
        icon=":material/description:",
        on_click="ignore",
        help="Verdict, numbers, all charts, settings, versions and how to repeat it; about 1 MB, opens without a "
        "network. The comparison is in it once the page *Against others* has run with these settings.",
    )


def model_buttons(choice: Choice, sequence: imrc.TaskSequence, decision: Decision) -> None:
    """Offer the model by a strategy, the advised one first: the file, the script that learns it, and its answers."""
    name, file_options = _source(choice)
    advised = decision.advice.advised
    with st.popover("Model", icon=":material/model_training:", help="Take the rule away, or score a file with it."):
        chosen = st.selectbox(
            "Learn by",
            ("advice", *STRATEGIES),
            format_func=lambda one: STRATEGY_TITLES.get(one, "As advised"),
            key="model_by",
            bind="query-params",
            help="From all rows of every task, with these settings.",
        )
        strategy = advised if chosen == "advice" else chosen
        if strategy not in STRATEGIES:
            st.caption("No strategy is advised that could be learnt. To learn one all the same, choose it.")
            return
        st.caption(f"{STRATEGY_TITLES[strategy]}, from all rows of every task.")
        made = partial(fit_model, sequence, strategy=strategy, settings=choice.settings, n_measured=choice.settings.n)
        st.download_button(
            "Model",
            partial(_model_bytes, made),
            f"{sequence.name}.imrc",
            "application/octet-stream",
            key="model_file",
            icon=":material/download:",
            on_click="ignore",
            help="For imrc.load in Python and the command imrc predict. It remembers rows, so that it can be updated.",
        )
        st.download_button(
            "Script",
            model_as_python(name, choice.k, choice.settings, strategy, file_options),
            "imrc_model.py",
            "text/x-python",
            key="model_script",
            icon=":material/code:",
            on_click="ignore",
            help="Checks the same data, learns the model and predicts, where imrc is installed.",
        )
        if choice.dataset == OWN:
            _score(made, sequence.name)


def _score(made: Callable[[], Model], name: str) -> None:
    """Let the visitor drop the next file, and give its rows back with class and probabilities."""
    next_file = st.file_uploader(
        "Score the next file",
        key="score_file",
        help="A file with the columns of the first one; its rows come back with class and probabilities beside them.",
    )
    if next_file is None:
        return
    try:
        with st.spinner("Reading and scoring"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the notes below
            model = made()
            scored = csv_text(model.predict_frame(next_file))
    except InputError as error:
        st.error(plain(str(error)))
        return
    for note in model.notes[:5]:
        st.caption(plain(note))
    st.download_button(
        "Scored rows (CSV)",
        scored,
        f"{name}-scored.csv",
        "text/csv",
        key="scored",
        icon=":material/download:",
        on_click="ignore",
        type="primary",
    )


def _model_bytes(made: Callable[[], Model]) -> bytes:
    buffer = io.BytesIO()
    made().save(buffer)
    return buffer.getvalue()


def image_format() -> None:
    """Let the visitor choose what the camera in a chart's toolbar saves."""
    st.radio(
        "Save charts as",
        IMAGE_FORMATS,
        horizontal=True,
        format_func=str.upper,
        key="image_format",
        bind="query-params",
        help="The camera in the toolbar of each chart saves this format: PNG for slides, SVG for print.",
    )


def about_the_link(choice: Choice) -> None:
    """Say what a link to this view does not hold."""
    if choice.dataset == OWN:
        st.caption(
            ":material/link: The link keeps all settings but never your file: who opens it uploads the file again."
        )


def copy_buttons(choice: Choice) -> None:
    """Draw one button per language, and the code itself for those who want to see it."""
    texts = repeated_by(choice)
    copy = st.components.v2.component("copy_button", html=_HTML, css=_CSS, js=_JS)
    left, right = st.columns(2)
    with left:
        copy(key="copy_python", data={"label": "Copy as Python", "text": texts["Python"]})
    with right:
        copy(key="copy_command", data={"label": "Copy as command", "text": texts["Command line"]})
    with st.expander("See the code"):
        st.code(texts["Python"], language="python", wrap_lines=True)
        st.code(texts["Command line"], language="bash", wrap_lines=True)
