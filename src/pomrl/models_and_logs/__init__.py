"""Your own models and logs in the place of the paper's tasks: plans, new tasks, and what to plan with.

- `models`: planning with a model of your own, from arrays or from Gymnasium (`pomrl.plan`); `sparse_models` has what is
  particular to large sparse ones.
- `log_tables`, `logs`: what the transitions of earlier tasks say about the next one (`pomrl.from_log`).
- `task_rewards`: what the rewards of a log say of each task.
- `ties`, with `successors`: how rows of the models of tasks depend on each other, learned from the log; `structure`:
  the same if the user declares it, and which of the two a log speaks for.
- `horizon_reports`: what to plan tasks with (`pomrl.horizon_report`), from `drawn_losses` and `recommendations`.

`docs/models_and_logs.md` introduces them.
"""
