"""Small logs in files and frames."""

from pathlib import Path
from typing import Any

import pandas as pd

from pomrl_logs.logs import Log

HEAD = "task,state,action,reward,next_state"
LINES = ["t,007,None,1.5,07", "t,07,repair,-2,7", "u,7,None,0,007"]


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def make_frame(**columns: Any) -> pd.DataFrame:
    """Return a frame of two rows, with these columns added or replaced."""
    columns = {"task": 0, "state": [0, 1], "action": 0, "reward": 1.0, "next_state": [1, 0]} | columns
    return pd.DataFrame(columns)


def visits(state: Any, following: Any) -> pd.DataFrame:
    return pd.DataFrame({"state": state, "action": "a", "reward": 1.0, "next_state": following})


def transitions(log: Log) -> list[tuple[Any, ...]]:
    """Return the names of tasks, states, actions and next states."""
    names = (log.tasks, log.states, log.actions, log.states)
    return [tuple(name[i] for name, i in zip(names, row, strict=True)) for row in zip(*log.indices, strict=True)]


def moves(log: Log) -> list[tuple[Any, Any]]:
    """Return the names of states and next states."""
    return [(state, following) for _, state, _, following in transitions(log)]
