"""Logs of your own: what they say of the next task, and which decisions to change.

- `log_tables` reads the transitions of earlier tasks (`from_log`); `audit` looks for what makes advice void or weak.
- `logs` learns how the models of tasks are distributed, and gives that of a new task.
- `structure` is what the user declares of the models of tasks.
- `horizon_reports` says what to change in the decisions of a log (`horizon_report`). `departures` plans where data
  support it, `gains` has what that gains, and `promises` whether it came true in a later log.
- `command` is `pomrl horizon`.

`docs/models_and_logs.md` introduces them.
"""

from pomrl_logs.horizon_reports import horizon_report as horizon_report
from pomrl_logs.log_tables import from_log as from_log
from pomrl_logs.structure import Structure as Structure
