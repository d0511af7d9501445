"""What repeats a run elsewhere, copied with one click."""

from __future__ import annotations

import streamlit as st

from pages.ui import exporting
from pages.ui.choice import Choice

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


def buttons(choice: Choice) -> None:
    """Draw one button per language, and the code itself for those who want to see it."""
    texts = exporting.repeated_by(choice)
    copy = st.components.v2.component("copy_button", html=_HTML, css=_CSS, js=_JS)
    left, right = st.columns(2)
    with left:
        copy(key="copy_python", data={"label": "Copy as Python", "text": texts["Python"]})
    with right:
        copy(key="copy_command", data={"label": "Copy as command", "text": texts["Command line"]})
    with st.expander("See the code"):
        st.code(texts["Python"], language="python", wrap_lines=True)
        st.code(texts["Command line"], language="bash", wrap_lines=True)
