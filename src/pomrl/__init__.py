"""POMRL: online meta-learning of transition models, and planning with them, for tabular MDPs.

`dir(pomrl)` lists the names; each is loaded at first use. CONTRIBUTING.md describes the rooms of this package.
`pomrl.components`, `pomrl.study` and `pomrl.figures` gather names for authors; studies import only these.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pomrl.api import find as find
    from pomrl.api import jobs as jobs
    from pomrl.api import load as load
    from pomrl.api import plot as plot
    from pomrl.api import run as run
    from pomrl.api import sweep as sweep
    from pomrl.api import table as table
    from pomrl.models.planning import from_arrays as from_arrays
    from pomrl.models.planning import from_gymnasium as from_gymnasium
    from pomrl.models.planning import plan as plan


MOVED = {"from_log": "pomrl_logs", "horizon_report": "pomrl_logs", "Structure": "pomrl_logs"}
"""Names of version 1, by the packages that have them now."""

if "omegaconf" in sys.modules:  # a notebook that composes by itself; others register them with the first name
    from pomrl.configuration.resolvers import register_resolvers as _register_resolvers

    _register_resolvers()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name in MOVED:
        raise ImportError(f"pomrl.{name} is {MOVED[name]}.{name} since version 2")
    from pomrl.configuration.importing import load_from  # here, so that Hydra's other applications load nothing

    value = load_from(__name__, name)
    if value.__module__ == "pomrl.api":  # for a notebook that composes by itself later
        from pomrl.configuration.resolvers import register_resolvers

        register_resolvers()
    return value


def __dir__() -> list[str]:
    from pomrl.configuration.importing import names_of

    return sorted(names_of(__name__))
