"""Compiled kernels of the Hoeffding tree: routing samples, class statistics of leaves, naive Bayes."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def find_leaf(feature, threshold, children, x):  # type: ignore[no-untyped-def]
    """Return the node a sample ends in; feature -1 marks a leaf."""
    node = 0
    while feature[node] >= 0:
        node = children[node, 0] if x[feature[node]] <= threshold[node] else children[node, 1]
    return node


@njit(cache=True, nogil=True)
def bayes_scores(counts, seen, mean, m2, x, out):  # type: ignore[no-untyped-def]
    """Write log(count_c) + sum over features of the log normal density into `out`.

    counts (C,) class weights of the leaf; seen (C,) samples behind mean and m2 (C, D). A feature without spread has
    density 1 at its only value and 0 elsewhere. A class without observed samples contributes its weight alone.
    """
    for c in range(len(counts)):
        if counts[c] <= 0.0:
            out[c] = -np.inf
            continue
        value = np.log(counts[c])
        if seen[c] > 0.0:
            for j in range(len(x)):
                difference = x[j] - mean[c, j]
                variance = m2[c, j] / (seen[c] - 1.0) if seen[c] > 1.0 else 0.0
                if variance > 0.0:
                    value -= 0.5 * (difference * difference / variance + np.log(2.0 * np.pi * variance))
                elif difference != 0.0:
                    value = -np.inf
                    break
        out[c] = value


@njit(cache=True, nogil=True)
def leaf_votes(counts, seen, mean, m2, right, x, out):  # type: ignore[no-untyped-def]
    """Write class shares of one sample into `out`: adaptive naive Bayes, or the class counts.

    right (2,) how often the majority class and naive Bayes were right in this leaf; the better one votes. All zeros:
    the leaf has no vote.
    """
    total = 0.0
    if right[0] > right[1]:
        for c in range(len(counts)):
            out[c] = counts[c]
            total += out[c]
    else:
        bayes_scores(counts, seen, mean, m2, x, out)
        top = out.max()
        for c in range(len(counts)):
            out[c] = np.exp(out[c] - top) if top > -np.inf else 0.0
            total += out[c]
    if total > 0.0:
        for c in range(len(counts)):
            out[c] /= total


@njit(cache=True, nogil=True)
def votes(feature, threshold, children, counts, seen, mean, m2, right, X, out):  # type: ignore[no-untyped-def]
    """Write the class shares of all samples, shape (n, C)."""
    for i in range(len(X)):
        leaf = find_leaf(feature, threshold, children, X[i])
        leaf_votes(counts[leaf], seen[leaf], mean[leaf], m2[leaf], right[leaf], X[i], out[i])


@njit(cache=True, nogil=True)
def learn(  # type: ignore[no-untyped-def]
    feature, threshold, children, counts, seen, mean, m2, low, high, right, checked, X, y, start, grace
):
    """Learn samples from `start` on; stop when a leaf is due for a split attempt.

    low, high (nodes, C, D) extremes per class; checked (nodes,) leaf weight at the last attempt. Returns the number
    of samples done and the leaf, or -1.
    """
    scores = np.empty(counts.shape[1])
    for i in range(start, len(X)):
        x, label = X[i], y[i]
        leaf = find_leaf(feature, threshold, children, x)
        total = counts[leaf].sum()
        if total > 0.0:
            if counts[leaf].argmax() == label:
                right[leaf, 0] += 1.0
            bayes_scores(counts[leaf], seen[leaf], mean[leaf], m2[leaf], x, scores)
            if scores.max() > -np.inf and scores.argmax() == label:
                right[leaf, 1] += 1.0
        counts[leaf, label] += 1.0
        seen[leaf, label] += 1.0
        for j in range(len(x)):
            difference = x[j] - mean[leaf, label, j]
            mean[leaf, label, j] += difference / seen[leaf, label]
            m2[leaf, label, j] += difference * (x[j] - mean[leaf, label, j])
            low[leaf, label, j] = min(low[leaf, label, j], x[j])
            high[leaf, label, j] = max(high[leaf, label, j], x[j])
        if total + 1.0 - checked[leaf] >= grace:
            checked[leaf] = total + 1.0
            return i + 1, leaf
    return len(X), -1
