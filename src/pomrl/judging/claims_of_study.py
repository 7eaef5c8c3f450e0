"""The claims of a study: the functions with `@claim` in its `claims.py` and in the modules of its folder `claims/`."""

import re
from collections.abc import Iterator

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.study import Study
from pomrl.judging.claim import Claim


def claims_of(study: Study) -> list[Claim]:
    """Return the claims of a study, ordered by their ids.

    Raises:
        ConfigError: A module cannot be imported, a claim has no statement or is about nothing that there is, or two
            claims have the same id. The message names the study and the claim.
    """
    by_id: dict[str, Claim] = {}
    for claim in _defined(study):
        name = claim.check.__name__
        if claim.is_exact and claim.check.__code__.co_argcount:
            raise ConfigError(f"{study.word}: claim {name} names no sweep, as in @claim({claim.id!r}, 'SWEEP')")
        if not claim.statement:
            raise ConfigError(f"{study.word}: claim {name} has no docstring, whose first line says what is claimed")
        if claim.id in by_id:
            other = by_id[claim.id].check.__name__
            raise ConfigError(f"{study.word}: claims {other} and {name} have the same id {claim.id!r}")
        study.refuse_unknown(claim.sweeps, f"claim {claim.id}")
        by_id[claim.id] = claim
    return sorted(by_id.values(), key=lambda claim: _natural(claim.id))


def _defined(study: Study) -> Iterator[Claim]:
    """Yield the claims that modules define themselves, in their order."""
    for module in study.modules("claims"):
        for each in dict.fromkeys(value for value in vars(module).values() if isinstance(value, Claim)):
            if each.check.__module__ == module.__name__:
                yield each


def _natural(id: str) -> list[tuple[bool, int | str]]:
    """Return a key by which Q2.9 comes before Q2.10."""
    return [(part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", id) if part]
