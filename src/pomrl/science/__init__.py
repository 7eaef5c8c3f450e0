"""The method of the paper and what it is compared with: tasks, data, estimators, planners, and the losses of plans."""
