"""POMRL: online meta-learning of transition models, and planning with them, for tabular MDPs.

`import pomrl` gives the names in `__all__` and loads each when it is first used. The folders, from the top down; a
module imports only from what stands below it:

    commands         the command line: arguments, terminal, exit status
    api              the Python interface, whose names `import pomrl` gives (a module)
    studies          what is shipped: the paper (`pomrl`) and what goes beyond it; each is a folder like anybody's study
    report           the pages of studies, and the report: one page of HTML with all figures and claims
    drawing          how figures are declared and drawn from stored tables
    judging          how claims are declared and judged on stored tables, at precision
    results          tables as arrays, statistics and comparisons
    running          plan: what is missing of experiments, and its cost; work: computes and stores it
    contracts        what every component has to keep to, as tests that anyone can run on a class of their own
    store            where the tables of experiments are kept: reading, writing, signatures, provenance
    configuration    studies, sweeps and variants: from YAML files and a command line to checked objects
    models_and_logs  plans and horizons for models and logs of one's own
    bounds           the paper's bounds, as printed and as proven (a module)
    science          an experiment's table: tasks, data, estimators, schedules, planners; Algorithms 1 and 2
    execution        engines that map a function over items: local processes, Dask
    checks           the base class of components, which checks their values (a module)
    outputs          the folder that everything computed is kept in (a module)

`pomrl.components` gathers the names that the author of a component needs, and `pomrl.study` those for the author of a
study. Studies import these two alone, and nothing else of ours does. `skeleton` is what `pomrl new` copies.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pomrl.api import component, find, load, plot, run, sweep, table
    from pomrl.models_and_logs.horizon_reports import horizon_report
    from pomrl.models_and_logs.log_tables import from_log
    from pomrl.models_and_logs.model_files import from_file
    from pomrl.models_and_logs.models import from_arrays, from_gymnasium, plan
    from pomrl.models_and_logs.structure import Structure

_PUBLIC = {
    "Structure": "pomrl.models_and_logs.structure",
    "component": "pomrl.api",
    "find": "pomrl.api",
    "from_arrays": "pomrl.models_and_logs.models",
    "from_file": "pomrl.models_and_logs.model_files",
    "from_gymnasium": "pomrl.models_and_logs.models",
    "from_log": "pomrl.models_and_logs.log_tables",
    "horizon_report": "pomrl.models_and_logs.horizon_reports",
    "load": "pomrl.api",
    "plan": "pomrl.models_and_logs.models",
    "plot": "pomrl.api",
    "run": "pomrl.api",
    "sweep": "pomrl.api",
    "table": "pomrl.api",
}
"""The module of each public name."""

__all__ = [
    "Structure",
    "component",
    "find",
    "from_arrays",
    "from_file",
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
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
