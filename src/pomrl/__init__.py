"""POMRL: online meta-learning of models of tabular MDPs, and planning with them.

`pomrl.components`, `pomrl.study` and `pomrl.figures` have more names, for authors.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pomrl.api.compute import jobs as jobs
    from pomrl.api.compute import run as run
    from pomrl.api.compute import sweep as sweep
    from pomrl.api.read import find as find
    from pomrl.api.read import judge as judge
    from pomrl.api.read import load as load
    from pomrl.api.read import plot as plot
    from pomrl.api.read import table as table
    from pomrl.models.planning import from_arrays as from_arrays
    from pomrl.models.planning import from_gymnasium as from_gymnasium
    from pomrl.models.planning import plan as plan

_MODULES = {
    **dict.fromkeys(("jobs", "run", "sweep"), "pomrl.api.compute"),
    **dict.fromkeys(("find", "judge", "load", "plot", "table"), "pomrl.api.read"),
    **dict.fromkeys(("from_arrays", "from_gymnasium", "plan"), "pomrl.models.planning"),
}
"""The module of each name, imported at its first use."""

if "omegaconf" in sys.modules:  # a notebook may compose before it calls pomrl
    from pomrl.configuration.resolvers import register_resolvers as _register_resolvers

    _register_resolvers()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # here, so that other Hydra applications load nothing

    value = getattr(import_module(_MODULES[name]), name)
    if _MODULES[name].startswith("pomrl.api."):  # a notebook may compose later
        from pomrl.configuration.resolvers import register_resolvers

        register_resolvers()
    return value


def __dir__() -> list[str]:
    return sorted(_MODULES)
