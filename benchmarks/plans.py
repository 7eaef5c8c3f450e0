"""How many plans the published sweeps consist of, counted from their configuration."""

from pomrl.configuration.composition import Composer
from pomrl.configuration.parsing import parse
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import shipped
from pomrl.science.gamma_schedules import Hindsight

PAPER = {"task_similarity", "illustration", "gamma_schedules", "gamma_0", "samples_and_tasks", "states_20", "states_30"}
"""The sweeps behind the paper's own figures."""


def counts() -> list[dict[str, object]]:
    """Return the number of plans of the sweeps of the paper's figures, and of all sweeps that are shipped.

    A schedule that chooses in hindsight plans nothing. Experiments that several sweeps share are computed once.
    """
    every = [study.option(name) for study in shipped() for name in study.sweeps]
    parts = {"sweeps of the paper's figures": sorted(PAPER), "all published sweeps": every}
    return [{"part": part, **_plans(sweeps)} for part, sweeps in parts.items()]


def _plans(sweeps: list[str]) -> dict[str, int]:
    composer, every, once = Composer.of_sources(PUBLISHED), 0, dict[str, int]()
    for sweep in sweeps:
        for composed in composer.each(composer.product({"experiment": sweep, **composer.axes(sweep)})):
            experiment = parse(composed)
            schedule = experiment.method.gamma_schedule
            if not isinstance(schedule, Hindsight):
                plans = composed.values["runs"] * experiment.problem.T * schedule.gammas_per_task
                every += plans
                key = repr((experiment.problem, experiment.method))
                once[key] = max(plans, once.get(key, 0))
    return {"plans": every, "computed": sum(once.values())}
