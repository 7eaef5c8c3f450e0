"""Everything random in one run of the notebook, drawn in the notebook's order.

The notebook seeds NumPy's legacy generator (the Mersenne Twister of `numpy.random.RandomState`) once per run, and all
draws of the run follow each other in that one stream:

1. for each of the two actions: the mean model, then the rewards;
2. for each task: its transition probabilities, then the trajectories that the learner sees, and then, if the estimator
   has a meta-update, other trajectories for the meta-update.

Nothing that is drawn depends on what is learned. Two estimators with a meta-update therefore see identical draws, and
so do two without one. An estimator with and one without a meta-update share the mean model and task 1 alone, because
the draws for the first meta-update shift all later ones. The text of the paper does not say which draws its methods
share.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

STATES, ACTIONS, TASKS = 10, 2, 15

SUPPORT = 5
"""The number of states that a pair (s, a) leads to in the mean model."""

OFFSET = 0.015
"""What is added to every probability of the mean model before tasks are drawn around it."""

TRIALS = 100
"""The number of independent batches of each task, for the learner and for the meta-update alike."""

TRAJECTORIES = 5
"""The number of trajectories in a batch, which the notebook takes as the paper's m."""

LEARNER_STEPS = 10
"""The length of the learner's trajectories. It is fixed inside a function of the notebook."""

META_STEPS = 5
"""The length of the meta-update's trajectories. It is the parameter that the notebook means for both kinds."""

Model = Float[np.ndarray, "S A S"]
Counts = Int[np.ndarray, "trials S A S"]


@dataclass(frozen=True)
class Run:
    """What is drawn in one run.

    Attributes:
        P_o: The mean model before the offset, P_o(s, a, s').
        R: The rewards R(s, a), which the planner knows.
        variance: The true variance over tasks of each transition probability.
        P: The transition probabilities of each task.
        counts: How often each transition occurs in each of the learner's batches.
        meta_counts: The same in the batches for the meta-update; None if these were not drawn.
    """

    P_o: Model
    R: Float[np.ndarray, "S A"]
    variance: Model
    P: Float[np.ndarray, "T S A S"]
    counts: Int[np.ndarray, "T trials S A S"]
    meta_counts: Int[np.ndarray, "T trials S A S"] | None


def draw_run(seed: int, concentration: float, *, with_meta_update: bool) -> Run:
    """Draw everything that is random in one run.

    Args:
        seed: The seed of the run's stream.
        concentration: The factor c of the Dirichlet parameters c S (P_o + OFFSET): the notebook has 1.5, and divides
            it by 2 or 4 for tasks that are less alike.
        with_meta_update: Whether batches for the meta-update are drawn. The memory of the learner is made of these
            alone. In the text there is one batch per task, from which both the estimate and the memory are made.
    """
    stream = np.random.RandomState(seed)
    P_o, R = _mean_model(stream)
    parameters = (P_o + OFFSET) * concentration * STATES
    P, counts, meta_counts = [], [], []
    for _ in range(TASKS):
        P.append(_task(stream, parameters))
        counts.append(_batches(stream, P[-1], LEARNER_STEPS))
        if with_meta_update:
            meta_counts.append(_batches(stream, P[-1], META_STEPS))
    stacked_meta_counts = np.stack(meta_counts) if with_meta_update else None
    return Run(P_o, R, _variance(parameters), np.stack(P), np.stack(counts), stacked_meta_counts)


def _mean_model(stream: np.random.RandomState) -> tuple[Model, Float[np.ndarray, "S A"]]:
    """Draw the mean model and the rewards, one action after the other.

    Each state leads to five random states, with probabilities that are uniform numbers divided by their sum. Both are
    new in every run, where the text fixes a mean model "for each experiment". The rewards depend on the action.
    """
    P_o, R = np.zeros((STATES, ACTIONS, STATES)), np.empty((STATES, ACTIONS))
    for action in range(ACTIONS):
        values = stream.uniform(0, 1, (STATES, SUPPORT))
        for state in range(STATES):
            successors = stream.permutation(STATES)[:SUPPORT]
            P_o[state, action, successors] = values[state]
        R[:, action] = stream.uniform(0, 1, STATES)
    return P_o / P_o.sum(-1, keepdims=True), R


def _variance(parameters: Model) -> Model:
    """Return the variances of Dirichlet distributions, one for each pair (s, a)."""
    total = parameters.sum(-1, keepdims=True)
    mean = parameters / total
    return mean * (1 - mean) / (total + 1)


def _task(stream: np.random.RandomState, parameters: Model) -> Model:
    """Draw the transition probabilities of one task, in the order (state 1, action 1), (state 1, action 2), and so on.

    The rows are independent draws from Dirichlet distributions. Because of the offset every transition is possible, and
    the mean of the tasks is (P_o + OFFSET) / (1 + S OFFSET) and not P_o. In the text, tasks are centred at P_o and have
    its support.
    """
    P = np.empty((STATES, ACTIONS, STATES))
    for pair in np.ndindex(STATES, ACTIONS):
        P[pair] = stream.dirichlet(parameters[pair])
    return P


def _batches(stream: np.random.RandomState, P: Model, steps: int) -> Counts:
    """Draw a batch of trajectories for each trial, and count its transitions.

    A trajectory starts in a uniform state and takes uniform actions, so that a batch visits some pairs (s, a) often and
    others never. In the text a batch has exactly m transitions from every pair. The notebook also draws a noise for the
    reward of each step and then plans with the true rewards: here the noise is drawn and dropped, for the sake of what
    is drawn after it.
    """
    uniform = np.full(STATES, 1 / STATES)
    transitions = np.empty((TRIALS, TRAJECTORIES, steps, 3), np.intp)
    for trial, trajectory in np.ndindex(TRIALS, TRAJECTORIES):
        state = stream.multinomial(1, uniform).argmax()
        for step in range(steps):
            action = stream.randint(ACTIONS)
            stream.standard_normal()
            successor = stream.multinomial(1, P[state, action]).argmax()
            transitions[trial, trajectory, step] = state, action, successor
            state = successor
    counts = np.zeros((TRIALS, STATES, ACTIONS, STATES), np.int32)
    trials = np.arange(TRIALS)[:, None, None]
    np.add.at(counts, (trials, *np.moveaxis(transitions, -1, 0)), 1)
    return counts
