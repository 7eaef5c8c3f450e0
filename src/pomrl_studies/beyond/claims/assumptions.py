"""Our claims on the paper's methods without one of its assumptions.

Losses are at gamma_eval, averaged over tasks.
"""

from dataclasses import replace

from pomrl.study import Part, SweepResults, claim, less, no_worse
from pomrl_studies.pomrl2023.claims import horizons, planning_accuracy

MAX_RELATIVE_COST = 0.05
"""The largest claimed relative cost of forgetting in stationary streams."""


@claim("N1", "streams", figures=("streams",))
def forgetting_pays(sweep: SweepResults) -> list[Part]:
    """learned forgetting beats the average of means under drift and switch, and costs at most 5 % without them.

    What the paper leaves open: loss of ada-POMRL.
    """
    claim_parts = []
    for stream in ("drift", "switch", "stationary"):
        plain, forgetting = (
            sweep.at(stream=stream, estimator=name).regret for name in ("ada_pomrl", "ada_pomrl_forgetting")
        )
        label = f"ada-POMRL with forgetting less without, {stream}"
        if stream == "stationary":
            claim_parts.append(no_worse(forgetting, plain, label, MAX_RELATIVE_COST))
        else:
            claim_parts.append(less(forgetting, plain, label))
    return claim_parts


@claim("N2", "unequal_data", figures=("unequal_data",))
def own_numbers_pay(sweep: SweepResults) -> list[Part]:
    """with unequal numbers of transitions, ada-POMRL with each pair's own number beats ada-POMRL with the mean number.

    What the paper leaves open: both distributions of the numbers.
    """
    claim_parts = []
    for numbers, label in (("extremes", "one or fifteen"), ("geometric", "geometric")):
        own, mean = (
            sweep.at(numbers=numbers, estimator="ada_pomrl", samples=samples, weights="tasks").regret
            for samples in ("visits", "m")
        )
        claim_parts.append(less(own, mean, f"own number less mean number, {label}"))
    return claim_parts


@claim("U1", "unknown_rewards", runs=4000, figures=("unknown_rewards",))
def rewards_need_not_be_known(sweep: SweepResults) -> list[Part]:
    """with rewards from the task's own samples, Q1.1, Q1.4 and Q2.3 hold as they do with known rewards.

    What the paper leaves open: the rules of these claims, with both kinds of rewards, on the same draws.
    """
    claim_parts = []
    for model in ("known", "own"):
        by_model = sweep.where(reward_model=model)
        values = [(0.01, *experiment_values) for experiment_values in by_model.values]
        in_the_paper = replace(by_model, keys=("sigma", *by_model.keys), values=values)
        for paper_claim in (planning_accuracy.loss_falls, planning_accuracy.order_of_methods, horizons.horizon_grows):
            label = f"rewards {model}, {paper_claim.id}"
            claim_parts += [
                replace(original, compared=f"{label}: {original.compared}")
                for original in paper_claim.check(in_the_paper)
            ]
    return claim_parts
