"""Claims of ours on what becomes of the paper's methods without one of its assumptions.

N1 is about tasks of one distribution (Sec. 3.1), N2 about m transitions from every pair (Sec. 3.2), and U1 about
rewards that are known (Sec. 2). All are about sigma = 0.01. The page
`assumptions` says what happens without each of these assumptions.
"""

from dataclasses import replace

from pomrl.study import Part, SweepResults, claim, less, no_worse
from pomrl_studies.pomrl2023.claims import horizons, planning_accuracy

COST = 0.05
"""The largest cost of forgetting where there is nothing to forget, as a share of the loss without it."""


@claim("N1", "streams", figures=("streams",))
def forgetting_pays(sweep: SweepResults) -> list[Part]:
    """learned forgetting beats the average of means under drift and switch, and costs at most 5 % without them.

    What the paper leaves open: ada-POMRL with and without learned forgetting, loss at gamma_eval on average over tasks.
    """
    parts = []
    for stream in ("drift", "switch", "stationary"):
        plain, forgetting = (
            sweep.at(stream=stream, estimator=name).regret for name in ("ada_pomrl", "ada_pomrl_forgetting")
        )
        words = f"ada-POMRL with forgetting less without, {stream}"
        if stream == "stationary":
            parts.append(no_worse(forgetting, plain, words, COST))
        else:
            parts.append(less(forgetting, plain, words))
    return parts


@claim("N2", "unequal_data", figures=("unequal_data",))
def own_numbers_pay(sweep: SweepResults) -> list[Part]:
    """with unequal numbers of transitions, ada-POMRL with each pair's own number beats ada-POMRL with the mean number.

    What the paper leaves open: loss at gamma_eval on average over tasks, for both distributions of the numbers.
    """
    parts = []
    for numbers, words in (("extremes", "one or fifteen"), ("geometric", "geometric")):
        own, mean = (
            sweep.at(numbers=numbers, estimator="ada_pomrl", samples=samples, weights="tasks").regret
            for samples in ("visits", "m")
        )
        parts.append(less(own, mean, f"own number less mean number, {words}"))
    return parts


@claim("U1", "unknown_rewards", runs=4000, figures=("unknown_rewards",))
def rewards_need_not_be_known(sweep: SweepResults) -> list[Part]:
    """with rewards from the task's own samples, Q1.1, Q1.4 and Q2.3 hold as they do with known rewards.

    What the paper leaves open: the rules of these claims, under both, on the same draws.
    """
    parts = []
    for model in ("known", "own"):
        of_model = sweep.where(reward_model=model)
        values = [(0.01, *of_experiment) for of_experiment in of_model.values]
        in_the_paper = replace(of_model, keys=("sigma", *of_model.keys), values=values)
        for of_paper in (planning_accuracy.loss_falls, planning_accuracy.order_of_methods, horizons.horizon_grows):
            words = f"rewards {model}, {of_paper.id}"
            parts += [replace(part, compared=f"{words}: {part.compared}") for part in of_paper.check(in_the_paper)]
    return parts
