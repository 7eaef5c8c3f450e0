"""Claims of a user's own: functions with `@claim` in a module of theirs, about sweeps of theirs or published ones.

Each is judged once, on the number of runs that its sweeps ask for. Claims of one module share an error of 5 %.
"""

from pomrl.claims.claim import Claim
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import module_of_ones_own

FOLDER = "own_claims"
"""The folder of outputs in which the table of a module is MODULE.csv."""


def claims_of(module: str) -> list[Claim]:
    """Return the claims that a module defines, in its order.

    Raises:
        ConfigError: There is no such module, it cannot be imported, or it has no claims about sweeps.
    """
    try:
        defined = vars(module_of_ones_own(module)).values()
    except LookupError as error:
        raise ConfigError(str(error)) from error
    claims = [each for each in defined if isinstance(each, Claim) and each.check.__module__ == module]
    if not (claims := [each for each in claims if each.experiments]):
        raise ConfigError(f"{module}: it has no claims, which are functions with @claim and the name of a sweep")
    return claims
