"""The figures of the study of guidance discount factors."""

from pomrl.study import Panel, PanelGrid, figure, in_task, of_values, sequence

LOOKS = sequence((5, 10, 20, 50, 200), "n = {}".format)
"""How numbers of trajectories are drawn."""


def _curves(title: str, sweep: str, label: str) -> Panel:
    return Panel(title, of_values(sweep, "m", LOOKS, view=in_task(1)), "gamma", "ci", label=label)


@figure()
def guidance_gamma() -> PanelGrid:
    """The planning loss against the guidance discount factor, for n trajectories.

    In random MDPs, on average over states. Bands are 95 % intervals of the mean.
    """
    return PanelGrid([[_curves("", "guidance", "Planning loss")]], legend_columns=3)


@figure()
def training_and_test() -> PanelGrid:
    """The loss in the estimated model and in the true one, against the guidance discount factor.

    For n trajectories, on average over states. Bands are 95 % intervals of the mean.
    """
    training = _curves("estimated model", "guidance_training", "Loss")
    return PanelGrid([[training, _curves("true model", "guidance", "Loss")]], legend_columns=6, share_y=False)


@figure()
def guidance_policies() -> PanelGrid:
    """The number of different policies for the guidance discount factors up to each one.

    In one estimated model, for n trajectories. There are 1,024 policies. Bands are 95 % intervals of the mean.
    """
    return PanelGrid([[_curves("", "guidance_policies", "Different policies")]], legend_columns=3)
