"""Verdicts over a family: of all claims under every reading, and in how many environments each is shown."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from pomrl.claims.report import Judged
from pomrl.claims.verdict import Evidence, Verdict
from pomrl.readings import DEFAULT

SCORE = {Verdict.REPRODUCED: 1, Verdict.INCONCLUSIVE: 0, Verdict.NOT_REPRODUCED: -1}


def matrix(judged: Mapping[str, Sequence[Judged]]) -> pd.DataFrame:
    """A row for each reading and claim: the verdicts with and without Holm, and the decisive comparison."""
    return pd.DataFrame([_row(reading, each) for reading, of_reading in judged.items() for each in of_reading])


def _row(reading: str, judged: Judged) -> dict[str, object]:
    part = judged.evidence.decisive
    return {
        "reading": reading,
        "claim": judged.claim.id,
        "selected_on": judged.claim.selected_on,
        "verdict": str(judged.verdict),
        "verdict_without_holm": str(judged.evidence.verdict),
        "compared": part.compared,
        "estimate": part.estimate.value,
        "lower": part.estimate.lower,
        "upper": part.estimate.upper,
        "runs": judged.runs,
        "runs_promised": judged.claim.runs,
    }


def ranking(matrix: pd.DataFrame) -> pd.DataFrame:
    """A row for each reading, those that agree best with the paper first: how many claims have which verdict.

    By the number reproduced, then by the fewest that are not; with Holm, and without it as a further column.
    """
    counts = matrix.groupby(["reading", "verdict"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=[str(verdict) for verdict in Verdict], fill_value=0)
    alone = matrix.loc[matrix["verdict_without_holm"] == Verdict.REPRODUCED].groupby("reading").size()
    counts["reproduced without Holm"] = alone.reindex(counts.index, fill_value=0)
    order = [str(Verdict.REPRODUCED), str(Verdict.NOT_REPRODUCED)]
    return counts.sort_values(order, ascending=[False, True], kind="stable").reset_index()


SYMBOLS = {Verdict.REPRODUCED: "+", Verdict.NOT_REPRODUCED: "-", Verdict.INCONCLUSIVE: "."}


def compact(matrix: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim and a column for each reading, numbered from 1 as they are ranked; symbols for verdicts."""
    readings = ranking(matrix)["reading"].tolist()
    verdicts = matrix.pivot(index="claim", columns="reading", values="verdict").loc[matrix["claim"].unique(), readings]
    symbols = verdicts.map(lambda verdict: SYMBOLS[Verdict(verdict)])
    return symbols.set_axis([str(number + 1) for number in range(len(readings))], axis=1).reset_index()


def over_readings(matrix: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim: under how many readings it has which verdict."""
    counts = matrix.groupby(["claim", "verdict"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=[str(verdict) for verdict in Verdict], fill_value=0)
    return counts.loc[matrix["claim"].unique()].reset_index()


def effects(matrix: pd.DataFrame, single: Sequence[str]) -> pd.DataFrame:
    """For each claim and single choice that changes its verdict (with Holm): from what to what.

    Ordered by claim, and within one by the size of the change: a verdict that turns round comes before one that opens
    or is decided.
    """
    verdicts = matrix.pivot(index="claim", columns="reading", values="verdict").loc[matrix["claim"].unique()]
    rows = []
    for claim, of_claim in verdicts.iterrows():
        default = of_claim[DEFAULT]
        changed = [name for name in single if of_claim[name] != default]
        for name in sorted(changed, key=lambda name: -abs(_score(of_claim[name]) - _score(default))):
            rows.append({"claim": claim, "choice": name, "from": default, "to": of_claim[name]})
    return pd.DataFrame(rows, columns=["claim", "choice", "from", "to"])


def _score(verdict: str) -> int:
    return SCORE[Verdict(verdict)]


def shares(evidence: Mapping[str, Sequence[Evidence]]) -> pd.DataFrame:
    """For each claim the shares of environments in which the runs show it and refute it, with Wilson's 95 % intervals.

    Each environment is judged by itself, without Holm. These are shares of verdicts: a claim that is true everywhere
    may be shown nowhere, for want of runs.
    """
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
