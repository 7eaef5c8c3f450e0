"""Variants of the paper: readings of its text, and its authors' notebook (`pages/notebook.md`)."""

from collections.abc import Iterator
from itertools import product

from pomrl.study import Variant, VariantJob, family, of_keys, variant
from pomrl_studies.pomrl2023.choices import Choice, choices, combine, without

CONCENTRATION = {"sigma=0.01": "1.5", "sigma=0.025": "0.75", "sigma=0.047": "0.375"}
"""The Dirichlet concentration, as a multiple of S, for each sigma of the paper.

The notebook sets concentrations. The largest variance of tasks around a random mean model is then about the paper's
sigma.
"""

SCHEDULES = ("gamma_schedules", "gamma_0")
"""The sweeps of gamma schedules. The estimator is ada-POMRL in the notebook, and POMRL in the text."""

EXTRA_OVERRIDES = {name: ["task_distribution.concentration_over_S=null"] for name in ("illustration", "equal_tasks")}
"""Additional overrides by sweep: equal tasks have no concentration."""

_ABSENT = "The notebook does not contain this experiment; it is computed with the notebook's other definitions."

_FEWER_SAMPLES = (
    "Reason: m trajectories of 10 steps visit a pair 2.5 times on average, where the text has m = 5 transitions from "
    "each (shown by setting only `data=trajectories`, `data.length=10` in the repaired experiments)."
)

_START = "ada-POMRL's first guess of the variance counts as a task for ever, so it stays in the estimate"

NOTES = {
    "I.1": _ABSENT,
    "I.2": _ABSENT,
    "A.3": _ABSENT,
    "A.4": _ABSENT,
    "A.5": f"{_ABSENT} Reason: {_START} (shown by only setting `estimator.start_weight=0` in the computed "
    "experiments).",
    "Q1.5": f"No single difference was shown to change the verdict. The main reason is that {_START}: with only "
    "`estimator.start_weight=0` the gap falls to 9 % [7, 12] (500 runs), around the margin of 10 %.",
    "Q2.1": _FEWER_SAMPLES,
    "Q4.5": _FEWER_SAMPLES,
    "T.1": "The notebook has no simulation of the bound.",
}


@variant(runs=500, notes=NOTES)
def computed(job: VariantJob) -> list[str]:
    """Translate overrides to the experiments of the first author's published notebook.

    Schedules use ada-POMRL. Each loss is a mean over five batches per task, so claims are judged on fewer runs. The
    notebook takes a hundred batches, which have the same mean.
    """
    is_of_schedules = job.sweep in SCHEDULES
    overrides = [override for override in job.overrides if not (is_of_schedules and override.startswith("estimator="))]
    translated = [
        f"task_distribution.concentration_over_S={CONCENTRATION[override]}" if override in CONCENTRATION else override
        for override in overrides
    ]
    return [
        *translated,
        "reading=computed",
        "trials=5",
        *(["estimator=ada_pomrl"] if is_of_schedules else []),
        *EXTRA_OVERRIDES.get(job.sweep, []),
    ]


printed = of_keys("printed", {"reading": "printed"})
"""The text as printed.

Numbered equations and algorithm boxes take precedence over prose, and the main text over the appendix. Defaults apply
where the paper is silent.
"""


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
    ),
)
def readings() -> Iterator[Variant]:
    """Yield variants: the repaired text, each choice, combinations, and named sets."""
    yield combine([])
    yield from (combine([choice]) for choice in READINGS)
    alternatives = [[None, *(choice for choice in READINGS if choice.reading == group)] for group in ("R1", "R2", "E4")]
    for combination in product(*alternatives):
        if len(chosen := [choice for choice in combination if choice]) > 1:
            yield combine(chosen)
    yield printed
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
