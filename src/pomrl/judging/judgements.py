"""The table of judgements `claims.csv`: a row for each comparison, claim and variant.

Its columns are the fields of `Judgement`, then those of `Comparison`, under their aliases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

from pomrl.configuration.study import Study
from pomrl.judging.claim import JudgedClaim
from pomrl.judging.verdict import (
    Comparison,
    JudgementColumns,
    Verdict,
    VerdictOrNone,
    WholeNumber,
    by_topic,
    decisive,
)
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles, encode_table, parse_rows, read_rows, write_table

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

FILE = "claims.csv"
"""The name of the table in the outputs of a study."""

DIGITS = 12
"""The significant digits of numbers in the table, more than another type of processor leaves equal."""

JUDGED_ON = "judged_on"
"""The entry of the table's sidecar with the digest of what the claims were judged on, by variant."""

OF_CLAIM = ("id", "statement", "title", "where", "figures", "is_main", "selected_on")
"""The fields that a judgement has from the claim."""

NameList = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda names: names.split() if isinstance(names, str) else names),
    PlainSerializer(" ".join),
]
"""NameList, which have one column."""


NAMES_OF_CLAIMS = {"id": "claim"}
"""The columns of a judgement whose names are not those of its fields."""


class Judgement(JudgementColumns):
    """Hold a claim under one variant, as in the table."""

    model_config = ConfigDict(alias_generator=lambda name: NAMES_OF_CLAIMS.get(name, name))

    variant: str
    id: str
    statement: str
    title: str = ""
    """A short form of the statement, or the statement."""
    where: str = ""
    figures: NameList = ()
    is_main: bool = False
    selected_on: bool = False
    verdict: VerdictOrNone
    """The verdict at precision; None where estimates are reported."""
    reason: str = ""
    """Why it is undecided; empty if it is not."""
    note: str = ""
    runs: WholeNumber = 0
    needed: WholeNumber = 0
    """The number of runs on which it is judged."""
    revised_on: str = ""
    revision: str = ""
    verdict_by_old_rule: Verdict | None = None
    comparisons: tuple[Comparison, ...] = Field(exclude=True)

    @property
    def decisive(self) -> Comparison:
        """The comparison behind the verdict; the first one without a verdict."""
        return next(comparison for comparison in self.comparisons if comparison.decisive)

    @property
    def provisional(self) -> bool:
        """Return whether fewer runs are stored than needed."""
        return self.runs < self.needed

    @property
    def topics(self) -> dict[str, Verdict]:
        """The verdict by topic; "" without topics."""
        return by_topic((comparison.topic, comparison.verdict) for comparison in self.comparisons)

    @property
    def why(self) -> str:
        """A sentence on why the claim does not hold; maybe empty."""
        if self.verdict in (Verdict.HOLDS, None):
            return ""
        if self.verdict is Verdict.UNDECIDED:
            return f"is undecided: {self.reason}."
        comparison = self.decisive
        verdict = "does not hold" if self.verdict is Verdict.DOES_NOT_HOLD else "shows no difference of interest"
        sentence = f"{verdict}. {comparison.compared}: claimed {comparison.claimed}, found {comparison.found}."
        open_topics = [topic for topic, verdict in self.topics.items() if verdict is Verdict.UNDECIDED]
        return sentence + (f" Undecided: {', '.join(open_topics)}." if open_topics else "")


def judgement(variant: str, outcome: JudgedClaim, note: str = "") -> Judgement:
    """Return the judgement of a claim under a variant, with a note."""
    claim, comparisons = outcome.claim, outcome.parts or (Comparison(),)
    fields: dict[str, Any] = {name: getattr(claim, name) for name in OF_CLAIM}
    if old := claim.revised:
        fields |= {"revised_on": old.on, "revision": old.reason, "verdict_by_old_rule": old.before}
    deciding = decisive(comparisons) if claim.is_judged else comparisons[0]
    return Judgement(
        variant=variant,
        verdict=outcome.verdict if claim.is_judged else None,
        reason=outcome.reason if claim.is_judged else "",
        note=note,
        runs=outcome.runs,
        needed=outcome.needed,
        comparisons=tuple(comparison.but(decisive=comparison is deciding) for comparison in comparisons),
        **fields,
    )


@dataclass(frozen=True)
class Judgements:
    """Hold the judgements of a study, by variant and claim."""

    by_variant: Mapping[str, Mapping[str, Judgement]]
    """For each variant the judgements by the claim's id, in the order of the table."""
    judged_on: Mapping[str, str] = field(default_factory=dict)
    """The digest of what they were judged on, by variant, where that is known."""
    older: tuple[str, ...] = ()
    """The variants whose verdicts are older than the present code and settings."""

    @property
    def variants(self) -> list[str]:
        """The variants with judgements; described ones come first."""
        return list(self.by_variant)

    @property
    def main(self) -> list[Judgement]:
        """The judgement of each claim under its first variant."""
        return self.first_under(self.variants)

    def first_under(self, variants: Sequence[str]) -> list[Judgement]:
        """Return the judgement of each claim under the first of these variants."""
        judgements: dict[str, Judgement] = {}
        for name in variants:
            judgements |= {id: judgement for id, judgement in self.of(name).items() if id not in judgements}
        return list(judgements.values())

    def of(self, variant: str) -> Mapping[str, Judgement]:
        """Return the judgements under a variant, maybe none."""
        return self.by_variant.get(variant, {})


def write(folder: Path, new: Sequence[Judgement], command: str, judged_on: Mapping[str, str] | None = None) -> None:
    """Write judgements into the table of a study; other variants stay.

    Args:
        folder: The outputs of the study.
        new: All judgements under these variants.
        command: The command to make the table.
        judged_on: The digest of the basis, by variant.
    """
    try:
        old = read(folder)
    except StoreError:  # what is damaged is made again
        old = Judgements({})
    renewed = {judgement.variant for judgement in new}
    unchanged = [judgement for name in old.variants if name not in renewed for judgement in old.of(name).values()]
    metadata = {JUDGED_ON: {**old.judged_on, **(judged_on or {})}}
    write_table(to_frame([*unchanged, *new]), folder / FILE, command, metadata, digits=DIGITS)


def content(judgements: Sequence[Judgement]) -> bytes:
    """Return the bytes of the table of judgements."""
    return encode_table(to_frame(judgements), DIGITS)


def to_frame(judgements: Sequence[Judgement]) -> "pd.DataFrame":
    """Return the table with a row for each comparison."""
    import pandas as pd

    rows = ((judgement, comparison) for judgement in judgements for comparison in judgement.comparisons)
    return pd.DataFrame(
        [claim.model_dump(by_alias=True) | comparison.model_dump(by_alias=True) for claim, comparison in rows]
    )


def read(folder: Path, named: Sequence[str] = ()) -> Judgements:
    """Read the judgements of a study, named variants first; maybe none.

    Raises:
        StoreError: The table is damaged, or another version wrote it.
    """
    path = folder / FILE
    rows = read_rows(path)
    sidecar = DerivedFiles(path.with_suffix(".json")).read_sidecar() if rows else {}
    return Judgements(_parse(rows, path, named), sidecar.get(JUDGED_ON, {}))


def read_published(study: Study) -> Judgements:
    """Read the published judgements in a study's folder; none without a table.

    Raises:
        StoreError: Another version wrote the table.
    """
    path = study.folder / FILE
    rows = parse_rows(path.read_bytes()) if path.is_file() else []
    return Judgements(_parse(rows, path, list(study.described.variants)))


def _parse(rows: Sequence[dict[str, str]], path: Path, named: Sequence[str]) -> Mapping[str, Mapping[str, Judgement]]:
    rows_by_claim: dict[tuple[str, str], list[dict[str, str]]] = {}
    by_variant: dict[str, dict[str, Judgement]] = {name: {} for name in named}
    try:
        for row in rows:
            rows_by_claim.setdefault((row["variant"], row["claim"]), []).append(row)
        for (variant, id), claim_rows in rows_by_claim.items():
            claim_judgement = Judgement.model_validate({**claim_rows[0], "comparisons": claim_rows})
            by_variant.setdefault(variant, {})[id] = claim_judgement
    except (KeyError, ValidationError) as error:
        raise StoreError(f"{path}: of another version ({error})") from error
    return {name: by_claim for name, by_claim in by_variant.items() if by_claim}
