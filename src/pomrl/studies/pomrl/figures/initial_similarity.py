"""Where ada-POMRL starts.

The loss of ada-POMRL in each task for several initial values sigma_1 of its estimated task similarity (A4).

All plan with gamma_eval. The initial value is used in the first two tasks, before the spread of tasks can be estimated.
Bands show one standard error.

The paper (Sec. 4) starts from a large value, "close to 1/2".
"""

from pomrl.study import COLUMN_WIDTH, Panel, PanelGrid, Series, at_largest_gamma, sequence

SERIES = [
    Series(look, "initial_similarity", {"estimator.sigma_1": start}, at_largest_gamma)
    for start, look in sequence((0.01, 0.1, 0.5), "σ₁ = {:g}".format).items()
]

FIGURE = PanelGrid([[Panel("", SERIES, "task", "se")]], legend_columns=3, width=COLUMN_WIDTH)
