"""Your own models and logs in the place of the paper's tasks: plans, new tasks, and what to change.

- `models`: planning with a model of your own, from arrays or from Gymnasium (`pomrl.plan`); `model_input` reads and
  checks arrays, and `sparse_models` has what is particular to large sparse ones.
- `log_tables`, `logs`: what the transitions of earlier tasks say about the next one (`pomrl.from_log`); `log_files`
  reads tables, and `audit`, with `association`, looks for what makes advice void or weak (`findings`).
- `task_rewards`: what the rewards of a log say of each task.
- `structure`: what the user declares of the models of tasks.
- `horizon_reports`, with `recommendations`: what to change in the decisions of a log (`pomrl.horizon_report`), from
  plans that depart from them where data support it (`departures`) and what these gain (`gains`); `promises`: whether
  that came true in a later log.

`docs/models_and_logs.md` introduces them.
"""
