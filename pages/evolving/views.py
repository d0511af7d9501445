"""The pictures of the evidence, one at a time, and what only experts ask: tests, reliability, components, alarm."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from imrc.diagnostics import Assessment, Changed, what_changed, words
from imrc.diagnostics.assessment import component_tracks, most_changing
from imrc.diagnostics.evidence import LEAST_TASKS
from imrc.diagnostics.power import power_sentences, power_table
from imrc.evaluation.settings import changed_s, seconds_of
from imrc.features import FEATURE_TITLES, FeatureSpec, make, output_names
from imrc.paper import shipped
from imrc.plots import evolving
from imrc.plots.tasks import image_side
from imrc.watch import arrival_sentences, watch_story
from pages.shell import charts, controls, running, state
from pages.shell.choice import OWN, Choice
from pages.shell.keeping import Kept

_Row = st.delta_generator.DeltaGenerator
_COMPARE = {"nothing": "Nothing", "independent": "Independent tasks", "random_walk": "A random walk"}
_TESTS = r"""
1. p-value of *all tasks share one distribution*. Q, below, is the variance between tasks over its expectation for
   identical tasks (1 if nothing changes).
2. Exact permutation test of *every order of the tasks is equally likely*. It looks for similar neighbours, slow change
   and periods. With fewer than 5 tasks, no order is unusual enough.
3. The change per step relative to the noise in an average of n samples: n ρ with the rate of change ρ = d² / σ², and
   its 95 % interval. It is estimated from all samples and converted to n.
4. With the sampling noise filtered out, do the changes drift in one direction throughout? A negative value means that
   they partly cancel out.
5. Are changes 2 to 5 tasks apart correlated? Positive: a change continues in the same direction for a while. Negative:
   it reverses. The last two questions matter only if the order of the tasks does.

**Partial autocorrelation** at lag t of component i of the task averages τ (last figure of the paper's appendix), by
Yule-Walker equations with biased autocovariances, then averaged over components. Without order it is about −1/k at lag
1, not 0. Trends, jumps, mean reversion and long periods make it positive, too.

$$
\hat\phi_{tt}^{(i)} = \mathrm{corr}\big(\tau_j^{(i)}, \tau_{j+t}^{(i)} \,\big|\,
\tau_{j+1}^{(i)}, \dots, \tau_{j+t-1}^{(i)}\big)
$$

**Distance** at lag t: D is the squared distance of two averages, mean over components, each divided by the noise
variance of an average; h is the noise of a task (1 on average). It is flat if the order does not matter, n ρ t if tasks
evolve, and negative where tasks are closer than noise explains.

$$
\gamma(t) = \mathrm{mean}_i\,\big[D_{i,i+t} - h_i - h_{i+t}\big]
$$

**Rate of change** ρ, one for all components, by restricted maximum likelihood of a random walk in noise; interval by
the likelihood ratio. Theorems 2 and 4 need n ρ; the charts show it for averages over all samples.

$$
\tau_j = \mathrm{level}_j + \mathrm{noise}, \qquad \mathrm{level}_j - \mathrm{level}_{j-1} \sim (0, n\rho)
$$
"""
_MODELS = r"""
Each kind is a Gaussian model with p fitted numbers, ℓ its restricted log-likelihood per component, and m the effective
number of independent components. Candidates are the positions of jumps, the shared levels or the frequencies that were
tried. If the two best differ by less than 2, both are named.

$$
\mathrm{BIC} = -2\,m\,\ell + p\,\log\big((k-1)\,m\big) + 2\log(\mathrm{candidates})
$$
"""
_ALARM = """
Each task is compared with all samples before it, using random splits. If nothing changes, its p-value is uniform
between 0 and 1. A bet on small p-values then pays 1 on average. A new bet starts at every task, and all bets
together are the *evidence*. If all rows are independent draws from one distribution, the probability that it ever
reaches 1 / α is at most α, however long you watch (Ville's inequality). Correlated successive rows set it off even if
nothing changes.
*More than usual* is calibrated by simulation only. An alarm means that something changes, not that the change matters.
Slow drift, which forward learning is made for, sets it off too. For a growing file, use `imrc watch`.
"""
_changes = Kept[tuple[Hashable, ...], Changed]("changes")
_stories = Kept[tuple[Hashable, ...], pd.DataFrame]("watching")


def _pacf(_choice: Choice, result: Assessment, row: _Row) -> None:
    told = "A synthetic sequence with the same number of tasks and a known kind of change."
    compare = controls.menu("Beside it", _COMPARE, "evolving_compare", told, index=1, place=row, width=190)
    if result.pacf is None:
        st.info("Partial autocorrelations need at least 4 tasks.", icon=":material/info:")
        return
    panels = {"These tasks": result.pacf}
    if compare != "nothing":
        beside = state.sequence_for(Choice(dataset=compare, k=min(max(len(state.visit().sequence()), 4), 60)))
        panels[_COMPARE[compare]] = running.diagnosed(beside, FeatureSpec(), 0).pacf
    charts.show(evolving.pacf_panels, panels, name=f"evolving-pacf-{compare}")


def _drawn(builder: Callable[..., Any], name: str) -> Callable[[Choice, Assessment, _Row], object]:
    """Return what draws a picture that needs the diagnosis alone."""
    return lambda _choice, result, _row: charts.show(builder, result, name=f"evolving-{name}")


def _what(choice: Choice, _result: Assessment, row: _Row) -> None:
    sequence, seed = state.visit().sequence(), choice.settings.seed
    # Names are part of what is shown and not of the fingerprint: another visitor's file may have others.
    key = sequence.fingerprint, seed, sequence.feature_names, sequence.class_names, tuple(sequence.categories.items())
    make = partial(what_changed, sequence, seed=seed)
    found = running.waited(_changes, key, make, "Comparing all columns", partial(changed_s, sequence))
    if not len(found.table):
        st.info("No column varies within a task, so there is nothing to compare.", icon=":material/info:")
        return
    builder, name = evolving.changed_panels, "changed"
    if image_side(found.columns) is not None:
        told = "The columns that changed most, or average images of early and late tasks."
        of = controls.switch("Of", {"columns": "Columns", "images": "Images"}, "evolving_what", told, place=row)
        if of == "images":
            builder, name = evolving.changed_images, "changed-images"
    st.markdown(f"**{words.changed_sentence(found)}**")
    charts.show(builder, found, name=name)
    told = f" {found.left_out:,} columns that are constant within tasks are left out." if found.left_out else ""
    st.caption(
        "Label shift: the share of a class changes. Input shift: a column changes in all classes alike. Concept "
        "change: it changes in one class relative to the others. If rows are independent, at most "
        f"{100 * found.level:g} % of the changes found should be false (q-values of Benjamini and Hochberg).{told}"
    )
    charts.csv(found.table, name="what-changed", label="All comparisons as CSV")


PICTURES = {
    "pacf": ("Neighbours", _pacf),
    "distance": ("Distance by lag", _drawn(evolving.variogram_chart, "variogram")),
    "alike": ("Which tasks are alike", _drawn(evolving.distance_heatmap, "distances")),
    "when": ("When it changed", _drawn(evolving.change_chart, "change")),
    "what": ("What changed", _what),
}


def _tests(choice: Choice, result: Assessment) -> None:
    st.markdown(_TESTS)
    st.caption(f"Q = {result.q:.3g}. {words.setting_sentence(result)}")
    features = choice.settings.features
    if features != features.diagnosed:
        st.caption(
            f"Rules use the representation *{FEATURE_TITLES[features.kind]}*. How often the verdict is wrong was "
            f"measured in *{FEATURE_TITLES[features.diagnosed.kind]}*, so the verdict uses that one."
        )
    content = partial(json.dumps, result.summary(choice.settings.n), indent=2, allow_nan=False, ensure_ascii=False)
    file, told = f"imrc-assess-{result.name}.json", "The verdict and every number behind it, for programs."
    controls.save("Download the evidence as JSON", content, file, "application/json", "evidence", help=told)


def _kinds(_choice: Choice, result: Assessment) -> None:
    if not result.models:
        st.info(f"To compare kinds of change, you need at least {LEAST_TASKS} tasks.", icon=":material/info:")
        return
    charts.show(evolving.model_gaps, result, name="evolving-models")
    st.markdown(_MODELS)


def _reliable(_choice: Choice, result: Assessment) -> None:
    if result.k < LEAST_TASKS or result.change is None or result.verdict.name == "dependent":
        st.info("The verdict names no kind of change here, so there is no reliability to show.", icon=":material/info:")
        return
    table = power_table(shipped.table("verdicts"), result.k)
    said = power_sentences(table, result.verdict)
    st.markdown(f"**{said[0]}** {said[1]}")
    charts.show(evolving.power_chart, table, [result.verdict.name, result.verdict.second], name="power-chart")
    st.caption(said[2])
    charts.csv(table, name="power")


def feature_names(choice: Choice) -> tuple[str, ...]:
    """Return names of the features that are diagnosed, as far as they have some."""
    sequence, settings = state.visit().sequence_for(choice), choice.settings
    return output_names(make(settings.features.diagnosed, sequence, settings.seed), sequence)


def _in_columns(choice: Choice) -> tuple[Assessment, tuple[str, ...]]:
    """Return a diagnosis whose components have names, if the columns do: of random features, of these themselves."""
    names, sequence = feature_names(choice), state.visit().sequence_for(choice)
    if names or not sequence.feature_names:
        return running.assessment(choice), names
    plain = replace(choice, settings=replace(choice.settings, features=FeatureSpec(kind="standardised")))
    return running.assessment(plain), feature_names(plain)


def _component(choice: Choice, result: Assessment) -> None:
    shown, names = _in_columns(choice)
    sequence = state.visit().sequence()
    width = shown.moments.tau.shape[1] // sequence.n_classes
    first = dict(zip(("evolving_class", "evolving_component"), divmod(most_changing(shown), width), strict=True))
    # Another sequence or representation has other components. Those of a visitor's own file are not part of a link.
    controls.start_anew((sequence.fingerprint, shown.representation, width), **first)
    bound: dict[str, Any] = {"bind": None} if choice.dataset == OWN else {}
    left, right = st.columns(2)
    usual, told = first["evolving_class"], "Each class has its own block of the mean vector."
    classes = dict(enumerate(sequence.class_names))
    block = controls.menu("Class", classes, "evolving_class", told, index=usual, place=left, **bound)
    usual = first["evolving_component"]
    told = "The share of the class, or a feature within the class. Default: the one that changes most."
    labels = {i: words.feature_label(i, width, names) for i in range(width)}
    position = controls.menu("Component", labels, "evolving_component", told, index=usual, place=right, **bound)
    tracks, title = component_tracks(shown, block * width + position), f"{labels[position]}, class {classes[block]}"
    charts.show(evolving.component_chart, tracks, title, name="evolving-component")
    if shown is not result:
        st.caption("The chart shows the standardised columns of the data. The rules learn from features that mix them.")
    st.caption("Equations (6), forward, and (10), both, of the paper. The documentation has them under *The method*.")


def _alarm(choice: Choice, result: Assessment) -> None:
    if result.k < 3:
        st.info("Watching needs at least 3 tasks.", icon=":material/info:")
        return
    levels = {value: f"{100 * value:g} %" for value in (0.01, 0.05, 0.1)}
    told = "The probability that the alarm ever goes off although nothing changes, however long you watch."
    alpha = controls.switch("False alarms at most", levels, "watch_alpha", told, index=1)
    run = running.result_of(choice, scenario="continual")  # an alarm hears tasks as they arrive, whatever is averaged
    if run is None:
        return
    sequence, features, seed = state.visit().sequence(), choice.settings.features.diagnosed, choice.settings.seed
    key = (sequence.fingerprint, features, seed, run.settings, run.n_tasks)
    make = partial(watch_story, sequence, features, seed, run)
    expected = partial(seconds_of, "alarm", sequence, features, seed)
    story = running.waited(_stories, key, make, "Watching the tasks", expected)
    said = arrival_sentences(story, result.k, alpha)
    st.markdown(f"**{said[0]}** " + " ".join(said[1:]))
    charts.show(evolving.watch_chart, story, alpha, name="watch-chart")
    st.markdown(_ALARM)
    charts.csv(story, name="watch")


EXPERTS = {
    "tests": ("How it is tested", _tests),
    "kinds": ("Kinds of change", _kinds),
    "reliable": ("How reliable it is", _reliable),
    "component": ("One component", _component),
    "alarm": ("Alarm", _alarm),
}
