"""Claims on guidance discount factors; quotes are from the abstract."""

import numpy as np
from jaxtyping import Bool, Float

from pomrl.study import Exact, Part, SweepResults, best_grows, best_is_between, claim, less, mean, no_worse, rate
from pomrl_papers.jiang2015.policies import all_policies, is_optimal_somewhere, loss_bound, model_of_policy

TRAJECTORIES = (5, 10, 20, 50, 200)
"""Numbers of trajectories."""

FEW_TRAJECTORIES = TRAJECTORIES[:3]
"""Numbers of trajectories with an inaccurate model."""

GAMMA_EVAL, STATES, ACTIONS, ERROR = 0.99, 10, 2, 0.05
"""The settings of the sweeps, and the error probability of the bound."""

GAMMAS = np.array([*(i / 20 for i in range(20)), GAMMA_EVAL])

ALL_SUCCESSORS_RUNS = {"all_successors": 16_000}
"""Runs for the variant with all states as successors, where short horizons cost little."""

REWARDS = np.random.default_rng(2015).random((20, STATES, ACTIONS))
"""Twenty draws of rewards for exact claims."""

TRANSITIONS = (10**2, 10**4, 10**6, 10**8)
"""Numbers of transitions from each pair for which the bound is minimised over gamma."""


@claim("J1", "guidance", figures=("guidance_gamma",))
def shorter_horizons_win(sweep: SweepResults) -> list[Part]:
    """With few trajectories some guidance gamma below gamma_eval loses less than gamma_eval.

    Abstract: "the policy found using a shorter planning horizon can actually be better than a policy learned with the
    true horizon"; with 5, 10 and 20 trajectories.
    """
    return [best_is_between(sweep.at(m=n), f"{n} trajectories", below=GAMMA_EVAL) for n in FEW_TRAJECTORIES]


@claim("J2", "guidance", runs=ALL_SUCCESSORS_RUNS, figures=("guidance_gamma",))
def too_short_horizons_lose(sweep: SweepResults) -> list[Part]:
    """Also with few trajectories gamma = 0 loses more than the best guidance gamma.

    Experiments, random MDPs: the loss against gamma falls and then grows.
    """
    return [best_is_between(sweep.at(m=n), f"{n} trajectories", above=0.0) for n in FEW_TRAJECTORIES]


@claim("J3", "guidance", figures=("guidance_gamma",))
def the_best_gamma_grows(sweep: SweepResults) -> list[Part]:
    """The best guidance gamma grows with the number of trajectories.

    Experiments, random MDPs: 5 to 200 trajectories.
    """
    curves = np.stack([sweep.at(m=n).average_curve for n in TRAJECTORIES], axis=1)
    return [best_grows(sweep.at(m=TRAJECTORIES[0]), curves, "rank correlation of γ* with the number of trajectories")]


@claim("J4", "guidance", runs=ALL_SUCCESSORS_RUNS, figures=("guidance_gamma",))
def many_data_need_long_horizons(sweep: SweepResults) -> list[Part]:
    """With many trajectories the best guidance gamma is close to gamma_eval.

    Experiments, random MDPs: 200 trajectories; close means above 0.85.
    """
    return [best_is_between(sweep.at(m=200), "200 trajectories", above=0.85)]


@claim("J5", "guidance", "guidance_training", figures=("training_and_test",))
def long_horizons_overfit(test: SweepResults, training: SweepResults) -> list[Part]:
    """With few trajectories gamma_eval loses less than gamma = 0.5 in the estimated model, and more in the true one.

    Abstract: a shorter planning horizon "can reduce overfitting and improve test performance"; with 5 and 10
    trajectories. The part on the estimated model holds by definition.
    """
    claim_parts = []
    for n in FEW_TRAJECTORIES[:2]:
        short, long = (_regret_at(training, n, gamma) for gamma in (0.5, GAMMA_EVAL))
        claim_parts.append(less(long, short, f"{n} trajectories, loss in the estimated model, γ_eval less γ = 0.5"))
        short, long = (_regret_at(test, n, gamma) for gamma in (0.5, GAMMA_EVAL))
        claim_parts.append(less(short, long, f"{n} trajectories, loss in the true model, γ = 0.5 less γ_eval"))
    return claim_parts


@claim("J6", "guidance", "guidance_cross_validation", figures=("guidance_choices",))
def cross_validation_helps(sweep: SweepResults, chosen: SweepResults) -> list[Part]:
    """With few trajectories a gamma chosen by cross-validation loses less than gamma_eval.

    Choosing gamma by cross-validation: 5, 10 and 20 trajectories.
    """
    return [
        less(chosen.at(m=n).regret, sweep.at(m=n).regret, f"{n} trajectories, cross-validation less γ_eval")
        for n in FEW_TRAJECTORIES
    ]


@claim("J7", "guidance", "guidance_cross_validation", figures=("guidance_choices",))
def cross_validation_is_close_to_hindsight(sweep: SweepResults, chosen: SweepResults) -> list[Part]:
    """A gamma chosen by cross-validation is no worse than the best one in hindsight.

    Choosing gamma by cross-validation: no worse by a margin of 10 % than the best gamma of the other half of the runs.
    """
    return [
        no_worse(
            chosen.at(m=n).regret,
            sweep.at(m=n).at_best_fixed(),
            f"{n} trajectories, cross-validation less the best γ",
        )
        for n in TRAJECTORIES
    ]


@claim("J8", "guidance_policies", figures=("guidance_policies",), is_judged=False)
def policies_in_reach(sweep: SweepResults) -> list[Part]:
    """The number of different optimal policies of one estimated model at the discount factors up to gamma_eval.

    Theorem 1: at most 21, one for each discount factor, of 1,024 policies.
    """
    return [Part(f"{n} trajectories", mean(sweep.at(m=n).regret)) for n in TRAJECTORIES]


@claim("J9", figures=("policies_and_bound",))
def policies_grow_with_gamma() -> list[Part]:
    """At gamma = 0 one policy is optimal in every model; policies optimal in some model stay so at a larger gamma.

    Abstract: the horizon has "an intuitive, monotonic relationship with a simple counting measure of complexity"
    (Theorem 1).
    """
    sets = sets_of_policies()
    return [
        Part("policies that a larger γ lacks, all draws", Exact(float((sets[:, :-1] & ~sets[:, 1:]).sum())), below=0.5),
        Part("policies at γ = 0, most of all draws", Exact(float(sets[:, 0].sum(-1).max())), below=1.5),
    ]


@claim("J10", figures=("policies_and_bound",))
def nearly_all_policies_near_one() -> list[Part]:
    """For gamma near 1, at most (A - 1)^(S - 1) A policies are optimal in no model.

    After Theorem 1; the statement and its constant are ours.
    """
    missing = max(int((~is_optimal_somewhere(R, 1.0 - 1e-9)).sum()) for R in REWARDS)
    n_policies = (ACTIONS - 1) ** (STATES - 1) * ACTIONS
    return [
        Part(f"policies missing, most of all draws, less {n_policies}", Exact(float(missing - n_policies)), below=0.5)
    ]


@claim("J11")
def enumeration_finds_the_same_policies() -> list[Part]:
    """Planning in many small models finds no policy outside of the sets of J9, and each policy of a set in some model.

    Theorem 1: the 729 deterministic and 1,000 random models with three states and two actions, for five draws of
    rewards and four discount factors.
    """
    rng = np.random.default_rng(2016)
    S, A = 3, 2
    policies, n_outside, largest = all_policies(S, A), 0, 0.0
    deterministic = np.eye(S)[all_policies(S * A, S)].reshape(-1, S, A, S)
    for R in rng.random((5, S, A)):
        P = np.concatenate([deterministic, rng.dirichlet(np.full(S, 0.3), (1000, S, A))])
        for gamma in (0.0, 0.2, 0.5, 0.8):
            inside = policies[is_optimal_somewhere(R, gamma)]
            greedy = _advantages(P, R, gamma).argmax(-1)
            n_outside += int((~(greedy[:, None] == inside).all(-1).any(1)).sum())
            advantages = _advantages(np.stack([model_of_policy(R, policy, gamma) for policy in inside]), R, gamma)
            largest = max(largest, -np.take_along_axis(advantages, inside[..., None], -1).min())
    return [
        Part("models with an optimal policy outside of the set", Exact(float(n_outside)), below=0.5),
        Part("largest disadvantage of a policy of a set in its model", Exact(float(largest)), below=1e-9),
    ]


@claim("J12", "guidance_bound")
def the_bound_holds(sweep: SweepResults) -> list[Part]:
    """The loss exceeds the bound at some guidance gamma in less than 5 % of runs.

    Theorem 2: n transitions from each pair, rewards at most 1. The compared bound counts one policy, so it is smaller.
    """
    return [
        Part(
            f"n = {n}, runs in which the bound fails at some γ",
            rate((sweep.at(m=n).average_curve - _bound(sweep.at(m=n).gammas, 1.0, n)).max(1) > 0.0),
            below=ERROR,
        )
        for n in (5, 20, 100)
    ]


@claim("J13", figures=("policies_and_bound",))
def the_bound_predicts_shorter_horizons() -> list[Part]:
    """With 100 transitions of each pair the bound is smallest at a gamma below gamma_eval; with more, this gamma grows.

    Abstract: "a bound on the planning loss predicting that a planning horizon shorter than the true horizon can reduce
    overfitting" (Theorem 2).
    """
    best = [float(GAMMAS[bound_curve(n).argmin()]) for n in TRANSITIONS]
    return [
        Part("γ with the smallest bound, 100 transitions", Exact(best[0]), below=GAMMA_EVAL),
        Part("smallest increase of it for 100 times as many transitions", Exact(np.diff(best).min()), above=-1e-9),
        Part("increase of it from 10^2 to 10^8 transitions", Exact(best[-1] - best[0]), above=0.0),
    ]


def sets_of_policies() -> Bool[np.ndarray, "draws G N"]:
    """Mark policies optimal in some model, by rewards and gamma."""
    return np.array([[is_optimal_somewhere(R, gamma) for gamma in GAMMAS] for R in REWARDS])


def bound_curve(n: int) -> Float[np.ndarray, " G"]:
    """Return the bound of Theorem 2 with mean numbers of policies."""
    return _bound(GAMMAS, sets_of_policies().sum(-1).mean(0), n)


def _bound(
    gammas: Float[np.ndarray, " G"], policies: Float[np.ndarray, " G"] | float, n: int
) -> Float[np.ndarray, " G"]:
    return loss_bound(gammas, policies, n, STATES, ACTIONS, GAMMA_EVAL, ERROR)


def _regret_at(sweep: SweepResults, n: int, gamma: float) -> Float[np.ndarray, " n"]:
    losses = sweep.at(m=n)
    return losses.average_curve[:, np.abs(losses.gammas - gamma).argmin()]


def _advantages(
    P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "S A"], gamma: float
) -> Float[np.ndarray, "M S A"]:
    Q = np.zeros(P.shape[:-1])
    for _ in range(150):
        Q = R + gamma * (P @ Q.max(-1)[:, None, :, None])[..., 0]
    return Q - Q.max(-1, keepdims=True)
