"""The method of POMRL and its ten figures with data, in the order of the paper.

    python examples/pomrl_in_one_file.py                          all figures, at the paper's numbers of runs
    python examples/pomrl_in_one_file.py runs=20 'figures=[5,6]'  two of them from fewer runs
    python examples/pomrl_in_one_file.py m=20 printed=true        other settings; the paper's text as it stands

Numbers of sections, equations and algorithms refer to arXiv 2212.14530. Its errors are repaired unless `printed=true`.
"""

import sys
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import hydra
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from joblib import Parallel, delayed
from omegaconf import OmegaConf

FOLDER = {"dir": "outputs/pomrl_in_one_file"}  # of figures, in the current folder
GAMMA_EVAL = 0.99
GRID = np.r_[np.arange(20) / 20, GAMMA_EVAL]  # each estimated model is planned with all of these discount factors


@dataclass(unsafe_hash=True)
class Setting:
    """The setting of Sec. 5; the command line sets its keys."""

    S: int = 10  # states
    A: int = 2  # actions
    m: int = 5  # transitions sampled for each pair (s, a) in each task
    T: int = 15  # tasks
    sigma: float = 0.01  # similarity of tasks: a variance (App. F), or as printed in Sec. 3.1 a deviation
    printed: bool = False  # whether formulas are computed as printed, not as repaired
    runs: int | None = None  # independent runs; null or 0: the paper's number for each figure
    seed: int = 1  # of all draws
    figures: list[str] = field(default_factory=list, compare=False)  # 2 to 6 and F1 to F5; empty: all
    hydra: Any = field(default_factory=lambda: {"run": FOLDER, "sweep": FOLDER}, compare=False)

    @property
    def variance(self):
        """The true sigma²: the largest variance of an entry of P_t."""
        return self.sigma**2 if self.printed else self.sigma


# ---- Section 2: planning with an inaccurate model --------------------------------------------------------------------
def value(P, R, policy, gamma):
    """Evaluate n policies [n, S] in models P [n, S, A, S] with rewards R [S, A]; return V [n, S]."""
    states = np.arange(len(R))
    P_pi = P[np.arange(len(P))[:, None], states, policy]
    return np.linalg.solve(np.eye(len(R)) - np.reshape(gamma, (-1, 1, 1)) * P_pi, R[states, policy][..., None])[..., 0]


def plan(P, R, gamma):
    """Return optimal policies [n, S] of n models, by policy iteration on all models together."""
    policy = np.tile(R.argmax(-1), (len(P), 1))
    while True:
        Q = R + np.reshape(gamma, (-1, 1, 1)) * np.einsum("nsat,nt->nsa", P, value(P, R, policy, gamma))
        better = Q.max(-1) > np.take_along_axis(Q, policy[..., None], -1)[..., 0] + 1e-9  # a tie keeps its action
        if not better.any():
            return policy
        policy = np.where(better, Q.argmax(-1), policy)


def planning_loss(P, R, P_hat, gammas):
    """Return max_s V* - V^pi at gamma_eval in tasks P, [T, G]; pi is optimal in P_hat at each of gammas [T, G]."""
    T, G = gammas.shape
    policy = plan(np.repeat(P_hat, G, 0), R, gammas.ravel())
    V_star, V = value(P, R, plan(P, R, GAMMA_EVAL), GAMMA_EVAL), value(np.repeat(P, G, 0), R, policy, GAMMA_EVAL)
    return np.abs(np.repeat(V_star, G, 0) - V).max(-1).reshape(T, G)


# ---- Sections 3.1 and 5: similar tasks -------------------------------------------------------------------------------
def draw_mean_model(rng, S, A):
    """Draw P_o and R of a random chain MDP: half of the next states of each pair (s, a) have probability 0."""
    P_o = rng.random((S, A, S)) * rng.permuted(np.tile(np.arange(S) >= S // 2, (S, A, 1)), axis=-1)
    return P_o / P_o.sum(-1, keepdims=True), rng.random((S, A))


def draw_tasks(rng, P_o, variance, T):
    """Draw models P_t of T tasks from Dirichlet(c P_o) (Eq. 3); the largest variance is sigma² (App. F)."""
    if variance == 0:
        return np.tile(P_o, (T, 1, 1, 1))
    c = (P_o * (1 - P_o)).max() / variance - 1  # an entry of mean p has the variance p (1 - p) / (c + 1)
    weight = rng.standard_gamma(c * P_o, (T, *P_o.shape))
    return weight / weight.sum(-1, keepdims=True)


# ---- Sections 3.2 and 4: POMRL and ada-POMRL -------------------------------------------------------------------------
@dataclass(frozen=True)
class Learner:
    """The knowledge of a learner; all learners are P_hat = alpha h + (1 - alpha) P_bar."""

    name: str
    knows_P_o: bool = False  # or h is the average of means
    knows_sigma: bool = False  # or sigma is estimated
    alpha: float | None = None  # or alpha follows from sigma


ORACLE, WITHOUT = Learner("Oracle", knows_P_o=True, knows_sigma=True), Learner("Without meta-learning", alpha=0.0)
POMRL, ADA_POMRL = Learner("POMRL(σ)", knows_sigma=True), Learner("ada-POMRL")
METHODS = (ORACLE, WITHOUT, POMRL, ADA_POMRL)
LEARNERS = (*METHODS, Learner("Aggregating", alpha=1.0))


def learn(batches, learner, P_o, s):
    """Run Alg. 1 or 2 on frequencies P_bar [T, S, A, S] of next states; yield P_hat_t and gamma_t."""
    P_hat_o, squares = np.full_like(P_o, 1 / s.S), np.zeros_like(P_o)  # input of Alg. 1
    for t, P_bar in enumerate(batches, start=1):
        welford = (squares / (t - 1 if s.printed else t - 2)).max() if t > 2 else 0.5**2  # sigma_1 = 1/2
        variance = s.variance if learner.knows_sigma else welford  # Alg. 1 knows sigma², Alg. 2 learns it
        index = max(t - 1, 1) if s.printed else t  # 1/(t - 1) in Alg. 1, 1/t in Sec. 3.2
        alpha = 1 / (variance * (1 + 1 / index) * s.m + 1) if t > 1 or learner.knows_P_o else 0.0  # Sec. 3.2
        alpha = alpha if learner.alpha is None else learner.alpha
        P_hat_o, before = P_hat_o + (P_bar - P_hat_o) / t, P_hat_o  # Eq. 11
        squares += (P_bar - before) * (P_bar - P_hat_o)  # Eq. 12
        learned = before if s.printed and learner.alpha is None else P_hat_o  # App. C: with the task's own batch
        h = P_o if learner.knows_P_o else learned  # Eq. 5
        P_hat = alpha * h + (1 - alpha) * P_bar  # Eq. 4, solved by Eq. 10
        gammas = select_gammas(t, alpha, variance, s)  # gamma-Selection-Procedure
        yield P_hat, gammas  # Planning(P_hat): of all tasks together, because nothing is learned from policies


# ---- Section 6: schedules of the discount factor ---------------------------------------------------------------------
OFFSETS = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
SCHEDULES = ("Dong et al.", *(f"Bound, γ₀ = {gamma_0}" for gamma_0 in OFFSETS))


def select_gammas(t, alpha, variance, s, L=1):
    """Return the discount factors of the grid and of the schedules."""
    T_t = s.S * s.A / L * ((1 - alpha) * s.m + alpha * s.m * (t - 1))  # Sec. 6.1: samples that P_hat rests on
    x, sigma = variance * s.m, variance**0.5
    C = ((sigma + s.m**-0.5) / t**0.5 + x * s.m**-0.5) / (x + 1)  # Sec. 6.2: of the order of Eq. 6
    gamma_tilde = 1.0 if s.printed and C < 1 / 2 else max((1 - C) / (1 + C), 0.0)  # Prop. 1, whose first case is wrong
    return np.minimum([*GRID, 1 - max(T_t, 1) ** -0.2, *(gamma_0 + gamma_tilde for gamma_0 in OFFSETS)], GAMMA_EVAL)


# ---- Section 5: experiments ------------------------------------------------------------------------------------------
def simulate_run(s, learner, run):
    """Return a table of losses. In one run, all learners see the same tasks and batches."""
    mean_rng, task_rng, batch_rng = map(np.random.default_rng, np.random.SeedSequence([s.seed, run]).spawn(3))
    P_o, R = draw_mean_model(mean_rng, s.S, s.A)
    P = draw_tasks(task_rng, P_o, s.variance, s.T)
    P_bar = batch_rng.multinomial(s.m, P) / s.m
    P_hat, gammas = map(np.array, zip(*learn(P_bar, learner, P_o, s), strict=True))
    columns = {"run": run, "learner": learner.name, "m": s.m, "task": np.arange(1, s.T + 1)[:, None], "gamma": gammas}
    columns |= {"schedule": ["grid"] * len(GRID) + list(SCHEDULES), "loss": planning_loss(P, R, P_hat, gammas)}
    return pd.DataFrame({name: np.broadcast_to(column, gammas.shape).ravel() for name, column in columns.items()})


@cache
def simulate(s, learner):
    """Return the losses of all runs, with the best discount factors in hindsight (Sec. 6.3)."""
    jobs = (delayed(simulate_run)(s, learner, run) for run in range(s.runs or 100))
    table = pd.concat(Parallel(n_jobs=-1)(jobs), ignore_index=True)
    grid = table[table.schedule == "grid"]
    mean = grid.pivot_table("loss", "task", "gamma")
    best = {"γ_eval": GAMMA_EVAL, "Best fixed": mean.mean().idxmin(), "Dynamic best": grid.task.map(mean.idxmin(1))}
    for name, gamma in best.items():
        table = pd.concat([table, grid[grid.gamma == gamma].assign(schedule=name)], ignore_index=True)
    curve = table.gamma.where(table.schedule == "grid", 0)
    table["average"] = table.groupby(["schedule", curve, "run"]).loss.cumsum() / table.task  # Eq. 2, for t tasks
    return table


# ---- Figures: lines are means over runs, bands their 95 % intervals --------------------------------------------------
COLORS = dict(zip((learner.name for learner in LEARNERS), ("C0", "C3", "C4", "C2", "C1"), strict=True))
COLORS |= {"γ_eval": "k", "Best fixed": "C1", "Dynamic best": "C0", "Dong et al.": "C2"}
COLORS |= dict(zip(SCHEDULES[1:], sns.color_palette("flare", len(OFFSETS)), strict=True))
LINES = {"errorbar": ("se", 1.96), "err_kws": {"linewidth": 0, "alpha": 0.15}, "legend": "full"}


def draw_per_task(ax, s, learners, schedules=("γ_eval",), y="loss"):
    """Draw the loss in each task, with a line per learner, or per schedule of one learner."""
    table = pd.concat(simulate(s, learner) for learner in learners)
    hue, single = ("learner", schedules[0]) if len(schedules) == 1 else ("schedule", learners[0].name)
    sns.lineplot(table[table.schedule.isin(schedules)], x="task", y=y, hue=hue, palette=COLORS, ax=ax, **LINES)
    ax.set_title(f"{y}, {single}, σ = {s.sigma}")


def draw_per_gamma(ax, settings, learner, hue="task", y="loss"):
    """Draw the loss against gamma, with a circle at the minimum gamma* of each line."""
    table, s = pd.concat(simulate(s, learner) for s in settings), settings[0]
    table = table[(table.schedule == "grid") & table.task.isin([1, 2, 5, 10, 15, 30])]
    sns.lineplot(table, x="gamma", y=y, hue=hue, palette="crest", ax=ax, **LINES)
    mean = table.pivot_table(y, hue, "gamma")
    ax.plot(mean.idxmin(axis=1), mean.min(axis=1), "ko", fillstyle="none")
    ax.set_title(f"{learner.name}, σ = {s.sigma}, S = {s.S}" + f", m = {s.m}, T = {s.T}" * (hue != "m"))


def draw_simplex(ax, c):
    """Draw models of one pair (s, a) with three next states from Dir(c, c, c)."""
    P = np.random.default_rng(0).dirichlet([c] * 3, 500)
    ax.plot([0, 1, 0.5, 0], [0, 0, 0.75**0.5, 0], "0.6")
    ax.plot(P[:, 1] + P[:, 2] / 2, P[:, 2] * 0.75**0.5, ".", markersize=2)
    ax.set(aspect="equal", xticks=[], yticks=[], frame_on=False, title=f"variance {2 / 9 / (3 * c + 1):.4f}")


def figures(s):
    """Return the title and rows of panels of each figure; a panel is a function with arguments."""
    per_task, per_gamma = draw_per_task, draw_per_gamma
    equal = [replace(s, sigma=0.0, T=1, m=m) for m in (5, 10, 20, 50)]
    weights = [Learner(f"α = {alpha}", knows_P_o=True, alpha=alpha) for alpha in (0.0, 0.25, 0.5, 0.75)]
    at_best = [(per_task, s, (WITHOUT, ADA_POMRL), ["Dynamic best"], y) for y in ("loss", "gamma")]
    similar = [replace(s, sigma=sigma) for sigma in (0.01, 0.025, 0.047)]
    many, best = replace(s, runs=s.runs or 600), ["Best fixed", "Dynamic best", *SCHEDULES[:2]]
    views = [([*best, "γ_eval"],), (best, "average"), ([*SCHEDULES[1:], "γ_eval"],)]
    pairs = {10: [(5, 5), (20, 5), (5, 30)], 20: [(5, 5), (20, 5), (5, 30)], 30: [(5, 5), (20, 5), (5, 15)]}
    sizes = [[replace(s, S=S, m=m, T=T, runs=s.runs or (100, 20)[S > 10]) for m, T in pairs[S]] for S in pairs]
    averages = [[(per_gamma, [x], ADA_POMRL, "task", "average") for x in row] for row in sizes]
    return {
        "2": ["weight on the true mean model", [(per_gamma, equal, learner, "m") for learner in weights]],
        "3": ["σ known or learned", [(per_task, s, (POMRL, ADA_POMRL))]],
        "4": ["online meta-learning", [(per_task, s, METHODS), (per_gamma, [s], ADA_POMRL)], at_best],
        "5": ["similarity", [(per_task, x, METHODS) for x in similar], [(per_gamma, [x], ADA_POMRL) for x in similar]],
        "6": ["schedules of γ", [(per_task, many, [POMRL], *view) for view in views]],
        "F1": ["Dir(15, 15, 15)", [(draw_simplex, 15)]],
        "F2": ["similarity of tasks", [(per_task, x, LEARNERS) for x in similar]],
        "F3": ["numbers of samples m and tasks T", averages[0]],
        "F4": ["task by task", [(per_gamma, [s], learner) for learner in (ADA_POMRL, ORACLE, WITHOUT)]],
        "F5": ["more states", *averages[1:]],
    }


@hydra.main(version_base=None, config_name="setting")
def main(config):
    """Draw figures into the folder of outputs."""
    s: Any = OmegaConf.to_object(config)
    sns.set_theme(style="whitegrid", palette="colorblind", font_scale=0.8)
    for name in s.figures or figures(s):
        title, *rows = figures(s).get(name) or sys.exit(f"figures must be among {', '.join(figures(s))}, got {name}")
        n, k = len(rows), len(rows[0])
        figure, axes = plt.subplots(n, k, figsize=(4 * k, 4 * n), squeeze=False, sharey="row", layout="constrained")
        figure.suptitle(f"Figure {name} as {'printed' if s.printed else 'repaired'}: {title}")
        for ax, (draw, *arguments) in zip(axes.flat, (panel for row in rows for panel in row), strict=True):
            draw(ax, *arguments)
            if ax.get_legend():
                sns.move_legend(ax, "upper center", bbox_to_anchor=(0.5, -0.15), ncol=2, frameon=False)
        figure.savefig(f"{HydraConfig.get().runtime.output_dir}/figure_{name}.png", dpi=150)
    print(f"Figures are in {HydraConfig.get().runtime.output_dir}.")


if __name__ == "__main__":
    ConfigStore.instance().store("setting", Setting)
    main()
