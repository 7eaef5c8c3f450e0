"""A declared structure: the models of tasks are the posterior means of a latent."""

import numpy as np
import pytest
from test_logs import chain_log

import pomrl_logs
from pomrl_logs.safe_improvement import Structure

LATENTS = np.linspace(0.05, 0.95, 19)


def walks(chance: np.ndarray) -> np.ndarray:
    """Models [k, 2, 1, 2] of two states. The other state comes next with this probability."""
    return np.stack([[[[1 - p, p]], [[p, 1 - p]]] for p in chance])


def test_tasks_share_their_latent():
    counts = np.array([[[[3, 1]], [[2, 4]]]])
    weight = LATENTS ** (1 + 2) * (1 - LATENTS) ** (3 + 4)
    mean = (weight * LATENTS).sum() / weight.sum()
    np.testing.assert_allclose(Structure(LATENTS, walks).means(counts), walks(np.array([mean])))


def test_a_structure_of_another_shape_is_refused():
    wrong = Structure(np.zeros(3), lambda _: np.ones((3, 1, 1, 1)))
    message = r"the models of the declared structure must have shape \[3, 4, 2, 4\], got \[3, 1, 1, 1\]"
    with pytest.raises(ValueError, match=message):
        pomrl_logs.horizon_report(pomrl_logs.from_log(chain_log()), structure=wrong)
