"""A structure that the user declares: the model of a task is a known function of one number."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax

from pomrl.science.solvers.input_checks import check_models, float64

LEAST_CHANCE = 1e-12
"""The probability of a transition that a declared structure rules out, so that one such row in a log is no error."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What the user declares: the model of a task is a known function of one latent.

    Each value of the latent has the same chance before a task is seen.
    """

    latents: Float[np.ndarray, " g"]
    """The values of the latent that are possible."""
    models: Callable[[Float[np.ndarray, " g"]], Any]
    """Returns the transition probabilities P[g, s, a, s'] of these values, states and actions in the log's order."""

    def means(self, counts: Int[np.ndarray, "K S A S"]) -> Float[np.ndarray, "K S A S"]:
        """Return the posterior mean of the model of each task after these counts.

        Raises:
            ValueError: The function returns no models of the log's size.
        """
        P = float64(self.models(np.asarray(self.latents, float)), "the declared structure")
        wanted = [len(self.latents), *counts.shape[1:]]
        if list(P.shape) != wanted:
            raise ValueError(f"the models of the declared structure have to be {wanted}, and are {list(P.shape)}")
        check_models(P, np.zeros(P.shape[:-1]))
        log_chance = np.log(np.maximum(P, LEAST_CHANCE)).reshape(len(P), -1)
        weight = softmax(counts.reshape(len(counts), -1) @ log_chance.T, axis=-1)
        return np.tensordot(weight, P, 1)
