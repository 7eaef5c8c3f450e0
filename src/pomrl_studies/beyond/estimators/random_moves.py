"""Models of random moves, shared by all rows of an action.

States are ordered. A transition under action a draws a *move*: a shift by d states, with probability `shift[a, d]`, or
a reset to state j, with probability `reset[a, j]`. Shifts stop at the first and the last state. At state s a shift is
blocked with probability `blocked[s, d]`; `fallback[s]` then determines the next state.

    P(s' | s, a)  =  Σ_d shift[a, d] ((1 - blocked[s, d]) 1{s + d = s'} + blocked[s, d] fallback[s, s'])
                     + reset[a, s'].

Shifts and resets vary between tasks; blocking does not.
"""

from dataclasses import dataclass, fields
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.components import Counts, Models

BLOCKED, PASSED = 0.1, 0.6
"""Pseudo-transitions with a blocked and with a passed shift, for each state and shift."""

STAYED, ANYWHERE = 1.0, 0.2
"""Pseudo-transitions of each fallback to the state itself, and to all states together."""

MOVE_PSEUDOCOUNT = 1e-3
"""Pseudo-transitions of each move, so that no move is impossible."""

MAX_EARLIER_TRANSITIONS = 20.0
"""The largest weight of an action's earlier moves in a new task, in transitions."""

Rows = Float[np.ndarray, "n S A"]
"""A number for each row (s, a) of n runs."""


@dataclass(frozen=True)
class _ByMove:
    """A number for each move, in each of n runs."""

    shift: Float[np.ndarray, "n A V"]
    """V = 2 S - 1 shifts by d = 1 - S .. S - 1, blocked or not."""
    reset: Float[np.ndarray, "n A S"]
    """Resets to each state."""
    blocked: Float[np.ndarray, "n S V"]
    """Blocked shifts at each state."""
    passed: Float[np.ndarray, "n S V"]
    """Passed shifts at each state."""
    fallback: Float[np.ndarray, "n S S"]
    """Next states of blocked shifts at each state."""


@dataclass(frozen=True)
class MoveCounts(_ByMove):
    """The number of transitions explained by each move."""

    @staticmethod
    def none(n: int, S: int, A: int) -> "MoveCounts":
        V = 2 * S - 1
        return MoveCounts(*map(np.zeros, ((n, A, V), (n, A, S), (n, S, V), (n, S, V), (n, S, S))))

    def __add__(self, other: "MoveCounts") -> "MoveCounts":
        return MoveCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(MoveCounts)))

    def probabilities(self, earlier: "MoveCounts") -> "MoveModel":
        """Estimate a task's probabilities of moves, given earlier tasks."""
        pooled = self + earlier
        shift, reset = (
            now + before for now, before in zip((self.shift, self.reset), earlier.in_a_new_task, strict=True)
        )
        total = _total(shift) + _total(reset)
        tries = pooled.blocked + pooled.passed + BLOCKED + PASSED
        S = self.fallback.shape[-1]
        fallback = pooled.fallback + ANYWHERE / S + STAYED * np.eye(S)
        return MoveModel(
            shift / total,
            reset / total,
            (pooled.blocked + BLOCKED) / tries,
            (pooled.passed + PASSED) / tries,
            fallback / _total(fallback),
        )

    @property
    def by_action(self) -> Float[np.ndarray, "n A 1"]:
        return _total(self.shift) + _total(self.reset)

    @property
    def in_a_new_task(self) -> tuple[Float[np.ndarray, "n A V"], Float[np.ndarray, "n A S"]]:
        """The pseudo-transitions of shifts and resets for a new task."""
        moves = self.shift.shape[-1] + self.reset.shape[-1]
        weight = np.minimum(self.by_action, MAX_EARLIER_TRANSITIONS) / (self.by_action + MOVE_PSEUDOCOUNT * moves)
        return MOVE_PSEUDOCOUNT + weight * (self.shift + MOVE_PSEUDOCOUNT), MOVE_PSEUDOCOUNT + weight * (
            self.reset + MOVE_PSEUDOCOUNT
        )


@dataclass(frozen=True)
class MoveModel(_ByMove):
    """The probability of each move."""

    @property
    def model(self) -> Models:
        """The transition probabilities under these moves."""
        passing = _along(self.shift, self.passed)
        P = passing + self.blocking[..., None] * self.fallback[:, :, None] + self.reset[:, None]
        low, high = self._tails()
        P[..., 0] += low
        P[..., -1] += high
        return P

    @property
    def blocking(self) -> Rows:
        """The probability of a blocked shift in each row."""
        return _multiply(self.blocked, self.shift.swapaxes(1, 2))

    def _tails(self) -> tuple[Rows, Rows]:
        """Return the probability of passed shifts beyond either end."""
        by_action = self.shift.swapaxes(1, 2)
        low, high = (_multiply(self.passed * mask, by_action) for mask in _beyond(self.passed.shape[1]))
        return low, high

    def expected_moves(self, counts: Counts, weights: Rows) -> MoveCounts:
        """Return the expected numbers of transitions by each move (E step)."""
        ratio = _ratio(counts, self.model, weights)
        inside = _along(self.shift, self.passed)
        inside *= ratio
        into_fallback = ratio * self.fallback[:, :, None]
        row_blocked = into_fallback.sum(-1)  # expected transitions per unit of the probability of a blocked shift
        shift = _by_shift(inside) + self.shift * _multiply(row_blocked.swapaxes(1, 2), self.blocked)
        passed = _by_state(inside)
        for mask, edge in zip(_beyond(self.passed.shape[1]), (ratio[..., 0], ratio[..., -1]), strict=True):
            beyond = self.passed * mask
            shift += self.shift * _multiply(edge.swapaxes(1, 2), beyond)
            passed += beyond * _multiply(edge, self.shift)
        into_fallback *= self.blocking[..., None]
        return MoveCounts(
            shift,
            self.reset * ratio.sum(1),
            self.blocked * _multiply(row_blocked, self.shift),
            passed,
            into_fallback.sum(2),
        )

    def without_each_row(self, counts: Counts, weights: Rows, explained: MoveCounts, earlier: MoveCounts) -> Models:
        """Predict each row without its own transitions in this task."""
        n, S, A, _ = counts.shape
        ratio = _ratio(counts, self.model, weights)
        ends = np.broadcast_to(_ends(S)[None, :, None], (n, S, A, 2 * S - 1))
        passing = self.shift[:, None] * self.passed[:, :, None] * np.take_along_axis(ratio, ends, -1)
        into_fallback = ratio * self.fallback[:, :, None]
        blocking = self.shift[:, None] * self.blocked[:, :, None] * _total(into_fallback)
        into_fallback *= self.blocking[..., None]
        shift, reset = earlier.in_a_new_task
        shift = np.maximum((explained.shift + shift)[:, None] - passing - blocking, 0.0)
        reset = np.maximum((explained.reset + reset)[:, None] - self.reset[:, None] * ratio, 0.0)
        total = _total(shift) + _total(reset)
        blocked = np.maximum((explained.blocked + earlier.blocked)[:, :, None] - blocking, 0.0) + BLOCKED
        passed = np.maximum((explained.passed + earlier.passed)[:, :, None] - passing, 0.0) + PASSED
        shift /= total
        share = blocked / (blocked + passed)
        fallback = np.maximum((explained.fallback + earlier.fallback)[:, :, None] - into_fallback, 0.0)
        fallback += ANYWHERE / S + STAYED * np.eye(S)[:, None]
        P = (shift * share).sum(-1, keepdims=True) * fallback / _total(fallback) + reset / total
        shift *= 1.0 - share
        for s in range(S):
            inside = shift[:, s, :, S - 1 - s : 2 * S - 1 - s]
            P[:, s] += inside
            P[:, s, :, 0] += shift[:, s, :, : S - 1 - s].sum(-1)
            P[:, s, :, -1] += shift[:, s, :, 2 * S - 1 - s :].sum(-1)
        return P


def fit_moves(counts: Counts, weights: Rows, earlier: MoveCounts, start: MoveModel, steps: int) -> MoveModel:
    """Fit the probabilities of moves in a task by EM.

    The weights multiply the transitions of each row.
    """
    moves = start
    for _ in range(steps):
        moves = moves.expected_moves(counts, weights).probabilities(earlier)
    return moves


def _ratio(counts: Counts, model: Models, weights: Rows) -> Models:
    ratio = np.zeros(counts.shape)
    np.divide(counts, model, out=ratio, where=(counts > 0) & (model > 0))
    ratio *= weights[..., None]
    return ratio


def _multiply(a: Float[np.ndarray, "n I K"], b: Float[np.ndarray, "n K J"]) -> Float[np.ndarray, "n I J"]:
    """Multiply matrices in a fixed order; `@` depends on the processor."""
    return np.einsum("nik,nkj->nij", a, b)


def _total(values: Float[np.ndarray, "*n k"]) -> Float[np.ndarray, "*n 1"]:
    return values.sum(-1, keepdims=True)


def _along(shift: Float[np.ndarray, "n A V"], passed: Float[np.ndarray, "n S V"]) -> Models:
    """Return the probability of a passed shift from s to s'."""
    S = passed.shape[1]
    shift_index = np.arange(S) - np.arange(S)[:, None] + S - 1
    by_action = shift.take(shift_index, axis=2).swapaxes(1, 2)
    return by_action * np.take_along_axis(passed, shift_index[None], 2)[:, :, None]


def _by_shift(inside: Models) -> Float[np.ndarray, "n A V"]:
    n, S, A, _ = inside.shape
    sums = np.zeros((n, A, 2 * S - 1))
    for s in range(S):
        sums[:, :, S - 1 - s : 2 * S - 1 - s] += inside[:, s]
    return sums


def _by_state(inside: Models) -> Float[np.ndarray, "n S V"]:
    n, S, _, _ = inside.shape
    sums = np.zeros((n, S, 2 * S - 1))
    state_sums = inside.sum(2)
    for s in range(S):
        sums[:, s, S - 1 - s : 2 * S - 1 - s] = state_sums[:, s]
    return sums


@cache
def _ends(S: int) -> Int[np.ndarray, "S V"]:
    """Return the final state of each shift from each state."""
    return np.clip(np.arange(S)[:, None] + np.arange(1 - S, S), 0, S - 1)


@cache
def _beyond(S: int) -> tuple[Bool[np.ndarray, "S V"], Bool[np.ndarray, "S V"]]:
    """Mark shifts beyond the first and beyond the last state."""
    end = np.arange(S)[:, None] + np.arange(1 - S, S)
    return end < 0, end >= S
