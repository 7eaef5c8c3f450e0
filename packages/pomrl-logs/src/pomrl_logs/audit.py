"""Audit a log for faults, and report how it was read."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import pandas as pd
from jaxtyping import Bool

from pomrl_logs.confounders import check_columns, check_history
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.next_states import check_chain, check_coding, check_ends
from pomrl_logs.non_decisions import check_non_decisions
from pomrl_logs.reward_columns import check_rewards
from pomrl_logs.row_order import check_order
from pomrl_logs.stable_columns import check_drift, check_units


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
    checks += [check_coding(rows, declared), check_chain(rows)] if has_next else [check_order(rows, columns)]
    checks += [check_non_decisions(rows), check_drift(rows, columns), check_units(rows)]
    for finding in chain(*checks, check_columns(rows, columns), check_history(rows), check_ends(rows, declared)):
        is_reported = finding.name == "history" and any(other.name == "column" for other in findings)
        if finding.name not in accept and not is_reported:
            findings.append(finding)
            if finding.effect == "stops":
                break
    return findings
