"""Compiled kernels of the Hoeffding tree: routing samples, class statistics of leaves, naive Bayes.

Rows of X may be longer than the D features of the tree: the columns after them are not looked at.
"""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit

_FAST = {"contract", "reassoc", "nsz"}
LOG_2PI = np.log(2.0 * np.pi)
SMALLEST_VARIANCE = 1e-300
"""Below it a feature has no spread: the reciprocal would overflow."""


@njit(cache=True, nogil=True)
def find_leaf(feature, threshold, children, x):  # type: ignore[no-untyped-def]
    """Return the node a sample ends in; feature -1 marks a leaf."""
    node = 0
    while feature[node] >= 0:
        node = children[node, 0] if x[feature[node]] <= threshold[node] else children[node, 1]
    return node


@njit(cache=True, nogil=True)
def precisions(seen, m2, out):  # type: ignore[no-untyped-def]
    """Write 1 / variance of each feature into `out`, 0 where there is no spread.

    Returns the sum of log(2 pi variance) over the features with spread, and how many those are. One logarithm is
    taken per run of features whose product stays far from overflow, since logarithms are most of the time of a tree.
    """
    logs, product, spread = 0.0, 1.0, 0
    for j in range(len(m2)):
        out[j] = 0.0
        if m2[j] <= SMALLEST_VARIANCE * (seen - 1.0) or seen <= 1.0:
            continue
        precision = (seen - 1.0) / m2[j]
        out[j] = precision
        spread += 1
        if not 1e-100 < precision < 1e100:
            logs -= np.log(precision)
            continue
        product *= precision
        if not 1e-200 < product < 1e200:
            logs -= np.log(product)
            product = 1.0
    return logs - np.log(product) + spread * LOG_2PI, spread


@njit(cache=True, nogil=True, fastmath=_FAST)
def squared_distance(x, mean, precision):  # type: ignore[no-untyped-def]
    """Return the sum over features of (x - mean)^2 / variance."""
    total = 0.0
    for j in range(len(mean)):
        difference = x[j] - mean[j]
        total += difference * difference * precision[j]
    return total


@njit(cache=True, nogil=True)
def log_density(x, mean, precision, logs, spread):  # type: ignore[no-untyped-def]
    """Return the sum over features of the log normal density; -inf off the only value of a feature without spread."""
    if spread < len(mean):
        for j in range(len(mean)):
            if precision[j] == 0.0 and x[j] != mean[j]:
                return -np.inf
    return -0.5 * (squared_distance(x, mean, precision) + logs)


@njit(cache=True, nogil=True)
def prepare(seen, m2, precision, logs, spread):  # type: ignore[no-untyped-def]
    """Fill `precision` (C, D), `logs` (C,) and `spread` (C,) of a leaf for `bayes_scores`."""
    for c in range(len(seen)):
        logs[c], spread[c] = precisions(seen[c], m2[c], precision[c])


@njit(cache=True, nogil=True)
def bayes_scores(counts, seen, mean, precision, logs, spread, x, out):  # type: ignore[no-untyped-def]
    """Write log(count_c) + sum over features of the log normal density into `out`.

    counts (C,) class weights of the leaf; seen (C,) samples behind the statistics; the rest from `prepare`. A feature
    without spread has density 1 at its only value and 0 elsewhere. As in MOA, a class of which the leaf has seen
    nothing has density 0 once it has seen another, and class weights alone vote in a leaf that has seen nothing.
    """
    empty = seen.max() == 0.0
    for c in range(len(counts)):
        if counts[c] <= 0.0 or (seen[c] == 0.0 and not empty):
            out[c] = -np.inf
            continue
        out[c] = np.log(counts[c])
        if not empty:
            out[c] += log_density(x, mean[c], precision[c], logs[c], spread[c])


@njit(cache=True, nogil=True)
def votes(feature, threshold, children, counts, seen, mean, m2, right, X, out):  # type: ignore[no-untyped-def]
    """Write the class shares (n, C) of samples: by naive Bayes or class counts, whichever was right more often.

    0: no vote.
    """
    ready = np.zeros(len(feature), dtype=np.bool_)
    precision, logs = np.empty(mean.shape), np.empty(counts.shape)
    spread = np.empty(counts.shape, dtype=np.int64)
    for i in range(len(X)):
        leaf = find_leaf(feature, threshold, children, X[i])
        if right[leaf, 0] > right[leaf, 1]:
            out[i] = counts[leaf]
        else:
            if not ready[leaf]:
                prepare(seen[leaf], m2[leaf], precision[leaf], logs[leaf], spread[leaf])
                ready[leaf] = True
            bayes_scores(counts[leaf], seen[leaf], mean[leaf], precision[leaf], logs[leaf], spread[leaf], X[i], out[i])
            top = out[i].max()
            for c in range(out.shape[1]):
                out[i, c] = np.exp(out[i, c] - top) if top > -np.inf else 0.0
        total = out[i].sum()
        if total > 0.0:
            out[i] /= total


@njit(cache=True, nogil=True)
def learn(  # type: ignore[no-untyped-def]
    feature, threshold, children, counts, seen, mean, m2, low, high, right, checked, X, y, start, grace
):
    """Learn samples from `start` on, until a leaf is due for a split; return how many are done, and the leaf or -1.

    low, high (nodes, C, D) extremes per class; checked (nodes,) samples a leaf had seen at the last attempt: whole
    numbers, so that rounding of class weights cannot move an attempt.
    """
    classes, features = mean.shape[1:]
    scores, precision, logs = np.empty(classes), np.empty((classes, features)), np.empty(classes)
    spread = np.empty(classes, dtype=np.int64)
    prepared = -1
    for i in range(start, len(X)):
        x, label = X[i], y[i]
        leaf = find_leaf(feature, threshold, children, x)
        total = counts[leaf].sum()
        if leaf != prepared:
            prepare(seen[leaf], m2[leaf], precision, logs, spread)
            prepared = leaf
        if total > 0.0:
            if counts[leaf].argmax() == label:
                right[leaf, 0] += 1.0
            bayes_scores(counts[leaf], seen[leaf], mean[leaf], precision, logs, spread, x, scores)
            if scores.max() > -np.inf and scores.argmax() == label:
                right[leaf, 1] += 1.0
        counts[leaf, label] += 1.0
        seen[leaf, label] += 1.0
        for j in range(features):
            difference = x[j] - mean[leaf, label, j]
            mean[leaf, label, j] += difference / seen[leaf, label]
            m2[leaf, label, j] += difference * (x[j] - mean[leaf, label, j])
            low[leaf, label, j] = min(low[leaf, label, j], x[j])
            high[leaf, label, j] = max(high[leaf, label, j], x[j])
        logs[label], spread[label] = precisions(seen[leaf, label], m2[leaf, label], precision[label])
        samples = seen[leaf].sum()
        if samples - checked[leaf] >= grace:
            checked[leaf] = samples
            return i + 1, leaf
    return len(X), -1
