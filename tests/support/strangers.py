"""Estimators of somebody else's that do what they must not, and their options."""

from pathlib import Path

SOURCE = """
import ctypes, os, signal, sys
from pomrl.components import RegularisedLeastSquares


def raise_(error):
    raise error


DEEDS = {
    "nothing": lambda: None,
    "os._exit": lambda: os._exit(0),
    "exit": lambda: exit(0),
    "sys.exit": lambda: sys.exit(3),
    "markup": lambda: raise_(ValueError("[/red] [bold]x\\x1b[2J")),
    "SIGSEGV": lambda: ctypes.string_at(0),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
}


class Stranger(RegularisedLeastSquares):
    deed: str = "nothing"

    def learn(self, memory, batch):
        if len(batch.P_bar) == 20:  # runs 200 to 219
            DEEDS[self.deed]()
        return super().learn(memory, batch)
"""


def write(folder: Path, options: Path) -> None:
    """Write the module to a folder, and its option to a folder of options."""
    (folder / "stranger.py").write_text(SOURCE)
    (options / "estimator").mkdir(parents=True)
    option = "defaults: [ada_pomrl, _self_]\n_target_: stranger.Stranger\ndeed: nothing\n"
    (options / "estimator" / "stranger.yaml").write_text(option)
