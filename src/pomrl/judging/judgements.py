"""The table of judgements of a study: a row for each part of each claim under each variant.

`rows` makes the rows of one variant, `write` puts them into `claims.csv` of the study, and `read` returns the table as
objects. Terminal, Markdown and page are views of what `read` returns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign, inf, isfinite, nan
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.judging.chances import Chance
from pomrl.judging.claim import Claim
from pomrl.judging.fixed_runs import Judged
from pomrl.judging.precision import NARROW, JudgedPart, Outcome, by_topic, decisive
from pomrl.judging.true_shares import TrueShare
from pomrl.judging.verdict import Verdict, claimed_range
from pomrl.results.intervals import ERROR_RATE, Interval
from pomrl.store import StoreError
from pomrl.store.csv_tables import read_table, write_table
from pomrl.store.derived import DerivedFiles
from pomrl.store.files import locked

FILE = "claims.csv"
"""The name of the table in the outputs of a study."""

REPORTED = "reported"
"""What stands in the place of a verdict where estimates are reported and nothing is judged."""


@dataclass(frozen=True)
class Row:
    """Everything that is known of a claim under one variant."""

    outcome: Outcome
    """The claim at precision."""
    judged: Judged | None = None
    """The claim at the promised number of runs; None if no run is stored."""
    chance: Chance | None = None
    """The power of that number of runs; None if too few runs are stored."""
    true_share: TrueShare | None = None
    """In how many environments it is true; None if that is not known."""
    note: str = ""
    """What is to be said of the claim under this variant."""

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.outcome.claim

    @property
    def parts(self) -> tuple[JudgedPart, ...]:
        """The parts at precision, or where there was no analysis, at the promised number of runs for 95 % together."""
        if self.outcome.parts or self.judged is None:
            return self.outcome.parts
        parts = self.judged.evidence.parts
        error = ERROR_RATE / (len(parts) if self.claim.is_judged else 1)
        return tuple(
            JudgedPart(part, *part.estimate.interval(error), part.verdict(error), no_difference=False) for part in parts
        )


def rows(study: str, variant: str, of_claims: Sequence[Row]) -> pd.DataFrame:
    """Return the rows of the table for one variant; a claim without any runs has one row without an estimate."""
    table: list[dict[str, Any]] = []
    for row in of_claims:
        of_claim = {"study": study, "variant": variant} | _claim_columns(row)
        parts = row.parts
        shown = (decisive(parts) if row.claim.is_judged else parts[0]) if parts else None
        table += [of_claim | _part_columns(row, number, part, part is shown) for number, part in enumerate(parts)]
        if not parts:
            table.append(of_claim | {"compared": "", "part_verdict": str(Verdict.UNDECIDED), "decisive": True})
    frame = pd.DataFrame(table)
    return frame.reindex(columns=frame.columns.union(NUMBERS, sort=False))


def _claim_columns(row: Row) -> dict[str, Any]:
    claim, revised, judged = row.claim, row.claim.revised, row.judged
    return {
        "claim": claim.id,
        "statement": claim.statement,
        "title": claim.title,
        "where": claim.where,
        "figures": " ".join(claim.figures),
        "is_main": claim.is_main,
        "selected_on": claim.selected_on,
        "verdict": str(row.outcome.verdict) if claim.is_judged else REPORTED,
        "reason": row.outcome.reason if claim.is_judged else "",
        "note": row.note,
        "runs": row.outcome.runs if claim.is_judged else judged.runs if judged else 0,
        "promised_runs": judged.promised if judged else None,
        "runs_of_promised": judged.runs if judged else 0,
        "verdict_at_promised_runs": str(judged.verdict) if judged and claim.is_judged else "",
        "verdict_at_promised_runs_by_itself": str(judged.evidence.verdict) if judged and claim.is_judged else "",
        "revised_on": revised.on if revised else "",
        "revision": revised.reason if revised else "",
        "verdict_by_old_rule": str(revised.before) if revised else "",
        **_share("power", row.chance.shown if row.chance else None),
        **_share("power_to_refute", row.chance.refuted if row.chance else None),
        **_share("true_in_environments", row.true_share.share if row.true_share else None),
        "environments": row.true_share.environments if row.true_share else None,
    }


def _share(name: str, share: Interval | None) -> Mapping[str, float | None]:
    return share.columns(name) if share else dict.fromkeys((name, f"{name}_lower", f"{name}_upper"))


NUMBERS = [
    "estimate", "lower", "upper", "above", "below", "margin", "part_runs", "no_difference_of_interest",
    "estimate_at_promised_runs", "lower_at_promised_runs", "upper_at_promised_runs",
]  # fmt: skip
"""The columns that are empty where a claim has no estimate."""


def _part_columns(row: Row, number: int, judged: JudgedPart, is_decisive: bool) -> dict[str, Any]:  # noqa: FBT001
    part = judged.part
    fixed = row.judged.evidence.parts[number].estimate if row.judged else None
    ends = (fixed.value, fixed.lower, fixed.upper) if fixed else (None,) * 3
    claims_nothing = not row.claim.is_judged or not (isfinite(part.above) or isfinite(part.below))
    return {
        "topic": part.topic,
        "compared": part.compared,
        "estimate": part.estimate.value,
        "lower": judged.lower,
        "upper": judged.upper,
        "above": part.above,
        "below": part.below,
        "margin": part.margin,
        "instead": "; ".join(f"{number}: {verdict}" for number, verdict in judged.instead.items()),
        "part_runs": part.estimate.runs,
        "is_constant": part.estimate.is_constant,
        "part_verdict": REPORTED if claims_nothing else str(judged.verdict),
        "no_difference_of_interest": judged.no_difference,
        "decisive": is_decisive,
    } | {f"{end}_at_promised_runs": value for end, value in zip(("estimate", "lower", "upper"), ends, strict=True)}


JUDGED_ON = "judged_on"
"""The entry of the table's sidecar with the digest of what the claims were judged on, by variant."""


def write(folder: Path, made: Sequence[pd.DataFrame], command: str, judged_on: Mapping[str, str] | None = None) -> None:
    """Put the rows of variants into the table of a study; those of other variants stay.

    Args:
        folder: The outputs of the study.
        made: The rows of each variant that was judged.
        command: The command that makes the table again.
        judged_on: The digest of what the claims were judged on under variants that are judged now.
    """
    path = folder / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        try:
            kept = read_table(path, WORDS)
        except StoreError:  # what is damaged is made again
            kept = None
        of_variants = [frame for frame in made if len(frame)]
        renewed = {name for frame in of_variants for name in frame["variant"].unique()}
        rest = [] if kept is None else [kept[~kept["variant"].isin(renewed)]]
        frames = [frame for frame in (*rest, *of_variants) if len(frame)]
        said = {JUDGED_ON: ({} if kept is None else _judged_on(path)) | dict(judged_on or {})}
        write_table(pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), path, command, said)


def _judged_on(path: Path) -> dict[str, str]:
    return DerivedFiles(path.with_suffix(".json")).said().get(JUDGED_ON, {})


WORDS = (
    "study", "variant", "claim", "statement", "title", "where", "figures", "verdict", "reason", "note", "topic",
    "compared", "instead", "part_verdict", "verdict_at_promised_runs", "verdict_at_promised_runs_by_itself",
    "revised_on", "revision", "verdict_by_old_rule",
)  # fmt: skip
"""The columns of text, in which an empty cell is an empty text."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One of the comparisons that a claim consists of: the claim is that a number lies between `above` and `below`."""

    compared: str
    topic: str
    estimate: float
    lower: float
    """The lower end of the interval that the verdict rests on; NaN with too few runs."""
    upper: float
    """The upper end of the interval that the verdict rests on; NaN with too few runs."""
    above: float = -inf
    below: float = inf
    margin: float | None = None
    """The margin of a claim that two numbers are alike or one is no worse; None for any other claim."""
    instead: str = ""
    """The verdicts if a word of the claim means another number, as in "0.3: undecided"."""
    runs: int
    is_constant: bool = False
    """Whether the number is the same in every run."""
    verdict: Verdict | None
    """The verdict on the comparison; None where nothing is claimed."""
    no_difference: bool
    """Whether the verdict is that there is no difference of interest."""

    @property
    def claimed(self) -> str:
        """The range in which the number lies according to the claim; empty where nothing is claimed."""
        return "" if self.verdict is None else claimed_range(self.above, self.below)

    @property
    def found(self) -> str:
        """The estimate with its interval; a number that is known, or the same in all runs, has none."""
        if self.is_constant:
            return f"{Interval(self.estimate, nan, nan).text()} in all runs"
        exactly = "exactly " if self.runs == 0 and isfinite(self.estimate) else ""
        return exactly + Interval(self.estimate, self.lower, self.upper).text()

    def at_margin(self, margin: float) -> Verdict:
        """Return the verdict that the interval shows with another margin, by the rule of `pomrl.judging.precision`."""
        above, below = (copysign(margin, end) if isfinite(end) else end for end in (self.above, self.below))
        lower, upper = (self.lower, self.upper) if self.runs else (self.estimate, self.estimate)
        if lower >= below or upper <= above:
            return Verdict.DOES_NOT_HOLD
        holds = (lower > above and upper < below) or upper - lower < NARROW * margin
        return Verdict.HOLDS if holds else Verdict.UNDECIDED


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A claim under one variant, as the table has it."""

    study: str
    variant: str
    id: str
    statement: str
    title: str
    """A short form of the statement, or the statement."""
    where: str
    figures: tuple[str, ...]
    is_main: bool
    selected_on: bool
    verdict: Verdict | None
    """The verdict at precision; None where estimates are reported."""
    reason: str
    """Why it is undecided; empty if it is not."""
    note: str
    runs: int
    promised: int
    runs_of_promised: int
    at_promised_runs: Verdict | None
    """The verdict at the promised number of runs, with Holm's correction for the number of claims."""
    by_itself: Verdict | None
    """That without Holm's correction."""
    fixed: Interval
    """Estimate and 95 % interval of the decisive comparison at the promised number of runs."""
    power: Interval | None
    true_in_environments: Interval | None
    environments: int
    revision: tuple[str, str, str] | None
    """Day, reason and the verdict by the old rule."""
    comparisons: tuple[Comparison, ...]
    decisive: Comparison
    """The comparison on which the verdict rests; the first one where there is no verdict."""

    @property
    def provisional(self) -> bool:
        """Return whether fewer runs are stored than promised."""
        return self.runs_of_promised < self.promised

    @property
    def is_decided_by_too_few(self) -> bool:
        """Return whether the claim has had no analysis at precision, and is not exact."""
        return self.runs == 0 and self.verdict is Verdict.UNDECIDED

    @property
    def topics(self) -> dict[str, Verdict]:
        """The verdict on each topic of a claim; one without topics has one, whose name is empty."""
        return by_topic((each.topic, each.verdict) for each in self.comparisons)

    @property
    def why(self) -> str:
        """A sentence on why the claim does not hold or is not decided; empty for one that holds."""
        if self.verdict in (Verdict.HOLDS, None):
            return ""
        if self.verdict is Verdict.UNDECIDED:
            return f"is undecided: {self.reason}."
        part = self.decisive
        found = "there is no difference of interest" if part.no_difference else f"it is {part.found}"
        sentence = f"does not hold: {part.compared} is claimed to be {part.claimed}, and {found}."
        open_topics = [topic for topic, verdict in self.topics.items() if verdict is Verdict.UNDECIDED]
        return sentence + (f" Undecided: {', '.join(open_topics)}." if open_topics else "")


@dataclass(frozen=True)
class Judgements:
    """The judgements of a study, by variant and claim."""

    by_variant: Mapping[str, Mapping[str, Judgement]]
    """For each variant the judgements by the claim's id, in the order of the table."""
    judged_on: Mapping[str, str] = field(default_factory=dict)
    """The digest of what they were judged on, by variant, where that is known."""
    older: tuple[str, ...] = ()
    """The variants whose verdicts are older than the present code and settings (`claims_of_variants.stored`)."""

    @property
    def variants(self) -> list[str]:
        """The variants under which claims are judged; those that the description of the study names come first."""
        return list(self.by_variant)

    @property
    def main(self) -> list[Judgement]:
        """The judgement of each claim under the first variant under which it is judged."""
        return self.listed(self.variants)

    def listed(self, variants: Sequence[str]) -> list[Judgement]:
        """Return the judgement of each claim under the first of these variants under which it is judged."""
        found: dict[str, Judgement] = {}
        for name in variants:
            for id, judgement in self.of(name).items():
                found.setdefault(id, judgement)
        return list(found.values())

    def of(self, variant: str) -> Mapping[str, Judgement]:
        """Return the judgements under a variant; none if there is no such variant."""
        return self.by_variant.get(variant, {})


def read(folder: Path, named: Sequence[str] = ()) -> Judgements:
    """Return the judgements in the outputs of a study; none if the table is not made.

    Args:
        folder: The outputs of the study.
        named: The variants that come first, in this order.

    Raises:
        StoreError: The table is damaged, or another version wrote it.
    """
    table = read_table(folder / FILE, WORDS)
    if table is None or table.empty:
        return Judgements({})
    try:
        found: dict[str, dict[str, Judgement]] = {}
        for (variant, id), of_claim in table.groupby(["variant", "claim"], sort=False):
            found.setdefault(str(variant), {})[str(id)] = _judgement(of_claim)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise StoreError(f"{folder / FILE}: of another version ({error})") from error
    first = [name for name in named if name in found]
    return Judgements({name: found[name] for name in dict.fromkeys([*first, *found])}, _judged_on(folder / FILE))


def _judgement(of_claim: pd.DataFrame) -> Judgement:
    records = of_claim.to_dict("records")
    first, (decisive_row,) = records[0], [record for record in records if record["decisive"] in (True, "True")]
    revised = tuple(str(first[key]) for key in ("revised_on", "revision", "verdict_by_old_rule"))
    fixed = Interval(*(float(decisive_row[f"{end}_at_promised_runs"]) for end in ("estimate", "lower", "upper")))
    return Judgement(
        study=first["study"],
        variant=first["variant"],
        id=first["claim"],
        statement=first["statement"],
        title=first["title"] or first["statement"],
        where=first["where"],
        figures=tuple(first["figures"].split()),
        is_main=bool(first["is_main"]),
        selected_on=bool(first["selected_on"]),
        verdict=_verdict(first["verdict"]),
        reason=first["reason"],
        note=first["note"],
        runs=_whole(first["runs"]),
        promised=_whole(first["promised_runs"]),
        runs_of_promised=_whole(first["runs_of_promised"]),
        at_promised_runs=_verdict(first["verdict_at_promised_runs"]),
        by_itself=_verdict(first["verdict_at_promised_runs_by_itself"]),
        fixed=fixed,
        power=_read_share(first, "power"),
        true_in_environments=_read_share(first, "true_in_environments"),
        environments=_whole(first["environments"]),
        revision=(revised[0], revised[1], revised[2]) if revised[0] else None,
        comparisons=tuple(map(_comparison, records)),
        decisive=_comparison(decisive_row),
    )


def _comparison(row: Mapping[Any, Any]) -> Comparison:
    numbers = {name: float(row[name]) for name in ("estimate", "lower", "upper", "above", "below")}
    return Comparison(
        **numbers,
        compared=row["compared"],
        topic=row["topic"],
        margin=None if pd.isna(row["margin"]) else float(row["margin"]),
        instead=row["instead"],
        runs=_whole(row["part_runs"]),
        is_constant=row["is_constant"] in (True, "True"),
        verdict=_verdict(row["part_verdict"]),
        no_difference=row["no_difference_of_interest"] in (True, "True"),
    )


def _verdict(word: str) -> Verdict | None:
    return Verdict(word) if word and word != REPORTED else None


def _whole(cell: Any) -> int:
    return 0 if cell == "" or pd.isna(cell) else int(cell)


def _read_share(row: Mapping[Any, Any], name: str) -> Interval | None:
    ends = [row[name], row[f"{name}_lower"], row[f"{name}_upper"]]
    return None if any(end == "" or pd.isna(end) for end in ends) else Interval(*map(float, ends))
