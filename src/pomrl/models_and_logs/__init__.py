"""Your own models and logs in the place of the paper's tasks: plans, new tasks and horizons for them.

- `models`: planning with a model of your own, from arrays or from Gymnasium (`pomrl.plan`).
- `logs`: what the transitions of earlier tasks say about the next one (`pomrl.from_log`).
- `horizon_reports`: which discount factor to plan with, by what a log says (`pomrl.horizon_report`).

`docs/models_and_logs.md` introduces them.
"""
