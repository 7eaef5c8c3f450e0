"""POMRL: online meta-learning of transition models, and planning with them, for tabular MDPs.

`import pomrl` gives the names in `__all__` and loads each when it is first used. CONTRIBUTING.md says what each room, a
folder or a file of this package, is for, and which may import which: an import goes down only.

`pomrl.components` gathers the names that the author of a component needs, and `pomrl.study` those for the author of a
study. Studies import these two alone, and nothing else of ours does. `skeleton` is what `pomrl new` copies.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pomrl.api import find, load, plot, run, sweep, table
    from pomrl.models_and_logs.horizon_reports import horizon_report
    from pomrl.models_and_logs.log_tables import from_log
    from pomrl.models_and_logs.models import from_arrays, from_gymnasium, plan
    from pomrl.models_and_logs.structure import Structure

_OF_MODELS_AND_LOGS = {
    "Structure": "structure",
    "from_arrays": "models",
    "from_gymnasium": "models",
    "from_log": "log_tables",
    "horizon_report": "horizon_reports",
    "plan": "models",
}
"""The module of each public name that is not in `api`."""

__all__ = [
    "Structure",
    "find",
    "from_arrays",
    "from_gymnasium",
    "from_log",
    "horizon_report",
    "load",
    "plan",
    "plot",
    "run",
    "sweep",
    "table",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("pomrl")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = f"models_and_logs.{_OF_MODELS_AND_LOGS[name]}" if name in _OF_MODELS_AND_LOGS else "api"
    return getattr(import_module(f"pomrl.{module}"), name)


def __dir__() -> list[str]:
    return [*__all__]
