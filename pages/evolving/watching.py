"""Watch, on the page *Is it evolving?*: tasks arrive one after the other, with an alarm that can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pandas as pd
import streamlit as st

import imrc
from imrc.evaluation import RunResult
from imrc.plots.evolving import watch_chart
from imrc.watch import arrival_sentences, watch_story
from pages.shell import charts, controls, links
from pages.shell.choice import Choice
from pages.shell.keeping import Store, shared
from pages.shell.running import current_result

_TASK = "watch_task"
_ALPHAS = [0.01, 0.05, 0.1]
_EXPLAINED = """
Each task is compared with all samples before it, in random splits: without a change its p-value is any number from 0 to
1. A bet on small ones pays 1 on average; begun anew at every task, all bets together are the *evidence*. If all rows
are independent draws from one distribution it ever reaches 1 / α with probability α at most, however long one watches
(Ville's inequality). Rows that follow each other and are alike set it off without a change. *More than usual* is
calibrated by simulation only. An alarm says that something changes, not that it matters: slow drift, for which forward
learning is made, sets it off too.

The same on the command line, also for a file that grows: `imrc watch`.
"""

# Play, Pause and the keys that go with them: a small piece of browser code.
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

_kept: Callable[[], Store[tuple[Hashable, ...], pd.DataFrame]] = shared("watching")


def watch(choice: Choice, sequence: imrc.TaskSequence) -> None:
    """Offer to watch the tasks arrive; nothing is computed until somebody asks for it."""
    st.markdown("### Would an alarm have gone off?")
    if len(sequence) < 3:
        st.info("Watching needs at least 3 tasks.", icon=":material/info:")
        return
    if not controls.toggle(
        "Watch", "watch", "Tasks arrive one after the other: what an alarm says of each, and what learning it changes."
    ):
        return
    run = current_result(scenario="continual")  # an alarm hears tasks as they arrive, whatever is averaged
    if run is not None:
        _played(choice, sequence, run)


@st.fragment
def _played(choice: Choice, sequence: imrc.TaskSequence, run: RunResult) -> None:
    features, seed, last = choice.settings.features.diagnosed, choice.settings.seed, len(sequence)
    key = (sequence.fingerprint, features, seed, run.settings, run.n_tasks)
    with st.spinner("Watching the tasks …"):
        story = _kept().get_or_make(key, lambda: watch_story(sequence, features, seed, run))
    links.start_anew((sequence.fingerprint, last), watch_task=last)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    newest = row.slider(
        "Newest task", 2, last, last, key=_TASK, bind="query-params", help="The task that has just arrived.", width=260
    )
    with row.container(width="content"):
        _player(newest, last)
    alpha = row.radio(
        "False alarms at most",
        _ALPHAS,
        index=1,
        horizontal=True,
        key="watch_alpha",
        bind="query-params",
        format_func=lambda value: f"{100 * value:g} %",
        help="The probability that the alarm ever goes off without a change, however long one watches.",
        width="content",
    )
    said = arrival_sentences(story, newest, alpha)
    st.markdown(f"**{said[0]}** " + " ".join(said[1:]))
    charts.show(
        watch_chart,
        story,
        newest,
        alpha,
        name="watch-chart",
        alt=f"Evidence, size of each change, and errors before and after learning, up to task {newest}. {said[0]}",
    )
    with st.expander("How the alarm works", icon=":material/science:"):
        st.markdown(_EXPLAINED)
        charts.csv(story, name="watch")


def _player(task: int, last: int) -> None:
    """Show Play; while it plays, and on the arrow keys, the newest task goes from task to task."""

    def went() -> None:
        asked = st.session_state["player"].get("go")
        if asked is not None:
            st.session_state[_TASK] = min(max(int(asked), 2), last)

    player = st.components.v2.component("player", html=_HTML, css=_CSS, js=_SCRIPT)
    player(key="player", data={"task": task, "first": 2, "last": last, "pause": _PAUSE_MS}, on_go_change=went)
