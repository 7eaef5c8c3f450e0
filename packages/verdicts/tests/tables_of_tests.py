"""Small tables for tests."""

import numpy as np
import pandas as pd

GAMES = 12


def two_methods(a, b, **columns) -> pd.DataFrame:
    n, m = len(a), len(b)
    seeds = [*range(n), *range(m)]
    return pd.DataFrame({"method": ["a"] * n + ["b"] * m, "seed": seeds, "score": [*a, *b], **columns})


def normal(n: int, mean: float = 0.0, seed: int = 0) -> np.ndarray:
    return mean + np.random.default_rng(seed).normal(size=n)


def games(runs: int = 3, games: int = GAMES) -> pd.DataFrame:
    """Games differ by far more than the methods a and b."""
    rng = np.random.default_rng(0)
    levels = [(game, level) for game, level in enumerate(20.0 + 5.0 * rng.normal(size=games))]
    rows = [
        (method, f"g{game}", run, level + (method == "a") + rng.normal() / 9)
        for game, level in levels
        for method in "ab"
        for run in range(runs)
    ]
    return pd.DataFrame(rows, columns=["method", "game", "seed", "score"])


def sweep(seeds: int = 20) -> pd.DataFrame:
    """Losses of a and b fall with n = 1, ..., 4; b falls less."""
    rng = np.random.default_rng(0)
    rows = [
        (method, n, seed, 5.0 - n + (method == "b") * n / 2 + rng.normal() / 9)
        for method in "ab"
        for n in (1, 2, 3, 4)
        for seed in range(seeds)
    ]
    return pd.DataFrame(rows, columns=["method", "n", "seed", "loss"])


def heavy_tailed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw heavy-tailed numbers with mean 1 and standard deviation 1.6."""
    return rng.gamma(0.4, 2.5, shape)
