"""Figures 3 to 6 and F2 to F5 as the authors computed them, or would have: under the definitions of their notebook.

The sweeps `notebook_*` draw with random streams of our own (`reading=notebook`). Over the curves are the points of the
figures in the notebook, read off by eye; `agreement` says how far they are from our curves.
"""

from pomrl.figures.authors import (
    arub_dependence_on_mt,
    dependence_on_tasksimilarity,
    dependence_on_tasksimilarity_ablation,
    gamma_schedules,
    omrl_baselines,
    planning_omrl,
    pomrl_vs_adapomrl,
    varying_smt,
)

__all__ = [
    "arub_dependence_on_mt", "dependence_on_tasksimilarity", "dependence_on_tasksimilarity_ablation", "gamma_schedules",
    "omrl_baselines", "planning_omrl", "pomrl_vs_adapomrl", "varying_smt",
]  # fmt: skip
