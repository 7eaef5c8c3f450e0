"""The published sweeps under the definitions of the authors' notebook (`reading=notebook`).

The claims read the sweeps of the paper's text. Here each setting of such a sweep is given the experiment that stands
for it in the notebook, so that the same claims can be judged on both.
"""

from collections.abc import Sequence
from dataclasses import replace

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from pomrl.configuration import studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.composition import Composer
from pomrl.configuration.parsing import parse
from pomrl.configuration.sources import Sources
from pomrl.configuration.studies import Setting

CONCENTRATION = {"sigma=0.01": "1.5", "sigma=0.025": "0.75", "sigma=0.047": "0.375"}
"""The concentration of the Dirichlet distribution, as a multiple of S, that stands for each sigma of the paper.

The notebook sets the concentration and not sigma. The largest variances that follow from these three, of tasks around
a random mean model, are the numbers that the paper gives as sigma.
"""

SCHEDULES = ("gamma_schedules", "gamma_0")
"""The sweeps of gamma schedules, which the notebook draws from ada-POMRL's losses where the paper's text says POMRL."""

ADDED = {"illustration": ("task_distribution.concentration_over_S=null",)}
"""Further overrides of sweeps: without differences between tasks there is no concentration."""


def sweep(sources: Sources, name: str, further: Sequence[str] = ()) -> list[Setting]:
    """Return the settings of a published sweep, each with the experiment that stands for it in the notebook.

    `varied` is as published: it has the paper's sigma and estimator.

    Args:
        sources: Where the configurations come from.
        name: The sweep.
        further: Further overrides of all settings, such as one that takes a difference from the text back.

    Raises:
        ConfigError: A setting has no meaning under the notebook's definitions.
    """
    composer = Composer(sources.folders)
    try:
        _, jobs = composer.sweep(name)
        experiments = [parse(each) for each in composer.each([[*_translated(name, job), *further] for job in jobs])]
    except (HydraException, OmegaConfBaseException, ConfigError) as error:
        raise ConfigError(f"{name}, reading=notebook: {' '.join(str(error).split())}") from error
    published = studies.sweep(sources, name)
    return [replace(setting, experiment=each) for setting, each in zip(published, experiments, strict=True)]


def _translated(name: str, job: list[str]) -> list[str]:
    """Return the overrides of a job of a sweep under the notebook's definitions."""
    kept = [override for override in job if name not in SCHEDULES or not override.startswith("estimator=")]
    translated = [
        f"task_distribution.concentration_over_S={CONCENTRATION[override]}" if override in CONCENTRATION else override
        for override in kept
    ]
    return [
        *translated,
        "reading=notebook",
        *(["estimator=ada_pomrl"] if name in SCHEDULES else []),
        *ADDED.get(name, ()),
    ]
