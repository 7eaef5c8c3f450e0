"""How far verdicts depend on the reading of the paper, and on the environment.

Under every reading of the paper all claims are judged: that is the matrix of claims and readings. In every environment
(mean model) the claims are judged that its sweep suffices for, which gives shares of environments.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from pomrl.claims.judging import Judged, table
from pomrl.claims.verdict import LOOKS, Evidence, Verdict
from pomrl.configuration.readings import DEFAULT

MATRIX = [
    "reading", "claim", "selected_on", "verdict", "verdict_without_holm", "compared", "estimate", "lower", "upper",
    "runs", "runs_promised",
]  # fmt: skip
"""The columns of the matrix of claims and readings."""


def matrix(judged: Mapping[str, Sequence[Judged]]) -> pd.DataFrame:
    """Return a row for each reading and claim: its verdicts with and without Holm, and its decisive comparison.

    Args:
        judged: The claims as judged under each reading, by the reading's name.
    """
    tables = {reading: table(claims) for reading, claims in judged.items()}
    comparisons = pd.concat(tables, names=["reading"]).reset_index("reading")
    return comparisons.loc[comparisons["decisive"], MATRIX].reset_index(drop=True)


def ranking(matrix: pd.DataFrame) -> pd.DataFrame:
    """Count the claims with each verdict under each reading; the reading that agrees best with the paper comes first.

    Readings are ordered by the number of claims that are reproduced, then by the fewest that are not reproduced, both
    with Holm's correction.

    Returns:
        A row for each reading with the columns reading, one for each verdict, and "reproduced without Holm".
    """
    counts = _counts(matrix, "reading")
    alone = matrix.loc[matrix["verdict_without_holm"] == Verdict.REPRODUCED].groupby("reading").size()
    counts["reproduced without Holm"] = alone.reindex(counts.index, fill_value=0)
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
    """Return the verdicts (with Holm) that a single choice changes from that under the default reading.

    Args:
        matrix: The matrix of claims and readings.
        single: The names of the readings that consist of one choice.

    Returns:
        The columns claim, choice, from and to; ordered by claim, and for one claim by the size of the change: between
        reproduced and not reproduced first, then between either of them and inconclusive.
    """
    rows = [
        {"claim": claim, "choice": choice, "from": by_reading[DEFAULT], "to": by_reading[choice]}
        for claim, by_reading in _verdicts(matrix).iterrows()
        for choice in sorted(single, key=lambda choice: -_change(by_reading[DEFAULT], by_reading[choice]))
        if by_reading[choice] != by_reading[DEFAULT]
    ]
    return pd.DataFrame(rows, columns=["claim", "choice", "from", "to"])


def _change(verdict: str, other: str) -> int:
    """Return the size of the change from one verdict to another: 0, 1 or 2."""
    return abs(LOOKS[Verdict(verdict)].score - LOOKS[Verdict(other)].score)


def shares(evidence: Mapping[str, Sequence[Evidence]]) -> pd.DataFrame:
    """Return for each claim the shares of environments in which the runs confirm and refute it.

    Each environment is judged by itself, without Holm's correction. These are shares of verdicts: a claim that is true
    in all environments may be confirmed in none, for want of runs.

    Args:
        evidence: For each claim, by its id, the evidence in each environment.

    Returns:
        A row for each claim: the number of environments, the two shares with Wilson's 95 % intervals, and the median of
        the estimates, which is NaN for claims of several parts.
    """
    from scipy.stats import binomtest  # here, because it takes a second to load

    rows = []
    for claim, of_claim in evidence.items():
        verdicts = [each.verdict for each in of_claim]
        row: dict[str, object] = {"claim": claim, "environments": len(verdicts)}
        for verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED):
            count = verdicts.count(verdict)
            interval = binomtest(count, len(verdicts)).proportion_ci(0.95, method="wilson")
            row |= {str(verdict): count / len(verdicts), f"{verdict}, lower": interval.low}
            row |= {f"{verdict}, upper": interval.high}
        values = [each.decisive.estimate.value for each in of_claim if len(each.parts) == 1]
        row["median estimate"] = float(np.median(values)) if values else np.nan
        rows.append(row)
    return pd.DataFrame(rows)
