"""The claims of the study of guidance discount factors, whose statements paraphrase the paper."""

import numpy as np
from jaxtyping import Float

from pomrl.study import Exact, Part, SweepLosses, best_grows, best_is_in, claim, less, mean, no_worse

NUMBERS = (5, 10, 20, 50, 200)
"""Numbers of trajectories."""

FEW = NUMBERS[:3]
"""Those with which a model is inaccurate."""

GAMMA_EVAL, STATES, ACTIONS, ERROR = 0.99, 10, 2, 0.05
"""The setting of the sweeps, and the probability with which a bound may fail."""


@claim("J1", "guidance", figures=("guidance_gamma",))
def shorter_horizons_win(sweep: SweepLosses) -> list[Part]:
    """With few trajectories some guidance gamma below gamma_eval loses less than gamma_eval.

    Experiments, random MDPs: 5, 10 and 20 trajectories.
    """
    return [best_is_in(sweep.at(m=n), below=GAMMA_EVAL, of=f"{n} trajectories") for n in FEW]


@claim("J2", "guidance", figures=("guidance_gamma",))
def the_best_gamma_grows(sweep: SweepLosses) -> list[Part]:
    """The best guidance gamma grows with the number of trajectories.

    Experiments, random MDPs: 5 to 200 trajectories.
    """
    curves = np.stack([sweep.at(m=n).average_curve for n in NUMBERS], axis=1)
    return [best_grows(sweep.at(m=NUMBERS[0]), curves, "rank correlation of γ* with the number of trajectories")]


@claim("J3", "guidance", figures=("guidance_gamma",))
def many_data_need_long_horizons(sweep: SweepLosses) -> list[Part]:
    """With many trajectories the best guidance gamma is close to gamma_eval.

    Experiments, random MDPs: 200 trajectories, where close is taken as above 0.85.
    """
    return [best_is_in(sweep.at(m=200), above=0.85, of="200 trajectories")]


@claim("J4", "guidance", "guidance_training", figures=("training_and_test",))
def long_horizons_overfit(test: SweepLosses, training: SweepLosses) -> list[Part]:
    """With few trajectories gamma_eval loses less than gamma = 0.5 in the estimated model, and more in the true one.

    Planning as learning, overfitting: with 5 and 10 trajectories. The half on the estimated model is so by definition.
    """
    parts = []
    for n in FEW[:2]:
        short, long = (_at(training, n, gamma) for gamma in (0.5, GAMMA_EVAL))
        parts.append(less(long, short, f"{n} trajectories, loss in the estimated model, γ_eval less γ = 0.5"))
        short, long = (_at(test, n, gamma) for gamma in (0.5, GAMMA_EVAL))
        parts.append(less(short, long, f"{n} trajectories, loss in the true model, γ = 0.5 less γ_eval"))
    return parts


@claim("J5", "guidance", "guidance_cross_validation", figures=("guidance_choices",))
def cross_validation_helps(sweep: SweepLosses, chosen: SweepLosses) -> list[Part]:
    """With few trajectories a gamma chosen by cross-validation loses less than gamma_eval.

    Choosing gamma by cross-validation: 5, 10 and 20 trajectories.
    """
    return [
        less(chosen.at(m=n).regret, sweep.at(m=n).regret, f"{n} trajectories, cross-validation less γ_eval")
        for n in FEW
    ]


@claim("J6", "guidance", "guidance_cross_validation", figures=("guidance_choices",))
def cross_validation_is_close_to_hindsight(sweep: SweepLosses, chosen: SweepLosses) -> list[Part]:
    """A gamma chosen by cross-validation is no worse than the best one in hindsight.

    Choosing gamma by cross-validation: no worse by a margin of 10 % than the best gamma for all runs, which the other
    half of the runs chooses.
    """
    return [
        no_worse(
            chosen.at(m=n).regret,
            sweep.at(m=n).in_hindsight("all_tasks", "population").regret,
            f"{n} trajectories, cross-validation less the best γ",
        )
        for n in NUMBERS
    ]


@claim("J7", "guidance_policies", figures=("guidance_policies",), is_judged=False)
def policies_in_reach(sweep: SweepLosses) -> list[Part]:
    """How many different policies the guidance gammas up to gamma_eval lead to in one estimated model.

    Theorem 1: at most one for each of the 21 discount factors, of 1,024 policies.
    """
    return [Part(f"{n} trajectories", mean(sweep.at(m=n).regret)) for n in NUMBERS]


@claim("J8")
def classes_of_policies_are_nested() -> list[Part]:
    """A policy that is optimal in some model at a gamma is so in some model at each larger gamma.

    Theorem 1: the class of such policies grows with gamma. The model is the old one, in which all pairs move to one
    state with probability 1 - gamma / gamma'; the largest difference of advantages of actions, in 200 random models.
    """
    rng = np.random.default_rng(3100)
    P, R = rng.dirichlet(np.ones(STATES), (200, STATES, ACTIONS)), rng.random((200, STATES, ACTIONS))
    small, large = 0.6, 0.9
    mixed = P * small / large
    mixed[..., 0] += 1 - small / large
    difference = np.abs(_advantages(P, R, small) - _advantages(mixed, R, large)).max()
    return [Part("largest difference of advantages", Exact(float(difference)), below=1e-9)]


@claim("J9", "guidance_bound")
def the_bound_holds(sweep: SweepLosses) -> list[Part]:
    """The loss exceeds the bound at any guidance gamma in less than 5 % of runs.

    Theorem 2: n transitions from each pair, rewards at most 1, and the class of policies taken as all of them.
    """
    return [
        Part(
            f"n = {n}, runs in which the bound fails at some γ",
            mean((sweep.at(m=n).average_curve > bound(sweep.at(m=n).gammas, n)).any(1).astype(float)),
            below=ERROR,
        )
        for n in (5, 20, 100)
    ]


@claim("J10")
def the_bound_prefers_longer_horizons_with_more_data() -> list[Part]:
    """The gamma that minimises the bound grows with the number of transitions from each pair.

    Theorem 2: from 100 to 10,000 transitions, on a grid of 100 discount factors.
    """
    gammas = np.arange(100) / 100
    few, more = (gammas[bound(gammas, n).argmin()] for n in (100, 10_000))
    return [Part("minimiser of the bound, 100 less 10,000 transitions", Exact(float(few - more)), below=0.0)]


def bound(gammas: Float[np.ndarray, " G"], n: int) -> Float[np.ndarray, " G"]:
    """Return the bound of Theorem 2 on the largest loss over states, for rewards in [0, 1]."""
    policies = STATES * np.log(ACTIONS)
    width = np.sqrt((np.log(2 * STATES * ACTIONS / ERROR) + policies) / (2 * n))
    short = (GAMMA_EVAL - gammas) / ((1 - GAMMA_EVAL) * (1 - gammas))
    return short + 2 * width / (1 - gammas) ** 2


def _at(sweep: SweepLosses, n: int, gamma: float) -> Float[np.ndarray, " n"]:
    losses = sweep.at(m=n)
    return losses.average_curve[:, np.abs(losses.gammas - gamma).argmin()]


def _advantages(
    P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gamma: float
) -> Float[np.ndarray, "M S A"]:
    """Return how much less each action is worth than the best one, by value iteration."""
    Q = np.zeros_like(R)
    for _ in range(400):
        Q = R + gamma * (P @ Q.max(-1)[:, None, :, None])[..., 0]
    return Q - Q.max(-1, keepdims=True)
