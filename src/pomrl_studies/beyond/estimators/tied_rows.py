"""An estimator that learns whether rows of the model are tied to each other, and uses it if they are.

Two explanations compete in each row (s, a): that the row is independent of all others, as in `empirical_bayes`, and
that it is tied to the other rows of its action by random moves (`random_moves`). In both, the model of a task is
Dirichlet around a mean, and the posterior mean of the row is α h + (1 - α) P_bar with α = c / (c + N). Each explanation
predicts the batch of a task before it sees the row: independent rows from earlier tasks, tied rows also from the other
rows of the same task. The likelihood of these predictions, over all tasks so far, gives the probability that a row is
tied, and the estimate is the mean of both posterior means. The share of tied rows is learned from all of them.

Where most rows are tied, next states that neither the task nor an earlier one has shown in a row, and that the moves
do not make likely either, get the probability 0. Spread over all states, the probability of unseen transitions does no
harm in a random chain, but in an ordered model it leads to places that cannot be reached.

`EqualOrTied` lets a third explanation compete with these two: that the row is the same in all tasks. Then the
transitions of earlier tasks predict it as those of the task itself do, and the estimate is the mean of them all. Where
tasks are nearly equal, and no move ties the rows, the first two find that out late.
"""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num
from scipy.special import expit, gammaln, log_expit

from pomrl.components import Batch, Counts, Estimate, Estimator, Models, PerPair, Truth, predictive_concentration
from pomrl_studies.beyond.estimators.empirical_bayes import DirichletMemory, EmpiricalBayes
from pomrl_studies.beyond.estimators.random_moves import MoveCounts, MoveModel, Rows, fit_moves

CONCENTRATIONS = (2.0, 8.0, 30.0, 120.0, 1000.0)
"""Concentrations of a row of a task around what its moves and earlier tasks predict."""

WEIGHTS = (2.0, 10.0, 50.0, 400.0)
"""Transitions that the moves are worth in the mean of a row, beside its own transitions in earlier tasks."""

GRID = np.array(list(product(WEIGHTS, CONCENTRATIONS)))
"""The pairs of a weight and a concentration among which is chosen, by likelihood."""

FIRST_CONCENTRATIONS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Concentrations of an independent row around the uniform one, in the first task."""

FORGETTING = 0.8
"""Factor by which a past task says less of what explains a row, since explanations improve from task to task."""

LOG_ODDS = -1.0
"""Logarithm of the odds that a row is tied before any batch."""

FIRST_STEPS, STEPS = 25, 3
"""Steps of EM in the first task, and in every other one."""

SHARE_STEPS = 20
"""Steps of EM for the share of rows that are tied."""

MOST_ROWS = 4
"""Power of the share of tied rows that they are trusted with: a half is next to none."""

LIKELY = 0.05
"""Probability from which on a next state is kept that was never seen in a row."""

UNIFORM = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Transitions that the uniform row is worth in one that is the same in all tasks."""

DRAWS = 0.7
"""New draws from the mean model of a row for each of its transitions in earlier tasks."""

PerRun = Float[np.ndarray, "n 1 1"]
"""A number for each of n runs."""


SMALLEST = 1e-4
"""Least probability of a transition in the mean of a row, times the number of states."""


@dataclass(frozen=True)
class TiedMemory:
    """What all tasks so far say of rows and of what ties them, for each of n runs."""

    by_rows: DirichletMemory
    """What they say of rows that are independent."""
    moves: MoveCounts
    """The number of transitions that each move explains."""
    log_odds: Rows
    """How much likelier the transitions of a row were if it is tied, as a logarithm."""
    log_likelihood: Rows
    """Logarithm of how likely the transitions of a row in the last task were, by what was known before them."""
    share: PerRun
    """The share of rows that are tied."""
    scores: Float[np.ndarray, "n J"]
    """Log-likelihood of the tied rows for each of the J pairs in `GRID`."""
    tied: Rows
    """Weight of the explanation that a row is tied."""
    c: PerRun
    """Concentration of tied rows around their mean."""
    h_tied: Models
    """Mean of each row of the last task if it is tied."""
    h_independent: Models
    """Mean of each row if it is independent."""

    def rates(self, N: Num[np.ndarray, "*n_and_pairs"]) -> tuple[Rows, Rows]:
        """Return the weights of both means in a row with N transitions."""
        c = self.by_rows.c[..., 0]
        return self.tied * self.c / (self.c + N), (1.0 - self.tied) * c / (c + N)

    def rate(self, N: int | PerPair) -> PerPair:
        """Return the weight of both means together, at most 1, which rounding can take it above."""
        tied, independent = self.rates(np.asarray(N, float))
        return np.minimum(tied + independent, 1.0)


class TiedRows(Estimator[TiedMemory]):
    """The posterior mean of the model, where rows may be independent or tied by random moves.

    Its prior and its mixing rate come from the batches of all tasks so far with the task's own: already in task 1, the
    rows of an action share what they show.
    """

    def initial_memory(self, n: int, S: int, A: int) -> TiedMemory:
        """Return the memory before the first task."""
        by_rows = EmpiricalBayes().initial_memory(n, S, A)
        half, rows = np.full((n, 1, 1), 0.5), np.zeros((n, S, A))
        uniform = by_rows.P_o
        return TiedMemory(
            by_rows=by_rows,
            moves=MoveCounts.none(n, S, A),
            log_odds=rows,
            log_likelihood=rows,
            share=half,
            scores=np.zeros((n, len(GRID))),
            tied=rows + half,
            c=half,
            h_tied=uniform,
            h_independent=uniform,
        )

    def learn(self, memory: TiedMemory, batch: Batch) -> TiedMemory:
        """Return the memory after one more task with this batch."""
        counts = np.asarray(batch.counts, float)
        by_rows = EmpiricalBayes().learn(memory.by_rows, batch)
        means = _Means.of(memory)
        now = _Explanation(
            means.moves, memory.moves, memory.scores, memory.log_odds, memory.log_likelihood, memory.share
        )
        for steps in (STEPS,) if memory.by_rows.tasks else (FIRST_STEPS, FIRST_STEPS):
            now = _explanation(memory, counts, means, now, steps)
        weight, c = (column[now.best][:, None, None] for column in GRID.T)
        h = means.of_task(now.moves.model, weight[..., None])
        seen = by_rows.counts_above[0] > 0
        likely = h * (c / (c + batch.visits))[..., None] > LIKELY
        trust = now.share**MOST_ROWS
        return TiedMemory(
            by_rows=by_rows,
            moves=memory.moves + now.explained,
            log_odds=now.log_odds,
            log_likelihood=now.log_likelihood,
            share=now.share,
            scores=now.scores,
            tied=now.tied * trust,
            c=c,
            h_tied=_mix(trust, _keep(h, seen | likely), h),
            h_independent=_mix(trust, _keep(by_rows.P_o, seen), by_rows.P_o),
        )

    def assess(self, t: int, batch: Batch, before: TiedMemory, after: TiedMemory, truth: Truth) -> Estimate:
        """Return the mean of both explanations, as much as each counts with the transitions of this batch.

        Its weight is the mean of c / (c + N) over both. The similarity is that of independent rows (`EmpiricalBayes`).
        """
        tied, independent = (rate[..., None] for rate in after.rates(batch.visits))
        h = (tied * after.h_tied + independent * after.h_independent) / (tied + independent)
        by_rows = EmpiricalBayes().assess(t, batch, before.by_rows, after.by_rows, truth)
        return Estimate(h, after.rate, by_rows.deviation)


@dataclass(frozen=True)
class EqualOrTiedMemory:
    """What all tasks so far say of rows that may be the same in all of them, for each of n runs."""

    otherwise: TiedMemory
    """What they say of rows that differ from task to task."""
    counts: Models
    """The transitions of all tasks."""
    log_odds: Rows
    """How much likelier the transitions of a row were if it is the same in all tasks, as a logarithm."""
    share: PerRun
    """The share of such rows."""
    scores: Float[np.ndarray, "n J"]
    """Their log-likelihood for each of `UNIFORM`."""

    @property
    def equal(self) -> Rows:
        """The probability that each row is the same in all tasks."""
        return expit(_logit(self.log_odds, self.share))

    @property
    def mean(self) -> Models:
        """The mean of each row if it is; where rows are tied, without what was never seen."""
        uniform = np.take(UNIFORM, self.scores.argmax(1))[:, None, None, None] / self.counts.shape[-1]
        mean = (self.counts + uniform) / (self.counts + uniform).sum(-1, keepdims=True)
        return _mix(self.otherwise.share**MOST_ROWS, _keep(mean, self.counts > 0), mean)

    def rate(self, N: int | PerPair) -> PerPair:
        """Return the weight of all means together in a row with N transitions of the task itself."""
        return self.equal + (1.0 - self.equal) * self.otherwise.rate(N)


class EqualOrTied(Estimator[EqualOrTiedMemory]):
    """The posterior mean of the model, where rows may be the same in all tasks, tied by random moves, or independent.

    Which of these a row is, and how many are, is learned by how likely each explanation makes the batch of a task
    before it is seen. Of a row that is the same in all tasks, all transitions count alike.
    """

    def initial_memory(self, n: int, S: int, A: int) -> EqualOrTiedMemory:
        """Return the memory before the first task."""
        otherwise = TiedRows().initial_memory(n, S, A)
        none = np.zeros((n, S, A, S))
        return EqualOrTiedMemory(otherwise, none, otherwise.log_odds, otherwise.share, np.zeros((n, len(UNIFORM))))

    def learn(self, memory: EqualOrTiedMemory, batch: Batch) -> EqualOrTiedMemory:
        """Return the memory after one more task with this batch."""
        otherwise, counts = TiedRows().learn(memory.otherwise, batch), np.asarray(batch.counts, float)
        likelihood = _Rows.of(counts).if_equal(memory.counts)
        scores = FORGETTING * memory.scores + _of_runs(likelihood).T
        gain = likelihood[scores.argmax(1), np.arange(len(counts))] - otherwise.log_likelihood
        log_odds = FORGETTING * memory.log_odds + gain
        return EqualOrTiedMemory(otherwise, memory.counts + counts, log_odds, _share(log_odds, memory.share), scores)

    def assess(
        self, t: int, batch: Batch, before: EqualOrTiedMemory, after: EqualOrTiedMemory, truth: Truth
    ) -> Estimate:
        """Return the mean of all explanations, as much as each counts with the transitions of this batch.

        The similarity is that of independent rows (`EmpiricalBayes`).
        """
        otherwise = TiedRows().assess(t, batch, before.otherwise, after.otherwise, truth)
        equal, rest = (weight[..., None] for weight in (after.equal, after.rate(batch.visits) - after.equal))
        return Estimate((equal * after.mean + rest * otherwise.h) / (equal + rest), after.rate, otherwise.deviation)


@dataclass(frozen=True)
class _Means:
    """What the means of tied rows consist of, before a task is seen."""

    moves: MoveModel
    """The probabilities of moves in a typical task."""
    typical: Models
    """The model of a typical task."""
    history: Models
    """The new draws of each row in earlier tasks."""

    @staticmethod
    def of(memory: TiedMemory) -> "_Means":
        history = DRAWS * memory.by_rows.counts_above.sum(0)
        moves = MoveCounts.none(*history.shape[:3]).probabilities(memory.moves)
        return _Means(moves, _positive(moves.model), history)

    def of_task(self, model: Models, weight: float | Float[np.ndarray, "n 1 1 1"]) -> Models:
        """Return the means of the rows of a task, given the model that its moves make.

        What a row itself has shown in earlier tasks is changed by the ratio of the models of this task and of a typical
        one, which is what moves together.
        """
        mean = weight * self.typical + self.history
        mean *= _positive(model)
        mean /= self.typical
        return _positive(mean)


class _Explanation(NamedTuple):
    """How the transitions of all tasks so far are explained if rows are tied, and how well."""

    moves: MoveModel
    """The moves of the last task."""
    explained: MoveCounts
    """The number of its transitions that each move explains."""
    scores: Float[np.ndarray, "n J"]
    log_odds: Rows
    log_likelihood: Rows
    """How likely the batch of the last task was, by what was known of its rows before."""
    share: PerRun

    @property
    def best(self) -> Int[np.ndarray, " n"]:
        """The place in `GRID` of the pair under which all tasks so far are the likeliest."""
        return self.scores.argmax(1)

    @property
    def tied(self) -> Rows:
        """The probability that each row is tied."""
        return expit(_logit(self.log_odds, self.share))


def _explanation(memory: TiedMemory, counts: Counts, means: _Means, before: _Explanation, steps: int) -> _Explanation:
    """Return how the batch of a task is explained, from the rows that are tied by an explanation before it."""
    earlier, tied = memory.by_rows, before.tied
    moves = fit_moves(counts, tied, memory.moves, before.moves, steps)
    explained = moves.expected_moves(counts, tied)
    left_out = moves.without_each_row(counts, tied, explained, memory.moves)
    rows = _Rows.of(counts)
    likelihood = rows.if_tied([means.of_task(left_out, weight) for weight in WEIGHTS])
    scores = FORGETTING * memory.scores + _of_runs(likelihood * tied).T
    if_tied = likelihood[scores.argmax(1), np.arange(len(counts))]
    if_independent = rows.if_independent(earlier)
    log_odds = FORGETTING * memory.log_odds + (if_tied - if_independent) + (0.0 if earlier.tasks else LOG_ODDS)
    logit = _logit(memory.log_odds, memory.share)
    either = np.logaddexp(log_expit(logit) + if_tied, log_expit(-logit) + if_independent)
    return _Explanation(moves, explained, scores, log_odds, either, _share(log_odds, before.share))


@dataclass(frozen=True)
class _Rows:
    """The transitions of a batch, by the entries that are not 0, because most are."""

    entries: Int[np.ndarray, " E"]
    """The place of each entry among all n S A S."""
    number: Float[np.ndarray, " E"]
    """The transitions of each entry."""
    visits: Rows
    """The transitions of each row."""

    @staticmethod
    def of(counts: Counts) -> "_Rows":
        entries = np.flatnonzero(counts)
        return _Rows(entries, counts.ravel()[entries], counts.sum(-1))

    def if_tied(self, means: list[Models]) -> Float[np.ndarray, "J n S A"]:
        """Return the log-likelihood of each row for each pair in `GRID`, with the means of each of `WEIGHTS`."""
        return np.array([self._log_likelihood(mean, np.array(c)) for mean in means for c in CONCENTRATIONS])

    def if_equal(self, earlier: Models) -> Float[np.ndarray, "J n S A"]:
        """Return the log-likelihood of each row for each of `UNIFORM`, if it is what it was in earlier tasks."""
        S = earlier.shape[-1]
        N = earlier.sum(-1)
        found = [
            self._log_likelihood((earlier + weight / S) / (N + weight)[..., None], N + weight) for weight in UNIFORM
        ]
        return np.array(found)

    def if_independent(self, earlier: DirichletMemory) -> Rows:
        """Return the log-likelihood of each row if it is independent, by what earlier tasks predict of it."""
        if earlier.tasks:
            tasks, m = earlier.effective_tasks, earlier.transitions_per_task
            c = predictive_concentration(earlier.c[..., 0][None], tasks, m)[0]
            return self._log_likelihood(_positive(earlier.P_o), c)
        of_grid = np.array([self._log_likelihood(earlier.P_o, np.array(c)) for c in FIRST_CONCENTRATIONS])
        return of_grid[_of_runs(of_grid).argmax(0), np.arange(len(self.visits))]

    def _log_likelihood(self, mean: Models, c: Float[np.ndarray, "..."]) -> Rows:
        """Return the logarithm of the Dirichlet-multinomial probability of each row, up to a constant."""
        S = mean.shape[-1]
        row = self.entries // S
        of_entries = np.broadcast_to(c, self.visits.shape).ravel()[row] * mean.ravel()[self.entries]
        rising = gammaln(of_entries + self.number) - gammaln(of_entries)
        gains = np.bincount(row, rising, minlength=self.visits.size)
        return gains.reshape(self.visits.shape) + gammaln(c) - gammaln(c + self.visits)


def _positive(models: Models) -> Models:
    """Return the models with no probability below the least one."""
    found = np.maximum(models / models.sum(-1, keepdims=True), SMALLEST / models.shape[-1])
    found /= found.sum(-1, keepdims=True)
    return found


def _keep(models: Models, kept: Bool[np.ndarray, "n S A S"]) -> Models:
    """Return the models without the transitions that are not kept; a row that would lose all of them stays."""
    found = models * kept
    total = found.sum(-1, keepdims=True)
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), models)


def _mix(weight: PerRun, a: Models, b: Models) -> Models:
    return weight[..., None] * a + (1.0 - weight[..., None]) * b


def _logit(log_odds: Rows, share: PerRun) -> Rows:
    """Return the logarithm of the odds of an explanation of each row, if this share of rows has it."""
    return log_odds + np.log(share) - np.log1p(-share)


def _share(log_odds: Rows, share: PerRun) -> PerRun:
    """Return the share of rows with an explanation, as though half a row more had it and half a row had not."""
    rows = log_odds[0].size
    for _ in range(SHARE_STEPS):
        share = (_of_runs(expit(_logit(log_odds, share)))[:, None, None] + 0.5) / (rows + 1.0)
    return share


def _of_runs(values: Float[np.ndarray, "*J n S A"]) -> Float[np.ndarray, "*J n"]:
    """Return the sum over the rows of each run, whose order does not depend on the number of runs."""
    return values.reshape(*values.shape[:-2], -1).sum(-1)
