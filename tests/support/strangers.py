"""Estimators of somebody else's that do what they must not, and their options."""

from pathlib import Path

SOURCE = """
import ctypes, os, random, signal, sys, time
import numpy as np
from pomrl.components import RegularisedLeastSquares
from pomrl.science.data import Generative


COUNTER = []


class Odd(BaseException):
    pass


def raise_(error):
    raise error


DEEDS = {
    "nothing": lambda: None,
    "os._exit": lambda: os._exit(0),
    "exit": lambda: exit(0),
    "sys.exit": lambda: sys.exit(3),
    "KeyboardInterrupt": lambda: raise_(KeyboardInterrupt("mine")),
    "BaseException": lambda: raise_(Odd("it is odd")),
    "markup": lambda: raise_(ValueError("[/red] [bold]x\\x1b[2J")),
    "global state": lambda: np.random.rand(),
    "Python's global state": lambda: random.random(),
    "clock": lambda: time.time_ns() % 1000 / 1000,
    "counter": lambda: COUNTER.append(1) or 1 / len(COUNTER),
    "SIGSEGV": lambda: ctypes.string_at(0),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGSTOP": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


class Stranger(RegularisedLeastSquares):
    deed: str = "nothing"

    def prior_model(self, memory, batch, truth):
        if len(batch.P_bar) == 20:  # runs 50 to 69
            DEEDS[self.deed]()
        return super().prior_model(memory, batch, truth)


class Fickle(RegularisedLeastSquares):
    deed: str = "nothing"

    def prior_model(self, memory, batch, truth):
        with open("calls", "a") as calls:
            calls.write("x")
        share = 0.5 + 0.5 * (DEEDS[self.deed]() or 0)
        uniform = np.full_like(batch.P_bar, 1 / batch.P_bar.shape[-1])
        return share * super().prior_model(memory, batch, truth) + (1 - share) * uniform


class Careless(Generative):
    def draw(self, rngs, P, m, batches):
        return super().draw([np.random.default_rng(np.random.randint(1000)) for _ in rngs], P, m, batches)
"""


def write(folder: Path, options: Path) -> None:
    """Write the module to a folder, and an option for each class to a folder of options."""
    (folder / "stranger.py").write_text(SOURCE)
    (options / "estimator").mkdir(parents=True)
    for name in ("Stranger", "Fickle"):
        option = f"defaults: [ada_pomrl, _self_]\n_target_: stranger.{name}\ndeed: nothing\n"
        (options / "estimator" / f"{name.lower()}.yaml").write_text(option)
    (options / "data").mkdir()
    (options / "data" / "careless.yaml").write_text("_target_: stranger.Careless\n")
