"""An example of a file of models: `python -m examples.models` writes examples/models.npz.

In a game of patience, a player holds up to three cards. Each task is another opponent, who takes a card with another
probability. Action 0 waits for a card. Action 1 plays all cards and pays their number squared.
"""

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("models.npz")


def models() -> dict[str, np.ndarray]:
    """Return P [k, S, A, S] and R [S, A]."""
    taken = np.array([0.05, 0.1, 0.2, 0.4])
    P = np.zeros((4, 4, 2, 4))
    for cards in range(4):
        P[:, cards, 0, min(cards + 1, 3)] += 1 - taken
        P[:, cards, 0, max(cards - 1, 0)] += taken
        P[:, cards, 1, 0] = 1
    return {"P": P, "R": np.stack([np.zeros(4), np.arange(4.0) ** 2], axis=1)}


if __name__ == "__main__":
    np.savez(FILE, allow_pickle=False, **models())
