"""Learn from logs of earlier tasks, and recommend changes of decisions.

- `log_tables` reads transitions, and `audit` checks them.
- `logs` learns the distribution of models, and predicts new tasks.
- `safe_improvement` plans within the data, and `gains` estimates gains.
- `horizon_reports` recommends changes, and `follow_up` checks them later.

See `docs/logs.md` of the package for an introduction.
"""

from pomrl_logs.horizon_reports import horizon_report as horizon_report
from pomrl_logs.log_tables import from_log as from_log
from pomrl_logs.safe_improvement import Structure as Structure
