"""Draw losses with estimated rewards."""

from pomrl.figures import DataFrame, Figure, Look, Panel, PanelGrid, figure, look, of_values, palette

REWARD_MODELS = {
    "known": Look("known", "black", "X", ":"),
    "own": Look("own samples", palette.VERMILION, "D"),
    "pooled": Look("all tasks", palette.ORANGE, "v"),
    "shrunk": Look("posterior mean", palette.BLUE, "s", "--", size=3.0),
}
"""Plot styles of the estimators of rewards."""

PANELS = [
    Panel(
        look(name).label, of_values("unknown_rewards", "reward_model", REWARD_MODELS, {"estimator": name}), "task", "se"
    )
    for name in ("oracle", "without_meta", "ada_pomrl")
]

GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def unknown_rewards(data: DataFrame) -> Figure:
    """With rewards from own samples, meta-learning still gains.

    The loss at gamma_eval with rewards estimated from five noisy samples of each pair.

    Rewards are uniform in [0, 1] and equal in all tasks, with noise of standard deviation 0.3. Estimates are means of
    the task's samples, of all samples, or posterior means; dotted lines have known rewards.

    Beyond the paper, which assumes that rewards are known (Sec. 2).
    """
    return GRID.draw(data)
