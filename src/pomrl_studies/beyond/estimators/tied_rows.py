"""Detect tied rows of the model, and share data between them.

A row (s, a) is independent (`empirical_bayes`), or tied to other rows of its action by random moves (`random_moves`).
Both cases have a posterior mean α h + (1 - α) P_bar with α = c / (c + N). Earlier tasks predict the row's batch; the
other rows of the task also predict a tied one. The likelihood yields the probability of a tie, which weights both
means.

Where most rows are tied, unseen next states with small probability under the moves get probability 0.
"""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from pomrl.components import (
    Batch,
    Counts,
    Estimate,
    Estimator,
    Models,
    PerPair,
    Truth,
    elementary,
    predictive_concentration,
)
from pomrl.priors import DirichletMemory
from pomrl_studies.beyond.estimators.empirical_bayes import EmpiricalBayes
from pomrl_studies.beyond.estimators.random_moves import MoveCounts, MoveModel, Rows, fit_moves

CONCENTRATIONS = (2.0, 8.0, 30.0, 120.0, 1000.0)
"""Candidate concentrations of a tied row around its predicted mean."""

MOVE_WEIGHTS = (2.0, 10.0, 50.0, 400.0)
"""Candidate weights of the moves in the mean of a row, in transitions; the row's earlier new draws are added."""

PARAMETER_GRID = np.array(list(product(MOVE_WEIGHTS, CONCENTRATIONS)))
"""All J pairs of a weight and a concentration."""

FIRST_CONCENTRATIONS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Candidate concentrations of an independent row around the uniform row, in the first task."""

EVIDENCE_DISCOUNT = 0.8
"""Factor on past evidence in each task, below 1 because explanations improve over tasks."""

PRIOR_LOG_ODDS = -1.0
"""Prior log-odds of a tie, for each row."""

FIRST_STEPS, STEPS = 25, 3
"""Numbers of EM steps: in each of two passes over the first task, and in each later task."""

SHARE_STEPS = 20
"""Number of EM steps for the share of tied rows."""

TRUST_POWER = 4
"""Exponent of the share of tied rows in their weight; a share of 1/2 gives a weight of 1/16."""

MIN_UNSEEN_PROBABILITY = 0.05
"""The predicted probability above which an unseen next state is kept."""

UNIFORM_WEIGHTS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Candidate weights of the uniform row, in transitions, for rows equal in all tasks."""

NEW_DRAW_SHARE = 0.7
"""Assumed number of new draws from the mean of a row, per transition in earlier tasks."""

PerRun = Float[np.ndarray, "n 1 1"]
"""A number for each of n runs."""


MIN_RELATIVE_PROBABILITY = 1e-4
"""The smallest probability of a transition in the mean of a row, times the number of states."""


@dataclass(frozen=True)
class TiedMemory:
    """The evidence about rows and their ties, for each of n runs."""

    by_rows: DirichletMemory
    """The memory for independent rows."""
    moves: MoveCounts
    """The number of transitions explained by each move."""
    log_odds: Rows
    """The log-likelihood ratio of tied to independent rows, with past tasks discounted."""
    log_likelihood: Rows
    """The predictive log-likelihood of each row's transitions in the last task."""
    share: PerRun
    """The share of tied rows."""
    scores: Float[np.ndarray, "n J"]
    """The log-likelihood of tied rows for each pair in `PARAMETER_GRID`."""
    tied: Rows
    """The probability of a tie times share^`TRUST_POWER`, for each row."""
    c: PerRun
    """The concentration of tied rows around their mean."""
    h_tied: Models
    """The mean of each row of the last task if tied."""
    h_independent: Models
    """The mean of each row if independent."""

    def rates(self, N: Num[np.ndarray, "*n_and_pairs"]) -> tuple[Rows, Rows]:
        """Return the weights of both means in a row with N transitions."""
        c = self.by_rows.c[..., 0]
        return self.tied * self.c / (self.c + N), (1.0 - self.tied) * c / (c + N)

    def rate(self, N: int | PerPair) -> PerPair:
        """Return the joint weight of both means, clipped to 1."""
        tied, independent = self.rates(np.asarray(N, float))
        return np.minimum(tied + independent, 1.0)


class TiedRows(Estimator[TiedMemory]):
    """The posterior mean of the model, with rows independent or tied by random moves."""

    def initial_memory(self, n: int, S: int, A: int) -> TiedMemory:
        by_rows = EmpiricalBayes().initial_memory(n, S, A)
        half, rows = np.full((n, 1, 1), 0.5), np.zeros((n, S, A))
        uniform = by_rows.P_o
        return TiedMemory(
            by_rows=by_rows,
            moves=MoveCounts.none(n, S, A),
            log_odds=rows,
            log_likelihood=rows,
            share=half,
            scores=np.zeros((n, len(PARAMETER_GRID))),
            tied=rows + half,
            c=half,
            h_tied=uniform,
            h_independent=uniform,
        )

    def learn(self, memory: TiedMemory, batch: Batch) -> TiedMemory:
        counts = np.asarray(batch.counts, float)
        by_rows = EmpiricalBayes().learn(memory.by_rows, batch)
        means = _Means.from_memory(memory)
        now = _Explanation(
            means.moves, memory.moves, memory.scores, memory.log_odds, memory.log_likelihood, memory.share
        )
        for steps in (STEPS,) if memory.by_rows.tasks else (FIRST_STEPS, FIRST_STEPS):
            now = _explanation(memory, counts, means, now, steps)
        weight, c = (column[now.best][:, None, None] for column in PARAMETER_GRID.T)
        h = means.for_task(now.moves.model, weight[..., None])
        is_seen = by_rows.counts_above[0] > 0
        likely = h * (c / (c + batch.visits))[..., None] > MIN_UNSEEN_PROBABILITY
        trust = elementary.power(now.share, TRUST_POWER)
        return TiedMemory(
            by_rows=by_rows,
            moves=memory.moves + now.explained,
            log_odds=now.log_odds,
            log_likelihood=now.log_likelihood,
            share=now.share,
            scores=now.scores,
            tied=now.tied * trust,
            c=c,
            h_tied=_mix(trust, _keep(h, is_seen | likely), h),
            h_independent=_mix(trust, _keep(by_rows.P_o, is_seen), by_rows.P_o),
        )

    def assess(self, t: int, batch: Batch, before: TiedMemory, after: TiedMemory, truth: Truth) -> Estimate:
        """Average both means; the similarity is from `EmpiricalBayes`."""
        tied, independent = (rate[..., None] for rate in after.rates(batch.visits))
        h = (tied * after.h_tied + independent * after.h_independent) / (tied + independent)
        by_rows = EmpiricalBayes().assess(t, batch, before.by_rows, after.by_rows, truth)
        return Estimate(h, after.rate, by_rows.deviation)


@dataclass(frozen=True)
class EqualOrTiedMemory:
    """The evidence about rows equal in all tasks."""

    otherwise: TiedMemory
    """The memory for rows that vary between tasks."""
    counts: Models
    """The transitions of all tasks."""
    log_odds: Rows
    """The log-likelihood ratio of equal to varying rows, with past tasks discounted."""
    share: PerRun
    """The share of equal rows."""
    scores: Float[np.ndarray, "n J"]
    """The log-likelihood of equal rows for each of `UNIFORM_WEIGHTS`."""

    @property
    def equal(self) -> Rows:
        """The probability of equality in all tasks, for each row."""
        return elementary.expit(_logit(self.log_odds, self.share))

    @property
    def mean(self) -> Models:
        """The mean of each row if equal; without unseen transitions where ties are common."""
        uniform = np.take(UNIFORM_WEIGHTS, self.scores.argmax(1))[:, None, None, None] / self.counts.shape[-1]
        mean = (self.counts + uniform) / (self.counts + uniform).sum(-1, keepdims=True)
        return _mix(elementary.power(self.otherwise.share, TRUST_POWER), _keep(mean, self.counts > 0), mean)

    def rate(self, N: int | PerPair) -> PerPair:
        return self.equal + (1.0 - self.equal) * self.otherwise.rate(N)


class EqualOrTied(Estimator[EqualOrTiedMemory]):
    """The posterior mean of the model, with rows equal in all tasks, tied by random moves, or independent."""

    def initial_memory(self, n: int, S: int, A: int) -> EqualOrTiedMemory:
        otherwise = TiedRows().initial_memory(n, S, A)
        none = np.zeros((n, S, A, S))
        return EqualOrTiedMemory(
            otherwise, none, otherwise.log_odds, otherwise.share, np.zeros((n, len(UNIFORM_WEIGHTS)))
        )

    def learn(self, memory: EqualOrTiedMemory, batch: Batch) -> EqualOrTiedMemory:
        otherwise, counts = TiedRows().learn(memory.otherwise, batch), np.asarray(batch.counts, float)
        likelihood = _Rows.from_counts(counts).if_equal(memory.counts)
        scores = EVIDENCE_DISCOUNT * memory.scores + _sum_of_runs(likelihood).T
        gain = likelihood[scores.argmax(1), np.arange(len(counts))] - otherwise.log_likelihood
        log_odds = EVIDENCE_DISCOUNT * memory.log_odds + gain
        return EqualOrTiedMemory(otherwise, memory.counts + counts, log_odds, _share(log_odds, memory.share), scores)

    def assess(
        self, t: int, batch: Batch, before: EqualOrTiedMemory, after: EqualOrTiedMemory, truth: Truth
    ) -> Estimate:
        otherwise = TiedRows().assess(t, batch, before.otherwise, after.otherwise, truth)
        equal, varying = (weight[..., None] for weight in (after.equal, after.rate(batch.visits) - after.equal))
        return Estimate(
            (equal * after.mean + varying * otherwise.h) / (equal + varying), after.rate, otherwise.deviation
        )


@dataclass(frozen=True)
class _Means:
    """The predictors of tied rows before a task."""

    moves: MoveModel
    """The probabilities of moves in a typical task."""
    typical: Models
    """The model of a typical task."""
    history: Models
    """The new draws of each row in earlier tasks."""

    @staticmethod
    def from_memory(memory: TiedMemory) -> "_Means":
        history = NEW_DRAW_SHARE * memory.by_rows.counts_above.sum(0)
        moves = MoveCounts.none(*history.shape[:3]).probabilities(memory.moves)
        return _Means(moves, _positive(moves.model), history)

    def for_task(self, model: Models, weight: float | Float[np.ndarray, "n 1 1 1"]) -> Models:
        """Return a task's row means, given the model of its moves.

        The ratio of this model to the typical one rescales earlier transitions.
        """
        mean = weight * self.typical + self.history
        mean *= _positive(model)
        mean /= self.typical
        return _positive(mean)


class _Explanation(NamedTuple):
    """The explanation of all transitions by tied rows, and its likelihood."""

    moves: MoveModel
    """The moves of the last task."""
    explained: MoveCounts
    """The number of transitions in the last task explained by each move."""
    scores: Float[np.ndarray, "n J"]
    log_odds: Rows
    log_likelihood: Rows
    """The predictive log-likelihood of the last batch."""
    share: PerRun

    @property
    def best(self) -> Int[np.ndarray, " n"]:
        """The index in `PARAMETER_GRID` of the most likely pair."""
        return self.scores.argmax(1)

    @property
    def tied(self) -> Rows:
        """The probability of a tie, for each row."""
        return elementary.expit(_logit(self.log_odds, self.share))


def _explanation(memory: TiedMemory, counts: Counts, means: _Means, before: _Explanation, steps: int) -> _Explanation:
    earlier, tied = memory.by_rows, before.tied
    moves = fit_moves(counts, tied, memory.moves, before.moves, steps)
    explained = moves.expected_moves(counts, tied)
    left_out = moves.without_each_row(counts, tied, explained, memory.moves)
    rows = _Rows.from_counts(counts)
    likelihood = rows.if_tied([means.for_task(left_out, weight) for weight in MOVE_WEIGHTS])
    scores = EVIDENCE_DISCOUNT * memory.scores + _sum_of_runs(likelihood * tied).T
    if_tied = likelihood[scores.argmax(1), np.arange(len(counts))]
    if_independent = rows.if_independent(earlier)
    log_odds = (
        EVIDENCE_DISCOUNT * memory.log_odds + (if_tied - if_independent) + (0.0 if earlier.tasks else PRIOR_LOG_ODDS)
    )
    logit = _logit(memory.log_odds, memory.share)
    either = elementary.log_add_exp(
        elementary.log_expit(logit) + if_tied, elementary.log_expit(-logit) + if_independent
    )
    return _Explanation(moves, explained, scores, log_odds, either, _share(log_odds, before.share))


@dataclass(frozen=True)
class _Rows:
    """The nonzero entries of a batch."""

    entries: Int[np.ndarray, " E"]
    """The flat index of each entry among all n S A S."""
    number: Float[np.ndarray, " E"]
    """The transitions of each entry."""
    visits: Rows
    """The transitions of each row."""

    @staticmethod
    def from_counts(counts: Counts) -> "_Rows":
        entries = np.flatnonzero(counts)
        return _Rows(entries, counts.ravel()[entries], counts.sum(-1))

    def if_tied(self, means: list[Models]) -> Float[np.ndarray, "J n S A"]:
        """Return the log-likelihood of each row for each entry of `PARAMETER_GRID`.

        `means` has a model for each weight, in the order of the grid.
        """
        return np.array([self._log_likelihood(mean, np.array(c)) for mean in means for c in CONCENTRATIONS])

    def if_equal(self, earlier: Models) -> Float[np.ndarray, "J n S A"]:
        """Return log-likelihoods for each of `UNIFORM_WEIGHTS`."""
        S = earlier.shape[-1]
        N = earlier.sum(-1)
        likelihoods = [
            self._log_likelihood((earlier + weight / S) / (N + weight)[..., None], N + weight)
            for weight in UNIFORM_WEIGHTS
        ]
        return np.array(likelihoods)

    def if_independent(self, earlier: DirichletMemory) -> Rows:
        """Return log-likelihoods under predictions from earlier tasks."""
        if earlier.tasks:
            tasks, m = earlier.effective_tasks, earlier.transitions_per_task
            c = predictive_concentration(earlier.c[..., 0][None], tasks, m)[0]
            return self._log_likelihood(_positive(earlier.P_o), c)
        likelihoods = np.array([self._log_likelihood(earlier.P_o, np.array(c)) for c in FIRST_CONCENTRATIONS])
        return likelihoods[_sum_of_runs(likelihoods).argmax(0), np.arange(len(self.visits))]

    def _log_likelihood(self, mean: Models, c: Float[np.ndarray, "..."]) -> Rows:
        """Return the Dirichlet-multinomial log-probability of each row, up to a constant."""
        S = mean.shape[-1]
        row = self.entries // S
        alpha = np.broadcast_to(c, self.visits.shape).ravel()[row] * mean.ravel()[self.entries]
        rising = elementary.log_gamma(alpha + self.number) - elementary.log_gamma(alpha)
        gains = np.bincount(row, rising, minlength=self.visits.size)
        return gains.reshape(self.visits.shape) + elementary.log_gamma(c) - elementary.log_gamma(c + self.visits)


def _positive(models: Models) -> Models:
    clipped = np.maximum(models / models.sum(-1, keepdims=True), MIN_RELATIVE_PROBABILITY / models.shape[-1])
    clipped /= clipped.sum(-1, keepdims=True)
    return clipped


def _keep(models: Models, mask: Bool[np.ndarray, "n S A S"]) -> Models:
    """Remove transitions outside the mask, unless a row would lose all."""
    masked = models * mask
    total = masked.sum(-1, keepdims=True)
    return np.where(total > 0, masked / np.where(total > 0, total, 1.0), models)


def _mix(weight: PerRun, a: Models, b: Models) -> Models:
    return weight[..., None] * a + (1.0 - weight[..., None]) * b


def _logit(log_odds: Rows, share: PerRun) -> Rows:
    return log_odds + elementary.log(share) - elementary.log(1.0 - share)


def _share(log_odds: Rows, share: PerRun) -> PerRun:
    rows = log_odds[0].size
    for _ in range(SHARE_STEPS):
        share = (_sum_of_runs(elementary.expit(_logit(log_odds, share)))[:, None, None] + 0.5) / (rows + 1.0)
    return share


def _sum_of_runs(values: Float[np.ndarray, "*J n S A"]) -> Float[np.ndarray, "*J n"]:
    return values.reshape(*values.shape[:-2], -1).sum(-1)
