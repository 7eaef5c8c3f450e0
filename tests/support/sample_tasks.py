"""Sample data of a task for agents."""

import numpy as np

from pomrl.science.agents.agent import TaskData
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Belief
from pomrl.science.mdp import Criterion, Rewards
from pomrl.small_experiments import RUNS, SMALL_METHOD, rngs_of_runs


def some_task(runs: slice = slice(None), *, has_transition_rewards: bool = False) -> TaskData:
    """Return data of a task in three runs, 0 to 9 transitions per pair."""
    rng = np.random.default_rng(3)
    n, S, A = RUNS, 4, 2
    counts = rng.multinomial(rng.integers(0, 10, (n, S, A)), rng.dirichlet(np.ones(S), (n, S, A)))[runs]
    R: Rewards = rng.random((n, S, A, S) if has_transition_rewards else (n, S, A))[runs]
    batch = Batch.of_counts(counts, 5)
    return TaskData(
        t=2,
        criterion=Criterion(0.9),
        batch=batch,
        R=R,
        P_hat=believed(batch).P_hat,
        gammas=np.tile([0.0, 0.5, 0.9], (len(R), 1)),
        planner=SMALL_METHOD.planner,
        believe=believed,
        rngs=rngs_of_runs()[runs],
    )


def believed(batch: Batch) -> Belief:
    """Return the posterior for a prior of one transition to each state."""
    S = batch.counts.shape[-1]
    visits = np.broadcast_to(batch.visits, batch.counts.shape[:-1])
    return Belief((batch.counts + 1.0) / (visits + S)[..., None], visits + S)
