"""What each difference between the paper's text and the authors' notebook does to the results, from stored losses.

Runs with one number have the same mean model and rewards under all readings, as far as these have a meaning for both.
So all comparisons are in pairs over runs. Intervals have 95 %.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.figures import Page
from pomrl.study import Interval, Result, Setting, bootstrap_means, difference, minimising, percentile, signature
from pomrl_studies.pomrl2023.choices import Choice, combine, keep_allowed, without
from pomrl_studies.pomrl2023.differences import choices
from pomrl_studies.pomrl2023.tasks_and_gains import LAST

FAMILY = "ledger"
"""The family of variants in which the differences are choices."""

LOSS, GAIN, GAMMA_STAR = "loss", "gain over without", "γ*"
"""Numbers of ada-POMRL in the last tasks: its loss at gamma_eval, by how much less that is than without meta-learning,
and the discount factor with the smallest mean loss."""


def settings_with(page: Page, made: Sequence[Choice]) -> Mapping[str, Sequence[Setting]]:
    """Return the experiments with these choices, by the names of the sweeps, for the page that reads them."""
    name, study = combine(made).name, page.study
    (under,) = (variant for variant in study.family(FAMILY).variants if variant.name == name)
    return {sweep: study.settings(sweep, under) for sweep in under.sweeps or ()}


@dataclass(frozen=True)
class LedgerResults:
    """The losses of all experiments of one variant."""

    losses: Mapping[tuple[str, str], Result]
    """The losses by estimator and gamma schedule, which is `grid`, `fixed` (gamma_eval), `dong` or `upper_bound`."""

    @property
    def ada_pomrl(self) -> Result:
        """ada-POMRL on the grid of discount factors."""
        return self.losses["ada_pomrl", "grid"]

    def at_gamma_eval(self, estimator: str) -> Result:
        """Return the losses of an estimator whose largest discount factor is gamma_eval."""
        return self.ada_pomrl if estimator == "ada_pomrl" else self.losses[estimator, "fixed"]

    def gain(self, estimator: str) -> Float[np.ndarray, " n"]:
        """Return by how much an estimator's loss in the last tasks is below that without meta-learning, in each run."""
        return self.at_gamma_eval("without_meta").tasks(LAST) - self.at_gamma_eval(estimator).tasks(LAST)

    @property
    def gamma_star(self) -> Float[np.ndarray, " B"]:
        """gamma* of ada-POMRL in the last tasks: of the runs as they are, and then of each of their resamples."""
        return minimising(self.ada_pomrl.gammas, _with_resamples(self.last_curve))

    @property
    def last_curve(self) -> Float[np.ndarray, "n G"]:
        """The loss of ada-POMRL against the discount factor, averaged over the last tasks."""
        return self.ada_pomrl.loss[:, [t - 1 for t in LAST]].mean(1)


def _with_resamples(sample: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "B ..."]:
    """Return the mean over runs, and below it the mean over runs of each resample; equal runs are drawn together."""
    return np.concatenate([sample.mean(0)[None], bootstrap_means(sample)])


def _percentile(values: Float[np.ndarray, " B"]) -> Interval:
    """Return the interval of an estimate, which stands before its bootstrap resamples."""
    return percentile(values[0], values[1:])


def load(settings: Mapping[str, Sequence[Setting]], runs: int | None = None) -> LedgerResults:
    """Return the stored losses of one variant.

    Args:
        settings: The experiments of each sweep.
        runs: The number of runs to load; by default as many as the sweep asks for.

    Raises:
        StoreError: An experiment is not stored, or not with so many runs.
    """
    losses = {}
    for setting in (setting for of_sweep in settings.values() for setting in of_sweep):
        options, asked = setting.experiment.options, setting.experiment.request.runs
        found = Result.of_experiment(setting.experiment, runs or asked)
        losses[options["estimator"], options["gamma_schedule"]] = found
    return LedgerResults(losses)


def effects(page: Page, runs: int | None = None) -> pd.DataFrame:
    """Return the effects of each difference that has a key, on every number that it concerns.

    Returns:
        A row for each difference, number and place, with the columns difference, number, place, estimate, lower and
        upper. The place is `repaired` for the change made alone in the experiment as repaired, and `computed` for the
        change made last, in an experiment that has all others. A place where the change has no meaning, because it
        needs another one, or where it changes no setting, has no row.
    """
    every = choices()
    rows = []
    for choice in every:
        places = {"repaired": ((), (choice,)), "computed": (without(every, choice), every)}
        for place, made in places.items():
            before, after = (settings_with(page, some) for some in made)
            if _signatures(before) != _signatures(after):
                found = _effects(choice, load(before, runs), load(after, runs))
                of_place = {"difference": choice.name, "place": place}
                rows += [{**of_place, "number": number, **asdict(interval)} for number, interval in found]
    return pd.DataFrame(rows, columns=["difference", "number", "place", "estimate", "lower", "upper"])


def _signatures(settings: Mapping[str, Sequence[Setting]]) -> list[str]:
    return [signature(setting.experiment) for of_sweep in settings.values() for setting in of_sweep]


def _effects(of: Choice, before: LedgerResults, after: LedgerResults) -> Iterator[tuple[str, Interval]]:
    """Yield the effect on the numbers of ada-POMRL, or on the loss of what the difference is about."""
    where = dict(of.where)
    if of.concerns({"estimator": "ada_pomrl", "gamma_schedule": "grid"}):
        yield LOSS, difference(before.ada_pomrl.tasks(LAST), after.ada_pomrl.tasks(LAST), paired=True)
        yield GAIN, difference(before.gain("ada_pomrl"), after.gain("ada_pomrl"), paired=True)
        yield GAMMA_STAR, _percentile(after.gamma_star - before.gamma_star)
        return
    schedules, estimators = where.get("gamma_schedule", ("fixed",)), where.get("estimator", ("ada_pomrl",))
    for key in ((estimator, schedule) for estimator in estimators for schedule in schedules):
        name = key[0] if key[1] == "fixed" else key[1]
        yield f"loss of {name}", difference(before.losses[key].regret, after.losses[key].regret, paired=True)


@dataclass(frozen=True)
class Check:
    """A number on a rung of the ladder, and what the paper says of it."""

    name: str
    value: Callable[[LedgerResults], Interval]
    above: float | None
    """The paper says that the number is above this; None where it says nothing."""


def _mean(values: Float[np.ndarray, " n"]) -> Interval:
    return difference(np.zeros_like(values), values, paired=True)


def _share(results: LedgerResults) -> Interval:
    """Return the share of ada-POMRL's gain over no meta-learning that shrinking to the uniform model has."""
    gains = np.stack([results.gain("uniform_prior"), results.gain("ada_pomrl")], axis=1)
    ours = _with_resamples(gains)
    return _percentile(ours[:, 0] / ours[:, 1])


def _not_behind(results: LedgerResults) -> Interval:
    """Return 1.1 times the oracle's loss in the last tasks less that of ada-POMRL."""
    return _mean(1.1 * results.at_gamma_eval("oracle").tasks(LAST) - results.ada_pomrl.tasks(LAST))


CHECKS = (
    Check("ada-POMRL's loss, tasks 11 to 15", lambda of: _mean(of.ada_pomrl.tasks(LAST)), None),
    Check("fall from task 1 to task 15", lambda of: _mean(of.ada_pomrl.task(1) - of.ada_pomrl.task(15)), 0.0),
    Check("gain over no meta-learning, tasks 11 to 15", lambda of: _mean(of.gain("ada_pomrl")), 0.0),
    Check("share of it from the uniform model", _share, None),
    Check("1.1 oracle less ada-POMRL, tasks 11 to 15", _not_behind, 0.0),
    Check("γ*, tasks 11 to 15", lambda of: _percentile(of.gamma_star), 0.7),
)
"""What is compared on each rung: results that claims of the paper are about (Q1.1, Q1.4, Q3.4, Q2.2)."""


def ladder(page: Page, runs: int | None = None) -> pd.DataFrame:
    """Return the numbers as repaired, and of that with the first change, the first two, and so on.

    Returns:
        The columns rung, number, estimate, lower, upper and above; rungs that change nothing are left out.
    """
    every, checks = choices(), []
    before: list[str] = []
    for length in range(len(every) + 1):
        made = keep_allowed(every[:length])
        of_grid = {name: setting for name, setting in settings_with(page, made).items() if name != "schedules"}
        if _signatures(of_grid) == before:
            continue
        before = _signatures(of_grid)
        rung = made[-1].name if made else "repaired"
        results = load(of_grid, runs)
        checks += [
            {"rung": rung, "number": check.name, **asdict(check.value(results)), "above": check.above}
            for check in CHECKS
        ]
    return pd.DataFrame(checks)
