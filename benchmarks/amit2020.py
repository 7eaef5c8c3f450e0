"""Losses of the code of Amit, Meir and Ciosek (2020), with which `tests/science/test_amit2020.py` compares ours.

    git clone https://github.com/ron-amit/Discount_as_Regularizer CHECKOUT
    python -m benchmarks.amit2020 CHECKOUT > tests/science/amit2020.csv

It draws random MDPs and data, learns and evaluates with their functions, once for each run as their `run_rep` does:
one episode with the uniform policy, and a row for each discount factor and weight of L2. Their TD values start at 0,
and their learning rate does not depend on the discount factor (`scale`). Their files stay as they are; NumPy no longer
takes an array for a number, so that `np.random.rand(1)` has to return a number. A run of all cells takes about 1.5 s.
"""

import argparse
import importlib
import random
import subprocess
import sys
from argparse import Namespace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SIZES = {"sample_all_s_a": (1, 2, 4, 8), "Trajectories": (4, 8, 16, 32)}
"""Numbers of transitions of each pair, or of trajectories of length 10, by their name of the way of sampling."""

GAMMA_EVAL = 0.99

CELLS = {
    "SARSA": [(0.65, None), (0.85, None), (0.99, None), (0.99, 0.005)],
    "ELSTDQ": [(0.65, 1e-4), (0.85, 1e-4), (0.99, 1e-4), (0.99, 1.0)],
    "Model_Based": [(0.65, None), (0.85, None), (0.99, None)],
}
"""Discount factors and weights of L2 of each method; their LSTD needs a weight."""


def settings(sampling: str) -> Namespace:
    """Return their settings of random MDPs with the defaults of `main_control.py`, but for those named above."""
    return Namespace(
        mdp_def={"type": "RandomMDP", "S": 10, "A": 5, "k": 2, "reward_std": 0.1},
        train_sampling_def={"type": sampling},
        depth=10,
        gammaEval=GAMMA_EVAL,
        n_episodes=1,
        initial_policy="uniform",
        epsilon=0.1,
        use_reward_scaling=False,
        TD_Init_type="zero",
        n_TD_iter=500,
        learning_rate_def={"type": "a/(b+i_iter)", "a": 500, "b": 1000, "scale": False},
    )


def losses_of_run(theirs: Any, sampling: str, size: int, run: int) -> list[dict[str, object]]:
    """Return the mean loss over states in each cell, in an MDP that all share, each with data of its own."""
    args = settings(sampling)
    theirs.mdp.SetMdpArgs(args)
    np.random.seed(run)  # noqa: NPY002, what their code draws from
    random.seed(run)
    mdp = theirs.mdp.MDP(args)
    _, best, _ = theirs.planning.PolicyIteration(mdp, GAMMA_EVAL)
    rows = []
    for args.method, cells in CELLS.items():
        for gamma, l2 in cells:
            policy = theirs.learning.run_learning_method(args, mdp, size, gamma, l2, None)
            value, _ = theirs.planning.PolicyEvaluation(mdp, policy, GAMMA_EVAL)
            loss = np.abs(best - value).mean()
            cell = {"sampling": sampling, "size": size, "method": args.method, "gamma": gamma, "l2": l2 or 0.0}
            rows.append({**cell, "loss": loss})
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--runs", type=int, default=400)
    words = parser.parse_args()
    git = ["git", "-C", str(words.checkout), "rev-parse", "HEAD"]
    commit = subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()
    sys.path.insert(0, str(words.checkout))
    names = {"mdp": "mdp_utils", "planning": "planing_utils", "learning": "learning_utils"}
    theirs = Namespace(**{key: importlib.import_module(f"utils.{name}") for key, name in names.items()})
    rand = np.random.rand
    np.random.rand = lambda *shape: rand() if shape == (1,) else rand(*shape)
    of_runs = product(((sampling, size) for sampling in SIZES for size in SIZES[sampling]), range(words.runs))
    table = pd.DataFrame([row for cell, run in of_runs for row in losses_of_run(theirs, *cell, run)])
    keys = ["sampling", "size", "method", "gamma", "l2"]
    summary = table.groupby(keys, sort=False)["loss"].agg(runs="count", loss="mean", standard_error="sem").reset_index()
    print(f"# ron-amit/Discount_as_Regularizer {commit}: python -m benchmarks.amit2020 CHECKOUT --runs {words.runs}")
    print(summary.to_csv(index=False, float_format="%.5g"), end="")


main()
