"""What gains are measured against, what effective samples count, and what the window W does, in every preset."""

from itertools import pairwise

import numpy as np
import pytest

import imrc
from imrc.core.change import forward_change, printed_change, squared_differences
from imrc.core.learner import Learner
from imrc.core.recursions import combine, sample_moments, track_forward
from imrc.core.settings import SETTINGS, IMRCSettings, resolve_settings


def flipping_tasks(count, n, seed=0, distance=2.0):
    """Two Gaussian classes whose labels change places from task to task: the past misleads."""
    generator = np.random.default_rng(seed)
    for task in range(count):
        y = np.arange(n) % 2
        X = generator.normal(size=(n, 3)) + distance * np.where((y + task) % 2, 1.0, -1.0)[:, None]
        yield np.column_stack([np.ones(n), X]), y


def settling_tasks():
    """Twenty tasks whose mean wanders, then twenty that stay where they are."""
    generator = np.random.default_rng(3)
    centre = np.zeros(6)
    for task in range(40):
        if task < 20:
            centre = centre + generator.normal(size=6)
        y = np.arange(40) % 2
        yield np.column_stack([np.ones(40), centre + generator.normal(size=(40, 6)) + y[:, None]]), y


class TestReference:
    def test_where_each_task_alone_has_all_shares_all_rules_are_the_single_task_rule(self):
        learner = Learner(resolve_settings("recommended", b=2), 2)
        steps = (learner.step(X1, y) for X1, y in flipping_tasks(16, 12))
        alone = [step for step in steps if step.choices["rate inf"] > 0.999]
        assert len(alone) > 5
        for step in alone:
            # Two starts of one convex problem; another penalty would differ by a third.
            distance = np.linalg.norm(step.forward.coef - step.single.coef)
            assert distance < 0.03 * np.linalg.norm(step.single.coef)

    @pytest.mark.parametrize("confidence", ["root_mse", "over_ess"])
    def test_single_task_rules_for_0_1_loss_share_the_scale_of_lambda(self, confidence):
        """One task has no neighbour: the forward rule is the single-task rule, whatever lambda is made of."""
        X1, y = next(flipping_tasks(1, 30))
        learner = Learner(IMRCSettings(tracking="component", confidence=confidence, lambda0=0.7), 2)
        step = learner.step(X1, y)
        np.testing.assert_array_equal(step.single.coef, step.forward.coef)


class TestEffectiveSamples:
    def test_a_run_reports_them(self):
        tasks = [imrc.Task(X1[:, 1:], y) for X1, y in flipping_tasks(10, 40)]
        result = imrc.evaluate(imrc.TaskSequence(tasks), n=12, features="identity", repetitions=3)
        alone = result.choices["rate inf"] > 0.999
        assert alone.any()
        ess = result.ess_tables["forward"].at_lag(0)
        np.testing.assert_allclose(ess[alone], 12.0, rtol=0.01)


class TestWindow:
    @pytest.mark.parametrize("loss", ["log", "0-1"])
    def test_recent_tasks_decide(self, loss):
        shares = {}
        for W in (3, "all"):
            learner = Learner(resolve_settings("recommended", b=0, W=W, loss=loss, max_iter=20), 2)
            shares[W] = [learner.step(X1, y).choices["rate inf"] for X1, y in settling_tasks()]
        assert shares[3][-1] > shares["all"][-1]
        assert shares[3][:3] == shares["all"][:3]  # three tasks are all there are

    def test_a_window_as_long_as_the_sequence_is_all(self):
        models = []
        for W in (SETTINGS["W"].limits[1], "all"):
            model = imrc.IMRC(W=W, features="identity")
            for X1, y in settling_tasks():
                model.partial_fit(X1[:, 1:], y)
            models.append(model)
        np.testing.assert_allclose(models[0].coef_["forward_backward"], models[1].coef_["forward_backward"])

    def test_defaults_belong_to_the_preset(self):
        assert resolve_settings("paper", b=3).W == 2
        assert resolve_settings("recommended", b=3).W == resolve_settings("recommended", b=3, loss="0-1").W == "all"
        settings = imrc.RunSettings(preset="recommended")
        assert settings.learner.W == "all"
        assert imrc.RunSettings(preset="recommended", W="all") == settings
        assert imrc.RunSettings.from_json(settings.to_json()) == settings
        assert imrc.RunSettings(preset="paper", W=2) == imrc.RunSettings(preset="paper")
        assert imrc.RunSettings(preset="recommended", W=2).learner.W == 2

    def test_all_is_refused_where_differences_are_averaged(self):
        with pytest.raises(ValueError, match="W='all' needs tracking='rate'"):
            imrc.IMRC(preset="paper", W="all").fit([[0.0], [1.0]], [0, 1])


class TestPrintedChange:
    """Eq. (7) as printed against its definition, spelt out."""

    @staticmethod
    def closest(tau, centre, newest, W):
        order = sorted(range(newest + 1), key=lambda task: (abs(task - centre), task))
        chosen = sorted(order[: W + 1])
        return np.mean([(tau[b] - tau[a]) ** 2 for a, b in pairwise(chosen)], axis=0)

    @pytest.mark.parametrize("W", range(1, 9))
    def test_equals_the_closest_tasks(self, W):
        tau = np.random.default_rng(W).normal(size=(9, 4))
        squared = squared_differences(tau)
        for newest in range(1, 9):
            for i in range(newest):
                wanted = self.closest(tau, i + 1, newest, W)
                np.testing.assert_allclose(printed_change(squared, i, newest, W), wanted, rtol=1e-13)
            np.testing.assert_array_equal(
                printed_change(squared, newest - 1, newest, W), forward_change(squared, newest, W)
            )

    @pytest.mark.parametrize(("W", "b"), [(1, 2), (2, 3), (3, 9), (5, 2), (7, 4)])
    def test_the_learner_uses_it(self, W, b):
        tasks = list(flipping_tasks(9, 15, seed=W))
        learner = Learner(IMRCSettings(b=b, W=W, change="printed", max_iter=5), 2)
        steps = [learner.step(X1, y) for X1, y in tasks]
        tau, s = map(np.stack, zip(*(sample_moments(X1, y, 2) for X1, y in tasks), strict=True))
        squared = squared_differences(tau)
        newest = len(tasks) - 1
        forward_d = np.stack([forward_change(squared, max(j, 1), W) for j in range(newest + 1)])
        tau_fwd, s_fwd = track_forward(tau, s, forward_d)
        tau_bwd, s_bwd = tau[-1], s[-1]
        for j in range(newest - 1, max(newest - b, 0) - 1, -1):
            d = self.closest(tau, j + 1, newest, W)
            mean, mse = combine(tau_fwd[j], s_fwd[j], tau_bwd, s_bwd + d)
            np.testing.assert_allclose(steps[-1].revised[j].mean, mean, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(steps[-1].revised[j].mse, mse, rtol=1e-10, atol=1e-14)
            tau_bwd, s_bwd = combine(tau[j], s[j], tau_bwd, s_bwd + d)

    def test_it_differs_from_the_released_one_and_needs_the_paper_s_tracking(self):
        tasks = list(flipping_tasks(6, 15))
        means = []
        for change in ("released", "printed"):
            learner = Learner(IMRCSettings(W=3, change=change, max_iter=5), 2)
            means.append([learner.step(X1, y) for X1, y in tasks][-1].revised[3].mean)
        assert not np.allclose(*means)
        with pytest.raises(ValueError, match="change='printed' needs tracking='component'"):
            resolve_settings("recommended", b=3, change="printed")
