"""The table of judgements of a study: a row for each part of each claim under each variant.

`judgement_rows` makes the rows of one variant, `write` puts them into `claims.csv` of the study, and `read` returns the
table as objects. Terminal, Markdown and page are views of what `read` returns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign, inf, isfinite, nan
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.judging.judgement_rows import REPORTED
from pomrl.judging.precision import NARROW, by_topic
from pomrl.judging.verdict import Verdict, claimed_range
from pomrl.results.intervals import Interval
from pomrl.store import StoreError
from pomrl.store.csv_tables import read_table, write_table
from pomrl.store.derived import DerivedFiles
from pomrl.store.files import locked

FILE = "claims.csv"
"""The name of the table in the outputs of a study."""

JUDGED_ON = "judged_on"
"""The entry of the table's sidecar with the digest of what the claims were judged on, by variant."""


def write(
    folder: Path, made: "Sequence[pd.DataFrame]", command: str, judged_on: Mapping[str, str] | None = None
) -> None:
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


def _judgement(of_claim: "pd.DataFrame") -> Judgement:
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
