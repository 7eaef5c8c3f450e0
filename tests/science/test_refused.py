"""Problems and methods that cannot be, or do not go together, are refused before anything is drawn."""

import re

import pytest

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.validation import check_experiment

COLLECTED = "data=trajectories data.behaviour=epsilon_greedy"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("m=1 estimator=ada_pomrl estimator.similarity=debiased", "m=1: "),
        ("m=1 estimator=ada_pomrl estimator.mixing=mse_optimal", "m=1: "),
        ("estimator=ada_pomrl estimator.similarity=null", "mixing=paper needs a similarity"),
        ("estimator.start_weight=1.0 estimator.forgetting=0.9", "start_weight=1.0: it must be 0 where"),
        ("estimator=exact_posterior", "needs tasks with one of finitely many models"),
        ("gamma_eval=0.9999852", "gamma_eval=0.9999852: losses would have rounding errors"),
        ("gamma_eval=0.9 gamma_schedule.gammas=[0.5,0.95]", "gamma_schedule.gammas=0.95: "),
        ("gamma_eval=0.9 gamma_schedule=upper_bound gamma_schedule.snap=[0.5,0.95]", "gamma_schedule.snap=0.95: "),
        ("gamma_schedule.gammas=[]", "gammas"),
        ("gamma_schedule.gammas=[0.5,0.5]", "gammas"),
        ("gamma_schedule.gammas=[-0.1,0.5]", "gammas"),
        ("estimator=without_meta gamma_schedule=upper_bound", "UpperBound needs an estimator with a similarity"),
        ("agent=posterior_gamma gamma_schedule=dynamic_best", "agent PosteriorGamma chooses a discount factor"),
        ("sigma=null", "sigma=null: a number is missing"),
        ("reading=computed sigma=0.01", "concentration_over_S=1.5 gives sigma already"),
        ("sigma=0.3", "of run 4 has this variance"),
        ("task_distribution.zeros=10", "zeros=10: "),
        ("task_distribution=river_swim S=7", "6 states and 2 actions"),
        ("task_distribution=river_swim sigma=0.1", "set sigma=null"),
        ("stream=switch stream.at=[16]", "stream.at=[16]: a switch is beyond the last task"),
        ("stream=switch stream.at=[5,5]", "stream.at=[5, 5]: values must ascend strictly"),
        ("stream=cycle stream.models=16", "stream.models=16: there are more mean models than tasks"),
        (
            "stream=switch task_distribution=uniform_ball sigma=0.003025 seed=0 stream.at=[2,3,4,5,6]",
            "sigma: no UniformBall distribution on another mean model",
        ),
        (f"{COLLECTED} trials=2", "trials=2: where a learner collects its data"),
        (f"{COLLECTED} reward_model=own", "reward_model=own: a learner that collects"),
        (f"{COLLECTED} meta_batch=separate", "where a learner collects its data"),
        (f"{COLLECTED} gamma_eval=1 horizon=5", "gamma_eval=1: a learner that collects its data plans with it"),
        ("data=trajectories data.length=10 m=100001", "m=100001: "),
        ("meta_batch=separate meta_batch.length=5", "meta_batch.length=5: "),
        ("start=10 loss=mean", "start=10: it must be a state"),
        ("start=[0.5,0.6] loss=mean", "probabilities that sum to 1"),
        ("start=1", "start=1: loss=max"),
        ("reward_low=2.0", "reward_low=2.0: "),
        ("planner=backward_induction planner.steps=2 horizon=1", "set horizon to at least that"),
    ],
)
def test_what_cannot_be_is_refused(words: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):  # noqa: PT012, the first line or the second refuses it
        asked = sweeps.experiment(PUBLISHED, words.split())
        check_experiment(asked.problem, asked.method, [4, 5])
