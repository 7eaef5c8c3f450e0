"""Models whose transitions are random moves, so that rows of one action share what they learn.

A state has a number, and a transition under an action a draws a *move*: a shift by d states, with the probability
`shift[a, d]`, or a reset to the state j, with the probability `reset[a, j]`. A shift that leaves the range of states
ends at its first or last state. A shift can be blocked: at the state s that has the probability `blocked[s, d]`,
whatever the action, and then the next state is drawn from `fallback[s]`. So

    P(s' | s, a)  =  sum over d of shift[a, d] ((1 - blocked[s, d]) 1{s + d = s'} + blocked[s, d] fallback[s, s'])
                     + reset[a, s'].

Demand, wear, arrivals and steps on a grid have this form: walls block, a stock is clipped at 0, a fire resets. Shifts
and resets differ from task to task and are learned from all rows of an action, also in one task; what blocks is the
same in all tasks. The parameters are estimated by expectation and maximisation (EM), in which each transition is split
among the moves that can explain it.

The order of the states matters: where their numbers are arbitrary, no shift explains much.
"""

from dataclasses import dataclass, fields
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.components import Counts, Models

BLOCKED, PASSED = 0.1, 0.6
"""Transitions that are added to those in which a shift was blocked at a state, and to those in which it was not."""

STAYED, ANYWHERE = 1.0, 0.2
"""Transitions that are added to those of a fallback: to the state itself, and to all states together."""

MOVED = 1e-3
"""Transitions that are added to each move, so that no move is impossible."""

LIKE_EARLIER = 20.0
"""The most transitions that the moves of an action in earlier tasks count for in a new task."""

Rows = Float[np.ndarray, "n S A"]
"""A number for each row (s, a) of n runs."""


@dataclass(frozen=True)
class _ByMove:
    """A number for each move, in each of n runs."""

    shift: Float[np.ndarray, "n A V"]
    """Of the V = 2 S - 1 shifts by d = 1 - S .. S - 1, blocked or not."""
    reset: Float[np.ndarray, "n A S"]
    """Of resets to each state."""
    blocked: Float[np.ndarray, "n S V"]
    """Of shifts that are blocked at a state."""
    passed: Float[np.ndarray, "n S V"]
    """Of shifts that are not."""
    fallback: Float[np.ndarray, "n S S"]
    """Of each next state, where a shift is blocked."""


@dataclass(frozen=True)
class MoveCounts(_ByMove):
    """The number of transitions that each move explains."""

    @staticmethod
    def none(n: int, S: int, A: int) -> "MoveCounts":
        """Return no transitions."""
        V = 2 * S - 1
        return MoveCounts(*map(np.zeros, ((n, A, V), (n, A, S), (n, S, V), (n, S, V), (n, S, S))))

    def __add__(self, other: "MoveCounts") -> "MoveCounts":
        return MoveCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(MoveCounts)))

    def probabilities(self, earlier: "MoveCounts") -> "MoveModel":
        """Return the probabilities that these transitions of a task say, after those of earlier tasks."""
        of_all = self + earlier
        shift, reset = (
            now + before for now, before in zip((self.shift, self.reset), earlier.in_a_new_task, strict=True)
        )
        total = _total(shift) + _total(reset)
        tries = of_all.blocked + of_all.passed + BLOCKED + PASSED
        S = self.fallback.shape[-1]
        fallback = of_all.fallback + ANYWHERE / S + STAYED * np.eye(S)
        return MoveModel(
            shift / total,
            reset / total,
            (of_all.blocked + BLOCKED) / tries,
            (of_all.passed + PASSED) / tries,
            fallback / _total(fallback),
        )

    @property
    def by_action(self) -> Float[np.ndarray, "n A 1"]:
        """The number of transitions under each action."""
        return _total(self.shift) + _total(self.reset)

    @property
    def in_a_new_task(self) -> tuple[Float[np.ndarray, "n A V"], Float[np.ndarray, "n A S"]]:
        """The transitions that earlier tasks add to the shifts and resets of a new one."""
        moves = self.shift.shape[-1] + self.reset.shape[-1]
        weight = np.minimum(self.by_action, LIKE_EARLIER) / (self.by_action + MOVED * moves)
        return MOVED + weight * (self.shift + MOVED), MOVED + weight * (self.reset + MOVED)


@dataclass(frozen=True)
class MoveModel(_ByMove):
    """The probability of each move."""

    @property
    def model(self) -> Models:
        """The model of a task whose moves have these probabilities."""
        passing = _along(self.shift, self.passed)
        found = passing + self.blocking[..., None] * self.fallback[:, :, None] + self.reset[:, None]
        low, high = self._tails()
        found[..., 0] += low
        found[..., -1] += high
        return found

    @property
    def blocking(self) -> Rows:
        """The probability that a shift is drawn and blocked."""
        return self.blocked @ self.shift.swapaxes(1, 2)

    def _tails(self) -> tuple[Rows, Rows]:
        """Return the probability of shifts that are not blocked and lead beyond the first and the last state."""
        of_action = self.shift.swapaxes(1, 2)
        low, high = ((self.passed * mask) @ of_action for mask in _beyond(self.passed.shape[1]))
        return low, high

    def expected_moves(self, counts: Counts, weights: Rows) -> MoveCounts:
        """Return the expected numbers of transitions by each move, the E step.

        Args:
            counts: The numbers of transitions N(s, a, s').
            weights: The weight of the transitions from each row, in [0, 1].
        """
        ratio = _ratio(counts, self.model, weights)
        inside = _along(self.shift, self.passed)
        inside *= ratio
        into_fallback = ratio * self.fallback[:, :, None]
        of_rows = into_fallback.sum(-1)  # what a blocked shift has to explain
        shift = _by_shift(inside) + self.shift * (of_rows.swapaxes(1, 2) @ self.blocked)
        passed = _by_state(inside)
        for mask, edge in zip(_beyond(self.passed.shape[1]), (ratio[..., 0], ratio[..., -1]), strict=True):
            beyond = self.passed * mask
            shift += self.shift * (edge.swapaxes(1, 2) @ beyond)
            passed += beyond * (edge @ self.shift)
        into_fallback *= self.blocking[..., None]
        return MoveCounts(
            shift,
            self.reset * ratio.sum(1),
            self.blocked * (of_rows @ self.shift),
            passed,
            into_fallback.sum(2),
        )

    def without_each_row(self, counts: Counts, weights: Rows, explained: MoveCounts, earlier: MoveCounts) -> Models:
        """Return the model in which what each row itself showed in this task is left out of its own prediction.

        Args:
            counts: The numbers of transitions N(s, a, s') of the task.
            weights: The weight of the transitions from each row.
            explained: What `expected_moves` returns for them.
            earlier: The numbers of earlier tasks.
        """
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
        found = (shift * share).sum(-1, keepdims=True) * fallback / _total(fallback) + reset / total
        shift *= 1.0 - share
        for s in range(S):
            inside = shift[:, s, :, S - 1 - s : 2 * S - 1 - s]
            found[:, s] += inside
            found[:, s, :, 0] += shift[:, s, :, : S - 1 - s].sum(-1)
            found[:, s, :, -1] += shift[:, s, :, 2 * S - 1 - s :].sum(-1)
        return found


def fit_moves(counts: Counts, weights: Rows, earlier: MoveCounts, start: MoveModel, steps: int) -> MoveModel:
    """Return the probabilities of moves in a task, by EM.

    Args:
        counts: The numbers of transitions N(s, a, s') of the task.
        weights: The weight of the transitions from each row.
        earlier: The numbers of transitions by each move in earlier tasks.
        start: The probabilities that EM starts from.
        steps: The number of its steps.
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


def _total(values: Float[np.ndarray, "*n k"]) -> Float[np.ndarray, "*n 1"]:
    return values.sum(-1, keepdims=True)


def _along(shift: Float[np.ndarray, "n A V"], passed: Float[np.ndarray, "n S V"]) -> Models:
    """Return the probability of the one shift that leads from s to s' without leaving the range, if it passes."""
    S = passed.shape[1]
    place = np.arange(S) - np.arange(S)[:, None] + S - 1
    of_action = shift.take(place, axis=2).swapaxes(1, 2)
    return of_action * np.take_along_axis(passed, place[None], 2)[:, :, None]


def _by_shift(inside: Models) -> Float[np.ndarray, "n A V"]:
    """Return the sum over states of what the shifts from s to s' explain."""
    n, S, A, _ = inside.shape
    found = np.zeros((n, A, 2 * S - 1))
    for s in range(S):
        found[:, :, S - 1 - s : 2 * S - 1 - s] += inside[:, s]
    return found


def _by_state(inside: Models) -> Float[np.ndarray, "n S V"]:
    """Return the sum over actions of what the shifts from s to s' explain."""
    n, S, _, _ = inside.shape
    found = np.zeros((n, S, 2 * S - 1))
    of_states = inside.sum(2)
    for s in range(S):
        found[:, s, S - 1 - s : 2 * S - 1 - s] = of_states[:, s]
    return found


@cache
def _ends(S: int) -> Int[np.ndarray, "S V"]:
    """Return the state in which each shift from each state ends."""
    return np.clip(np.arange(S)[:, None] + np.arange(1 - S, S), 0, S - 1)


@cache
def _beyond(S: int) -> tuple[Bool[np.ndarray, "S V"], Bool[np.ndarray, "S V"]]:
    """Return which shifts from each state lead beyond the first state, and beyond the last one."""
    end = np.arange(S)[:, None] + np.arange(1 - S, S)
    return end < 0, end >= S
