"""Write the generated tables of examples: games.csv, agents.csv and sweep.csv. Their numbers are made up.

python packages/verdicts/examples/make_tables.py
"""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 1

FOLDER = Path(__file__).parent


def games() -> pd.DataFrame:
    """Return scores of three methods in 26 games, with 5 runs each."""
    rng = np.random.default_rng(SEED)
    rows = []
    for game in range(1, 27):
        level, gain = rng.uniform(0.2, 0.6), rng.normal(0.15, 0.12)
        for method, mean in {"base": level, "new": level + gain, "tuned": level + gain + rng.normal(0.0, 0.06)}.items():
            rows += [(f"game{game:02}", method, run, round(mean + rng.normal(0.0, 0.05), 3)) for run in range(1, 6)]
    return pd.DataFrame(rows, columns=["game", "method", "run", "score"])


def agents() -> pd.DataFrame:
    """Return the success of two agents in 300 tasks; hard tasks are hard for both."""
    rng = np.random.default_rng(SEED)
    rows = []
    for task in range(1, 301):
        ease = rng.beta(1.0, 1.2)
        for model, gain in {"large": 0.2, "small": 0.0}.items():
            rows.append((f"t{task:03}", model, int(rng.random() < min(1.0, ease + gain))))
    return pd.DataFrame(rows, columns=["task", "model", "solved"])


def sweep() -> pd.DataFrame:
    """Return losses of two methods for five discounts and four sizes of data, with 20 seeds each."""
    rng = np.random.default_rng(SEED)
    rows = []
    for method, scale in {"plain": 1.0, "shrunk": 0.7}.items():
        for gamma in (0.1, 0.3, 0.5, 0.7, 0.9):
            for n in (5, 10, 20, 40):
                mean = (gamma - 0.5) ** 2 + scale / n**0.5
                noise = rng.normal(0.0, 0.03, 20)
                rows += [(method, gamma, n, seed, round(mean + x, 4)) for seed, x in enumerate(noise, 1)]
    return pd.DataFrame(rows, columns=["method", "gamma", "n", "seed", "loss"])


if __name__ == "__main__":
    for table in (games, agents, sweep):
        table().to_csv(FOLDER / f"{table.__name__}.csv", index=False)
