"""The table `claims.csv`, with a row for each comparison, claim and variant.

Columns are the aliases of fields of `Judgement`, then of `Comparison`.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

from pomrl.configuration.studies import Study
from pomrl.judging.claim import JudgedClaim
from pomrl.judging.comparison_rows import Comparison, JudgementColumns, VerdictOrNone, WholeNumber, by_topic, decisive
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles, encode_table, parse_rows, read_rows, write_table
from verdicts.parts import Verdict

if TYPE_CHECKING:  # slow to import
    import pandas as pd

FILE = "claims.csv"
"""The file name of the table."""

DIGITS = 12
"""The significant digits of numbers in the table; the last ones may differ between processors."""

JUDGED_ON = "judged_on"
"""The key of the table's sidecar file for digests of the inputs of verdicts, by variant."""

OF_CLAIM = ("id", "statement", "title", "where", "figures", "sweeps", "is_main", "selected_on")
"""The fields copied from the claim."""

NameList = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda names: names.split() if isinstance(names, str) else names),
    PlainSerializer(" ".join),
]
"""Names, separated by spaces in one column."""

NAMES_OF_CLAIMS = {"id": "claim"}
"""The aliases that differ from the names of fields."""


class Judgement(JudgementColumns):
    """A claim under one variant, with its verdict."""

    model_config = ConfigDict(alias_generator=lambda name: NAMES_OF_CLAIMS.get(name, name))

    variant: str
    id: str
    statement: str
    title: str = ""
    """A short form of the statement; by default the statement."""
    where: str = ""
    figures: NameList = ()
    sweeps: NameList = ()
    """The names of sweeps with the claim's experiments."""
    is_main: bool = False
    selected_on: bool = False
    verdict: VerdictOrNone
    """The verdict; None if only estimates are reported."""
    reason: str = ""
    """Why the claim is undecided; empty otherwise."""
    note: str = ""
    runs: WholeNumber = 0
    needed: WholeNumber = 0
    """The number of runs required for a verdict."""
    revised_on: str = ""
    revision: str = ""
    verdict_by_old_rule: Verdict | None = None
    comparisons: tuple[Comparison, ...] = Field(exclude=True)

    @property
    def decisive(self) -> Comparison:
        """The deciding comparison; without a verdict, the first one."""
        return next(comparison for comparison in self.comparisons if comparison.decisive)

    @property
    def provisional(self) -> bool:
        return self.runs < self.needed

    @property
    def topics(self) -> dict[str, Verdict]:
        return by_topic((comparison.topic, comparison.verdict) for comparison in self.comparisons)

    @property
    def why(self) -> str:
        """A sentence on why the claim does not hold; empty otherwise."""
        if self.verdict in (Verdict.HOLDS, None):
            return ""
        if self.verdict is Verdict.UNDECIDED:
            return f"is undecided: {self.reason}."
        comparison = self.decisive
        verdict = "does not hold" if self.verdict is Verdict.DOES_NOT_HOLD else "shows no difference of interest"
        sentence = f"{verdict}. {comparison.compared}: claimed {comparison.claimed}, found {comparison.estimate_text}."
        open_topics = [topic for topic, verdict in self.topics.items() if topic and verdict is Verdict.UNDECIDED]
        return sentence + (f" Undecided: {', '.join(open_topics)}." if open_topics else "")


def judgement(variant: str, outcome: JudgedClaim, note: str = "") -> Judgement:
    """Make the judgement of a claim under a variant."""
    claim, comparisons = outcome.claim, outcome.comparisons or (Comparison(),)
    fields: dict[str, Any] = {name: getattr(claim, name) for name in OF_CLAIM}
    if old := claim.revised:
        before = old.before if isinstance(old.before, Verdict) else old.before.get(variant)
        fields |= {"revised_on": old.on, "revision": old.reason, "verdict_by_old_rule": before}
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
    """The judgements of a study."""

    by_variant: Mapping[str, Mapping[str, Judgement]]
    """The judgements by variant and claim id, in the order of the table."""
    judged_on: Mapping[str, str] = field(default_factory=dict[str, str])
    """The digest of the inputs of verdicts, by variant, if stored."""
    older: tuple[str, ...] = ()
    """The variants with verdicts older than the present code and settings."""

    @property
    def variants(self) -> list[str]:
        return list(self.by_variant)

    @property
    def main(self) -> list[Judgement]:
        return self.first_under(self.variants)

    def first_under(self, variants: Sequence[str]) -> list[Judgement]:
        judgements: dict[str, Judgement] = {}
        for name in variants:
            judgements |= {id: judgement for id, judgement in self.of(name).items() if id not in judgements}
        return list(judgements.values())

    def of(self, variant: str) -> Mapping[str, Judgement]:
        return self.by_variant.get(variant, {})


def write(folder: Path, new: Sequence[Judgement], command: str, judged_on: Mapping[str, str] | None = None) -> None:
    """Write judgements to the table of a study, and keep other variants.

    `judged_on` has the digest of their inputs, by variant.
    """
    try:
        old = read(folder)
    except StoreError:  # a damaged table is replaced
        old = Judgements({})
    renewed = {judgement.variant for judgement in new}
    unchanged = [judgement for name in old.variants if name not in renewed for judgement in old.of(name).values()]
    metadata = {JUDGED_ON: {**old.judged_on, **(judged_on or {})}}
    write_table(to_frame([*unchanged, *new]), folder / FILE, command, metadata, digits=DIGITS)


def content(judgements: Sequence[Judgement]) -> bytes:
    """Encode judgements as the bytes of the table."""
    return encode_table(to_frame(judgements), DIGITS)


def to_frame(judgements: Sequence[Judgement]) -> "pd.DataFrame":
    """Tabulate judgements, with a row for each comparison."""
    import pandas as pd

    rows = ((judgement, comparison) for judgement in judgements for comparison in judgement.comparisons)
    return pd.DataFrame(
        [claim.model_dump(by_alias=True) | comparison.model_dump(by_alias=True) for claim, comparison in rows]
    )


def read(folder: Path, named: Sequence[str] = ()) -> Judgements:
    """Read the judgements of a study; none without a table.

    Variants in `named` come first.

    Raises:
        StoreError: The table is damaged, or was written by another version.
    """
    path = folder / FILE
    rows = read_rows(path)
    sidecar = DerivedFiles(path.with_suffix(".json")).read_sidecar() if rows else {}
    return Judgements(_parse(rows, path, named), sidecar.get(JUDGED_ON, {}))


def read_published(study: Study) -> Judgements:
    """Read the published judgements of a study; none without a table.

    Raises:
        StoreError: The table was written by another version.
    """
    path = study.folder / FILE
    rows = parse_rows(path.read_bytes()) if path.is_file() else []
    return Judgements(_parse(rows, path, list(study.config.variants)))


def parse(content: bytes, path: Path) -> Judgements:
    """Parse a received table; StoreError if it was written by another version."""
    try:
        rows = parse_rows(content)
    except (UnicodeDecodeError, csv.Error) as error:
        raise _outdated(path, str(error)) from error
    return Judgements(_parse(rows, path, ()))


def _parse(rows: Sequence[dict[str, str]], path: Path, named: Sequence[str]) -> Mapping[str, Mapping[str, Judgement]]:
    rows_by_claim: dict[tuple[str, str], list[dict[str, str]]] = {}
    by_variant: dict[str, dict[str, Judgement]] = {name: {} for name in named}
    try:
        for row in rows:
            rows_by_claim.setdefault((row["variant"], row["claim"]), []).append(row)
        for (variant, id), claim_rows in rows_by_claim.items():
            claim_judgement = Judgement.model_validate({**claim_rows[0], "comparisons": claim_rows})
            by_variant.setdefault(variant, {})[id] = claim_judgement
    except KeyError as error:
        raise _outdated(path, f"no column {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise _outdated(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return {name: by_claim for name, by_claim in by_variant.items() if by_claim}


def _outdated(path: Path, problem: str) -> StoreError:
    return StoreError(f"{path}: damaged, or written by another version of pomrl ({problem}); judge the claims again")
