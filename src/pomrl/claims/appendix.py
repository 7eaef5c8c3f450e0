"""The appendix' ablations and further settings: App. F, Figures F2, F3 and F5; and the start of ada-POMRL, Sec. 4."""

from itertools import pairwise

from pomrl.claims.claim import claim
from pomrl.claims.comparisons import does_not_improve, less, less_unpaired, on_a_par, smaller_best_unpaired
from pomrl.claims.losses import FIRST, LAST, PerRun, Sweep
from pomrl.claims.verdict import Part

STARTS = (0.01, 0.1, 0.5)


@claim("A.1", "task_similarity", selected_on=True)
def aggregating_on_a_par(sweep: Sweep) -> list[Part]:
    """aggregating is on a par with POMRL at sigma = 0.01.

    App. F.2, Figure F2a: "the aggregating baseline works at-par with our method POMRL which is intuitive when the tasks
    are strongly related".
    """
    aggregating, pomrl = (sweep.at(sigma=0.01, estimator=name).regret for name in ("aggregating", "pomrl"))
    return [on_a_par(aggregating, pomrl, "aggregating less POMRL")]


@claim("A.2", "task_similarity", selected_on=True)
def aggregating_is_not_reliable(sweep: Sweep) -> list[Part]:
    """at sigma = 0.047 aggregating is worse than POMRL and ada-POMRL, and does not improve over the last tasks.

    App. F.2, Figure F2c: "such a naive method is not reliable as the underlying task similarity decreases [...] and the
    planning loss doesn't improve".
    """
    aggregating, pomrl, ada = (sweep.at(sigma=0.047, estimator=name) for name in ("aggregating", "pomrl", "ada_pomrl"))
    last = aggregating.at_eval[:, LAST.start - 1 : LAST.stop - 1]
    return [
        less(pomrl.regret, aggregating.regret, "POMRL less aggregating"),
        less(ada.regret, aggregating.regret, "ada-POMRL less aggregating"),
        does_not_improve(last, "aggregating, last tasks"),
    ]


@claim("A.3", "samples_and_tasks")
def samples_and_tasks(sweep: Sweep) -> list[Part]:
    """gamma* is smaller for (m, T) = (5, 5) than for (20, 5), and the gain is largest for (5, 30).

    App. F.2, Figure F3: "For m = T, smaller loss is obtained with very small discount factor [...] For m >> T [...]
    slightly larger effective discount factors. Not a lot is gained in this scenario from meta-learning [...] m << T is
    the most interesting case [...] resulting in huge gains".
    """
    return _samples_and_tasks(sweep, "m5_T30")


@claim("A.4", "states_20", "states_30", runs=20)
def more_states(states_20: Sweep, states_30: Sweep) -> list[Part]:
    """the same with 20 states, and with 30 states and (5, 15) in place of (5, 30).

    App. F.3, Figure F5: "despite larger state-space we observe the same effect".
    """
    return [*_samples_and_tasks(states_20, "m5_T30", "S = 20: "), *_samples_and_tasks(states_30, "m5_T15", "S = 30: ")]


def _samples_and_tasks(sweep: Sweep, many_tasks: str, where: str = "") -> list[Part]:
    few, samples = (sweep.at(batches=name, estimator="ada_pomrl") for name in ("m5_T5", "m20_T5"))
    gains = {name: _gain(sweep, name) for name in ("m5_T5", "m20_T5", many_tasks)}
    return [
        smaller_best_unpaired(few, samples, f"{where}γ* at m5_T5 less that at m20_T5, bootstrap over runs"),
        less_unpaired(gains["m5_T5"], gains[many_tasks], f"{where}gain at m5_T5 less that at {many_tasks}"),
        less_unpaired(gains["m20_T5"], gains[many_tasks], f"{where}gain at m20_T5 less that at {many_tasks}"),
    ]


def _gain(sweep: Sweep, batches: str) -> PerRun:
    without, ada = (sweep.at(batches=batches, estimator=name).regret for name in ("without_meta", "ada_pomrl"))
    return without - ada


@claim("A.5", "initial_similarity")
def start_matters_at_first(sweep: Sweep) -> list[Part]:
    """a larger first estimate of sigma slows ada-POMRL in the first tasks, and no longer matters in the last.

    Sec. 4: the initial value "will only affect the results of a finite number of tasks at the beginning [...] where the
    true σ is small, a large initialization will slow down convergence". On a par in the last tasks: with the smallest.
    (The algorithm uses it in tasks 1 and 2 only, so that task 2 alone can be slower, and the last tasks are equal.)
    """
    losses = {start: sweep.at(sigma_1=start) for start in STARTS}
    slower = [
        less(losses[a].tasks(FIRST), losses[b].tasks(FIRST), f"start {a} less start {b}, first tasks")
        for a, b in pairwise(STARTS)
    ]
    smallest = losses[STARTS[0]].tasks(LAST)
    equal = [
        on_a_par(losses[start].tasks(LAST), smallest, f"start {start} less start {STARTS[0]}, last tasks")
        for start in STARTS[1:]
    ]
    return [*slower, *equal]


CLAIMS = (aggregating_on_a_par, aggregating_is_not_reliable, samples_and_tasks, more_states, start_matters_at_first)
