"""Which kind of change? Competing Gaussian models of the averages, compared by BIC.

Every model is a covariance V = I + terms of one standardised component with at most four shared numbers, whose
restricted likelihood depends only on G: multiples of one kernel (random walk, autoregression, integrated walk), in its
eigenbasis, or low-rank terms (trend, jump, season), by the determinant lemma. For unequal n, rows and kernels are
scaled to noise variance 1. A term a I then stays a multiple of the identity, which is an approximation.
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
_GRID_COST = 0.0025  # in BIC, times k m_eff: what a step of a grid can cost
_PIECE_TASKS = 8
_FEWEST_PIECES = 4  # More pieces than that, or one per eight tasks, would describe a walk in one direction.


@dataclass(frozen=True)
class ModelFit:
    """One model at its best parameters."""

    name: str  # for example "rw+iid"
    group: ChangeKind  # the kind of change it describes
    likelihood: float  # restricted log-likelihood per component
    bic: float  # -2 m_eff l + p log((k - 1) m_eff) + 2 log(candidates)
    parameters: dict[str, float]  # best values: ratio (n rho), a, b, phi or f (cycles per task)
    starts: tuple[int, ...] = ()  # first task, from 0, of each piece after a jump
    states: tuple[int, ...] = ()  # state of each piece, from 0; pieces in one state share a level


class _Kernel(NamedTuple):
    """Eigenvalues and eigenvectors of a covariance within the contrasts, and projections of G."""

    values: Floats
    vectors: Floats
    projections: Floats

    def search(self, grid: Floats, name: str) -> _Search:
        """Return a search over V = I + (size) K, with a name for the size."""
        return _Search(lambda size: log_likelihood(size, self.values, self.projections), (grid,), (name,))


class _Search(NamedTuple):
    """A maximum over a grid that can be refined."""

    table: Callable[..., Floats]  # from one array of values per axis to likelihoods with these axes
    axes: tuple[Floats, ...]
    names: tuple[str, ...]

    def best(self, refinements: int = 0) -> tuple[float, dict[str, float]]:
        """Return maximum and parameters, refined so often around the best point, with 9 points per axis."""
        values = self.table(*self.axes)
        place = np.unravel_index(int(np.argmax(values)), values.shape)
        if not refinements:
            parameters = {name: float(axis[i]) for name, axis, i in zip(self.names, self.axes, place, strict=True)}
            return float(values[place]), parameters
        around = [axis[max(int(i) - 1, 0) : int(i) + 2] for axis, i in zip(self.axes, place, strict=True)]
        return self._replace(axes=tuple(np.linspace(one[0], one[-1], 9) for one in around)).best(refinements - 1)


@lru_cache(maxsize=40)
def _cached_eigen(kind: str, k: int, noise: bytes) -> tuple[Floats, Floats]:
    """Return the eigenbasis (k, k-1), in the contrasts, of an autoregressive ("0.6") or integrated walk ("irw")."""
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
    """Return frequencies, orthonormal cosine and sine columns (F, k, 2) in the contrasts, and their ranks."""
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


def _joined(blocks: Floats, mass: Floats) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Join pieces that are not neighbours, two at a time with the least loss of energy. Yield energy and states."""
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
        self, name: str, group: ChangeKind, found: float | _Search, p: int, candidates: int = 1, **parameters: float
    ) -> ModelFit:
        """Return a model with its BIC, at its likelihood or at the best of a search, which can be refined."""
        if isinstance(found, _Search):
            self.searches[name] = found
            found, best = found.best()
            parameters |= best
        penalty = p * np.log((self.k - 1) * self.m_eff) + 2.0 * math.log(candidates)
        return ModelFit(name, group, found, float(-2.0 * self.m_eff * found + penalty), parameters)

    def refine(self) -> None:
        """Refine the models whose BIC exceeds the best by less than a grid step can cost, before they are compared."""
        limit = min(fit.bic for fit in self.fits) + _GRID_COST * self.k * self.m_eff
        for position, fit in enumerate(self.fits):
            if fit.bic <= limit and fit.name in self.searches:
                value, parameters = self.searches[fit.name].best(refinements=2)
                bic = fit.bic - 2.0 * self.m_eff * (value - fit.likelihood)
                self.fits[position] = replace(fit, likelihood=value, bic=bic, parameters=fit.parameters | parameters)

    def plain(self) -> None:
        """Fit no change, scatter, random walk, random walk with scatter, autoregression, and straight line."""
        values, projections = self.walk.values, self.walk.projections

        def table(a: Floats, ratio: Floats) -> Floats:
            v = 1.0 + a[:, None, None] + ratio[None, :, None] * values
            return np.asarray(-0.5 * (np.log(v) + projections / v).sum(axis=2))

        searches = {phi: self.kernel(str(phi)).search(_A_GRID, "a") for phi in _PHIS}
        phi = max(_PHIS, key=lambda phi: searches[phi].best()[0])
        white, scatter, _ = self._on_white(0.0, 0)
        line, a, b = self._on_white(float(self.line @ self.G @ self.line), 1)
        self.fits += [
            self.fit("identical", "no_change", -0.5 * self.trace, 0),
            self.fit("iid", "iid", white, 1, a=scatter),
            self.fit("rw", "evolving", self.walk.search(RATIOS, "ratio"), 1),
            self.fit("rw+iid", "evolving", _Search(table, (_A_GRID, _A_GRID), ("a", "ratio")), 2),
            self.fit("ar", "mean_reverting", searches[phi], 2, phi=phi),
            self.fit("trend", "trend", line, 2, a=a, b=b),
        ]

    def _on_white(self, energy: float, rank: int, *, scatter: bool = True) -> tuple[float, float, float]:
        """Maximise exactly over V = (1 + a) I + b P (a = 0 without scatter), P a projector with energy tr(P G)."""
        rest = self.k - 1 - rank
        variance = max((self.trace - energy) / rest, 1.0) if rest > 0 and scatter else 1.0
        top = energy / rank if rank else variance
        if top < variance:  # b = 0 binds
            top = variance = max(self.trace / (self.k - 1), 1.0) if scatter else 1.0
        value = rest * np.log(variance) + (self.trace - energy) / variance + rank * np.log(top) + energy / top
        return float(-0.5 * value), variance - 1.0, top - variance

    def pieces(self) -> None:
        """Fit one jump, several jumps, and recurring levels. Tasks between two jumps share one level.

        Dynamic programming finds the best places for every number of pieces, since their energies add up.
        """
        from scipy.special import stirling2

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
        jumps, returns = list[ModelFit](), list[ModelFit]()
        for count in range(2, min(max(_FEWEST_PIECES, self.k // _PIECE_TASKS), self.k - 1) + 1):
            total = best[:, None] + energies
            places.append(total.argmax(axis=0))
            best = total.max(axis=0)
            starts = [int(places[-1][self.k])]
            for earlier in places[-2::-1]:
                starts.insert(0, int(earlier[starts[0]]))
            divisions = math.comb(self.k - 1, count - 1)
            value, a, b = self._on_white(float(best[self.k] - level), count - 1, scatter=count == 2)
            jump = self.fit("jump" if count == 2 else "jumps", "jump", value, 2, divisions, a=a, b=b)
            jumps.append(replace(jump, starts=tuple(starts)))
            edges = np.array([0, *starts, self.k])
            blocks = np.diff(np.diff(sums[np.ix_(edges, edges)], axis=0), axis=1)
            for energy, states in _joined(blocks, np.diff(mass[edges])):
                levels = max(states) + 1
                if 2 * levels > count:  # with fewer returns, these are jumps or a walk
                    continue
                value, a, b = self._on_white(energy - level, levels - 1, scatter=False)
                # Neighbouring pieces never have the same level.
                ways = divisions * int(stirling2(count - 1, levels - 1, exact=True))
                fit = self.fit("states", "recurring", value, 2, ways, a=a, b=b)
                returns.append(replace(fit, starts=tuple(starts), states=states))
        self.fits += [min(fits, key=lambda fit: fit.bic) for fits in (jumps, returns) if fits]

    def season(self) -> Floats:
        """Fit scatter with one frequency, and return tr(P_f G) of all frequencies."""
        frequencies, columns, ranks = _season_vectors(self.k, self.noise)
        flat = columns.transpose(1, 0, 2).reshape(self.k, -1)
        energies = project(self.G, flat).reshape(len(frequencies), 2).sum(axis=1)
        found = []
        for rank in np.unique(ranks):
            where = np.flatnonzero(ranks == rank)
            choice = where[int(np.argmax(energies[where]))]
            found.append((*self._on_white(float(energies[choice]), int(rank)), float(frequencies[choice])))
        value, a, b, f = max(found)
        self.fits.append(self.fit("season", "periodic", value, 2, max(1, self.k // 2), a=a, b=b, f=f))
        return np.asarray(energies)

    def _on_kernel(self, kernel: _Kernel, columns: Floats, name: str) -> _Search:
        """Return a search over V = I + (size) K + b W W', with a name for the size of the kernel."""
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
        """Fit walk with drift, integrated walk with a line, and from 12 tasks seasons with a walk or autoregression."""
        line = self.line[:, None]
        self.fits.append(self.fit("drift", "trend", self._on_kernel(self.walk, line, "ratio"), 2))
        self.fits.append(self.fit("smooth", "trend", self._on_kernel(self.kernel("irw"), line, "ratio"), 2))
        if self.k < _COMPOSITE_TASKS:
            return
        frequencies, columns, _ = _season_vectors(self.k, self.noise)
        # The three highest peaks and the maximum of the differences' periodogram, and the best frequency.
        differences = np.diff(np.diff(self.G, axis=0), axis=1)
        waves = np.exp(-2j * np.pi * np.outer(np.arange(self.k - 1), frequencies))
        power = (waves.conj() * (differences @ waves)).sum(axis=0).real
        inner = np.flatnonzero((power[1:-1] >= power[:-2]) & (power[1:-1] >= power[2:])) + 1
        highest = sorted(inner, key=lambda i: -power[i])[:3]
        chosen = sorted({*map(int, highest), int(np.argmax(power)), int(np.argmax(energies))})
        many = max(1, self.k // 2)
        walks = {f: self._on_kernel(self.walk, columns[f], "ratio") for f in chosen}
        f = max(chosen, key=lambda f: walks[f].best()[0])
        self.fits.append(self.fit("rw+season", "periodic", walks[f], 3, many, f=float(frequencies[f])))
        kernels = {phi: self.kernel(str(phi)) for phi in _SEASON_PHIS}
        pairs = {(phi, f): self._on_kernel(own, columns[f], "a") for phi, own in kernels.items() for f in chosen}
        phi, f = max(pairs, key=lambda pair: pairs[pair].best()[0])
        self.fits.append(self.fit("ar+season", "periodic", pairs[phi, f], 4, many, f=float(frequencies[f]), phi=phi))


def fit_models(scaled: Floats, h: Floats, m_eff: float) -> tuple[ModelFit, ...]:
    """Fit all models to G_ij / sqrt(h_i h_j), with mean h 1, of the last 400 tasks, and sort them by BIC."""
    offset = max(0, len(h) - _LONGEST)
    fitter = _Fitter(np.ascontiguousarray(scaled[offset:, offset:]), np.ascontiguousarray(h[offset:]), m_eff)
    fitter.plain()
    fitter.pieces()
    fitter.on_kernels(fitter.season())
    fitter.refine()
    shifted = [replace(fit, starts=tuple(start + offset for start in fit.starts)) for fit in fitter.fits]
    return tuple(sorted(shifted, key=lambda fit: fit.bic))
