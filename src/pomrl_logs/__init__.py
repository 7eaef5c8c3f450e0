"""Learn from logs of earlier tasks, and recommend changes of decisions.

- `log_tables` reads transitions (`from_log`), and `audit` checks them.
- `logs` learns the distribution of models, and predicts that of a new task.
- `safe_improvement` plans within the support of the data, and `gains` estimates what plans gain.
- `horizon_reports` recommends changes (`horizon_report`), and `follow_up` checks them in a later log.
- `command` is `pomrl horizon`.

`docs/models_and_logs.md` introduces them.
"""

from pomrl_logs.horizon_reports import horizon_report as horizon_report
from pomrl_logs.log_tables import from_log as from_log
from pomrl_logs.safe_improvement import Structure as Structure
