"""What is tested of agents."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pomrl.contracts.component import METHOD, UNEQUAL, ComponentContract, problem
from pomrl.science.agents.agent import Agent
from pomrl.science.data import Trajectories
from pomrl.science.gamma_schedules import Fixed
from pomrl.science.problem import Method, Problem

ONLINE = {"data": Trajectories(length=3, behaviour="epsilon_greedy")}
SAMPLED = {"reward_model": "own", "reward_noise": 0.1}


class AgentContract(ComponentContract):
    """Tests of an agent, which the fixture `component` of a subclass returns."""

    def experiments(self, component: Agent[Any]) -> Sequence[tuple[Problem, Method]]:
        method = replace(METHOD, agent=component)
        of_problems = [replace(problem(), **changes) for changes in ({}, UNEQUAL, ONLINE, SAMPLED)]
        return [
            *((of, method) for of in of_problems),
            (problem(), replace(method, gamma_schedule=Fixed(gamma=0.5))),
        ]
