"""Contracts of components, as tests: a base class of tests for each kind of component.

To test a component, subclass the contract of its kind in a test file. The name of the subclass begins with Test, and
its fixture `component` returns the component:

    class TestMine(EstimatorContract):
        @pytest.fixture
        def component(self) -> Estimator:
            return Mine(...)

The options of `conf/` are tested by the same classes. What an experiment refuses by itself (`science.checked`), such as
a wrong shape or a rate above 1, is refused here by the same functions.
"""

from pomrl.contracts.agents import AgentContract as AgentContract
from pomrl.contracts.component import METHOD as METHOD
from pomrl.contracts.component import ComponentContract as ComponentContract
from pomrl.contracts.component import problem as problem
from pomrl.contracts.data import DataContract as DataContract
from pomrl.contracts.estimators import EstimatorContract as EstimatorContract
from pomrl.contracts.gamma_schedules import GammaScheduleContract as GammaScheduleContract
from pomrl.contracts.planners import PlannerContract as PlannerContract
from pomrl.contracts.tasks import TaskDistributionContract as TaskDistributionContract
from pomrl.contracts.tasks import TaskStreamContract as TaskStreamContract
