"""Rewards that are not known.

The loss at gamma_eval with rewards that are not known, but estimated from five noisy samples of each pair.

The noise has the standard deviation 0.3, where rewards are uniform in [0, 1] and equal in all tasks. They are the means
of the task's own samples, those of the samples of all tasks, or posterior means between the two. Bands show one
standard error.

Beyond the paper, which assumes that rewards are known (Sec. 2).
"""

from pomrl.study import Look, Panel, PanelGrid, Series, at_largest_gamma

SWEEP = "unknown_rewards"

LEARNERS = {"oracle": "Oracle prior knowledge", "without_meta": "Without meta-learning", "ada_pomrl": "ada-POMRL"}

REWARD_MODELS = {
    "known": Look("known", "black", "X", ":"),
    "own": Look("own samples", "#d55e00", "D"),
    "pooled": Look("all tasks", "#de8f05", "v"),
    "shrunk": Look("posterior mean", "#0173b2", "s"),
}
"""How rewards are estimated."""

PANELS = [
    Panel(
        title,
        [
            Series(look, SWEEP, {"reward_model": model, "estimator": name}, at_largest_gamma)
            for model, look in REWARD_MODELS.items()
        ],
        "task",
        "se",
    )
    for name, title in LEARNERS.items()
]

FIGURE = PanelGrid([PANELS], legend_columns=4)
