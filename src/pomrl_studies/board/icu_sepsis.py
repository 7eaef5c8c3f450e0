"""Treatment of sepsis in intensive care, with differing hospitals.

ICU-Sepsis (Choudhary, Gupta and Thomas, 2024), estimated from patients, has 713 states of patients, and three for
death, survival and the end. It is read from the data file of the package `icu-sepsis`. The reward of a pair is the
probability of survival in the next step. Actions that physicians took often enough in a state come first; others lead
to death.

Differing hospitals are our invention: their rows are Dirichlet distributed around the published rows.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from jaxtyping import Bool, Float

from pomrl.components import Batch, Field, MeanModel, Memory, ModelEstimator, Models, TaskDistribution, Tasks, Truth

DEATH, SURVIVAL = -3, -2
"""The states of death and survival, counted from the last one."""

MAX_ACTIONS = 8
"""The largest number of actions of a state, so that arrays fit into memory; eight of 713 states have more."""

SETTINGS: dict[str, Any] = {
    "sigma": None,
    "S": None,
    "A": None,
    "T": 5,
    "loss": "mean",
    "gamma_schedule.gammas": [0.0, 0.5, 0.9, 0.95, 0.99],
    "execution.workers": 1,  # each worker takes a gigabyte
}
"""The settings of the board's cell: five hospitals in a run, losses averaged over arriving patients."""


def data_file() -> Path | None:
    """Return the data file of `icu-sepsis`; None if not installed."""
    spec = find_spec("icu_sepsis")
    folders = spec.submodule_search_locations if spec else None
    return Path(folders[0]) / "envs" / "assets" / "dynamics.npz" if folders else None


class IcuSepsis(TaskDistribution):
    """Hospitals with independent Dirichlet rows around the rows of ICU-Sepsis."""

    concentration: Annotated[float, Field(gt=0)] = 300.0
    """Concentration of the rows of hospitals around the published rows, in patients."""

    @property
    def size(self) -> tuple[int, int]:
        S, A, _ = _published().P.shape
        return S, A

    @property
    def start(self) -> list[float]:
        return _published().start

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        if sigma is not None:
            raise ValueError(f"sigma must be null, because it follows from the concentration, got {sigma}")
        P = _published().P
        varying = (P > 0).sum(-1) > 1
        return MeanModel(P, _rewards(P), varying, float(np.sqrt(self._variance(P).max())), np.inf)

    def draw(self, rngs: Sequence[np.random.Generator], means: Sequence[MeanModel], tasks: int) -> Tasks:
        P_o = means[0].P_o
        support = P_o > 0
        weight = np.zeros((tasks, len(means), *P_o.shape))
        for t, i in np.ndindex(tasks, len(means)):
            weight[t, i][support] = rngs[i].standard_gamma(self.concentration * P_o[support])
        weight /= weight.sum(-1, keepdims=True)
        return Tasks(weight, _rewards(weight))

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        return self._variance(mean.P_o)

    def _variance(self, P: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A S"]:
        return P * (1.0 - P) / (self.concentration + 1.0)


class ActionPrior(ModelEstimator):
    """A hospital's frequencies, shrunk towards their mean over the admissible actions of a state."""

    strength: Annotated[float, Field(ge=0)] = 5.0
    """The weight of this mean, in transitions."""

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        is_admissible = _published().is_admissible[None, :, :, None]
        if batch.P_bar.shape[1:3] != is_admissible.shape[1:3]:
            _, S, A, _ = batch.P_bar.shape
            raise ValueError(f"task_distribution must be icu_sepsis with estimator=action_prior, got S = {S}, A = {A}")
        mean = (batch.P_bar * is_admissible).sum(2, keepdims=True) / is_admissible.sum(2, keepdims=True)
        weight = is_admissible * self.strength / (batch.visits[..., None] + self.strength)
        return weight * mean + (1.0 - weight) * batch.P_bar


class _Published:
    """The published model, with the admissible actions of a state first."""

    def __init__(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as arrays:
            P, self.start = arrays["tx_mat"], arrays["d_0"].tolist()
        lines = (file.parent / "admissible_actions.txt").read_text(encoding="utf-8").splitlines()[1 : len(P) + 1]
        admissible = [[int(action) for action in line.split()] for line in lines]
        A = min(MAX_ACTIONS, max(map(len, admissible[:DEATH])))
        self.is_admissible: Bool[np.ndarray, "S A"] = np.zeros((len(P), A), bool)
        self.P: Float[np.ndarray, "S A S"] = np.zeros((len(P), A, len(P)))
        self.P[..., DEATH] = 1.0
        for s, actions in enumerate(admissible):
            rows = P[s, actions[:A]]
            self.is_admissible[s, : len(rows)] = True
            self.P[s, : len(rows)] = rows / rows.sum(-1, keepdims=True)


def _rewards(P: Float[np.ndarray, "*n S A S"]) -> Float[np.ndarray, "*n S A"]:
    return P[..., SURVIVAL].copy()


@lru_cache(maxsize=1)
def _published() -> _Published:
    file = data_file()
    if file is None:
        raise ValueError("the data of icu_sepsis are not installed; run `pip install 'pomrl[icu-sepsis]'`")
    return _Published(file)
