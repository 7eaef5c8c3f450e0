"""The claims of the study, fixed before the data are seen."""

from pomrl.study import Part, SweepResults, claim, less, no_worse


@claim("C1", "first", figures=("losses",))
def a_prior_helps(sweep: SweepResults) -> list[Part]:
    """The shrunk prior loses less than no prior where tasks are similar.

    The question of the study: the loss at gamma_eval, on average over tasks, at sigma = 0.01.
    """
    shrunk, without = (sweep.at(sigma=0.01, estimator=name).regret for name in ("shrunk", "without_meta"))
    return [less(shrunk, without, "shrunk less no prior")]


@claim("C2", "first", figures=("losses",))
def a_fixed_weight_suffices(sweep: SweepResults) -> list[Part]:
    """The shrunk prior is no worse than ada-POMRL at either similarity.

    The question of the study: no worse by a margin of 10 %, in the loss at gamma_eval on average over tasks.
    """
    return [
        no_worse(
            sweep.at(sigma=sigma, estimator="shrunk").regret,
            sweep.at(sigma=sigma, estimator="ada_pomrl").regret,
            f"shrunk less ada-POMRL, sigma = {sigma:g}",
        )
        for sigma in (0.01, 0.047)
    ]
