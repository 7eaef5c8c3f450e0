"""Estimate effects of the differences between the paper's text and the authors' notebook."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.figures import Page
from pomrl.study import Interval, Result, Setting, bootstrap_means, difference, minimising, percentile, signature
from pomrl_studies.pomrl2023.choices import Choice, choices, combine, keep_allowed, without
from pomrl_studies.pomrl2023.tasks_and_gains import LAST_TASKS

FAMILY = "ledger"
"""The name of the family of variants with these differences."""

LOSS, GAIN, GAMMA_STAR = "loss", "gain over without", "γ*"
"""The numbers of ada-POMRL in the last tasks: loss and gain at gamma_eval, and the gamma with the smallest mean loss.

The gain is the loss without meta-learning less the loss of ada-POMRL.
"""


def settings_with(page: Page, selection: Sequence[Choice]) -> Mapping[str, Sequence[Setting]]:
    """Return the experiments of each sweep under these choices."""
    name, study = combine(selection).name, page.study
    (match,) = (variant for variant in study.family(FAMILY).variants if variant.name == name)
    return {sweep: study.settings(sweep, match) for sweep in match.sweeps or ()}


@dataclass(frozen=True)
class NotebookResults:
    """The losses of all experiments of one variant."""

    losses: Mapping[tuple[str, str], Result]
    """The losses by estimator and gamma schedule: `grid`, `fixed` (gamma_eval), `dong` or `upper_bound`."""

    @property
    def ada_pomrl(self) -> Result:
        """The losses of ada-POMRL on the grid of gamma."""
        return self.losses["ada_pomrl", "grid"]

    def at_gamma_eval(self, estimator: str) -> Result:
        """Return an estimator's losses; gamma_eval is the last gamma."""
        return self.ada_pomrl if estimator == "ada_pomrl" else self.losses[estimator, "fixed"]

    def gain(self, estimator: str) -> Float[np.ndarray, " n"]:
        """Return the gain over no meta-learning in the last tasks, by run."""
        return self.at_gamma_eval("without_meta").tasks(LAST_TASKS) - self.at_gamma_eval(estimator).tasks(LAST_TASKS)

    @property
    def gamma_star(self) -> Float[np.ndarray, " B"]:
        """The gamma* of ada-POMRL in the last tasks, followed by bootstrap resamples of it."""
        return minimising(self.ada_pomrl.gammas, _with_resamples(self.last_curve))

    @property
    def last_curve(self) -> Float[np.ndarray, "n G"]:
        """The loss of ada-POMRL averaged over the last tasks."""
        return self.ada_pomrl.loss[:, [t - 1 for t in LAST_TASKS]].mean(1)


def _with_resamples(sample: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "B ..."]:
    """Return the mean over runs, followed by means of paired resamples."""
    return np.concatenate([sample.mean(0)[None], bootstrap_means(sample)])


def _percentile(values: Float[np.ndarray, " B"]) -> Interval:
    return percentile(values[0], values[1:])


def load(settings: Mapping[str, Sequence[Setting]], runs: int | None = None) -> NotebookResults:
    """Load the stored losses of one variant.

    Raises:
        StoreError: An experiment is not stored, or has too few runs.
    """
    losses = {}
    for setting in (setting for sweep_settings in settings.values() for setting in sweep_settings):
        options, requested = setting.experiment.options, setting.experiment.request.runs
        experiment_losses = Result.of_experiment(setting.experiment, runs or requested)
        losses[options["estimator"], options["gamma_schedule"]] = experiment_losses
    return NotebookResults(losses)


def effects(page: Page, runs: int | None = None) -> pd.DataFrame:
    """Estimate the effect of each difference with a choice.

    Each is added to the repaired text, and to all other differences. Effects are left out where no experiment changes.
    """
    all_choices = choices()
    rows = []
    for choice in all_choices:
        bases = {"repaired": ((), (choice,)), "computed": (without(all_choices, choice), all_choices)}
        for base, selections in bases.items():
            before, after = (settings_with(page, selection) for selection in selections)
            if _signatures(before) != _signatures(after):
                numbers = _effects(choice, load(before, runs), load(after, runs))
                base_columns = {"difference": choice.name, "place": base}
                rows += [{**base_columns, "number": number, **asdict(interval)} for number, interval in numbers]
    return pd.DataFrame(rows, columns=["difference", "number", "place", "estimate", "lower", "upper"])


def _signatures(settings: Mapping[str, Sequence[Setting]]) -> list[str]:
    return [signature(setting.experiment) for sweep_settings in settings.values() for setting in sweep_settings]


def _effects(choice: Choice, before: NotebookResults, after: NotebookResults) -> Iterator[tuple[str, Interval]]:
    """Yield effects on ada-POMRL, or on other methods if only they change."""
    where = dict(choice.where)
    if choice.concerns({"estimator": "ada_pomrl", "gamma_schedule": "grid"}):
        yield LOSS, difference(before.ada_pomrl.tasks(LAST_TASKS), after.ada_pomrl.tasks(LAST_TASKS), paired=True)
        yield GAIN, difference(before.gain("ada_pomrl"), after.gain("ada_pomrl"), paired=True)
        yield GAMMA_STAR, _percentile(after.gamma_star - before.gamma_star)
        return
    schedules, estimators = where.get("gamma_schedule", ("fixed",)), where.get("estimator", ("ada_pomrl",))
    for key in ((estimator, schedule) for estimator in estimators for schedule in schedules):
        name = key[0] if key[1] == "fixed" else key[1]
        yield f"loss of {name}", difference(before.losses[key].regret, after.losses[key].regret, paired=True)


@dataclass(frozen=True)
class Check:
    """A number computed on each rung of the `ladder`, with its claimed limit."""

    name: str
    value: Callable[[NotebookResults], Interval]
    above: float | None
    """The lower limit that the paper claims; None without one."""


def _mean(values: Float[np.ndarray, " n"]) -> Interval:
    return difference(np.zeros_like(values), values, paired=True)


def _share(results: NotebookResults) -> Interval:
    gains = np.stack([results.gain("uniform_prior"), results.gain("ada_pomrl")], axis=1)
    resampled = _with_resamples(gains)
    return _percentile(resampled[:, 0] / resampled[:, 1])


def _margin_to_oracle(results: NotebookResults) -> Interval:
    return _mean(1.1 * results.at_gamma_eval("oracle").tasks(LAST_TASKS) - results.ada_pomrl.tasks(LAST_TASKS))


CHECKS = (
    Check("ada-POMRL's loss, tasks 11 to 15", lambda results: _mean(results.ada_pomrl.tasks(LAST_TASKS)), None),
    Check(
        "fall from task 1 to task 15",
        lambda results: _mean(results.ada_pomrl.task(1) - results.ada_pomrl.task(15)),
        0.0,
    ),
    Check("gain over no meta-learning, tasks 11 to 15", lambda results: _mean(results.gain("ada_pomrl")), 0.0),
    Check("share of it from the uniform model", _share, None),
    Check("1.1 oracle less ada-POMRL, tasks 11 to 15", _margin_to_oracle, 0.0),
    Check("γ*, tasks 11 to 15", lambda results: _percentile(results.gamma_star), 0.7),
)
"""The numbers computed on each rung; the claims Q1.1, Q1.4, Q2.2 and Q3.4 are about them."""


def ladder(page: Page, runs: int | None = None) -> pd.DataFrame:
    """Compute `CHECKS` with the first 0, 1, 2, ... differences applied.

    Each number of differences is a rung. Rungs that change no experiment are left out.
    """
    all_choices, checks = choices(), []
    before: list[str] = []
    for length in range(len(all_choices) + 1):
        kept_choices = keep_allowed(all_choices[:length])
        grid_settings = {
            name: setting for name, setting in settings_with(page, kept_choices).items() if name != "schedules"
        }
        if _signatures(grid_settings) == before:
            continue
        before = _signatures(grid_settings)
        rung = kept_choices[-1].name if kept_choices else "repaired"
        results = load(grid_settings, runs)
        checks += [
            {"rung": rung, "number": check.name, **asdict(check.value(results)), "above": check.above}
            for check in CHECKS
        ]
    return pd.DataFrame(checks)
