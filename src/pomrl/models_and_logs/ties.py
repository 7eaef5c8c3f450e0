"""Rows that are independent, and rows that move together, learned from a log.

The row of the pair (s, a) in a task is, for its successors s' in the log,

    P  ~  Dirichlet(κ p(z)),    p(s'; z) ∝ exp(a(s, a, s') + z b(s, a, s')),    z ~ N(0, 1) in each task.

With slopes b = 0 rows are independent; else one number z of the task moves all of them. Slopes have a normal prior,
whose variance is one of `VARIANCES`. Successors that no task has shown have the probability that empirical Bayes gives
them (`pomrl.science.estimators.empirical_bayes`). Variances and concentrations κ are weighed by how well they predict
tasks that were held out; a and b are maximised, and their uncertainty is that of the weighted likelihood bootstrap
(Newton and Raftery, 1994), in which each new draw from p has a random weight.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.special import digamma, gammaln, logsumexp

from pomrl.models_and_logs.successors import SMALLEST, Successors

Counts = Int[np.ndarray, "S A S"]
"""The transitions of one task."""

GRID = np.linspace(-2.5, 2.5, 11)[:, None]
"""The values of z over which integrals are sums."""

CHANCES = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
"""Their probabilities."""

VARIANCES = (0.0, 0.1, 0.5)
"""The variances of slopes that are compared; the first one is that of independent rows."""

KAPPAS = np.geomspace(3.0, 3000.0, 10)
"""The concentrations κ that are compared."""

KAPPA_MEDIAN, KAPPA_VARIANCE = 20.0, 1.5
"""Median of the log-normal prior of κ, and the variance of its logarithm."""

LEAST_ALPHA = 1e-4
"""The parameter of a Dirichlet distribution up to which an entry is taken as 0 in draws."""

STEPS = 40
"""The steps of the maximisation over a and b; those of the bootstrap start at the maximum, and take half as many."""

DRAWS = 40
"""The number of draws of a and b."""

FOLDS = 10
"""Into so many parts tasks are divided, each of which is predicted from the others."""

TOGETHER = "tasks differ in one way that changes all states and actions at once"
INDEPENDENT = "tasks differ separately in each state and action"
"""What the two kinds of rows are called in reports."""


@dataclass(frozen=True, eq=False)
class Fits:
    """The unknowns of R fits."""

    a: Float[np.ndarray, "R E"]
    b: Float[np.ndarray, "R E"]
    variance: Float[np.ndarray, " R"]
    """The variance of the prior of slopes."""
    centre: Float[np.ndarray, "#R #E"]
    """The mean of the prior of slopes: 0, or a random one in the bootstrap."""

    def rows(self, of: Successors) -> Float[np.ndarray, "R g E"]:
        """Return p(z) on the grid of z."""
        return of.rows(self.a[:, None] + GRID * self.b[:, None])

    def __getitem__(self, index: Int[np.ndarray, " r"]) -> "Fits":
        return Fits(*(np.broadcast_to(each, (len(self.a), *each.shape[1:]))[index] for each in vars(self).values()))

    def after(self, x: Float[np.ndarray, "R K E"], prior: Float[np.ndarray, "#R E"], of: Successors) -> "Fits":
        """Return the fits to new draws x after a step of EM, with a diagonal Newton step on a and b.

        Half of the step is taken, because a row with two successors has each twice.
        """
        P = self.rows(of)
        log_weight = x @ np.log(P).swapaxes(1, 2) + np.log(CHANCES[:, 0])
        weight = np.exp(log_weight - log_weight.max(-1, keepdims=True))
        weight /= weight.sum(-1, keepdims=True)
        draws = weight.swapaxes(1, 2) @ x + CHANCES * prior[:, None]
        total = of.summed(draws)[..., of.row]
        gap, bend = draws - total * P, total * P * (1.0 - P)
        precision = 1.0 / np.maximum(self.variance, 1e-12)[:, None]
        a = self.a + 0.5 * gap.sum(1) / (bend.sum(1) + 1e-9)
        slope = (GRID * gap).sum(1) - precision * (self.b - self.centre)
        b = self.b + 0.5 * slope / ((GRID**2 * bend).sum(1) + precision)
        return replace(self, a=a, b=b)


@dataclass(frozen=True, eq=False)
class LearnedTies:
    """What is believed of rows, with draws of all unknowns that tasks share."""

    of: Successors
    rows: Float[np.ndarray, "R g E"]
    """Draws of p(z) on the grid of z."""
    others: Float[np.ndarray, "R S A S"]
    """The probabilities of successors that the log has not shown."""
    kappa: Float[np.ndarray, " R"]
    by_variance: Float[np.ndarray, "V K"]
    """The scores of tasks with the best κ, for independent rows and for each variance of slopes."""

    @property
    def gain(self) -> Float[np.ndarray, " K"]:
        """The log-likelihood of each held-out task if rows move together, less that if they are independent."""
        return max(self.by_variance[1:], key=np.sum, default=self.by_variance[0]) - self.by_variance[0]

    @property
    def scores(self) -> Float[np.ndarray, " K"]:
        """The logarithm of the probability of the transitions of each task, as what predicts best does from others."""
        return max(self.by_variance, key=np.sum)

    @property
    def words(self) -> str:
        """What it takes rows to do."""
        return TOGETHER if self.gain.sum() > 0 else INDEPENDENT

    def mean(self, counts: Counts) -> Float[np.ndarray, "S A S"]:
        """Return the posterior mean of the model of a task with these counts."""
        rows = np.einsum("rg,rge->re", self._weights(counts), self.rows)
        kappa, visits = self.kappa[:, None, None, None], counts.sum(-1, keepdims=True)
        return ((kappa * self.of.models(rows, self.others) + counts) / (kappa + visits)).mean(0)

    def sample(self, rng: np.random.Generator, counts: Counts, n: int) -> Float[np.ndarray, "n S A S"]:
        """Draw n models of a task with these counts; draw i has the unknowns i of what tasks share."""
        weights = self._weights(counts)
        draw = np.arange(n) % len(weights)
        z = (rng.random((n, 1)) > weights.cumsum(-1)[draw, :-1]).sum(-1)
        alpha = self.kappa[draw, None, None, None] * self.of.models(self.rows[draw, z], self.others[draw]) + counts
        likely = alpha > LEAST_ALPHA  # others are drawn as 0 nearly always
        gammas = np.zeros_like(alpha)
        gammas[likely] = rng.standard_gamma(alpha[likely])
        total = gammas.sum(-1, keepdims=True)
        return np.where(total > 0, gammas / np.where(total > 0, total, 1.0), alpha / alpha.sum(-1, keepdims=True))

    def _weights(self, counts: Counts) -> Float[np.ndarray, "R g"]:
        """Return the posterior probabilities of z in each draw."""
        x = counts.ravel()[self.of.index].astype(float)
        found = log_chances(x, self.rows, self.kappa[:, None, None], self.of) + np.log(CHANCES[:, 0])
        return np.exp(found - logsumexp(found, axis=-1, keepdims=True))


def learned_ties(
    counts: Int[np.ndarray, "K S A S"], rng: np.random.Generator, variances: tuple[float, ...] = VARIANCES
) -> LearnedTies:
    """Return what is believed after these counts; with one task rows are independent."""
    of = Successors.of(counts)
    x = counts.reshape(len(counts), -1)[:, of.index].astype(float)
    variance = np.array(variances if len(counts) > 1 else variances[:1])
    z = directions(x, of)
    first = held_out(x, np.repeat(x[None], len(variance), 0), z, variance, of).sum(-1).argmax(-1)
    pooled = of.rows(np.log(of.prior + x.sum(0)))
    draws = new_draws(x, np.repeat(pooled[None], len(variance), 0), KAPPAS[first])
    scores = held_out(x, draws, z, variance, of)
    best = scores.sum(-1).argmax(-1)
    which, kappa = drawn_settings(scores.sum(-1), rng)
    prior = np.full((len(variance), len(of.index)), of.prior)
    start = fitted(draws, prior, of, beginnings(draws, z, variance, of), STEPS)[which]
    weighed, before = rng.standard_gamma(draws[which]), rng.standard_gamma(prior[which])
    centre = np.sqrt(start.variance)[:, None] * rng.standard_normal(start.b.shape)
    fits = fitted(weighed, before, of, replace(start, centre=centre), STEPS // 2)
    others = of.drawn_others(before + weighed.sum(1), rng)
    return LearnedTies(of, fits.rows(of), others, KAPPAS[kappa], scores[np.arange(len(variance)), best])


def held_out(
    x: Float[np.ndarray, "K E"],
    draws: Float[np.ndarray, "V K E"],
    z: Float[np.ndarray, " K"],
    variance: Float[np.ndarray, " V"],
    of: Successors,
) -> Float[np.ndarray, "V k K"]:
    """Return the logarithm of the probability of each task for each variance and κ, predicted from other folds.

    The error of a row p, which counts less the more new draws it comes from, is added to what tasks differ by.
    """
    K, V = len(x), len(variance)
    fold = np.arange(K) % min(FOLDS, K)
    others = fold != np.unique(fold)[:, None]
    of_folds = (others[:, None, :, None] * draws).reshape(-1, *x.shape)
    shown = np.repeat(others @ x > 0, V, 0)
    prior = np.where(shown, of.prior, of.worth_unseen)
    repeated = np.tile(variance, len(others))
    fits = fitted(of_folds, prior, of, beginnings(of_folds, z, repeated, of), STEPS)
    P = fits.rows(of).reshape(-1, V, len(GRID), len(of.index))
    known = of.summed(prior + of_folds.sum(1))
    unseen = of.others.sum(-1).ravel()[of.index[of.starts] // len(of.others)]
    log_left = np.log(known / (known + unseen)).reshape(-1, V, len(of.starts))
    error = np.where(variance[:, None, None] > 0, 1.0 + GRID**2, 1.0) / known.reshape(-1, V, 1, len(of.starts))
    kappa = 1.0 / (1.0 / KAPPAS[:, None, None, None, None] + error)
    each = [
        logsumexp(log_chances(x[k], P[fold[k]], kappa[:, fold[k]], of) + np.log(CHANCES[:, 0]), axis=-1)
        + log_left[fold[k]] @ of.summed(x[k])
        for k in range(K)
    ]
    return np.stack(each, -1).swapaxes(0, 1)


def drawn_settings(
    scores: Float[np.ndarray, "V k"], rng: np.random.Generator
) -> tuple[Int[np.ndarray, " R"], Int[np.ndarray, " R"]]:
    """Draw variances and concentrations, with chances in proportion to what they give to held-out tasks."""
    density = scores - np.log(KAPPAS / KAPPA_MEDIAN) ** 2 / (2.0 * KAPPA_VARIANCE)
    chance = np.exp(density - density.max()).ravel()
    chance /= chance.sum()
    places = (np.arange(DRAWS) + rng.random()) / DRAWS
    drawn = np.minimum((places[:, None] > chance.cumsum()).sum(-1), scores.size - 1)
    which, kappa = np.unravel_index(rng.permutation(drawn), scores.shape)
    return which, kappa


def fitted(
    x: Float[np.ndarray, "R K E"], prior: Float[np.ndarray, "R E"], of: Successors, start: Fits, steps: int
) -> Fits:
    """Return the fits to new draws x and these before them: exact for independent rows, after some steps for others."""
    a, b = np.log(np.maximum(prior + x.sum(1), SMALLEST)), np.array(start.b)
    tied = np.flatnonzero(start.variance > 0)
    part = start[tied]
    for _ in range(steps):
        part = part.after(x[tied], prior[tied], of)
    a[tied], b[tied] = part.a, part.b
    return replace(start, a=a, b=b)


def log_chances(
    counts: Float[np.ndarray, " E"],
    P: Float[np.ndarray, "R g E"],
    kappa: Float[np.ndarray, "*m #R #g #N"],
    of: Successors,
) -> Float[np.ndarray, "*m R g"]:
    """Return the logarithm of the probability of the transitions of a task, for each z and each κ of rows."""
    seen = np.flatnonzero(counts)
    full = np.broadcast_to(kappa, (*kappa.shape[:-1], len(of.starts)))
    mass = full[..., of.row[seen]] * P[..., seen]
    of_rows = (gammaln(kappa) - gammaln(kappa + of.summed(counts))).sum(-1)
    return (gammaln(mass + counts[seen]) - gammaln(mass)).sum(-1) + of_rows


def new_draws(
    x: Float[np.ndarray, "K E"], P: Float[np.ndarray, "V E"], kappa: Float[np.ndarray, " V"]
) -> Float[np.ndarray, "V K E"]:
    """Return the expected number of transitions that are new draws from p, and no copies of others in their task.

    A single transition is exactly one new draw. Gamma variates of shape 1 are drawn in another way than those of nearby
    shapes, so that rounding errors would change all draws that follow.
    """
    mass = (kappa[:, None] * P)[:, None]
    return np.where(x > 1, mass * (digamma(mass + np.maximum(x, 1.0)) - digamma(mass)), x)


def directions(x: Float[np.ndarray, "K E"], of: Successors) -> Float[np.ndarray, " K"]:
    """Return where fits begin: the places of tasks on the main direction in which their frequencies differ.

    The task that lies farthest out is on the positive side, because the sign of a singular vector is arbitrary, and
    differs between processors.
    """
    P = of.rows(np.log(x.sum(0) + of.prior))
    total = of.summed(x)[:, of.row]
    residual = (x - total * P) / np.sqrt(total.mean(0) * P * (1.0 - P) + 0.5)
    place = np.linalg.svd(residual, full_matrices=False)[0][:, 0]
    return np.sqrt(len(x)) * np.sign(place[np.abs(place).argmax()]) * place


def beginnings(
    x: Float[np.ndarray, "R K E"],
    z: Float[np.ndarray, " K"],
    variance: Float[np.ndarray, " R"],
    of: Successors,
) -> Fits:
    """Return fits with slopes after one step from none, with the tasks at these places."""
    a = np.log(of.prior + x.sum(1))
    P, total = of.rows(a)[:, None], of.summed(x)[..., of.row]
    gap = np.einsum("k,rke->re", z, x - total * P)
    bend = np.einsum("k,rke->re", z**2, total * P * (1.0 - P))
    return Fits(a, gap / (bend + 1.0 / np.maximum(variance, 1e-12)[:, None]), variance, np.zeros((1, 1)))
