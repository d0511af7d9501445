"""Parts of one iteration of the subgradient kernel, each timed in a compiled loop of its own."""

from __future__ import annotations

import time

import numpy as np
from numba import njit

from imrc.solvers import _scores, _subgradient, _worst
from imrc.solvers._batch import prepare_instances
from imrc.solvers._simd import aligned, fma, load, splat, store
from tests.benchmarks.problems import random_problem

ROUNDS = 4000


@njit(nogil=True)
def _sweeps(rounds, data, work, m, pp, n_classes, flags):
    total = 0.0
    for _ in range(rounds):
        total += _subgradient._sweep(data, work, 0, 0 * m, m, 2 * m, 3 * m, 4 * m, flags, n_classes, pp, 1e-9, 0.5)
    return total


@njit(nogil=True)
def _marking_sweeps(rounds, data, work, m, pp, n_classes, flags, marks):
    total = 0.0
    for _ in range(rounds):
        total += _subgradient._sweep_marking(
            data, work, 0, 0 * m, m, 2 * m, 3 * m, 4 * m, flags, n_classes, pp, 1e-9, 0.5, marks
        )
    return total


@njit(nogil=True)
def _products(rounds, data, n, p, nn, pp, n_classes, work, m, at):
    for _ in range(rounds):
        _scores.all_scores(data, n * pp, p, nn, pp, n_classes, work, m, work, at)


@njit(nogil=True)
def _searches(rounds, work, at, values, pad, nn, n_classes, flags):
    total = 0.0
    for _ in range(rounds):
        value, row = _worst.find_worst(work, at, values, pad, nn, n_classes, flags, 0 * nn)
        total += value + row
    return total


@njit(nogil=True)
def _peak(rounds):
    """Sixteen independent chains of multiply-adds: the arithmetic limit."""
    a0, a1, a2, a3 = splat(1.0), splat(1.1), splat(1.2), splat(1.3)
    b0, b1, b2, b3 = splat(1.4), splat(1.5), splat(1.6), splat(1.7)
    c0, c1, c2, c3 = splat(1.8), splat(1.9), splat(2.0), splat(2.1)
    x, y = splat(0.999), splat(1e-3)
    for _ in range(rounds):
        a0, a1, a2, a3 = fma(a0, x, y), fma(a1, x, y), fma(a2, x, y), fma(a3, x, y)
        b0, b1, b2, b3 = fma(b0, x, y), fma(b1, x, y), fma(b2, x, y), fma(b3, x, y)
        c0, c1, c2, c3 = fma(c0, x, y), fma(c1, x, y), fma(c2, x, y), fma(c3, x, y)
    out = aligned(8)
    store(out, 0, a0 + a1 + a2 + a3 + b0 + b1 + b2 + b3 + c0 + c1 + c2 + c3)
    return out[0]


@njit(nogil=True)
def _reads(rounds, array):
    """Sum an array again and again: read bandwidth of the cache level it fits."""
    a, b, c, d = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    for _ in range(rounds):
        for j in range(0, len(array), 32):
            a, b = a + load(array, j), b + load(array, j + 8)
            c, d = c + load(array, j + 16), d + load(array, j + 24)
    out = aligned(8)
    store(out, 0, a + b + c + d)
    return out[0]


@njit(nogil=True)
def _writes(rounds, array):
    value = splat(1.0)
    for _ in range(rounds):
        for j in range(0, len(array), 8):
            store(array, j, value)
        value = value + splat(1.0)


def _seconds(function, *arguments):
    function(1, *arguments)
    best = np.inf
    for _ in range(40):
        started = time.thread_time()
        function(ROUNDS, *arguments)
        best = min(best, time.thread_time() - started)
    return best / ROUNDS


def limits():
    """Measured limits of one core: multiply-adds per second, reads and writes in the first and second cache."""
    small, large = aligned(2048), aligned(51_200)  # 16 KB, 400 KB
    return {
        "multiply_adds_per_ns": 12 * 8 / _seconds(_peak) / 1e9,
        "read_l1_gb_s": small.nbytes / _seconds(_reads, small) / 1e9,
        "read_l2_gb_s": large.nbytes / _seconds(_reads, large) / 1e9,
        "write_l1_gb_s": small.nbytes / _seconds(_writes, small) / 1e9,
    }


def measure():
    """Return one row per part and problem: time, work, and share of the limit that binds."""
    limit = limits()
    rows = []
    for n, features, n_classes in ((10, 20, 2), (10, 400, 2), (100, 400, 2), (40, 10, 4)):
        X1, tau, lam = random_problem(n, features, n_classes)
        instances = prepare_instances(X1)
        nn, pp = _scores.padded(n, features + 1)
        m = n_classes * pp
        at, values = 5 * m, 5 * m + n_classes * nn
        pad, flags = values + nn, values + 2 * nn
        work = aligned(flags + (n_classes + 7) // 8 * 8)
        rng = np.random.default_rng(0)
        work[: 3 * m] = rng.normal(size=3 * m)
        work[3 * m : 4 * m].reshape(n_classes, pp)[:, : features + 1] = tau
        work[4 * m : 5 * m].reshape(n_classes, pp)[:, : features + 1] = lam
        work[pad + n : pad + nn] = _worst.LOWEST
        words = np.zeros(n_classes * ((pp + 63) // 64), dtype=np.int64)
        incremental = instances.mode != _subgradient.DIRECT
        shape = {"n": n, "D": features, "C": n_classes}
        zeros = np.zeros_like(tau)
        whole = _whole(instances, tau, lam, zeros)
        rows.append({**shape, "part": "iteration", "ns": whole, "share_of_limit": "", "limit": ""})
        if incremental:
            sweep = _seconds(_marking_sweeps, instances.data, work, m, pp, n_classes, flags, words.view(np.uint8))
        else:
            sweep = _seconds(_sweeps, instances.data, work, m, pp, n_classes, flags)
        share = 2 * 8 * m / sweep / 1e9 / limit["write_l1_gb_s"]
        rows.append({**shape, "part": "sweep", "ns": 1e9 * sweep, "share_of_limit": share, "limit": "L1 writes"})
        product = _seconds(_products, instances.data, n, features + 1, nn, pp, n_classes, work, m, at)
        share = n * tau.size / product / 1e9 / limit["multiply_adds_per_ns"]
        name = "product X y" + (" (refresh only)" if incremental else "")
        rows.append({**shape, "part": name, "ns": 1e9 * product, "share_of_limit": share, "limit": "multiply-adds"})
        search = _seconds(_searches, work, at, values, pad, nn, n_classes, flags)
        rows.append({**shape, "part": "worst subset", "ns": 1e9 * search, "share_of_limit": "", "limit": "latency"})
    rows += [
        {"n": "", "D": "", "C": "", "part": name, "ns": value, "share_of_limit": "", "limit": "measured limit"}
        for name, value in limit.items()
    ]
    return rows


def _whole(instances, tau, lam, zeros):
    out = np.empty_like(tau), np.empty_like(tau)
    best = np.inf
    for _ in range(60):
        started = time.thread_time()
        _subgradient.run(instances.data, len(instances.X1), instances.mode, 0, tau, lam, zeros, zeros, 2000, *out)
        best = min(best, time.thread_time() - started)
    return 1e9 * best / 2000
