"""Audit a log: what stops or weakens advice, and how the table was read.

`KINDS` lists the findings. Each kind of fault has its module.
"""

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
    "chain": "next states are the states of other rows: stops",
    "coding": "no next state is a state: stops",
    "cost": "costs are given as rewards: stops",
    "dates": "rewards are dates: stops",
    "breaks": "many next states are not the states of the next rows of their episodes: weakens",
    "ends": "states are never left, and `--ends` does not declare them: weakens where rewards are negative",
    "column": "a column that is not named goes with the action and with what follows: weakens",
    "history": "the row before goes with what follows, or rewards with what is done next: weakens",
    "repeats": "whole rows repeat in runs, and are counted once: weakens",
    "offset": "rewards differ by little beside what they have in common: weakens",
    "names": "names have blanks around them, and are joined without them: note",
    "alike": "names differ only in letters' case, blanks or accents, and are several: note",
    "comments": "lines below the header begin with #, and are left out: note",
    "order": "next states are those of the next rows of episodes, and last rows are left out: note",
    "task": "there is no column of tasks, and all rows are of one task: note",
    "decimals": "rewards have decimal commas: note",
}
"""The findings, by the name for `accept`."""


def find(
    rows: Rows,
    declared: Bool[np.ndarray, " S"],
    columns: Mapping[str, "pd.Series"],
    accept: Sequence[str] = (),
    *,
    is_cost: bool,
    has_next: bool,
) -> list[Finding]:
    """List an audit's findings; one that "stops" is the last.

    Args:
        rows: The transitions.
        declared: Whether each state is a declared end.
        columns: The columns without a role.
        accept: The names of accepted findings, left out.
        is_cost: Whether rewards are negated costs.
        has_next: Whether the table has a column of next states.
    """
    findings = list[Finding]()
    checks = [check_rewards(rows, is_cost=is_cost)]
    checks += [check_coding(rows, declared), check_chain(rows)] if has_next else []
    for finding in chain(*checks, check_columns(rows, columns), check_history(rows), check_ends(rows, declared)):
        is_told = finding.name == "history" and any(other.name == "column" for other in findings)
        if finding.name not in accept and not is_told:
            findings.append(finding)
            if finding.effect == "stops":
                break
    return findings
