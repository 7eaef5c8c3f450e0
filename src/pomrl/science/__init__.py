"""The paper's method and its parts: tasks, data, estimators, planners, and losses of plans."""
