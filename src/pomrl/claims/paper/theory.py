"""The theory: whether the bounds of Theorem 3 hold with the probability that it promises, by simulation."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc, betaincinv

from pomrl.claims.claim import claim
from pomrl.claims.inference import LEVEL, Estimate
from pomrl.claims.verdict import Part
from pomrl.theory.simulations import SIMULATIONS

SIMULATION = "model_error_coverage"
DELTA: float = SIMULATIONS[SIMULATION].parameters["delta"]
"""Probability that a bound may fail."""

WORDS = {"as_printed": "Theorem 3 as printed", "corrected": "the corrected bound", "sharpened": "the sharpened bound"}


@dataclass(frozen=True)
class Coverage(Estimate):
    """The share of `runs` sequences of tasks in which a bound holds, with the interval of Clopper and Pearson.

    The setting is the worst of many. Its choice is not corrected for: a bound that fails, fails by far.
    """

    @staticmethod
    def of(share: float, sequences: int) -> "Coverage":
        """Return the coverage whose bound holds in this share of so many sequences."""
        held = round(share * sequences)
        lower = betaincinv(held, sequences - held + 1, LEVEL / 2) if held else 0.0
        upper = betaincinv(held + 1, sequences - held, 1.0 - LEVEL / 2) if held < sequences else 1.0
        return Coverage(share, float(lower), float(upper), sequences)

    def p_values(self, threshold: float) -> tuple[float, float]:
        held = round(self.value * self.runs)
        p = float(np.clip(threshold, 0.0, 1.0))
        at_most = float(bdtrc(held - 1, self.runs, p)) if held else 1.0
        return at_most, 0.0 if threshold > 1.0 else float(bdtr(held, self.runs, p))


@claim("T.1", simulation=SIMULATION)
def bounds_hold(simulated: pd.DataFrame) -> list[Part]:
    """the bounds on the model error hold with probability 1 - delta in all tasks at once.

    Theorem 3: "with probability at least 1 - delta"; delta = 0.05. As printed, and as corrected here. At the paper's
    settings the bounds on losses that follow from it are vacuous: of 100 that no loss exceeds they promise 99 at most.
    """
    worst = simulated.groupby("variant").agg({"coverage": "min", "sequences": "first"}).to_dict("index")
    parts = []
    for variant, words in WORDS.items():
        share = Coverage.of(worst[variant]["coverage"], worst[variant]["sequences"])
        parts.append(Part(f"{words}, share of sequences in the worst setting", share, above=1.0 - DELTA))
    return parts
