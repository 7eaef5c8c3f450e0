"""The notebook's five estimators: from the batches of a run to the models that are planned with.

Every estimate mixes the frequencies of the learner's own batch with a prior h_t,

    P_hat_t = (1 - alpha_t) P_bar_t + alpha_t h_t,

and the estimators differ in h_t and alpha_t. This equation is that of the text (Eq. 4).

| estimator | prior h_t | mixing rate alpha_t |
| --- | --- | --- |
| `without` | none | 0 |
| `oracle` | the mean model P_o | from the true variances |
| `POMRL` | average of the meta-update's batches | from the true variances |
| `ada-POMRL` | average of the meta-update's batches | from estimated variances |
| `aggregating` | average of the meta-update's batches | 1 |

In task 1 alpha is 0 for all of them, so that all five are the same there: even the oracle, which knows a good prior
from the beginning, does not use it in task 1. The notebook has a second oracle (`lowerbound`), which squares the
variances once more and so plans almost on P_o itself; no figure shows it, and it is left out here.
"""

import numpy as np
from examples.notebook.draws import STATES, TASKS, TRAJECTORIES, Run
from jaxtyping import Float, Int

WITHOUT_META_UPDATE = ("without", "oracle")
WITH_META_UPDATE = ("POMRL", "ada-POMRL", "aggregating")
ESTIMATORS = WITHOUT_META_UPDATE + WITH_META_UPDATE

V2 = 1 / 4
"""The bound on p (1 - p) in the mixing rate, v². The text has 1 in its place."""

START_VARIANCE = 0.1
"""The variance that ada-POMRL starts with, in every entry."""

Priors = Float[np.ndarray, "T S A S"]
Rates = Float[np.ndarray, "T S A"]


def estimated_models(run: Run, estimator: str) -> Float[np.ndarray, "T trials S A S"]:
    """Return the models that an estimator plans with, in each task and trial of a run.

    The run has batches for the meta-update if the estimator is one of `WITH_META_UPDATE`.
    """
    prior, alpha = _prior_and_rate(run, estimator)
    alpha = alpha[:, None, :, :, None]
    return (1 - alpha) * own_frequencies(run.counts) + alpha * prior[:, None]


def own_frequencies(counts: Int[np.ndarray, "*n S"]) -> Float[np.ndarray, "*n S"]:
    """Return the frequencies of next states; a pair (s, a) without a visit gets the uniform distribution.

    About a tenth of the pairs have no visit. In the text there are none, because each pair is sampled m times.
    """
    visits = counts.sum(-1, keepdims=True)
    return np.where(visits > 0, counts / np.maximum(visits, 1), 1 / STATES)


def meta_frequencies(counts: Int[np.ndarray, "*n trials S A S"]) -> Float[np.ndarray, "*n S A S"]:
    """Return the notebook's B_t, the model of one task that its meta-update learns from all trials together.

    It is the mean over trials of the frequencies, with zeros where a trial has no visit, and its rows are divided by
    their sums. With 100 trials of 25 transitions it is nearly the task's true model. In the text, the prior and the
    variances are made of the same few transitions as the task's own estimate. This difference carries most of what
    the notebook's figures show.
    """
    visits = counts.sum(-1, keepdims=True)
    mean = (counts / np.maximum(visits, 1)).mean(-4)
    return mean / mean.sum(-1, keepdims=True)


def _prior_and_rate(run: Run, estimator: str) -> tuple[Priors, Rates]:
    true_rates = _rates(np.broadcast_to(run.variance, run.P.shape))
    if run.meta_counts is None:
        return {"without": (np.zeros_like(run.P), np.zeros_like(true_rates)), "oracle": (run.P_o[None], true_rates)}[
            estimator
        ]
    B = meta_frequencies(run.meta_counts)
    h = average_priors(B)
    if estimator == "ada-POMRL":
        return h[:TASKS], _learned_rates(learned_variances(B, h))
    after_task_1 = np.arange(TASKS) > 0
    return h[:TASKS], true_rates if estimator == "POMRL" else np.ones_like(true_rates) * after_task_1[:, None, None]


def average_priors(B: Priors) -> Float[np.ndarray, "T+1 S A S"]:
    """Return the priors h_1 to h_(T+1), averages that count the uniform model as one task.

    h_1 and h_2 are uniform, and h_(t+1) = (1 - 1/t) h_t + B_t / t for t >= 2. So B_1 never enters, because the notebook
    computes the update of task 1 and then skips the lines that would keep it. From task 2 on, the prior of task t is
    the average of the uniform model and B_2, ..., B_(t-1). In the text it is the average of the means of all earlier
    batches, and the uniform model has no weight after task 1.
    """
    h = np.full((TASKS + 1, *B.shape[1:]), 1 / STATES)
    for t in range(2, TASKS + 1):
        h[t] = (1 - 1 / t) * h[t - 1] + (1 / t) * B[t - 1]
    return h


def learned_variances(B: Priors, h: Float[np.ndarray, "T+1 S A S"]) -> Priors:
    """Return ada-POMRL's variances after each round, by Welford's algorithm around the priors.

    The variance starts at 0.1 and stays there in round 1; in round t >= 2,

        s_t = (1 - 1/t) s_(t-1) + |B_t - h_t| |B_t - h_(t+1)| / t.

    So the start counts as one task for ever, and so does the distance of the first batch used from the uniform model.
    In the text the start affects a finite number of tasks only.
    """
    s = np.full(B.shape, START_VARIANCE)
    for t in range(2, TASKS + 1):
        s[t - 1] = (1 - 1 / t) * s[t - 2] + (1 / t) * np.abs(B[t - 1] - h[t - 1]) * np.abs(B[t - 1] - h[t])
    return s


def _learned_rates(s: Priors) -> Rates:
    """Return ada-POMRL's mixing rates from its variances after each round.

    The notebook computes the rate of task t + 1 before it updates the variance in round t. The rate of task t therefore
    has the variance s_(t-2), one task late. In tasks 2 and 3 that is the start, and alpha is 0.2 and 0.25 whatever was
    drawn.
    """
    return _rates(np.concatenate([s[:1], s[:1], s[: TASKS - 2]]))


def _rates(variance: Priors) -> Rates:
    """Return the mixing rate of each pair (s, a) in each task from the variances that are used in that task.

    alpha_1 = 0, and in task t >= 2, with the largest variance s over next states,

        alpha_t = v² / (s (1 + 1/(t-1)) m + v²).

    The text has 1 for v², has (1 + 1/t) in Section 3.2 but this factor in Algorithm 1, and takes one rate for all
    pairs, from the largest variance of all. The m of the notebook is the number of trajectories, while a pair is
    visited 2.5 times on average.
    """
    alpha = np.zeros(variance.shape[:-1])
    past = np.arange(1, TASKS)[:, None, None]
    alpha[1:] = V2 / (variance[1:].max(-1) * (1 + 1 / past) * TRAJECTORIES + V2)
    return alpha
