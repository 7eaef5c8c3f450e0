"""A tutorial that goes from an environment, and from a log, to a figure.

Each part between two lines of `# %%` is a cell of a notebook.
"""

# %% An environment of Gymnasium: at which discount factors does the best policy change?
import gymnasium
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import pomrl
from pomrl.figures import horizon_report

lake = pomrl.from_gymnasium(gymnasium.make("FrozenLake-v1"))
plan = lake.plan(np.linspace(0.5, 0.99, 50))
print(plan.changes)

figure = Figure(figsize=(5, 3), layout="constrained")
ax = figure.subplots()
ax.plot(plan.gammas, plan.values[:, 0])
for gamma in plan.changes["above"]:
    ax.axvline(gamma, color="0.7", linestyle=":")
ax.set_xlabel("γ; dotted: the best policy changes")
ax.set_ylabel("Value of the start")
figure.savefig("lake.png")

# %% A log of visits to that lake, where the ice differs from day to day: how long a horizon does it support?
rng = np.random.default_rng(0)
rows = []
for day in range(8):
    slips = rng.beta(2, 3)
    ice = pomrl.from_gymnasium(gymnasium.make("FrozenLake-v1", success_rate=1.0 - slips))
    for state in range(16):
        for action in range(4):
            drawn = rng.choice(16, size=3, p=np.asarray(ice.P)[state, action])
            rows += [(day, state, action, float(following == 15 != state), following) for following in drawn]
log = pomrl.from_log(pd.DataFrame(rows, columns=["task", "state", "action", "reward", "next_state"]))
print(log.new_task().table().query("state == 14 and action == 2 and probability > 0.01"))

report = pomrl.horizon_report(log, gamma_eval=0.99)
print("\n".join(report.words))
horizon_report.draw(report).figure.savefig("horizon.png")
