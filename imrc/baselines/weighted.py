"""Logistic regression trained on the past by the weights of the default (see `imrc.Evolving`); one rule per task."""

from __future__ import annotations

from imrc.baselines.own import OwnEvolving


class Weighted(OwnEvolving):
    """Logistic regression on rows weighted by tracking, each set of weights judged by what it predicted."""

    title = "Logistic regression by tracked weights"
    idea = (
        "Logistic regression on the past with four sets of weights, from pooled to alone, and the best ones count most."
    )
    wins = "Tasks whose past is worth something."
    keeps = "All samples, and four classifiers per task."
