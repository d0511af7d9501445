"""Which kind of change? Competing Gaussian models of the averages, compared by BIC.

Every model is a covariance V = I + terms of one standardised component with at most four shared numbers; its
restricted likelihood needs G only. Terms are either multiples of one kernel (random walk, autoregression,
integrated walk), handled in the kernel's eigenbasis, or low-rank (trend, jump, season), handled by the
determinant lemma.

Unequal n: rows are scaled to noise variance 1 and kernels with them. A term a I stays a multiple of the
identity in the scaled rows, an approximation for unequal n (scatter then shrinks with the noise).

Kernel models are maximised over grids. A grid step can cost about 0.0025 k m_eff in BIC; models
within that distance of the best are refined before the comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from imrc._types import Floats, Ints
from imrc.diagnostics.evidence import RATIOS, log_likelihood, project, walk_basis

ChangeKind = Literal["no_change", "iid", "evolving", "mean_reverting", "trend", "jump", "periodic", "recurring"]

_LONGEST = 400
_PHIS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_SEASON_PHIS = (0.3, 0.6, 0.8, 0.9)
_COMPOSITE_TASKS = 12
_A_GRID = np.concatenate([[0.0], np.logspace(-2, 4, 36)])
_B_GRID = np.concatenate([[0.0], np.logspace(-2, 6, 36)])
_GRID_COST = 0.0025
_PIECE_TASKS = 8
_FEWEST_PIECES = 4
"""No more pieces are searched than one per so many tasks, but so many in any case: a walk in one direction looks like
many short pieces on few levels."""


@dataclass(frozen=True)
class ModelFit:
    """One model at its best parameters."""

    name: str  # for example "rw+iid"
    group: ChangeKind  # the kind of change it stands for
    likelihood: float  # restricted log-likelihood per component
    bic: float  # -2 m_eff l + p log((k - 1) m_eff) + 2 log(candidates)
    parameters: dict[str, float]  # best values: ratio (n rho), a, b, phi or f (cycles per task)
    starts: tuple[int, ...] = ()  # first task, from 0, of each piece after a jump
    states: tuple[int, ...] = ()  # which state each piece is in, from 0; pieces in one state have one level


class _Kernel(NamedTuple):
    """A covariance in its eigenbasis within the contrasts, and G in it."""

    values: Floats
    vectors: Floats
    projections: Floats

    def search(self, grid: Floats, name: str) -> _Search:
        """Search over V = I + (size) K; the size is called `name`."""
        return _Search(lambda size: log_likelihood(size, self.values, self.projections), (grid,), (name,))


class _Search(NamedTuple):
    """A maximum over a grid that can be refined."""

    table: Callable[..., Floats]  # likelihood for one array of values per axis, result with one axis each
    axes: tuple[Floats, ...]
    names: tuple[str, ...]

    def best(self) -> tuple[float, dict[str, float], tuple[int, ...]]:
        """Return maximum, parameters and position on the grid."""
        values = self.table(*self.axes)
        place = tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape))
        parameters = {name: float(axis[i]) for name, axis, i in zip(self.names, self.axes, place, strict=True)}
        return float(values[place]), parameters, place

    def refined(self) -> tuple[float, dict[str, float]]:
        """Return maximum and parameters after refining twice around the best point, 9 points per axis."""
        search = self
        value, parameters, place = search.best()
        for _ in range(2):
            axes = tuple(
                np.linspace(axis[max(i - 1, 0)], axis[min(i + 1, len(axis) - 1)], 9)
                for axis, i in zip(search.axes, place, strict=True)
            )
            search = search._replace(axes=axes)
            value, parameters, place = search.best()
        return value, parameters


@lru_cache(maxsize=40)
def _cached_eigen(kind: str, k: int, noise: bytes) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors (k, k-1) of an autoregressive ("0.6") or integrated-walk ("irw") kernel.

    In the contrasts, rows scaled to equal noise; `noise` holds h.
    """
    time = np.arange(k)
    if kind == "irw":
        below = np.tril(np.ones((k, k)), -1)
        twice = below @ below
        kernel = twice @ twice.T
    else:
        kernel = float(kind) ** np.abs(time[:, None] - time[None, :])
    h = np.frombuffer(noise)
    root, (_, basis) = np.sqrt(h), walk_basis(h)
    values, vectors = np.linalg.eigh(basis.T @ (kernel / np.outer(root, root)) @ basis)
    values, vectors = np.maximum(values, 0.0), np.asarray(basis @ vectors)
    values.flags.writeable = vectors.flags.writeable = False
    return values, vectors


@lru_cache(maxsize=8)
def _season_vectors(k: int, noise: bytes) -> tuple[Floats, Floats, Ints]:
    """Frequencies, orthonormal cosine and sine columns (F, k, 2) in the contrasts, and their ranks."""
    few = np.array([1 / 3, 2 / 5, 1 / 2])
    # From 8 tasks on: 2/k, 2/k + 1/(4k), ..., 1/2.
    frequencies = few if k < 8 else np.arange(8, 2 * k + 1) / (4.0 * k)
    angle = 2.0 * np.pi * np.outer(frequencies, np.arange(k))
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=2)
    constant = np.frombuffer(noise) ** -0.5
    constant = constant / np.linalg.norm(constant)
    pairs = pairs * np.frombuffer(noise)[None, :, None] ** -0.5
    pairs = pairs - constant[None, :, None] * (constant @ pairs)[:, None, :]
    left, singular, _ = np.linalg.svd(pairs, full_matrices=False)
    alive = singular > 1e-6 * singular[:, :1]
    columns = left * alive[:, None, :]
    frequencies.flags.writeable = columns.flags.writeable = False
    return frequencies, columns, alive.sum(axis=1)


def _partitions(items: int, parts: int) -> int:
    """Return the number of ways to divide so many items into so many parts (Stirling numbers of the second kind)."""
    onto: int = sum((-1 if i % 2 else 1) * math.comb(parts, i) * (parts - i) ** items for i in range(parts + 1))
    return onto // math.factorial(parts)


def _joined(blocks: Floats, mass: Floats) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Join pieces that are no neighbours, two at a time, least loss of energy first; yield energy and states."""
    blocks, mass = blocks.copy(), mass.copy()
    states = np.arange(len(mass))
    apart = np.abs(states[:, None] - states) > 1
    while True:
        own = np.diag(blocks) / mass
        both = np.diag(blocks)[:, None] + np.diag(blocks) + 2.0 * blocks
        loss = own[:, None] + own - both / (mass[:, None] + mass)
        loss[~np.triu(apart)] = np.inf
        i, j = np.unravel_index(int(loss.argmin()), loss.shape)
        if not np.isfinite(loss[i, j]):
            return
        blocks[i] += blocks[j]
        blocks[:, i] += blocks[:, j]
        mass[i] += mass[j]
        apart[i] &= apart[j]
        apart[:, i] = apart[i]
        keep = np.arange(len(mass)) != j
        blocks, mass, apart = blocks[np.ix_(keep, keep)], mass[keep], apart[np.ix_(keep, keep)]
        states = np.where(states == j, i, states - (states > j))
        yield float((np.diag(blocks) / mass).sum()), tuple(int(state) for state in states)


class _Fitter:
    """Fits all models to one matrix G (rows scaled to noise variance 1)."""

    def __init__(self, scaled: Floats, h: Floats, m_eff: float) -> None:
        self.k, self.G, self.h, self.m_eff, self.noise = len(h), scaled, h, m_eff, h.tobytes()
        # A straight line, scaled like the rows, without the mean direction, normalised.
        constant = h**-0.5 / np.linalg.norm(h**-0.5)
        line = np.arange(self.k, dtype=np.float64) / np.sqrt(h)
        line = line - constant * (constant @ line)
        self.line = line / np.linalg.norm(line)
        values, vectors = walk_basis(h)
        self.walk = _Kernel(values, vectors, project(scaled, vectors))
        self.trace = float(self.walk.projections.sum())
        self.fits: list[ModelFit] = []
        self.searches: dict[str, _Search] = {}

    def kernel(self, kind: str) -> _Kernel:
        """Return the kernel of `_cached_eigen`."""
        values, vectors = _cached_eigen(kind, self.k, self.noise)
        return _Kernel(values, vectors, project(self.G, vectors))

    def fit(
        self, name: str, group: ChangeKind, value: float, p: int, candidates: int = 1, **parameters: float
    ) -> ModelFit:
        """Return a fitted model with its BIC."""
        penalty = p * np.log((self.k - 1) * self.m_eff) + 2.0 * math.log(candidates)
        return ModelFit(name, group, value, float(-2.0 * self.m_eff * value + penalty), parameters)

    def search(
        self, name: str, group: ChangeKind, search: _Search, p: int, candidates: int = 1, **fixed: float
    ) -> None:
        """Record a model maximised over a grid, and how to refine it."""
        value, parameters, _ = search.best()
        self.fits.append(self.fit(name, group, value, p, candidates, **fixed, **parameters))
        self.searches[name] = search

    def refine(self) -> None:
        """Refine the models whose BIC exceeds the best by less than a grid step can cost."""
        limit = min(fit.bic for fit in self.fits) + _GRID_COST * self.k * self.m_eff
        for position, fit in enumerate(self.fits):
            if fit.bic <= limit and fit.name in self.searches:
                value, parameters = self.searches[fit.name].refined()
                gain = 2.0 * self.m_eff * (value - fit.likelihood)
                self.fits[position] = replace(
                    fit, likelihood=value, bic=fit.bic - gain, parameters={**fit.parameters, **parameters}
                )

    def plain(self) -> None:
        """No change, scatter, random walk, random walk with scatter, autoregression a phi^|i - j|, straight line."""
        value, a, _ = self._on_white(0.0, 0)
        self.fits += [self.fit("identical", "no_change", -0.5 * self.trace, 0), self.fit("iid", "iid", value, 1, a=a)]
        values, projections = self.walk.values, self.walk.projections
        self.search("rw", "evolving", self.walk.search(RATIOS, "ratio"), 1)

        def table(a: Floats, ratio: Floats) -> Floats:
            v = 1.0 + a[:, None, None] + ratio[None, :, None] * values
            return np.asarray(-0.5 * (np.log(v) + projections / v).sum(axis=2))

        self.search("rw+iid", "evolving", _Search(table, (_A_GRID, _A_GRID), ("a", "ratio")), 2)
        searches = {phi: self.kernel(str(phi)).search(_A_GRID, "a") for phi in _PHIS}
        phi = max(_PHIS, key=lambda phi: searches[phi].best()[0])
        self.search("ar", "mean_reverting", searches[phi], 2, phi=phi)
        value, a, b = self._on_white(float(self.line @ self.G @ self.line), 1)
        self.fits.append(self.fit("trend", "trend", value, 2, a=a, b=b))

    def _on_white(self, energy: float, rank: int, *, scatter: bool = True) -> tuple[float, float, float]:
        """Maximise over V = (1 + a) I + b P (a = 0 without scatter), P a projector with energy tr(P G): exact."""
        rest = self.k - 1 - rank
        variance = max((self.trace - energy) / rest, 1.0) if rest > 0 and scatter else 1.0
        top = energy / rank if rank else variance
        if top < variance:  # b = 0 binds
            top = variance = max(self.trace / (self.k - 1), 1.0) if scatter else 1.0
        value = rest * np.log(variance) + (self.trace - energy) / variance + rank * np.log(top) + energy / top
        return float(-0.5 * value), variance - 1.0, top - variance

    def pieces(self) -> None:
        """One jump, several jumps, and levels that come back: tasks between two jumps share one level.

        For every number of pieces the best places are found exactly, by dynamic programming: the energy of a division
        is the sum of those of its pieces. Pieces that may share a level are joined greedily, least loss first.
        """
        root = self.h**-0.5
        sums = np.zeros((self.k + 1, self.k + 1))
        sums[1:, 1:] = (root[:, None] * self.G * root).cumsum(axis=0).cumsum(axis=1)
        mass = np.concatenate([[0.0], (root**2).cumsum()])
        begin, end = np.triu_indices(self.k + 1, 1)
        energies = np.full((self.k + 1, self.k + 1), -np.inf)
        inside = sums[end, end] - sums[begin, end] - sums[end, begin] + sums[begin, begin]
        energies[begin, end] = inside / (mass[end] - mass[begin])
        level = energies[0, self.k]
        best, places = energies[0], []
        jumps: list[ModelFit] = []
        returns: list[ModelFit] = []
        for count in range(2, min(max(_FEWEST_PIECES, self.k // _PIECE_TASKS), self.k - 1) + 1):
            total = best[:, None] + energies
            places.append(total.argmax(axis=0))
            best = total.max(axis=0)
            starts = [int(places[-1][self.k])]
            for earlier in places[-2::-1]:
                starts.insert(0, int(earlier[starts[0]]))
            divisions = math.comb(self.k - 1, count - 1)
            value, a, b = self._on_white(float(best[self.k] - level), count - 1, scatter=count == 2)
            name = "jump" if count == 2 else "jumps"
            jump = self.fit(name, "jump", value, 2, divisions, a=a, b=b)
            jumps.append(replace(jump, starts=tuple(starts)))
            edges = np.array([0, *starts, self.k])
            blocks = np.diff(np.diff(sums[np.ix_(edges, edges)], axis=0), axis=1)
            for energy, states in _joined(blocks, np.diff(mass[edges])):
                levels = max(states) + 1
                if 2 * levels > count:  # levels come back, on average; fewer returns are jumps, or a walk's
                    continue
                value, a, b = self._on_white(energy - level, levels - 1, scatter=False)
                # So many ways to give the pieces levels, neighbours never the same.
                ways = divisions * _partitions(count - 1, levels - 1)
                fit = self.fit("states", "recurring", value, 2, ways, a=a, b=b)
                returns.append(replace(fit, starts=tuple(starts), states=states))
        self.fits += [min(found, key=lambda fit: fit.bic) for found in (jumps, returns) if found]

    def season(self) -> Floats:
        """Scatter plus one frequency; returns tr(P_f G) of all frequencies."""
        frequencies, columns, ranks = _season_vectors(self.k, self.noise)
        flat = columns.transpose(1, 0, 2).reshape(self.k, -1)
        energies = project(self.G, flat).reshape(len(frequencies), 2).sum(axis=1)
        best: tuple[float, float, float, float] = (-np.inf, 0.0, 0.0, 0.0)
        for rank in np.unique(ranks):
            where = np.flatnonzero(ranks == rank)
            choice = where[int(np.argmax(energies[where]))]
            value, a, b = self._on_white(float(energies[choice]), int(rank))
            best = max(best, (value, a, b, float(frequencies[choice])))
        value, a, b, f = best
        self.fits.append(self.fit("season", "periodic", value, 2, max(1, self.k // 2), a=a, b=b, f=f))
        return np.asarray(energies)

    def _on_kernel(self, kernel: _Kernel, columns: Floats, name: str) -> _Search:
        """Search over V = I + (size) K + b W W'; the size of the kernel is called `name`."""
        weights = kernel.vectors.T @ columns
        weights = weights[:, (weights**2).sum(axis=0) > 1e-12]
        rank, count = weights.shape[1], len(kernel.values)

        def table(size: Floats, b: Floats) -> Floats:
            v = 1.0 + np.multiply.outer(size, kernel.values)
            base = np.log(v).sum(axis=1) + (kernel.projections / v).sum(axis=1)
            x = weights[None] / v[:, :, None]
            inner = np.einsum("kr,aks->ars", weights, x)
            flat = x.transpose(1, 0, 2).reshape(count, -1)
            image = (kernel.vectors.T @ (self.G @ (kernel.vectors @ flat))).reshape(count, len(size), rank)
            outer = np.einsum("akr,kas->ars", x, image)
            # Determinant lemma and Sherman-Morrison-Woodbury in the eigenbasis of W' V^-1 W.
            values, vectors = np.linalg.eigh(inner)
            rotated = np.einsum("ari,ars,asi->ai", vectors, outer, vectors)
            scale = 1.0 + b[None, :, None] * values[:, None, :]
            extra = np.log(scale) - b[None, :, None] * rotated[:, None, :] / scale
            return np.asarray(-0.5 * (base[:, None] + extra.sum(axis=2)))

        return _Search(table, (_A_GRID, _B_GRID), (name, "b"))

    def on_kernels(self, energies: Floats) -> None:
        """Walk with drift, integrated walk with a line, season on a walk or an autoregression (from 12 tasks on).

        At the few frequencies that stand out; `energies` are those of `season`.
        """
        line = self.line[:, None]
        self.search("drift", "trend", self._on_kernel(self.walk, line, "ratio"), 2)
        self.search("smooth", "trend", self._on_kernel(self.kernel("irw"), line, "ratio"), 2)
        if self.k < _COMPOSITE_TASKS:
            return
        frequencies, columns, _ = _season_vectors(self.k, self.noise)
        chosen = self._standing_out(frequencies, energies)
        candidates = max(1, self.k // 2)
        walks = {f: self._on_kernel(self.walk, columns[f], "ratio") for f in chosen}
        f = max(chosen, key=lambda f: walks[f].best()[0])
        self.search("rw+season", "periodic", walks[f], 3, candidates, f=float(frequencies[f]))
        pairs = {
            (phi, f): self._on_kernel(self.kernel(str(phi)), columns[f], "a") for phi in _SEASON_PHIS for f in chosen
        }
        phi, f = max(pairs, key=lambda pair: pairs[pair].best()[0])
        self.search("ar+season", "periodic", pairs[phi, f], 4, candidates, f=float(frequencies[f]), phi=phi)

    def _standing_out(self, frequencies: Floats, energies: Floats) -> list[int]:
        """Return the peaks of the differences' periodogram, its maximum, and the best frequency of levels."""
        differences = np.diff(np.diff(self.G, axis=0), axis=1)
        waves = np.exp(-2j * np.pi * np.outer(np.arange(self.k - 1), frequencies))
        power = (waves.conj() * (differences @ waves)).sum(axis=0).real
        inner = np.flatnonzero((power[1:-1] >= power[:-2]) & (power[1:-1] >= power[2:])) + 1
        highest = sorted(inner, key=lambda i: -power[i])[:3]
        return sorted({*map(int, highest), int(np.argmax(power)), int(np.argmax(energies))})


def fit_models(scaled: Floats, h: Floats, m_eff: float) -> tuple[ModelFit, ...]:
    """Fit all models to G_ij / sqrt(h_i h_j), mean h 1, and sort them by BIC, best first; last 400 tasks only."""
    offset = max(0, len(h) - _LONGEST)
    fitter = _Fitter(np.ascontiguousarray(scaled[offset:, offset:]), np.ascontiguousarray(h[offset:]), m_eff)
    fitter.plain()
    fitter.pieces()
    fitter.on_kernels(fitter.season())
    fitter.refine()
    shifted = [replace(fit, starts=tuple(start + offset for start in fit.starts)) for fit in fitter.fits]
    return tuple(sorted(shifted, key=lambda fit: fit.bic))
