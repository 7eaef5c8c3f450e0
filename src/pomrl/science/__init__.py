"""The method of the paper: tasks, data, estimators, planners and planning losses."""
