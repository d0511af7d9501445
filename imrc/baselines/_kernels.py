"""Compiled kernels of the compared methods: the network of MER, STRSAGA, and the Hoeffding tree of AUE."""

from __future__ import annotations

import numpy as np

from imrc._compiled import njit

_FAST = {"contract", "reassoc", "nsz"}
LOG_2PI = np.log(2.0 * np.pi)
SMALLEST_VARIANCE = 1e-300  #: Below it a feature has no spread: the reciprocal would overflow.


@njit(cache=True, nogil=True, fastmath=_FAST)
def _affine(weights, biases, a, out, rectify):  # type: ignore[no-untyped-def]
    """Write W a + b into `out`, negative values cut off if `rectify`."""
    rows, columns = weights.shape
    for i in range(rows):
        total = biases[i]
        for j in range(columns):
            total += weights[i, j] * a[j]
        out[i] = total if total > 0 or not rectify else 0.0


@njit(cache=True, nogil=True, fastmath=_FAST)
def _descend(weights, biases, a, delta, rate, back):  # type: ignore[no-untyped-def]
    """Step on one layer; `back` gets W' delta, with the weights from before the step.

    Rows with delta = 0 (units that are off) need no work: about half of them.
    """
    rows, columns = weights.shape
    back[:] = 0.0
    wants_back = len(back) > 0
    for i in range(rows):
        d = delta[i]
        if d == 0.0:
            continue
        if wants_back:
            for j in range(columns):
                back[j] += weights[i, j] * d
        step = rate * d
        for j in range(columns):
            weights[i, j] -= step * a[j]
        biases[i] -= step


@njit(cache=True, nogil=True)
def softmax_delta(scores, label):  # type: ignore[no-untyped-def]
    """Overwrite scores with softmax(scores) - onehot(label), the derivative of the cross-entropy."""
    top = scores.max()
    total = 0.0
    for c in range(len(scores)):
        scores[c] = np.exp(scores[c] - top)
        total += scores[c]
    for c in range(len(scores)):
        scores[c] /= total
    scores[label] -= scores.dtype.type(1.0)


@njit(cache=True, nogil=True)
def sgd_sequence(theta, n_hidden, n_outputs, X, y, order, rates):  # type: ignore[no-untyped-def]
    """Change theta (P,), as in `_network.Layout`, by one SGD step of size ``rates[s]`` per row of X in `order` (S,)."""
    n_inputs = X.shape[1]
    h = n_hidden
    a, b = h * n_inputs, h * n_inputs + h
    W1, b1 = theta[:a].reshape(h, n_inputs), theta[a:b]
    c, d = b + h * h, b + h * h + h
    W2, b2 = theta[b:c].reshape(h, h), theta[c:d]
    e = d + n_outputs * h
    W3, b3 = theta[d:e].reshape(n_outputs, h), theta[e:]
    a1, a2, out = np.empty(h, theta.dtype), np.empty(h, theta.dtype), np.empty(n_outputs, theta.dtype)
    d1, d2, none = np.empty(h, theta.dtype), np.empty(h, theta.dtype), np.empty(0, theta.dtype)
    for s in range(len(order)):
        x = X[order[s]]
        _affine(W1, b1, x, a1, True)
        _affine(W2, b2, a1, a2, True)
        _affine(W3, b3, a2, out, False)
        softmax_delta(out, y[order[s]])
        _descend(W3, b3, a2, out, rates[s], d2)
        for i in range(h):
            if a2[i] <= 0.0:
                d2[i] = 0.0
        _descend(W2, b2, a1, d2, rates[s], d1)
        for i in range(h):
            if a1[i] <= 0.0:
                d1[i] = 0.0
        _descend(W1, b1, x, d1, rates[s], none)


@njit(cache=True, nogil=True)
def _derivative(margins, label, out):  # type: ignore[no-untyped-def]
    """Write the derivative of the log-loss in the outputs: one output for two classes, else one per class."""
    if len(margins) == 1:
        sign = 1.0 if label == 1 else -1.0
        out[0] = -sign / (1.0 + np.exp(min(sign * margins[0], 700.0)))
        return
    np.positive(margins, out)  # to set a slice takes seconds to compile
    softmax_delta(out, label)


@njit(cache=True, nogil=True)
def strsaga(W, table, known, total, X, y, end, last, uniforms, rate, shrink):  # type: ignore[no-untyped-def]
    """Take len(uniforms) steps; change W, table, known and total in place; return the new end of the sample set.

    W (c, d) parameters; table (N, c) last derivative of each sample; known (N,) whether it has one; total (c, d) sum
    of table entries times samples; X (N, d) and y (N,) samples of the set, of which ``[0, end)`` have been read and
    ``[end, last)`` are still unread. Even steps read a new sample while there is one; other steps revisit.
    """
    outputs, width = W.shape
    entries = 0
    for i in range(end):
        entries += known[i]
    margins, g = np.empty(outputs), np.empty(outputs)
    for s in range(len(uniforms)):
        if s % 2 == 0 and end < last:
            i = end
            end += 1
        elif end == 0:
            continue
        else:
            i = min(int(uniforms[s] * end), end - 1)
        x = X[i]
        for c in range(outputs):
            value = 0.0
            for j in range(width):
                value += W[c, j] * x[j]
            margins[c] = value
        _derivative(margins, y[i], g)
        scale = rate / max(1, entries)
        for c in range(outputs):
            change = g[c] - table[i, c]
            for j in range(width):
                W[c, j] = (1.0 - rate * shrink) * W[c, j] - rate * change * x[j] - scale * total[c, j]
                total[c, j] += change * x[j]
            table[i, c] = g[c]
        if not known[i]:
            known[i] = True
            entries += 1
    return end


# The Hoeffding tree. Rows of X may be longer than its D features: the columns after them are not looked at.


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
    """Write class shares (n, C), 0: no vote; by naive Bayes or class counts, whichever was right more often."""
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
    feature, threshold, children, counts, seen, mean, m2, right, low, high, checked, X, y, start, grace
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
