"""The claims of the study of the game of patience."""

from pomrl.study import Part, SweepResults, claim, less, no_worse


@claim("P1", "patience", figures=("losses",))
def meta_learning_helps(sweep: SweepResults) -> list[Part]:
    """ada-POMRL loses less than no meta-learning.

    Game of patience: the loss at gamma_eval, on average over opponents.
    """
    ada, without = (sweep.at(estimator=name).regret for name in ("ada_pomrl", "without_meta"))
    return [less(ada, without, "ada-POMRL less no meta-learning")]


@claim("P2", "patience", figures=("losses",))
def the_similarity_need_not_be_known(sweep: SweepResults) -> list[Part]:
    """ada-POMRL loses at most 10 % more than POMRL, which is told how similar opponents are.

    Game of patience: the loss at gamma_eval, on average over opponents.
    """
    ada, pomrl = (sweep.at(estimator=name).regret for name in ("ada_pomrl", "pomrl"))
    return [no_worse(ada, pomrl, "ada-POMRL less POMRL")]
