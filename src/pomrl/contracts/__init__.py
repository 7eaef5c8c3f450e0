"""What every component has to keep to, as tests: a base class for each kind of component.

In a test file of one's own, a subclass whose name begins with Test says with a fixture which component it is about:

    class TestMine(EstimatorContract):
        @pytest.fixture
        def component(self) -> Estimator:
            return Mine(...)

The options of `conf/` are tested by the same classes.
"""

from pomrl.contracts.estimator import EstimatorContract
from pomrl.contracts.gamma_schedule import GammaScheduleContract
from pomrl.contracts.planner import PlannerContract
from pomrl.contracts.task_distribution import TaskDistributionContract

__all__ = ["EstimatorContract", "GammaScheduleContract", "PlannerContract", "TaskDistributionContract"]
