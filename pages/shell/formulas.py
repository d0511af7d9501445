"""Formulas shown beside the charts: LaTeX, symbols and sources."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Formula:
    """One formula: the theorem or equation of the paper, or the name of the method, and what its symbols mean.

    One display line each: short lines stay readable on narrow pages.
    """

    source: str
    latex: tuple[str, ...]
    symbols: str


FORMULAS: dict[str, Formula] = {
    "ess_closed": Formula(
        "Theorems 2 and 4",
        (
            r"n_j^{\rightharpoonup} \ge n\Big(1+"
            r"\tfrac{(1+\alpha)^{2j-1}-1-\alpha}{\alpha(1+\alpha)^{2j-1}+\alpha}\Big)",
            r"n_j^{\rightleftharpoons k} \ge n_j^{\rightharpoonup} + n\,"
            r"\tfrac{(1+\alpha)^{2(k-j)+1}-1-\alpha}{\alpha(1+\alpha)^{2(k-j)+1}+\alpha}",
            r"\alpha = \tfrac{2}{\sqrt{1+4\,\sigma^2/(n d^2)}-1}",
        ),
        "$n$: samples per task. $d^2$: largest expected quadratic change between consecutive tasks. $\\sigma^2$: "
        "variance of a sample; the paper's condition for leaving it out, $M \\le 1$, should read "
        "$\\sigma^2 \\ge 1$. $j$: the task. $k$: tasks so far. $n_j^{\\rightharpoonup}$, "
        "$n_j^{\\rightleftharpoons k}$: effective sample sizes (ESS) with forward, and forward and backward learning.",
    ),
    "ess_recursion": Formula(
        "Theorems 1 and 3",
        (
            r"n_j^{\rightharpoonup} = n_j + n_{j-1}^{\rightharpoonup}\,"
            r"\tfrac{\|\sigma_j^2\|_\infty}{\|\sigma_j^2\|_\infty + n_{j-1}^{\rightharpoonup}\|d_j^2\|_\infty}",
            r"n_j^{\rightleftharpoons k} = n_j^{\rightharpoonup} + n_{j+1}^{\leftharpoondown k}\,"
            r"\tfrac{\|\sigma_j^2\|_\infty}{\|\sigma_j^2\|_\infty + n_{j+1}^{\leftharpoondown k}\|d_{j+1}^2\|_\infty}",
        ),
        "$\\sigma_j^2$: variances of the feature mapping in task $j$. $d_j^2$: expected quadratic change from task "
        "$j-1$ to $j$. $n_{j+1}^{\\leftharpoondown k}$: the same recursion from the last task backwards. Grey, orange "
        "and green are the three summands: own, preceding, succeeding samples.",
    ),
    "bound": Formula(
        "Theorems 1 and 3",
        (
            r"R(\mathcal{U}_j) \le R_j^\infty + \tfrac{c}{\sqrt{n_j^{\text{eff}}}}\,\|\mu_j^\infty\|_1",
            r"c = M(\kappa+1)\sqrt{2\log(2m/\delta)}",
        ),
        "With probability $1-\\delta$. $R_j^\\infty$, $\\mu_j^\\infty$: minimax risk and rule for exactly known mean "
        "vectors; here the averages over all samples of the task replace them. $M$: bound of the features. $m$: number "
        "of components. $\\kappa$: sub-Gaussian parameters over the standard deviations used, at least 1 and at most "
        "$\\max(M/\\min\\sigma,\\, 2M/\\min d)$ (remark after Theorem 1). "
        "$n_j^{\\text{eff}}$: $n$, $n_j^{\\rightharpoonup}$ or $n_j^{\\rightleftharpoons k}$.",
    ),
    "pacf": Formula(
        "Appendix of the paper, last figure",
        (
            r"\hat\phi_{tt}^{(i)} = \mathrm{corr}\big("
            r"\tau_{j}^{(i)}, \tau_{j+t}^{(i)} \,\big|\, \tau_{j+1}^{(i)}, \dots, \tau_{j+t-1}^{(i)}\big)",
        ),
        "$\\tau_j^{(i)}$: component $i$ of the sample average of task $j$. $t$: lag. Estimated by Yule-Walker "
        "equations with biased autocovariances, then averaged over components. In a short sequence without order the "
        "value at lag 1 is about $-1/k$, not 0. A positive value does not prove that tasks evolve: trends, jumps, mean "
        "reversion and long periods also produce one.",
    ),
    "variogram": Formula(
        "Section 2.1 of the paper, corrected for noise",
        (
            r"\gamma(t) = \mathrm{mean}_i\,\big[D_{i,i+t} - h_i - h_{i+t}\big]",
            r"\text{i.i.d.: } \gamma \text{ flat} \qquad \text{evolving: } \gamma(t) = n\rho\,t",
        ),
        "$D_{i,l}$: squared distance of the averages of two tasks, mean over components, each divided by the noise "
        "variance of an average. $h_i$: noise variance of task $i$ (1 on average). A negative value "
        "means less distance than noise explains.",
    ),
    "ratio": Formula(
        "Theorems 2 and 4 need this number",
        (
            r"n\rho = \frac{n\,d^2}{\sigma^2}, \qquad \rho = \frac{d^2}{\sigma^2}",
            r"\tau_j = \text{level}_j + \text{noise}",
            r"\text{level}_j - \text{level}_{j-1} \sim (0, n\rho)",
        ),
        "Estimated by restricted maximum likelihood of a random walk in noise, one $\\rho$ for all components; "
        "interval by the likelihood ratio. The rate $\\rho$ does not depend on $n$; charts on this page show $n\\rho$ "
        "for averages over all samples, the card converts it to the chosen $n$.",
    ),
    "models": Formula(
        "Competing Gaussian models",
        (
            r"\mathrm{BIC} = -2\,m_{\text{eff}}\,\ell + p\,\log\big((k-1)\,m_{\text{eff}}\big)",
            r"\qquad + 2\log(\text{candidates})",
        ),
        "$\\ell$: restricted log-likelihood per component. $p$: numbers fitted. $m_{\\text{eff}}$: effective number of "
        "independent components. Candidates: places of jumps, shared levels, or frequencies. If "
        "the two best differ by less than 2, both are named.",
    ),
    "tracks": Formula(
        "Equations (6) and (10)",
        (
            r"\tau_j^{\rightharpoonup} = \tau_j + "
            r"\tfrac{s_j}{s_{j-1}^{\rightharpoonup}+s_j+d_j^2}(\tau_{j-1}^{\rightharpoonup}-\tau_j)",
            r"s_j^{\rightharpoonup} = \big(\tfrac{1}{s_j} + \tfrac{1}{s_{j-1}^{\rightharpoonup}+d_j^2}\big)^{-1}",
            r"\tau_j^{\rightleftharpoons k} = \tau_j^{\rightharpoonup} + "
            r"\tfrac{s_j^{\rightharpoonup}}{s_j^{\rightharpoonup}+s_{j+1}^{\leftharpoondown k}+d_{j+1}^2}"
            r"(\tau_{j+1}^{\leftharpoondown k}-\tau_j^{\rightharpoonup})",
        ),
        "$\\tau_j$, $s_j$: sample average and its mean squared error. $\\rightharpoonup$ forward, "
        "$\\leftharpoondown$ backward, $\\rightleftharpoons$ both. $d_j^2$: expected quadratic change.",
    ),
}

REGIME_NOTES = """
The curves are the exact closed forms of Theorems 2 and 4; the three names are labels of regimes, which meet
at n d²/σ² = 1/j² (for the largest j shown) and n d²/σ² = 1.

* **n d²/σ² < 1/j²**: j tasks count at least three quarters as much as without change; n d²/σ² → 0 pools all k tasks,
  ESS = k n.
* **1/j² ≤ n d²/σ² < 1**: the gain grows like 1/√(n d²/σ²).
* **n d²/σ² ≥ 1**: the gain is at most of the order 1/(n d²/σ²); n d²/σ² → ∞ leaves ESS = n.

The simplified bounds printed under Theorem 4 are not used here. Those of the first regime hold. The middle one,
n_fb ≥ n_f + √(n/d²)/5 with d² in units of σ², is false for few succeeding tasks: r of them cannot add more than r n
samples. For j = 57, k = 58 and n d²/σ² = 3.2·10⁻⁴ it claims an increase of 11.2 n where the closed form gives 1.0 n.
It holds once r √(n d²/σ²) ≥ 0.21. The proof in the appendix gives a different bound, n/(φ (1 + √(n d²/σ²))) with the
golden ratio φ, which holds with at least one succeeding task; so does that of the last regime.

The paper states both theorems without σ², "for M ≤ 1". They need the opposite, σ² ≥ 1: for n = 10, d² = 0.01 and 20
tasks Theorem 1 gives 21.6 samples at σ² = 0.25 where Theorem 2, as printed, gives 37.0 as a lower bound. This page
divides by σ² (n d²/σ², that is n ρ with ρ = d²/σ²), and then both theorems agree for every σ².
"""


def show(name: str) -> None:
    """Show one formula under its source, symbols beside it (below it on narrow pages)."""
    formula = FORMULAS[name]
    st.markdown(f"**{formula.source}**")
    row = st.container(horizontal=True, vertical_alignment="center")
    with row.container(width=390):
        for line in formula.latex:
            st.latex(line)
    with row.container(width=490):
        st.caption(formula.symbols)
