"""Problems and methods that cannot be, or do not go together, are refused before anything is drawn."""

import re

import pytest

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.validation import check_experiment

COLLECTED = "data=trajectories data.behaviour=epsilon_greedy"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ("m=1 estimator=ada_pomrl estimator.similarity=debiased", "m must be at least 2 "),
        ("m=1 estimator=ada_pomrl estimator.mixing=mse_optimal", "sampling noise, got 1"),
        (
            "estimator=ada_pomrl estimator.similarity=null",
            "similarity must be known, welford or debiased with mixing=paper",
        ),
        (
            "estimator.start_weight=1.0 estimator.forgetting=0.9",
            "start_weight must be 0 unless forgetting is 1, got 1.0",
        ),
        ("estimator=exact_posterior", "needs a task_distribution of finitely many models, got Dirichlet"),
        ("gamma_eval=0.9999852", "got 0.9999852: rounding errors of losses"),
        (
            "gamma_eval=0.9 gamma_schedule.gammas=[0.5,0.95]",
            "gamma_schedule.gammas must be at most gamma_eval=0.9, got 0.95",
        ),
        ("gamma_eval=0.9 gamma_schedule=upper_bound gamma_schedule.snap=[0.5,0.95]", "gamma_schedule.snap must be"),
        ("gamma_schedule.gammas=[]", "gammas"),
        ("gamma_schedule.gammas=[0.5,0.5]", "gammas"),
        ("gamma_schedule.gammas=[-0.1,0.5]", "gammas"),
        ("estimator=without_meta gamma_schedule=upper_bound", "UpperBound needs an estimator with a similarity"),
        ("agent=posterior_gamma gamma_schedule=dynamic_best", "(best_fixed, dynamic_best) for agent PosteriorGamma"),
        ("sigma=null", "sigma must be a number unless"),
        ("task_distribution=uniform_ball sigma=null", "sigma must be a number, got null"),
        (
            "sigma=0.01 task_distribution.concentration_over_S=1.5",
            "sigma must be null with task_distribution.concentration_over_S=1.5, got 0.01",
        ),
        ("sigma=0.3", "as a variance, got 0.3 (Dirichlet on the mean model of run 4"),
        ("task_distribution.zeros=10", "zeros must be at most S - 1 = 9, got 10"),
        ("task_distribution=river_swim S=7", "S and A must be 6 and 2 for the tasks of RiverSwim, got 7 and 2"),
        ("task_distribution=river_swim sigma=0.1", "set sigma=null"),
        ("stream=switch stream.at=[16]", "the tasks of stream.at must be at most T=15, got 16"),
        ("stream=switch stream.at=[5,5]", "stream.at=[5, 5]: values must be strictly ascending"),
        ("stream=cycle stream.models=16", "stream.models must be at most T=15, got 16"),
        (
            "stream=switch task_distribution=uniform_ball sigma=0.003025 seed=0 stream.at=[2,3,4,5,6]",
            "(UniformBall on another mean model of the stream)",
        ),
        (f"{COLLECTED} trials=2", "trials must be 1 if a learner collects its data, got 2"),
        (f"{COLLECTED} reward_model=own", "reward_model must be known if a learner collects its data, got own"),
        (f"{COLLECTED} meta_batch=separate", "meta_batch must be own if a learner collects its data, got Separate"),
        (f"{COLLECTED} gamma_eval=1 horizon=5", "gamma_eval must be below 1 if a learner collects its data"),
        ("data=trajectories data.length=10 m=100001", "got m=100001 of length 10"),
        ("meta_batch=separate meta_batch.length=5", "meta_batch.length must be null unless data=trajectories, got 5"),
        ("start=10 loss=mean", "start must be a state from 0 to 9, or 10 probabilities with sum 1, got 10"),
        ("start=[0.5,0.6] loss=mean", "probabilities with sum 1, got [0.5, 0.6]"),
        ("start=1", "start must be null with loss=max, got 1"),
        ("reward_low=2.0", "reward_low must be at most reward_high=1.0, got 2.0"),
        (
            "planner=backward_induction planner.steps=2 horizon=1",
            "horizon must be at least 2, the steps of planner BackwardInduction, got 1",
        ),
    ],
)
def test_what_cannot_be_is_refused(overrides: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):  # noqa: PT012, the first line or the second refuses it
        requested = sweeps.experiment(PUBLISHED, overrides.split())
        check_experiment(requested.problem, requested.method, [4, 5])
