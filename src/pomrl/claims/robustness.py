"""How far verdicts at precision depend on the reading of the paper, and on the environment.

Under every reading of the paper all claims about sweeps are judged: that is the matrix of claims and readings.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from pomrl.claims.deciding import Case
from pomrl.claims.environments import TrueShare
from pomrl.claims.verdict import LOOKS, Verdict
from pomrl.configuration.readings import DEFAULT

MATRIX = ["reading", "claim", "selected_on", "verdict", "reason", "compared", "estimate", "lower", "upper", "runs"]
"""The columns of the matrix of claims and readings."""


def matrix(cases: Sequence[Case]) -> pd.DataFrame:
    """Return a row for each reading and claim: its verdict at precision, and its decisive comparison.

    Args:
        cases: The claims as judged under each reading, which is the name of the basis. A claim without any analysis
            has no estimate.
    """
    return pd.DataFrame([_row(case) for case in cases], columns=MATRIX)


def _row(case: Case) -> dict[str, object]:
    outcome = case.outcome
    decisive = outcome.decisive if outcome.parts else None
    return {
        "reading": case.basis.name,
        "claim": outcome.claim.id,
        "selected_on": outcome.claim.selected_on,
        "verdict": str(outcome.verdict),
        "reason": outcome.reason,
        "compared": decisive.part.compared if decisive else "",
        "estimate": decisive.part.estimate.value if decisive else None,
        "lower": decisive.lower if decisive else None,
        "upper": decisive.upper if decisive else None,
        "runs": outcome.runs,
    }


def ranking(matrix: pd.DataFrame) -> pd.DataFrame:
    """Count the claims with each verdict under each reading; the reading that agrees best with the paper comes first.

    Readings are ordered by the number of claims that are reproduced, then by the fewest that are not reproduced.

    Returns:
        A row for each reading with the columns reading and one for each verdict.
    """
    counts = _counts(matrix, "reading")
    order = [str(Verdict.REPRODUCED), str(Verdict.NOT_REPRODUCED)]
    return counts.sort_values(order, ascending=[False, True], kind="stable").reset_index()


def _counts(matrix: pd.DataFrame, by: str) -> pd.DataFrame:
    """Count the verdicts for each value of a column, in columns by verdict."""
    counts = matrix.groupby([by, "verdict"], sort=False).size().unstack(fill_value=0)
    return counts.reindex(columns=[str(verdict) for verdict in Verdict], fill_value=0)


def _verdicts(matrix: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts with a row for each claim, in the order of the matrix, and a column for each reading."""
    return matrix.pivot(index="claim", columns="reading", values="verdict").loc[matrix["claim"].unique()]


def compact(matrix: pd.DataFrame) -> pd.DataFrame:
    """Return the symbols of the verdicts: a row for each claim, and a column for each reading by its rank, from 1."""
    readings = ranking(matrix)["reading"].tolist()
    symbols = _verdicts(matrix)[readings].map(lambda verdict: LOOKS[Verdict(verdict)].symbol)
    return symbols.set_axis([str(number + 1) for number in range(len(readings))], axis=1).reset_index()


def over_readings(matrix: pd.DataFrame) -> pd.DataFrame:
    """Count for each claim the readings under which it has each verdict."""
    return _counts(matrix, "claim").loc[matrix["claim"].unique()].reset_index()


def effects(matrix: pd.DataFrame, single: Sequence[str]) -> pd.DataFrame:
    """Return the verdicts that a single choice changes from that under the default reading.

    Args:
        matrix: The matrix of claims and readings.
        single: The names of the readings that consist of one choice.

    Returns:
        The columns claim, choice, from and to; ordered by claim, and for one claim by the size of the change: between
        reproduced and not reproduced first, then between either of them and undecided.
    """
    rows = [
        {"claim": claim, "choice": choice, "from": by_reading[DEFAULT], "to": by_reading[choice]}
        for claim, by_reading in _verdicts(matrix).iterrows()
        for choice in sorted(single, key=lambda choice: -_change(by_reading[DEFAULT], by_reading[choice]))
        if by_reading[choice] != by_reading[DEFAULT]
    ]
    return pd.DataFrame(rows, columns=["claim", "choice", "from", "to"])


def flips(matrix: pd.DataFrame) -> dict[str, list[str]]:
    """Return the readings of one choice under which each claim has the opposite verdict, by the id of the claim.

    A verdict that is open, by default or under a reading, has no opposite.
    """
    single = [name for name in matrix["reading"].unique() if name != DEFAULT and " + " not in name]
    changes = effects(matrix, single)
    turned: dict[str, list[str]] = {}
    for claim, choice, before, after in changes[["claim", "choice", "from", "to"]].astype(str).to_numpy().tolist():
        if _change(before, after) == 2:
            turned.setdefault(claim, []).append(choice)
    return turned


def _change(verdict: str, other: str) -> int:
    """Return the size of the change from one verdict to another: 0, 1 or 2."""
    return abs(LOOKS[Verdict(verdict)].score - LOOKS[Verdict(other)].score)


def shares(true_shares: Mapping[str, TrueShare]) -> pd.DataFrame:
    """Return a row for each claim, given by its id: the share of environments in which it is true, with its interval.

    Of a claim of several parts it is the share for the part that is true in the fewest environments.
    """
    rows = [
        {
            "claim": claim,
            "environments": true.environments,
            "parts": true.parts,
            "share": true.share.estimate,
            "lower": true.share.lower,
            "upper": true.share.upper,
        }
        for claim, true in true_shares.items()
    ]
    return pd.DataFrame(rows)
