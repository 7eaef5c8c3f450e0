"""A fast simulation for tests."""

import numpy as np
import pandas as pd


def noise(sequences: int = 3, scale: float = 1.0) -> pd.DataFrame:
    """Draw `sequences` normal numbers."""
    return pd.DataFrame({"x": scale * np.random.default_rng(0).standard_normal(sequences)})
