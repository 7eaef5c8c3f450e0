"""Judge claims about a table of results."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from verdicts.claim_parts import claim_parts, is_by_runs
from verdicts.estimates import ERROR
from verdicts.language import SUFFIXES, Claim, ClaimError, read_claims
from verdicts.locking import lock_notes
from verdicts.parts import INTEREST_SHARE, JudgedPart, Part, Verdict, combine, judge_part
from verdicts.tables import Table, find_roles, read_table

Claims = str | Path | dict[str, str] | Iterable[str | Claim]


class Row(NamedTuple):
    """A judgement: a row of the result."""

    id: str
    claim: str
    estimate: float
    lower: float
    upper: float
    n: int
    verdict: str
    reason: str


def result_rows(result: pd.DataFrame) -> list[Row]:
    """Return the judgements of a result."""
    return [Row(*row) for row in result[[*Row._fields]].itertuples(index=False)]


def judge(  # noqa: PLR0913  (error, interest and the roles of columns)
    table: pd.DataFrame | str | Path,
    claims: Claims,
    error: float = ERROR,
    *,
    error_each: float | None = None,
    interest: float = INTEREST_SHARE,
    value: str = "",
    method: str = "",
    unit: str = "",
    problem: str = "",
    paired: bool | None = None,
    lock: str | Path | None = None,
) -> pd.DataFrame:
    """Judge claims, with a probability of any wrong verdict of at most about `error`.

    Args:
        table: A frame or a file (.csv, .tsv, .parquet, .json, .jsonl) with one number a row.
        claims: Lines of text, a dict by id, or a file (.txt, .toml, .yaml).
        error: The error of all verdicts together. Claims share it equally.
        error_each: The error of each claim instead, if other claims share it.
        interest: The smallest difference of interest, as a share of the right side.
        value: The column of numbers.
        method: The column of methods.
        unit: The column of independent units. `run` makes a narrower claim, about these very problems.
        problem: The column of problems.
        paired: Whether units of two methods with the same name belong together.
        lock: The lock of the claims. By default it is beside a file of claims, with the suffix .lock.

    Returns:
        A row for each claim. `attrs` has the roles, the claimed ranges and what the lock says.
    """
    check_shares(error=error, error_each=error_each, interest=interest)
    frame, listed = read_table(table), read_claims(claims)
    roles = find_roles(frame, value=value, method=method, unit=unit, problem=problem, paired=paired)
    share = error / len(listed) if error_each is None else error_each
    outcomes = [_judge_claim(roles, claim, share, interest) for claim in listed]
    result = pd.DataFrame([row for row, _ in outcomes])
    total = error if error_each is None else min(1.0, error_each * len(listed))
    ranges = {
        claim.id: [decisive_part.above, decisive_part.below]
        for claim, (_, decisive_part) in zip(listed, outcomes, strict=True)
    }
    by_runs = [claim.id for claim in listed if is_by_runs(roles, claim)]
    result.attrs = {**roles.roles(), "by_runs": by_runs, "error": total, "interest": interest, "ranges": ranges}
    result.attrs["lock"] = lock_notes(_lock_path(claims, lock), listed, frame, int(result["n"].min()))
    return result


def check_shares(**shares: float | None) -> None:
    """Raise a ClaimError unless shares are between 0 and 1."""
    for name, share in shares.items():
        if share is not None and not 0.0 < share < 1.0:
            raise ClaimError(f"{name} must be between 0 and 1, got {share}")


def _lock_path(claims: Claims, lock: str | Path | None) -> Path | None:
    """Return the path of the lock, if there is one."""
    if lock is not None:
        return Path(lock)
    is_file = isinstance(claims, Path) or (isinstance(claims, str) and claims.endswith(SUFFIXES))
    sibling = Path(str(claims)).with_suffix(".lock") if is_file else None
    return sibling if sibling and sibling.exists() else None


def _judge_claim(table: Table, claim: Claim, error: float, interest: float) -> tuple[Row, Part]:
    """Return the row and the decisive part of a claim."""
    comparisons = named_parts(table, claim, interest)
    verdict, decisive = combine([judge_part(comparison, error / len(comparisons)) for comparison in comparisons])
    estimate = decisive.part.estimate
    ends = decisive.lower, decisive.upper
    row = Row(claim.id, claim.text, estimate.value, *ends, estimate.units, str(verdict), _reason(decisive))
    return row, decisive.part


def named_parts(table: Table, claim: Claim, interest: float) -> list[Part]:
    """Return the parts of a claim; errors name the claim."""
    try:
        return claim_parts(table, claim, interest)
    except ClaimError as error:
        raise ClaimError(f"claim {claim.id} ({claim.text}): {error}") from None


def _reason(outcome: JudgedPart) -> str:
    comparison = outcome.part
    prefix = f"{comparison.topic}: " if comparison.topic else ""
    return prefix + outcome.reason + (f" ({comparison.compared})" if comparison.compared else "")


def check(table: pd.DataFrame | str | Path, claims: Claims, *, allow: Sequence[str] = (), **options: Any) -> None:
    """Raise an AssertionError unless all claims hold; for tests.

    `allow` lists further verdicts, and `options` are those of `judge`.
    """
    failures = result_rows(failing(judge(table, claims, **options), allow))
    if failures:
        raise AssertionError("\n".join(f"{row.id}: {row.claim}: {row.verdict}: {row.reason}" for row in failures))


def failing(result: pd.DataFrame, allow: Sequence[str] = ()) -> pd.DataFrame:
    """Return the rows of claims without an allowed verdict."""
    verdicts = [str(verdict) for verdict in Verdict]
    if unknown := set(allow) - set(verdicts):
        raise ClaimError(f"an allowed verdict must be one of {', '.join(verdicts)}, got {', '.join(unknown)}")
    return result[~result["verdict"].isin([str(Verdict.HOLDS), *allow])]
