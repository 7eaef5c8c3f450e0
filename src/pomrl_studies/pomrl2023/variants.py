"""Families of variants: choices between readings of the text, and differences from the authors' notebook."""

from collections.abc import Iterator
from itertools import product

from pomrl.study import Variant, family, of_keys
from pomrl_studies.pomrl2023.choices import Choice, choices, combine, without

WITH_PRIOR, LEARNED, ADA = ("oracle", "pomrl", "ada_pomrl"), ("pomrl", "ada_pomrl"), ("ada_pomrl",)
"""The estimators with a prior, with a learned prior, and with a learned similarity."""

READINGS = (
    Choice("std", "R1", ("task_distribution.measure=std",)),
    Choice("exclusive", "R2", ("estimator.prior=exclusive",), {"estimator": LEARNED}),
    Choice("population", "R3", ("estimator.variance=population",), {"estimator": ADA}),
    Choice("start_0.1", "R4", ("estimator.start_deviation=0.1",), {"estimator": ADA}),
    Choice("per_pair", "R5", ("estimator.scope=per_pair",), {"estimator": WITH_PRIOR}),
    Choice("fixed", "R6", ("task_distribution.mean_model=fixed",)),
    Choice("L_10", "R7", ("gamma_schedule.L=10",), {"gamma_schedule": ("dong",)}),
    Choice("per_run", "R8", ("gamma_schedule.choice=per_run",), {"gamma_schedule": ("best_fixed", "dynamic_best")}),
    Choice("state", "R14", ("task_distribution.reward=state",)),
    Choice("zeros_5", "R15", ("task_distribution.zeros=5",)),
    Choice("squared", "R16", ("estimator.plug=squared",), {"estimator": WITH_PRIOR}),
    Choice("algorithm", "R17", ("estimator.index=algorithm",), {"estimator": WITH_PRIOR}),
    Choice("T0", "R18", ("gamma_schedule.start=T0",), {"gamma_schedule": ("dong",)}),
    Choice("as_printed", "E1", ("gamma_schedule.minimum=as_printed",), {"gamma_schedule": ("upper_bound",)}),
    Choice("mse_bound", "E4", ("estimator.mixing=mse_bound",), {"estimator": WITH_PRIOR}),
    Choice("mse_optimal", "E4", ("estimator.mixing=mse_optimal",), {"estimator": WITH_PRIOR}),
    Choice("debiased", "E5", ("estimator.similarity=debiased",), {"estimator": ADA}),
)
"""The alternatives for ambiguities (R1, ...) and errors (E1, ...) of the paper's text."""


def _combined(name: str, *names: str) -> Variant:
    return combine([choice for choice in READINGS if choice.name in names], name)


@family(
    sweeps=(
        "task_similarity",
        "gamma_schedules",
        "gamma_0",
        "illustration",
        "samples_and_tasks",
        "states_20",
        "states_30",
        "initial_similarity",
        "first_task",
        "many_tasks",
        "aggregating",
    ),
)
def readings() -> Iterator[Variant]:
    """Yield variants: the repaired text, each choice, combinations, and named sets."""
    yield combine([])
    yield from (combine([choice]) for choice in READINGS)
    alternatives = [[None, *(choice for choice in READINGS if choice.number == group)] for group in ("R1", "R2", "E4")]
    for combination in product(*alternatives):
        if len(selected := [choice for choice in combination if choice]) > 1:
            yield combine(selected)
    yield of_keys("printed", {"reading": "printed"})
    yield _combined("printed_with_variances", "exclusive", "population", "algorithm", "as_printed")
    yield _combined("noise_counted", "mse_optimal", "debiased")
    yield _combined("fixed_letter", "exclusive", "fixed", "algorithm", "as_printed")


@family(
    sweeps={
        "horizons": {"runs": 60, "estimator": "ada_pomrl"},
        "at_gamma_eval": {
            "runs": 60,
            "gamma_schedule": "fixed",
            "estimator": "oracle,without_meta,aggregating,uniform_prior",
        },
        "schedules": {"runs": 60, "estimator": "ada_pomrl", "gamma_schedule": "dong,upper_bound"},
    },
    is_judged=False,
)
def ledger() -> Iterator[Variant]:
    """Yield variants: the repaired text, single and accumulated differences, and all but one."""
    all_choices = choices()
    ladder = [all_choices[:length] for length in range(1, len(all_choices) + 1)]
    single, but_one = [[choice] for choice in all_choices], [without(all_choices, choice) for choice in all_choices]
    yield from {variant.name: variant for variant in map(combine, [[], *single, *ladder, *but_one])}.values()
