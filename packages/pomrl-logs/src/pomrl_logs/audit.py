"""Audit a log for faults, and report how it was read."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import pandas as pd
from jaxtyping import Bool

from pomrl_logs.confounders import check_columns, check_history
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.next_states import check_chain, check_coding, check_ends
from pomrl_logs.reward_columns import check_rewards

KINDS = {
    "chain": "next states are taken from wrong rows: stops",
    "coding": "no next state occurs as a state: stops",
    "cost": "costs are given as rewards: stops",
    "dates": "rewards are dates: stops",
    "breaks": "many next states differ from the state of the next row of the episode: weakens",
    "ends": "states are never left, and not declared by `--ends`: weakens if rewards are negative",
    "column": "a column without a role is associated with actions and outcomes: weakens",
    "history": "the previous row is associated with outcomes, or rewards with the next action: weakens",
    "repeats": "rows are repeated; repeated runs of rows are counted once: weakens",
    "offset": "rewards differ little, compared with a common offset: weakens",
    "names": "names have blanks at their ends, which are removed: note",
    "alike": "names differ only in case, blanks or accents, and stay separate: note",
    "comments": "lines below the header begin with #, and are left out: note",
    "order": "next states are the states of the next rows of episodes; last rows are left out: note",
    "task": "without a column of tasks, all rows belong to one task: note",
    "decimals": "numbers have decimal commas, marks of thousands, or a point without need: note",
    "form": "dates have another form than 2025-12-31: note",
    "codes": "a state is a number far from others, entered as often from all: a code of missing values? stops",
    "missing": "rows with missing values are left out; or the name of a state may mean a missing value: note",
    "steps": "times between decisions differ much: note",
    "weight": "rows count transitions, or a column with such a name is not used: note",
}
"""The findings and their effects, by the name for `accept`."""


def find(
    rows: Rows,
    declared: Bool[np.ndarray, " S"],
    columns: Mapping[str, "pd.Series"],
    accept: Sequence[str] = (),
    *,
    is_cost: bool,
    has_next: bool,
) -> list[Finding]:
    """List the findings, up to the first with the effect "stops".

    `accept` has names of findings to leave out, and `columns` the columns without a role. `declared` marks declared
    ends.
    """
    findings = list[Finding]()
    checks = [check_rewards(rows, is_cost=is_cost)]
    checks += [check_coding(rows, declared), check_chain(rows)] if has_next else []
    for finding in chain(*checks, check_columns(rows, columns), check_history(rows), check_ends(rows, declared)):
        is_reported = finding.name == "history" and any(other.name == "column" for other in findings)
        if finding.name not in accept and not is_reported:
            findings.append(finding)
            if finding.effect == "stops":
                break
    return findings
