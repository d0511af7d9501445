"""Compared methods in the run loop, scores, paired tests, tables, ranks, curves."""

import gc
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import imrc
from imrc.baselines import registry
from imrc.baselines.simple import fit_multinomial
from imrc.evaluation import RunSettings
from imrc.evaluation.comparison import best_methods, comparison_table, curve_table, score_table, title_of_method
from imrc.evaluation.significance import paired_differences
from imrc.evaluation.splits import draw_task, repetition_seeds, task_seed
from imrc.paper import printed as in_print
from imrc.plots import method_curves, method_differences
from imrc.report.against_others import comparison_summary, significance_note

FAST = ("gem", "condor", "ella", "majority", "logistic_single", "logistic_recent", "oracle")


@pytest.fixture(scope="module")
def sequence():
    return imrc.datasets.load("random_walk", tasks=5, samples=60, seed=2)


@pytest.fixture(scope="module")
def result(sequence):
    return imrc.evaluate(sequence, n=8, b=1, repetitions=3, preset="paper", methods=("imrc", *FAST))


class TestRunLoop:
    def test_shapes_and_order(self, result):
        assert list(result.error_tables) == ["single", "forward", "forward_backward", *FAST]
        for name in FAST:
            errors = result.errors[name]
            assert errors.shape == (3, 5, 5)
            lower = np.tril(np.ones((5, 5), dtype=bool))
            assert np.isfinite(errors[:, lower]).all()
            assert np.isnan(errors[:, ~lower]).all()
            assert result.method_time_s[name].shape == result.state_sizes[name].shape == (3, 5)
            assert (result.method_time_s[name] > 0).all()
        assert list(result.risk_tables) == ["single", "forward", "forward_backward"]
        assert result.state_sizes["imrc"].shape == (3, 5)

    @pytest.mark.parametrize("name", ["imrc", "gem", "ella", "oracle"])
    def test_methods_do_not_depend_on_which_others_run(self, result, sequence, name):
        alone = imrc.evaluate(sequence, n=8, b=1, repetitions=3, preset="paper", methods=(name,))
        assert list(alone.errors) == (["single", "forward", "forward_backward"] if name == "imrc" else [name])
        for rule, errors in alone.errors.items():
            np.testing.assert_array_equal(errors, result.errors[rule])

    def test_majority_class_equals_the_loop_s_own_reference(self, result):
        np.testing.assert_array_equal(result.error_tables["majority"].newest(), result.majority.newest())

    def test_oracle_learns_the_pool_and_the_others_the_draws(self, result, sequence):
        seed, task = repetition_seeds(0, 3)[1], 3
        feature_map = imrc.features.make(result.settings.features, sequence, 0)
        X, y = feature_map.transform(sequence[task].X), sequence.encoded(task)
        draw = draw_task(y, 8, sequence.n_classes, task_seed(seed, task))
        for name, rows in (("oracle", draw.pool), ("logistic_single", draw.train)):
            W = fit_multinomial(X[rows], y[rows], sequence.n_classes)
            wrong = (X[draw.test] @ W[:, :-1].T + W[:, -1]).argmax(axis=1) != y[draw.test]
            for step in (3, 4):  # the rule stays as it was learnt
                assert result.errors[name][1, step, task] == wrong.mean()

    def test_b_reaches_the_method_that_shares_it(self, result, sequence):
        other = imrc.evaluate(sequence, n=8, b=0, repetitions=3, methods=("logistic_recent",), features="automatic")
        np.testing.assert_array_equal(other.errors["logistic_recent"], result.errors["logistic_single"])

    def test_profiles_share_the_method_s_random_start(self, sequence):
        """The rule of step 0 before any batch differs by hyper-parameters only: same seed, same permutation."""
        made = imrc.evaluate(sequence, n=8, repetitions=2, methods=("ewc", "ewc:empirical"))
        np.testing.assert_array_equal(made.errors["ewc"][:, 0], made.errors["ewc:empirical"][:, 0])

    def test_names_are_checked(self):
        for methods, said in (
            (("imrc", "gen"), "method must be one of 'aue'"),
            (("gem:fast",), "profile must be one of"),
            ((), "methods is empty"),
        ):
            with pytest.raises(ValueError, match=said):
                RunSettings(methods=methods)
        assert RunSettings(methods="gem").methods == ("gem",)
        assert RunSettings(methods=("gem", "imrc", "gem")).compared == ("gem",)


class TestPairedDifferences:
    A = np.array([0.30, 0.34, 0.29, 0.41, 0.38, 0.33, 0.35, 0.37, 0.31, 0.36, 0.40])
    B = np.array([0.28, 0.33, 0.30, 0.36, 0.35, 0.30, 0.36, 0.33, 0.29, 0.32, 0.35])

    def one(self, first, second):
        return paired_differences({"a": np.asarray(first), "b": np.asarray(second)}, "b")["a"]

    def test_against_scipy(self):
        found, expected = self.one(self.A, self.B), stats.ttest_rel(self.A, self.B)
        interval = expected.confidence_interval(0.95)
        by_scipy = expected.pvalue, interval.low, interval.high
        assert (found.p, found.low, found.high) == pytest.approx(by_scipy, rel=1e-12)
        assert (found.mean, found.stderr) == pytest.approx((np.mean(self.A - self.B), stats.sem(self.A - self.B)))
        assert found.clear

    def test_degenerate_pairs(self):
        assert self.one(self.A, self.A).p == 1.0
        assert not self.one(self.A, self.A + 1e-16).clear  # equal up to the last bit
        always = self.one([0.5, 0.6], [0.4, 0.5])
        assert (always.p, always.clear) == (0.0, True)
        alone = self.one([0.5], [0.4])
        assert math.isnan(alone.p)
        assert math.isnan(alone.low)
        assert not alone.clear
        with pytest.raises(ValueError, match="equal length"):
            self.one(self.A, self.B[:3])

    def test_intervals_are_those_that_are_tested(self, monkeypatch):
        """Clear, an interval without 0, and Holm's decision are one and the same; the planned comparison is alone."""
        # statsmodels collects garbage at every call, which takes longer the more tests have left behind.
        monkeypatch.setattr(gc, "collect", lambda *_: 0)
        rng = np.random.default_rng(1)
        decided = set()
        for _ in range(200):
            shifts = {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.07, "e": 0.09}
            errors = {name: 0.3 + shift + 0.05 * rng.normal(size=6) for name, shift in shifts.items()}
            found = paired_differences(errors, "a", planned="b")
            raw = {name: stats.ttest_rel(errors[name], errors["a"]).pvalue for name in "bcde"}
            rejected, corrected = multipletests([raw[name] for name in "cde"], method="holm")[:2]
            assert found["b"].clear == (raw["b"] < 0.05)
            assert found["b"].p == pytest.approx(raw["b"])
            for name, clear, p in zip("cde", rejected, corrected, strict=True):
                assert found[name].clear == clear == (found[name].low > 0 or found[name].high < 0)
                assert found[name].p == pytest.approx(p)
            decided.add(tuple(rejected))
        assert len(decided) > 2  # not all alike, so that something was compared

    def test_the_planned_comparison_of_a_run(self, result):
        gap = result.per_repetition("forward_backward") - result.per_repetition("single")
        expected = stats.ttest_1samp(gap, 0.0).confidence_interval(0.95)
        found = result.difference("forward_backward")
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        # Others of the run share the level: their intervals are at least as wide as 95 % ones.
        other = result.difference("gem")
        gap = stats.ttest_1samp(result.per_repetition("gem") - result.per_repetition("single"), 0.0)
        assert other.low <= gap.confidence_interval(0.95).low
        assert not result.difference("single").clear


def scores_of(errors: dict[str, list[float]], dataset: str = "toy", n: int = 10) -> pd.DataFrame:
    rows = [
        {"dataset": dataset, "n": n, "method": method, "repetition": r + 1, "average": e, "newest": 1 - e}
        | {"released": e, "before": e, "seconds": 0.001, "state": 7.0, "measure": "error"}
        | {"title": title_of_method(method)}
        for method, values in errors.items()
        for r, e in enumerate(values)
    ]
    return pd.DataFrame(rows)


class TestTables:
    def test_scores_are_means_of_the_error_matrix(self, result):
        scores = score_table(result).set_index(["method", "repetition"])
        errors = result.errors["gem"][1]
        by_hand = np.mean([errors[k, : k + 1].mean() for k in range(5)])
        row = scores.loc[("gem", 2)]
        assert row["average"] == pytest.approx(by_hand, rel=1e-12)
        assert row["newest"] == pytest.approx(np.diag(errors).mean(), rel=1e-12)
        assert row["before"] == pytest.approx(result.before["gem"][1, 1:].mean(), rel=1e-12)
        assert row["state"] == result.state_sizes["gem"][1, -1]
        assert ("imrc:paper:single", 3) in scores.index

    def test_runs_must_be_paired(self, result, sequence):
        other = imrc.evaluate(sequence, n=8, b=1, repetitions=3, seed=1, methods=("gem",))
        with pytest.raises(ValueError, match="not paired"):
            score_table([result, other])

    def test_table_by_hand(self):
        scores = scores_of(
            {
                "imrc:paper": [0.30, 0.32, 0.31, 0.29, 0.30],
                "gem": [0.40, 0.43, 0.41, 0.40, 0.39],
                "mer": [0.20, 0.21, 0.22, 0.18, 0.21],
                "ewc": [0.30, 0.31, 0.32, 0.29, 0.31],
            }
        )
        table = comparison_table(scores).set_index("method")
        verdicts = {"mer": "better", "imrc:paper": "reference", "ewc": "no clear difference", "gem": "worse"}
        assert list(table["verdict"].items()) == list(verdicts.items())
        assert table.loc["gem", ["difference", "error"]].tolist() == pytest.approx([0.102, 0.406])
        assert table.loc[["gem", "mer"], "rank"].tolist() == [4.0, 1.0]
        assert comparison_table(scores, reference="gem").set_index("method").loc["gem", "verdict"] == "reference"

    def test_kinds_of_error(self):
        scores = scores_of({name: [0.3, 0.4] for name in ("imrc:paper", *registry)})
        assert comparison_table(scores, kind="average")["error"].to_numpy() == pytest.approx(0.35)
        assert comparison_table(scores, kind="newest")["error"].to_numpy() == pytest.approx(0.65)
        own = comparison_table(scores, kind="own").set_index("method")["error"]
        assert set(own.index[own > 0.5]) == {"condor", "driftsurf", "aue"}

    def test_one_repetition_is_not_tested(self):
        table = comparison_table(scores_of({"imrc:paper": [0.3], "gem": [0.4]}))
        assert set(table["verdict"]) == {"reference", "untested"}
        assert "no test is possible" in significance_note(table, 1)
        assert "With one repetition" in comparison_summary(table, "Toy")

    def test_printed_numbers_stand_beside_the_right_rows(self):
        scores = scores_of(
            {"imrc:paper": [0.3, 0.3], "imrc:paper:single": [0.3, 0.4], "mer": [0.2, 0.3], "mer:argparse": [0.3, 0.3]},
            "spam",
            100,
        )
        shown = in_print.with_printed(comparison_table(scores)).set_index("method")["printed"]
        assert shown["mer"] == 0.08
        assert shown["imrc:paper"] == in_print.errors("spam", 100)["imrc"][0]
        assert shown[["imrc:paper:single", "mer:argparse"]].isna().all()

    def test_wrong_scores_are_refused(self):
        two = pd.concat([scores_of({"gem": [0.1]}), scores_of({"gem": [0.1]}, n=20)])
        with pytest.raises(ValueError, match="a single dataset and n, got 2"):
            comparison_table(two)
        with pytest.raises(ValueError, match="different repetitions"):
            comparison_table(scores_of({"gem": [0.1, 0.2], "mer": [0.1]}))
        with pytest.raises(ValueError, match="reference must be one of"):
            comparison_table(scores_of({"gem": [0.1]}), reference="mer")

    def test_curve_against_k_is_that_of_shorter_runs(self, result, sequence):
        curve = curve_table([result], by="k").set_index(["method", "x"])["value"]
        for k in (1, 3):
            shorter = imrc.evaluate(sequence.head(k), n=8, b=1, repetitions=3, preset="paper", methods=("imrc", "gem"))
            assert curve[("gem", k)] == pytest.approx(shorter.headline()["gem"].mean, rel=1e-12)
            assert curve[("imrc:paper", k)] == pytest.approx(shorter.headline()["forward_backward"].mean, rel=1e-12)
        newest = curve_table([result], by="step", kind="newest").set_index(["method", "x"])["value"]
        assert newest[("gem", 2)] == pytest.approx(np.nanmean(result.errors["gem"][:, 1, 1]))


SHIFTS = {"imrc:paper": 0.0, "gem": 0.01, "mer": -0.03, "ewc": 0.1, "aue": 0.03, "condor": -0.1}


class TestFigures:
    @pytest.mark.parametrize("seed", range(5))
    def test_exactly_the_drawn_intervals_that_hold_zero_are_hollow(self, seed):
        rng = np.random.default_rng(seed)
        errors = {name: (0.3 + shift + 0.02 * rng.standard_normal(6)).tolist() for name, shift in SHIFTS.items()}
        drawn, figure = 0, method_differences(comparison_table(scores_of(errors)))
        assert figure.layout.yaxis.dtick == 1  # every row has its name
        for trace in figure.data:
            low, high = trace.x - trace.error_x.arrayminus, trace.x + trace.error_x.array
            holds = (low <= 0) & (high >= 0)
            assert (holds == trace.marker.symbol.endswith("-open")).all()
            drawn += len(holds)
        assert drawn == len(SHIFTS) - 1

    def test_bands_are_intervals_over_repetitions_and_in_the_legend(self, result):
        curve = curve_table([result])
        figure = method_curves(part := curve[curve["method"] == "gem"])
        band, line, key = figure.data
        quantile = stats.t.ppf(0.975, result.settings.repetitions - 1)
        np.testing.assert_allclose(band.y[:5], part["value"] + quantile * part["stderr"])
        np.testing.assert_allclose(line.y, part["value"])
        assert "95 % intervals" in key.name
        assert {*best_methods(comparison_table(score_table(result)), 20)} == {"imrc:paper", *FAST} - {"oracle"}
        assert [said.text.partition("</span> ")[2] for said in figure.layout.annotations] == ["GEM"]


@pytest.mark.parametrize("together", [1, 500])
def test_errors_do_not_depend_on_how_many_test_rows_are_there_at_once(together, compiled, monkeypatch):
    sequence = imrc.datasets.load("random_walk", tasks=6, samples=60)
    # One rule for all tasks, one for each task, old rules that never change.
    names = ("gem", "condor", "logistic_seen", "logistic_single", "majority")
    whole = imrc.evaluate(sequence, n=6, repetitions=2, methods=names)
    monkeypatch.setattr("imrc.evaluation.run._TOGETHER", together)
    parts = imrc.evaluate(sequence, n=6, repetitions=2, methods=names)
    for name in names:
        np.testing.assert_array_equal(parts.error_tables[name].values, whole.error_tables[name].values)
