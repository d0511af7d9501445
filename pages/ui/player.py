"""Play, Pause and the keys that go with them: a small piece of browser code."""

from __future__ import annotations

import streamlit as st

_KEY = "player"
_PAUSE_MS = 900

_HTML = '<button type="button"></button><span></span>'
_CSS = """
:host { display: block }
div { display: flex; gap: 0.75rem; align-items: center }
button { font: inherit; color: var(--st-text-color); background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.5rem); min-width: 6.5rem;
  min-height: 2.5rem; padding: 0.25rem 0.75rem; cursor: pointer }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 2px }
span { color: var(--st-text-color); font-size: 0.875rem; margin-left: 0.75rem }
"""
# One more task is asked for only once the last one is on screen: a slow connection plays slowly and nothing piles up.
_SCRIPT = """
const memory = new WeakMap();
const typing = 'input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable=true]';
const pressed = 'button, a, summary, input[type=checkbox], input[type=radio], [role=button], [role=radio], [role=tab]';
const moved = '[role=slider], [role=radio], [role=tab], [role=option], [role=combobox], input';

export default function ({ data, parentElement, setTriggerValue }) {
  const my = memory.get(parentElement) || { playing: false, timer: 0, asked: 0, at: 0 };
  memory.set(parentElement, my);
  const button = parentElement.querySelector("button");
  const go = (task) => {
    my.asked = Math.min(Math.max(task, data.first), data.last);
    my.at = Date.now();
    setTriggerValue("go", my.asked);
  };
  // A key pressed before the task last asked for has come counts from that one.
  if (data.task === my.asked) my.at = 0;
  const current = () => (Date.now() - my.at < 3000 ? my.asked : data.task);
  const show = () => {
    button.textContent = my.playing ? "❚❚ Pause" : "▶ Play";
    parentElement.querySelector("span").textContent = "Space: play or pause. ← →: one task.";
  };
  const play = (on) => {
    clearTimeout(my.timer);
    my.playing = on;
    show();
    if (on) go(data.task < data.last ? data.task + 1 : data.first);
  };
  my.toggle = () => play(!my.playing);
  my.step = (by) => { play(false); go(by === 0 ? data.first : current() + by); };
  clearTimeout(my.timer);
  if (my.playing && data.task >= data.last) my.playing = false;
  if (my.playing) my.timer = setTimeout(() => go(data.task + 1), data.pause);
  show();
  button.onclick = my.toggle;

  if (my.listening) return my.leave;
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const at = event.composedPath()[0];
    const on = (what) => at instanceof Element && at.closest(what);
    if (on(typing)) return;
    if (event.key === " ") {
      // A button reached by keyboard keeps its own space bar; one that was clicked with the mouse does not.
      if (on(pressed) && at.matches(":focus-visible")) return;
      event.preventDefault();
      my.toggle();
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      if (on(moved)) return;
      event.preventDefault();
      my.step(event.key === "ArrowRight" ? 1 : -1);
    }
  };
  my.listening = true;
  document.addEventListener("keydown", keys, true);
  my.leave = () => {
    clearTimeout(my.timer);
    document.removeEventListener("keydown", keys, true);
    memory.delete(parentElement);
  };
  return my.leave;
}
"""


def show(task: int, last: int, key: str, *, first: int = 1) -> None:
    """Show Play; while it plays, and on the arrow keys, the control with this key goes from task to task (from 1)."""

    def went() -> None:
        asked = st.session_state[_KEY].get("go")
        if asked is not None:
            st.session_state[key] = min(max(int(asked), first), last)

    player = st.components.v2.component("player", html=_HTML, css=_CSS, js=_SCRIPT)
    player(key=_KEY, data={"task": task, "first": first, "last": last, "pause": _PAUSE_MS}, on_go_change=went)
