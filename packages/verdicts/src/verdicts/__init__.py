"""Judge claims about a table of results, with a stated probability of error."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verdicts.judging import check as check
    from verdicts.judging import judge as judge
    from verdicts.language import Claim as Claim
    from verdicts.language import ClaimError as ClaimError
    from verdicts.language import parse as parse
    from verdicts.language import read_claims as read_claims
    from verdicts.locking import LockError as LockError
    from verdicts.locking import lock_claims as lock_claims
    from verdicts.parts import JudgedPart as JudgedPart
    from verdicts.parts import Part as Part
    from verdicts.parts import Verdict as Verdict
    from verdicts.parts import judge_part as judge_part
    from verdicts.planning import plan as plan
    from verdicts.tables import TableError as TableError

MODULES = {
    "judging": ("check", "judge"),
    "language": ("Claim", "ClaimError", "parse", "read_claims"),
    "locking": ("LockError", "lock_claims"),
    "parts": ("JudgedPart", "Part", "Verdict", "judge_part"),
    "planning": ("plan",),
    "tables": ("TableError",),
}
"""The public names by module; loaded when used, because pandas is slow to import."""

__all__ = [name for names in MODULES.values() for name in names]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    for module, names in MODULES.items():
        if name in names:
            return getattr(import_module(f"verdicts.{module}"), name)
    raise AttributeError(f"module 'verdicts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
