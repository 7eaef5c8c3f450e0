"""Claims of a user's own: functions with `@claim` in a module of theirs, about sweeps of theirs or published ones.

Each is judged once, on the number of runs that its sweeps ask for. Claims of one module share an error of 5 %.
"""

from collections.abc import Sequence

from pomrl.claims.claim import Claim
from pomrl.claims.loading import Basis, Reader, Settings
from pomrl.configuration import studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import in_words, module_of_ones_own, place_of
from pomrl.configuration.sources import Sources
from pomrl.store import StoreError

FOLDER = "own_claims"
"""The folder of outputs in which the table of a module is MODULE.csv."""


def claims_of(module: str) -> list[Claim]:
    """Return the claims that a module defines, in its order.

    Raises:
        ConfigError: There is no such module, it cannot be imported, it has no claims about sweeps, a claim has no
            statement, or two claims have the same id.
    """
    try:
        defined = vars(module_of_ones_own(module)).values()
    except LookupError as error:
        raise ConfigError(str(error)) from error
    claims = [each for each in defined if isinstance(each, Claim) and each.check.__module__ == module]
    if not (claims := [each for each in dict.fromkeys(claims) if each.simulation is None]):
        raise ConfigError(f"{module}: it has no claims, which are functions with @claim and the name of a sweep")
    by_id: dict[str, str] = {}
    for each in claims:
        name = each.check.__name__
        if not each.experiments:
            raise ConfigError(f"{module}: {name} names no sweep, as in @claim({each.id!r}, 'task_similarity')")
        if not each.statement:
            raise ConfigError(f"{module}: {name} has no docstring, whose first line says what is claimed")
        if each.id in by_id:
            raise ConfigError(f"{module}: {by_id[each.id]} and {name} have the same id {each.id!r}")
        by_id[each.id] = name
    return claims


def settings_of(sources: Sources, module: str, claims: Sequence[Claim]) -> Settings:
    """Return the settings of all sweeps that claims of a module are about, by name.

    Raises:
        ConfigError: There is no such sweep, or it is wrong; the message names the claim.
    """
    settings: dict[str, Sequence[studies.Setting]] = {}
    for claim in claims:
        for name in claim.experiments:
            try:
                settings[name] = settings[name] if name in settings else studies.sweep(sources, name)
            except ConfigError as error:
                raise ConfigError(f"{module}: claim {claim.id}: {error}") from error
    return settings


def fault(module: str, claim: Claim, settings: Settings, reader: Reader) -> str | None:
    """Return a line that says what is wrong with the function of a claim, or None.

    The function is tried on losses that are made up, and then on those that are stored.

    Raises:
        StoreError: What is stored is damaged.
    """
    basis = Basis(module, settings, analyses=(), of_ones_own=[claim])
    try:
        basis.read_by_parts(claim)
        promised, stored = basis.promised(claim), basis.stored(claim)
        if stored >= promised or (stored and not claim.is_judged):
            basis.refuse_damage()
            reader.parts(basis, claim, min(promised, stored))
    except StoreError:
        raise
    except Exception as error:  # whatever a function of somebody's own raises
        code = claim.check.__code__
        return (
            f"{module}: claim {claim.id} ({place_of(error, code.co_filename, code.co_firstlineno)}): {in_words(error)}"
        )
    return None
