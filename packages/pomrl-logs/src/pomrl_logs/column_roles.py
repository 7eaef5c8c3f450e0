"""Define the roles of columns, and add default columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from pomrl_logs.findings import Finding
from pomrl_logs.log_files import missing_column_error

ColumnNames = str | Sequence[str]
"""The name of a column, or the names of combined columns."""


@dataclass(frozen=True)
class ColumnRoles:
    """The names of columns by role, as in `from_log`."""

    task: str | None = None
    state: ColumnNames = "state"
    action: ColumnNames = "action"
    reward: str | None = None
    next_state: ColumnNames | None = None
    cost: str | None = None
    terminated: str | None = None
    episode: str | None = None
    time: str | None = None
    weight: str | None = None

    def named(self) -> list[str]:
        """Return all columns with a role, including default columns."""
        return replace(self, task=self.task or "task", next_state=self.next_state or "next_state").columns

    @property
    def value(self) -> str:
        return self.cost or self.reward or "reward"

    @property
    def columns(self) -> list[str]:
        single = (self.task, self.value, self.terminated, self.episode, self.time, self.weight)
        names = [*name_list(self.state), *name_list(self.action), *name_list(self.next_state), *single]
        return [name for name in names if name is not None]


def name_list(names: ColumnNames | None) -> list[str]:
    """Convert one or several names of columns to a list."""
    if names is None:
        return []
    if not isinstance(names, str | Sequence) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"a column must be given by its name as text, such as '0', got {names!r}")
    return [names] if isinstance(names, str) else list(names)


def resolve_roles(roles: ColumnRoles, columns: Sequence[str], where: str) -> tuple[ColumnRoles, list[Finding]]:
    """Add default columns to the roles, and report a missing task column.

    ValueError for a missing column, one with two roles, or both rewards and costs.
    """
    if roles.cost is not None and roles.reward is not None:
        raise ValueError("a log must have either rewards or costs, got both --reward and --cost")
    task = roles.task or ("task" if "task" in columns else None)
    following = roles.next_state or ("next_state" if "next_state" in columns else None)
    if following is None and roles.episode is None and roles.time is None and roles.terminated is None:
        error = missing_column_error("next_state", columns, where)
        raise ValueError(f"{error}; add --next-state COLUMN, or the order of rows with --episode COLUMN --time COLUMN")
    if roles.weight and (roles.episode or roles.time):
        raise ValueError("--weight must stand without --episode and --time, as counts have no order")
    resolved = replace(roles, task=task, next_state=following)
    named = resolved.columns
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise ValueError(f"each column must have one role, got {twice!r} for two roles")
    for name in named:
        if columns.count(name) != 1:
            raise missing_column_error(name, columns, where)
    unused = next((name for name in columns if name.lower() in COUNTS and name not in named), None)
    weight = f"the column {unused!r} is not used; if it counts equal transitions, add --weight {unused}"
    return resolved, [
        *([] if task else [_task_finding(columns)]),
        *([Finding("weight", weight)] if unused else []),
    ]


COUNTS = ("count", "counts", "n", "freq", "frequency", "weight", "weights")
"""Names of columns that may count transitions, in lower case."""


def _task_finding(columns: Sequence[str]) -> Finding:
    near = get_close_matches("task", columns, 1, 0.7)
    hint = f"; select one with --task {near[0]}" if near else ""
    return Finding("task", f"no column 'task', so all rows belong to one task{hint}")
