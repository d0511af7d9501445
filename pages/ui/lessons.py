"""The six lessons of the page Learn: what each says, which controls it has, and its picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from imrc import teaching
from imrc.plots import teaching as pictures
from imrc.teaching import Study
from imrc.wording import number
from pages.ui import charts, controls, formulas, player

STEP, TASK = "teach_step", "teach_task"
MIDDLE = teaching.TASKS // 2 + 1
_SLOW_RUNS = 100
_WORLDS = {"walk": "Small random steps", "jump": "One big jump", "trend": "Always the same way", "swap": "Labels swap"}
_WHY = {
    "walk": "Nothing is broken here: every change is small, random and as likely to go one way as the other.",
    "jump": f"Between tasks {MIDDLE - 1} and {MIDDLE} both clouds leap by {teaching.JUMP:g}. Tasks on either side "
    "know nothing about each other, but a learner that was promised small steps believes them.",
    "trend": "Every step goes the same way. Older tasks always lag behind, so forward learning is pulled back; later "
    "tasks lag on the other side, and going backward too cancels most of it.",
    "swap": "From task to task the two classes change places. Neighbours are not just outdated: they say the opposite.",
}


@dataclass(frozen=True)
class Screen:
    """The parts of the page a lesson fills."""

    title: st.delta_generator.DeltaGenerator
    controls: st.delta_generator.DeltaGenerator
    picture: st.delta_generator.DeltaGenerator
    large: bool


def _errors(value: float) -> str:
    return number(100.0 * value)


def _percent(value: float) -> str:
    return f"{value:.0%}".replace("%", "\u00a0%")


def _n() -> int:
    chosen = st.slider(
        "Samples per task n", 4, 100, 10, 2, key="teach_n", bind="query-params", help="Half of them of each class."
    )
    return int(chosen) // 2 * 2


def _drift() -> float:
    return st.slider(
        "Drift: size of a change",
        0.0,
        1.5,
        0.25,
        0.05,
        key="teach_change",
        bind="query-params",
        help="How far both clouds move from task to task: standard deviation of a step, in units of the spread inside "
        "a class.",
    )


def _b() -> int:
    return st.slider(
        "Backward steps b",
        0,
        8,
        3,
        key="teach_b",
        bind="query-params",
        help="How many earlier tasks each new one revises.",
    )


def _seed() -> int:
    return int(
        st.number_input(
            "Example", 0, 9999, 134, key="teach_seed", bind="query-params", help="Another number draws other samples."
        )
    )


def _knowledge(runs: int) -> tuple[str, int]:
    """Ask what the learner knows of the size of a change; return it with the runs that can be afforded."""
    words = {"known": "Told", "rate": "Estimated"}
    chosen = controls.switch(
        "The usual size of a change is",
        words,
        "teach_knowledge",
        "Told: the true mean square of a small step. Estimated: from the tasks themselves, one rate for all "
        "averages, chosen by likelihood, as in the recommended presets.",
    )
    return chosen, runs if chosen == "known" else _SLOW_RUNS


def _guess(question: str, options: list[str], answer: str, told: str) -> bool:
    """Ask before the answer is shown; return whether somebody has guessed."""
    guess = st.radio(
        f"**Predict before you look.** {question}",
        options,
        index=None,
        horizontal=True,
        help="There is nothing to lose: the answer appears with any choice.",
    )
    if guess is not None:
        st.markdown(f"{':green[**Yes.**]' if guess == answer else f'**No: {answer.lower()}.**'} {told}")
    return guess is not None


def _foot(study: str, table: pd.DataFrame, name: str, task: str, *shown: str) -> None:
    """Show how the numbers came about, the formulas, and a table to work with."""
    st.caption(study)
    row = st.container(horizontal=True, vertical_alignment="center")
    with row.popover("Exercise", icon=":material/edit_note:", help="A question, and the numbers to answer it with."):
        st.markdown(task)
        charts.table(table, name=f"learn-{name}", height=240)
    if shown:
        with row.popover("Formula", icon=":material/function:", help="What stands behind the picture."):
            for formula in shown:
                formulas.show(formula)


def _simulated(runs: int, told: bool) -> str:
    told_words = "The learner is told the true size of a change" if told else "The size of a change is estimated"
    return (
        f"{runs} simulated sequences of {teaching.TASKS} tasks. {told_words}. A boundary is drawn half-way between the "
        "two estimated class averages: the simplest rule, so differences come from the averages alone."
    )


def one_task(on: Screen) -> None:
    """One task alone."""
    with on.controls:
        n, seed = _n(), _seed()
        alone = {size: float(teaching.summary(Study(n=size))["avoidable"].iloc[0]) for size in (n, 4 * n)}
        _guess(
            "Four times as many samples: how many of the avoidable errors are left?",
            ["Half", "A quarter", "Nearly all"],
            "A quarter",
            f"{_errors(alone[n])} in 100 with {n} samples, {_errors(alone[4 * n])} with {4 * n}: "
            f"{_percent(alone[4 * n] / alone[n])}.",
        )
    best = teaching.best_error()
    on.title.markdown(f"# Alone, {n} samples cost {_errors(alone[n])} avoidable errors in 100")
    on.title.markdown(
        "A learner sees a few labelled examples of a task and draws a line between the two kinds. With few examples "
        f"the line lands somewhere else each time. Even the best line (dashed) errs {_errors(best)} times in 100, "
        "because the kinds overlap; what comes on top is *avoidable*."
    )
    with on.picture:
        charts.show(
            pictures.tries_chart,
            *teaching.try_one_task(n, seed=seed),
            large=on.large,
            name="learn-one-task",
            alt=f"{n} samples of two classes, forty learnt boundaries and the best one.",
        )
        sizes = (4, 10, 20, 40, 100)
        table = pd.DataFrame(
            {
                "n": sizes,
                "avoidable": [teaching.summary(Study(n=size))["avoidable"].iloc[0] for size in sizes],
            }
        )
        _foot(
            f"The dotted line belongs to the samples shown. Average over 400 × {teaching.TASKS} tasks.",
            table,
            "one-task",
            "Multiply *avoidable* (share of errors above the best possible) by n. What do you find? What does it say "
            "about tasks for which ten more samples are expensive?",
        )


@st.fragment
def _played(study: Study, rules: tuple[str, ...], large: bool) -> None:
    """Show a sequence task by task: the slider, Play and its keys, and the picture."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    newest = row.slider(
        "Newest task",
        1,
        teaching.TASKS,
        MIDDLE,
        key=TASK,
        bind="query-params",
        help="The task that has just arrived.",
        width=220,
    )
    with row.container(width="content"):
        player.show(newest, teaching.TASKS, TASK, hint=not large)
    with row.container(width=130):
        seed = _seed()
    charts.show(
        pictures.sequence_chart,
        teaching.simulate(study.n, study.drift, runs=1, seed=seed),
        newest - 1,
        study.b,
        rules=rules,
        large=large,
        name="learn-sequence",
        alt=f"Left: one average of {newest} tasks, with what each rule believes. Right: how many samples each task is "
        "worth under each rule.",
    )


def neighbours(on: Screen) -> None:
    """Forward learning."""
    with on.controls:
        n, drift = _n(), _drift()
        study = Study(n=n, drift=drift, b=0)
        table = teaching.task_table(study)
        middle = table[table["task"] == MIDDLE].set_index("rule").loc["forward"]
        st.markdown(
            f"By task {MIDDLE}, {n} samples of its own and those of the tasks before it are worth "
            f"**{number(middle['samples_promised'])}** (its *effective sample size*). Counted in 400 simulations: "
            f"{number(middle['samples'])}."
        )
        st.markdown(
            ":gray[Grey]: the average of a task's own samples. :orange[Orange]: mixed with what was known before "
            "(*forward* learning). Dashed: the truth, which a learner never sees."
        )
    on.title.markdown(
        f"# With those before it, task {MIDDLE} knows what {number(middle['samples_promised'])} samples would tell"
    )
    on.title.markdown(
        "Tasks follow one another, and each differs a little from the one before: both clouds move together by a small "
        "random step. So what was learnt yesterday is a slightly outdated hint for today. Press Play and watch the "
        "orange line settle."
    )
    with on.picture:
        _played(study, ("single", "forward"), on.large)
        _foot(
            f"{_simulated(400, told=True)} The picture shows one of them; bars and bands are ± one standard error.",
            table,
            "neighbours",
            "*samples*: how many samples a task alone would need to know its average as well. From which task on do "
            "further tasks add next to nothing? How does that depend on drift?",
            "tracks",
        )


def trust(on: Screen) -> None:
    """Trust against drift."""
    with on.controls:
        n, drift, b = _n(), _drift(), _b()
        study = Study(n=n, drift=drift, b=b)
        now = teaching.summary(study)
        removed = now.set_index("rule").loc["forward_backward"]
        table = teaching.drift_table(study)
        both = table[table["rule"] == "forward_backward"].set_index("drift")["removed"]
        looked = _guess(
            "Tasks change more from one to the next. Neighbours then help",
            ["More", "As much", "Less"],
            "Less",
            f"They remove {_percent(both[0.0])} of the avoidable errors where nothing changes, {_percent(both[0.5])} "
            f"at drift 0.5, {_percent(both[1.5])} at 1.5.",
        )
    on.title.markdown(f"# At drift {drift:g}, neighbours remove {_percent(removed['removed'])} of the avoidable errors")
    on.title.markdown(
        "How far should one trust a neighbour? The more tasks change, the less old samples say about the new task, and "
        "the less weight they get. The tasks themselves are equally hard at every drift: the best possible error stays "
        f"{_errors(teaching.best_error())} in 100."
    )
    with on.picture:
        charts.show(
            pictures.drift_chart,
            table if looked else table.iloc[:0],
            now,
            drift,
            large=on.large,
            name="learn-drift",
            alt="Errors above the best possible, by drift and rule.",
        )
        hidden = "" if looked else "Guess, and the rest of the curves appears. "
        _foot(
            f"{hidden}{_simulated(400, told=True)} Average over all tasks; bands are 95 % intervals.",
            table,
            "drift",
            "*removed*: share of the avoidable errors of single-task learning that a rule does not make. At which "
            "drift is it one half? Repeat with ten times as many samples: is it still worth asking the neighbours?",
            "ess_closed",
        )


def box(on: Screen) -> None:
    """Boxes, and how often they hold the truth."""
    with on.controls:
        n, drift = _n(), _drift()
        width = st.slider(
            "Size of the box",
            0.5,
            3.0,
            1.0,
            0.5,
            key="teach_width",
            bind="query-params",
            help="Half a side, in standard errors of the estimate. The paper uses 1.",
        )
        knowledge, runs = _knowledge(400)
        study = Study(n=n, drift=drift, knowledge=knowledge, runs=runs)
        table = teaching.box_table(study, width)
        shares = table.groupby("rule")["holds"].mean()
        one, two = teaching.inside_share(width), teaching.inside_share(width, sides=2)
        st.markdown(
            f"A box of {width:g} standard error{'s' if width != 1 else ''} each way should hold the truth in "
            f"{_percent(one)} of cases along one side, in **{_percent(two)}** along both. Counted: "
            f"{_percent(shares['single'])} alone, {_percent(shares['forward'])} forward, "
            f"{_percent(shares['forward_backward'])} forward and backward "
            f"(± {number(100.0 * (two * (1.0 - two) / runs) ** 0.5)})."
        )
    sizes = table.groupby("rule")["half_1"].median()
    smaller = 1.0 - sizes["forward_backward"] / sizes["single"]
    on.title.markdown(
        f"# Neighbours make the box {_percent(smaller)} narrower; it holds the truth in "
        f"{_percent(shares['forward_backward'])} of cases"
    )
    on.title.markdown(
        "An average of few samples is never exact, so the method reckons with a box of values the true average may "
        "have, and picks the rule that does best in the worst case inside (*minimax*). A box may miss the truth, but "
        "only as often as it says."
    )
    with on.picture:
        charts.show(
            pictures.box_chart,
            table,
            large=on.large,
            name="learn-box",
            alt=f"Estimates of {runs} simulations around the truth, for three rules, with the box.",
        )
        _foot(
            f"Each point is one simulation of task {MIDDLE}: a dot where the box around the estimate holds the truth, "
            f"a cross where it misses. {_simulated(runs, told=knowledge == 'known')}",
            table,
            "box",
            "Count, for every rule, how often *holds* is true. Within which bounds would you expect it? Make the box 2 "
            "wide, and let the size of a change be estimated: what happens to the counts, and why?",
            "uncertainty",
            "coverage",
        )


def repair(on: Screen) -> None:
    """Backward learning."""
    with on.controls:
        n, drift, b = _n(), _drift(), _b()
        study = Study(n=n, drift=drift, b=b)
        table = teaching.task_table(study)
        middle = table[table["task"] == MIDDLE].set_index("rule")
        reached = {
            steps: teaching.task_table(Study(n=n, drift=drift, b=steps))
            .set_index(["rule", "task"])
            .loc[("forward_backward", MIDDLE), "samples_promised"]
            for steps in (0, 1, 4)
        }
        first, fourth = reached[1] - reached[0], (reached[4] - reached[1]) / 3.0
        _guess(
            f"Which later task repairs task {MIDDLE} most?",
            ["The next", "All alike", "The last"],
            "The next",
            f"It adds {number(first)} samples' worth; the three after it {number(fourth)} each.",
        )
    before, after = (middle.loc[rule, "samples_promised"] for rule in ("forward", "forward_backward"))
    on.title.markdown(
        f"# Later tasks lift task {MIDDLE} from {number(before)} to {number(after)} samples' worth"
        if b
        else "# Without backward steps an old task stays as it was learnt"
    )
    on.title.markdown(
        "A new task also says something about old ones: it is their neighbour too, from the other side. *Backward* "
        "learning goes back a few tasks and improves what was believed of them. Press Play: the green line (now) "
        "leaves the orange one (when the task was new) and comes closer to the truth."
    )
    with on.picture:
        _played(study, ("single", "forward", "forward_backward"), on.large)
        _foot(
            f"Counted for task {MIDDLE}: {number(middle.loc['forward', 'samples'])} samples' worth forward, "
            f"{number(middle.loc['forward_backward', 'samples'])} forward and backward. {_simulated(400, told=True)}",
            table,
            "repair",
            "How many backward steps are enough for nine tenths of what can be gained at drift 0.1, and at 1?",
            "tracks",
        )


def failure(on: Screen) -> None:
    """Broken assumptions."""
    with on.controls:
        n, drift, b = _n(), _drift(), _b()
        meant = "The first is what the method assumes; the others break it."
        kind = controls.switch("How tasks change", _WORLDS, "teach_world", meant, index=1)
        knowledge, runs = _knowledge(400)
        study = Study(n=n, drift=drift, b=b, kind=kind, knowledge=knowledge, runs=runs)
        table, whole = teaching.task_table(study), teaching.summary(study).set_index("rule").loc["forward_backward"]
    gain = whole["removed"]
    if abs(gain) < 2.0 * whole["removed_se"]:
        effect = "neighbours change nothing that could be measured"
    elif gain > 0:
        effect = f"neighbours remove {_percent(gain)} of the avoidable errors"
    else:
        effect = f"with neighbours there are {number(1.0 - gain)} times as many avoidable errors"
    on.title.markdown(f"# {_WORLDS[kind]}: {effect}")
    cure = (
        "Now let the size be estimated, and compare."
        if knowledge == "known"
        else (
            "The size of a change is estimated here: what does not fit the past counts as a large change, and "
            "neighbours lose their weight."
        )
    )
    on.title.markdown(
        "The method trusts that tasks change by steps that are random, without direction and of about the same size. "
        f"{_WHY[kind]} {cure}"
    )
    with on.picture:
        charts.show(
            pictures.task_chart,
            table,
            large=on.large,
            name="learn-failure",
            alt="Errors above the best possible, by task and rule.",
        )
        _foot(
            f"{_simulated(runs, told=knowledge == 'known')} Bands are 95 % intervals. Your own tasks: see the page "
            "*Is it evolving?*",
            table,
            "failure",
            "In which of the four worlds would you rather learn every task alone? How could you notice from the data, "
            "without knowing the truth?",
        )


LESSONS: dict[str, Callable[[Screen], None]] = {
    "1 One task": one_task,
    "2 Neighbours": neighbours,
    "3 Trust": trust,
    "4 The box": box,
    "5 Repair": repair,
    "6 Failure": failure,
}
"""The steps of the story, by the names in the address."""
