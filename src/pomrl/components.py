"""The public names for user-defined components: base classes, fields, and `check_component`.

The annotated attributes of a component are its keys in a configuration, with validated values. `Field` gives a key a
range and a description; a docstring below the key is also a description:

    class Constant(GammaSchedule):
        gamma: float = Field(ge=0, lt=1, description="the discount factor")

        def select(self, state: TaskState) -> np.ndarray:
            return np.full((len(state.alpha), 1), self.gamma)
"""

from pydantic import Field as Field
from pydantic import field_validator as field_validator
from pydantic import model_validator as model_validator

from pomrl.base import Component as Component
from pomrl.base import DataFile as DataFile
from pomrl.base import FieldError as FieldError
from pomrl.base import make_read_only as make_read_only
from pomrl.contracts import check_component as check_component
from pomrl.science.agents.agent import Agent as Agent
from pomrl.science.agents.agent import Decision as Decision
from pomrl.science.agents.agent import TaskData as TaskData
from pomrl.science.component_output import ComponentError as ComponentError
from pomrl.science.data import Batch as Batch
from pomrl.science.data import Counts as Counts
from pomrl.science.data import Data as Data
from pomrl.science.estimators.estimator import Estimate as Estimate
from pomrl.science.estimators.estimator import Estimator as Estimator
from pomrl.science.estimators.estimator import ModelEstimator as ModelEstimator
from pomrl.science.estimators.estimator import Truth as Truth
from pomrl.science.estimators.memory import GRID as GRID
from pomrl.science.estimators.memory import Forgetting as Forgetting
from pomrl.science.estimators.memory import Memory as Memory
from pomrl.science.estimators.memory import Models as Models
from pomrl.science.estimators.memory import PerPair as PerPair
from pomrl.science.estimators.memory import evidence as evidence
from pomrl.science.estimators.memory import learn_and_forget as learn_and_forget
from pomrl.science.estimators.memory import predictive_concentration as predictive_concentration
from pomrl.science.estimators.pomrl import RegularisedLeastSquares as RegularisedLeastSquares
from pomrl.science.exploration import draw_models as draw_models
from pomrl.science.gamma_schedules import GammaSchedule as GammaSchedule
from pomrl.science.gamma_schedules import TaskState as TaskState
from pomrl.science.mdp import Rewards as Rewards
from pomrl.science.mdp import expected_rewards as expected_rewards
from pomrl.science.meta_batches import MetaBatch as MetaBatch
from pomrl.science.metrics.metric import Metric as Metric
from pomrl.science.metrics.metric import MetricInput as MetricInput
from pomrl.science.planners import Planner as Planner
from pomrl.science.randomness import Generators as Generators
from pomrl.science.sampling import elementary as elementary
from pomrl.science.solvers.evaluation import chain_value as chain_value
from pomrl.science.tasks.distribution import Candidates as Candidates
from pomrl.science.tasks.distribution import FiniteTasks as FiniteTasks
from pomrl.science.tasks.distribution import Latents as Latents
from pomrl.science.tasks.distribution import MeanModel as MeanModel
from pomrl.science.tasks.distribution import TaskDistribution as TaskDistribution
from pomrl.science.tasks.distribution import TaskFamily as TaskFamily
from pomrl.science.tasks.distribution import Tasks as Tasks
from pomrl.science.tasks.random_chains import RandomChains as RandomChains
from pomrl.science.tasks.streams import TaskStream as TaskStream
