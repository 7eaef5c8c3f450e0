"""What a distribution of related tasks is: tasks have something in common, and each is drawn around it (Sec. 3.1).

`TaskDistribution` is the base class of all distributions, those of random chains and the families of well-known models.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pomrl.checks import Component
from pomrl.science.mdp import Rewards
from pomrl.science.randomness import Generators


@dataclass(frozen=True)
class MeanModel:
    """Everything that the tasks of one run have in common."""

    P_o: Float[np.ndarray, "S A S"]
    """Mean over tasks of the transition probabilities."""
    R: Rewards
    """Rewards of all tasks, R(s, a) or R(s, a, s'); their mean over tasks where tasks have their own."""
    varying: Bool[np.ndarray, "S A"]
    """Whether tasks differ in the pair (s, a)."""
    deviation: float
    """Largest standard deviation over tasks of any entry of the model."""
    largest_deviation: float
    """Limit that the deviation has to stay below with this P_o."""
    unsmoothed: Float[np.ndarray, "S A S"] | None = None
    """The mean model before smoothing; None where there is no smoothing."""

    @property
    def has_room(self) -> bool:
        """Return whether there are tasks around this mean model that spread by the deviation."""
        return self.deviation < self.largest_deviation or self.deviation == 0


@dataclass(frozen=True, eq=False)
class Tasks:
    """The models and rewards of consecutive tasks in each of n runs."""

    P: Float[np.ndarray, "tasks n S A S"]
    """Transition probabilities."""
    R: Rewards
    """Rewards R(s, a), [tasks, n, S, A], or R(s, a, s'), [tasks, n, S, A, S], which learners know as they are."""
    latent: Float[np.ndarray, "tasks n"] | None = None
    """The number that determines the model of a task, which ties its rows; None where rows are independent."""


class TaskDistribution(Component):
    """Base class of task distributions: what the tasks of a run have in common, and how each of them is drawn."""

    @property
    def size(self) -> tuple[int, int] | None:
        """The numbers (S, A) of states and actions if the distribution determines them, and None if it does not."""
        return None

    @property
    def start(self) -> list[float] | None:
        """The probability of each state to be the first where the key `start` is null; None: all are equally likely."""
        return None

    def check(self, S: int, A: int) -> None:
        """Raise a ValueError if the distribution cannot be used with S states and A actions."""
        if self.size not in (None, (S, A)):
            raise ValueError(
                f"S={S}, A={A}: the tasks of {type(self).__name__} have {self.size[0]} states and {self.size[1]} "
                "actions; set S=null A=null"
            )

    @abstractmethod
    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        """Draw what the tasks of a run have in common.

        Args:
            seed: Seed of the experiment.
            run: Index of the independent run.
            S: Number of states.
            A: Number of actions.
            sigma: Similarity of the tasks; None where a key of the distribution gives it.

        Raises:
            ValueError: If the distribution cannot have this sigma, or if sigma is given twice or not at all.
        """

    @abstractmethod
    def draw(self, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
        """Draw the next tasks of n runs, each from its own generator.

        The tasks are drawn in their order, so that two calls, for the first tasks and for the others, draw the same.
        """

    @abstractmethod
    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        """Return the variance over tasks of each entry of the model; the largest one is sigma squared."""

    def candidates(self) -> Float[np.ndarray, "k S A S"] | None:
        """Return the k models that each task has with the same chance; None if tasks have infinitely many."""
        return None
