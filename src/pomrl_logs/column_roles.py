"""Which column of a table is what."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from pomrl_logs.findings import Finding
from pomrl_logs.log_files import lacking

ColumnNames = str | Sequence[str]
"""The name of a column, or of several that are one name together."""


@dataclass(frozen=True)
class Roles:
    """The names of columns, as the arguments of `from_log`."""

    task: str | None = None
    state: ColumnNames = "state"
    action: ColumnNames = "action"
    reward: str | None = None
    next_state: ColumnNames | None = None
    cost: str | None = None
    terminated: str | None = None
    episode: str | None = None
    time: str | None = None

    def named(self) -> list[str]:
        """Return all columns that have a role, by their defaults where none is named."""
        return replace(self, task=self.task or "task", next_state=self.next_state or "next_state").columns

    @property
    def value(self) -> str:
        """The column of rewards, or of costs."""
        return self.cost or self.reward or "reward"

    @property
    def columns(self) -> list[str]:
        """The columns that have a role, states first."""
        rest = (self.task, self.value, self.terminated, self.episode, self.time)
        names = [*several(self.state), *several(self.action), *several(self.next_state), *rest]
        return [name for name in names if name is not None]


def several(names: ColumnNames | None) -> list[str]:
    """Return the names of one column or of several as a list."""
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def resolve(roles: Roles, columns: Sequence[str], where: str) -> tuple[Roles, list[Finding]]:
    """Return the roles with the columns that a table has, each once, and what is to be said about them.

    Raises:
        ValueError: A column is not there, or has two roles.
    """
    if roles.cost is not None and roles.reward is not None:
        raise ValueError("a log must have rewards or costs, got both --reward and --cost")
    task = roles.task or ("task" if "task" in columns else None)
    following = roles.next_state or ("next_state" if "next_state" in columns else None)
    if following is None and roles.episode is None and roles.time is None:
        error = lacking("next_state", columns, where)
        raise ValueError(f"{error}; without next states, name the order of rows: --episode COLUMN --time COLUMN")
    found = replace(roles, task=task, next_state=following)
    named = found.columns
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise ValueError(f"a column is given twice, and has one meaning: {twice!r}")
    for name in named:
        if columns.count(name) != 1:
            raise lacking(name, columns, where)
    return found, [] if task else [_about_tasks(columns)]


def _about_tasks(columns: Sequence[str]) -> Finding:
    near = get_close_matches("task", columns, 1, 0.7)
    hint = f"; --task {near[0]} names one" if near else ""
    return Finding("task", "note", f"there is no column 'task', and all rows are of one task{hint}")
