"""What a planning horizon is worth: the prior that a discount factor stands for (docs/theory.md, section 8)."""

import numpy as np
from jaxtyping import Float


def equivalent_prior_weight(gamma: Float[np.ndarray, "..."] | float, gamma_eval: float) -> Float[np.ndarray, "..."]:
    """Return the weight 1 - γ/γ_eval of the prior that planning with gamma puts in the place of data (Theorem D).

    Args:
        gamma: Discount factors to plan with, in [0, gamma_eval].
        gamma_eval: Discount factor at which policies are judged, above 0.

    Raises:
        ValueError: If gamma_eval is not in (0, 1), or a gamma is not in [0, gamma_eval].
    """
    gamma = np.asarray(gamma, float)
    if not 0.0 < gamma_eval < 1.0:
        raise ValueError(f"gamma_eval={gamma_eval}: it has to be above 0 and below 1")
    if not ((gamma >= 0.0) & (gamma <= gamma_eval)).all():
        raise ValueError(f"gamma={gamma.tolist()}: it has to be between 0 and gamma_eval={gamma_eval}")
    return np.asarray(1.0 - gamma / gamma_eval)


def equivalent_model(
    P_hat: Float[np.ndarray, "*n S A S"], u: Float[np.ndarray, " S"], gamma: float, gamma_eval: float
) -> Float[np.ndarray, "*n S A S"]:
    """Return the model with which planning at gamma_eval is planning with `P_hat` at gamma (Theorem D).

    Each row is (γ/γ_eval) P_hat(s,a) + (1 - γ/γ_eval) u.

    Args:
        P_hat: A model, or several.
        u: The distribution of next states that all pairs (s, a) are mixed with.
        gamma: Discount factor to plan with, in [0, gamma_eval].
        gamma_eval: Discount factor at which policies are judged.
    """
    weight = equivalent_prior_weight(gamma, gamma_eval)
    return (1.0 - weight) * P_hat + weight * u


def effective_weights(
    alpha: Float[np.ndarray, "..."] | float, gamma: Float[np.ndarray, "..."] | float, gamma_eval: float
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Return the weights of the task's own data, of the mean of tasks and of ignorance, which sum to 1.

    They are those of the three parts of the model that POMRL plans with, seen at gamma_eval: P_bar, h and u.

    Args:
        alpha: Mixing rate, in [0, 1].
        gamma: Discount factor to plan with, in [0, gamma_eval].
        gamma_eval: Discount factor at which policies are judged.
    """
    ignorance, alpha = equivalent_prior_weight(gamma, gamma_eval), np.asarray(alpha, float)
    return np.asarray((1.0 - ignorance) * (1.0 - alpha)), np.asarray((1.0 - ignorance) * alpha), ignorance
