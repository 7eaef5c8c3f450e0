"""The planners, and the parameter of tests that hold for each of them."""

import pytest

from pomrl.science.planners import PolicyIteration, ValueIteration

PLANNERS = [PolicyIteration(), ValueIteration()]
every_planner = pytest.mark.parametrize("planner", PLANNERS, ids=["PolicyIteration", "ValueIteration"])
