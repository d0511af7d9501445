"""A classifier trained on the past by the weights the default gives, see `imrc.Evolving`; one rule per task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from imrc.baselines.base import Settings, choice
from imrc.baselines.own import OwnEvolving

Learnt = Literal["logistic", "forest"]


@dataclass(frozen=True)
class WeightedSettings(Settings):
    """Which classifier of scikit-learn is trained; its values are scikit-learn's, but for 20 trees of a forest."""

    learnt: str = choice("logistic", Learnt)


class Weighted(OwnEvolving):
    """Logistic regression, a forest or boosting on rows weighted by tracking, each candidate judged by predictions."""

    title = "Logistic regression by tracked weights"
    origin = "simple"
    idea = "Logistic regression on the past by four sets of weights, pooled to alone; what predicted tasks best counts."
    wins = "Where another classifier than ours fits the rows, and the past is worth something."
    keeps = "All samples, and four classifiers per task."
    profiles: ClassVar[Mapping[str, Settings]] = {
        "default": WeightedSettings(),
        "forest": WeightedSettings("forest"),
    }
    settings: WeightedSettings  # type: ignore[assignment]  # in place of the number of tasks that own methods reach

    def _start(self) -> None:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression

        super()._start()
        linear = self.settings.learnt == "logistic"
        self.estimator = LogisticRegression(max_iter=1000) if linear else RandomForestClassifier(20)
