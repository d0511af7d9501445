"""Tasks of any sizes in any order, with classes missing: the learner neither fails nor depends on its history."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import imrc
from imrc.core.presets import PRESETS
from imrc.core.settings import SETTINGS

ONE = st.integers(1, 300)


@st.composite
def sizes(draw):
    kind = draw(st.sampled_from(["random", "growing", "shrinking", "one huge"]))
    several = draw(st.lists(st.integers(1, 40) if kind == "one huge" else ONE, min_size=2, max_size=6))
    if kind == "growing":
        return sorted(several)
    if kind == "shrinking":
        return sorted(several, reverse=True)
    if kind == "one huge":
        several[draw(st.integers(0, len(several) - 1))] = 300
    return several


OPTIONS = st.one_of(
    st.fixed_dictionaries({"preset": st.sampled_from(PRESETS)}),
    st.fixed_dictionaries(
        {"preset": st.just("paper"), "change": st.sampled_from(list(SETTINGS["change"].words)), "W": st.integers(1, 5)}
    ),
    st.fixed_dictionaries({"preset": st.just("paper"), "instances": st.sampled_from(["reach", "recent", "all"])}),
    st.fixed_dictionaries({"preset": st.just("recommended"), "W": st.integers(1, 5)}),
    st.fixed_dictionaries({"preset": st.just("recommended"), "rate": st.sampled_from([0.0, 0.3, 100.0])}),
    st.fixed_dictionaries(
        {"preset": st.just("recommended"), "loss": st.just("0-1"), "rate": st.sampled_from([None, 0.3])}
    ),
)


def tasks_of(counts, n_classes, features, seed):
    generator = np.random.default_rng(seed)
    for count in counts:
        shown = generator.choice(n_classes, size=generator.integers(1, n_classes + 1), replace=False)
        y = generator.choice(shown, size=count)
        yield generator.normal(size=(count, features)) + y[:, None], y


def learnt(model):
    return [
        values[rule]
        for values in (model.mean_, model.mse_, model.coef_, model.risk_, model.ess_)
        for rule in ("single", "forward", "forward_backward")
    ]


@pytest.mark.first
@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(
    counts=sizes(), n_classes=st.integers(2, 5), features=st.sampled_from([1, 3, 40]), b=st.integers(0, 4),
    options=OPTIONS, seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
@example(counts=[200, 5, 5, 5, 5], n_classes=2, features=3, b=3, options={"preset": "recommended"}, seed=0)
@example(counts=[200, 5, 5, 5, 5], n_classes=2, features=400, b=1, options={"preset": "recommended"}, seed=0)
@example(
    counts=[1, 300, 1, 300], n_classes=5, features=40, b=0, options={"preset": "recommended", "loss": "0-1"}, seed=1
)
# Linear programs of this size take seconds where hypothesis tries many: two are enough.
@example(counts=[30, 1, 9], n_classes=4, features=3, b=2, options={"preset": "paper", "solver": "exact"}, seed=2)
@example(
    counts=[2, 40],
    n_classes=2,
    features=3,
    b=1,
    options={"preset": "recommended", "loss": "0-1", "solver": "exact"},
    seed=3,
)
def test_any_sizes_give_finite_repeatable_rules(counts, n_classes, features, b, options, seed):
    tasks = list(tasks_of(counts, n_classes, features, seed))
    model, again = imrc.IMRC(b=b, max_iter=50, **options), imrc.IMRC(b=b, max_iter=50, **options)
    for X, y in tasks:
        model.partial_fit(X, y, classes=np.arange(n_classes))
        assert all(np.isfinite(values).all() for values in learnt(model))
    for X, y in tasks:
        again.partial_fit(X.copy(), y.copy(), classes=np.arange(n_classes))
    for one, other in zip(learnt(model), learnt(again), strict=True):
        np.testing.assert_array_equal(one, other)
    probe = np.concatenate([X for X, _ in tasks])
    for task in range(len(tasks)):
        shares = model.predict_proba(probe, task=task)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
        assert set(model.predict(probe, task=task)) <= set(range(n_classes))


@pytest.mark.parametrize("preset", PRESETS)
def test_stored_samples_do_not_grow_with_the_sequence(preset):
    from imrc.core.learner import Learner
    from imrc.core.settings import resolve_settings

    learner = Learner(resolve_settings(preset, b=2), 2)
    generator = np.random.default_rng(0)
    kept = []
    for count in [250, 3, 120, 1, 60] * 16:
        X1 = np.column_stack([np.ones(count), generator.normal(size=(count, 4))])
        learner.step(X1, generator.integers(0, 2, count))
        # The rules of tasks out of reach are kept for good: 10 numbers a task.
        kept.append(learner.state_size() - 10 * max(learner.steps - 3, 0))
    assert max(kept[40:]) <= max(kept[:40])
