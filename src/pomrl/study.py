"""The face for authors of studies: claims, figures and variants, and what they are made of.

    from pomrl.study import claim, figure, less, PanelGrid

`docs/studies.md` introduces the names. Each is loaded when it is first used, so that claims need no matplotlib.
Components (estimators, schedules, task distributions, ...) have a face of their own, `pomrl.components`.
"""

# ruff: noqa: F401 (the statements below are what the face consists of)

from typing import TYPE_CHECKING, Any

from pomrl.configuration.importing import load_from, names_of

if TYPE_CHECKING:
    from pomrl.bounds import PRIORS as PRIORS
    from pomrl.bounds import REPAIRED as REPAIRED
    from pomrl.bounds import VERSIONS as VERSIONS
    from pomrl.bounds import average_regret_bound as average_regret_bound
    from pomrl.bounds import average_uncertainty as average_uncertainty
    from pomrl.bounds import model_error_bound as model_error_bound
    from pomrl.bounds import planning_loss_bound as planning_loss_bound
    from pomrl.bounds import regret_order as regret_order
    from pomrl.configuration.sources import PUBLISHED as PUBLISHED
    from pomrl.configuration.sweeps import Setting as Setting
    from pomrl.configuration.sweeps import experiment as experiment
    from pomrl.configuration.variants import Job as Job
    from pomrl.configuration.variants import Variant as Variant
    from pomrl.configuration.variants import family as family
    from pomrl.configuration.variants import of_keys as of_keys
    from pomrl.configuration.variants import variant as variant
    from pomrl.drawing import panels as panels
    from pomrl.drawing.drawing import COLUMNS as COLUMNS
    from pomrl.drawing.drawing import Drawing as Drawing
    from pomrl.drawing.drawing import Series as Series
    from pomrl.drawing.drawing import collect as collect
    from pomrl.drawing.figure import figure as figure
    from pomrl.drawing.losses import METHODS as METHODS
    from pomrl.drawing.losses import TASKS as TASKS
    from pomrl.drawing.losses import Panel as Panel
    from pomrl.drawing.losses import PanelGrid as PanelGrid
    from pomrl.drawing.losses import draw_row as draw_row
    from pomrl.drawing.losses import of_estimators as of_estimators
    from pomrl.drawing.losses import of_tasks as of_tasks
    from pomrl.drawing.losses import of_values as of_values
    from pomrl.drawing.losses import points as points_of_panels
    from pomrl.drawing.losses import series_of as series_of
    from pomrl.drawing.panels import AVERAGE_LOSS as AVERAGE_LOSS
    from pomrl.drawing.panels import RUNNING_AVERAGE as RUNNING_AVERAGE
    from pomrl.drawing.style import COLUMN_WIDTH as COLUMN_WIDTH
    from pomrl.drawing.style import TEXT_WIDTH as TEXT_WIDTH
    from pomrl.drawing.style import Look as Look
    from pomrl.drawing.style import context as context
    from pomrl.drawing.style import look as look
    from pomrl.drawing.style import sequence as sequence
    from pomrl.drawing.views import View as View
    from pomrl.drawing.views import at_gamma as at_gamma
    from pomrl.drawing.views import at_largest_gamma as at_largest_gamma
    from pomrl.drawing.views import best_fixed as best_fixed
    from pomrl.drawing.views import dynamic_best as dynamic_best
    from pomrl.drawing.views import everything as everything
    from pomrl.drawing.views import in_task as in_task
    from pomrl.drawing.views import running_average as running_average
    from pomrl.judging.claim import Revision as Revision
    from pomrl.judging.claim import claim as claim
    from pomrl.judging.comparisons import MARGIN as MARGIN
    from pomrl.judging.comparisons import PAIRED as PAIRED
    from pomrl.judging.comparisons import ROUNDING as ROUNDING
    from pomrl.judging.comparisons import below_zero as below_zero
    from pomrl.judging.comparisons import best_grows as best_grows
    from pomrl.judging.comparisons import best_is_between as best_is_between
    from pomrl.judging.comparisons import best_is_in as best_is_in
    from pomrl.judging.comparisons import closes_distance as closes_distance
    from pomrl.judging.comparisons import does_not_improve as does_not_improve
    from pomrl.judging.comparisons import in_more_than as in_more_than
    from pomrl.judging.comparisons import less as less
    from pomrl.judging.comparisons import less_in_shares as less_in_shares
    from pomrl.judging.comparisons import near as near
    from pomrl.judging.comparisons import no_better as no_better
    from pomrl.judging.comparisons import no_larger_minimum as no_larger_minimum
    from pomrl.judging.comparisons import no_smaller_minimum as no_smaller_minimum
    from pomrl.judging.comparisons import no_worse as no_worse
    from pomrl.judging.comparisons import on_a_par as on_a_par
    from pomrl.judging.comparisons import slope as slope
    from pomrl.judging.comparisons import smaller_best as smaller_best
    from pomrl.judging.comparisons import smaller_minimum as smaller_minimum
    from pomrl.judging.comparisons import under as under
    from pomrl.judging.extremes import largest as largest
    from pomrl.judging.extremes import minimum_difference as minimum_difference
    from pomrl.judging.extremes import minimum_ratio as minimum_ratio
    from pomrl.judging.extremes import ratio as ratio
    from pomrl.judging.inference import Estimate as Estimate
    from pomrl.judging.inference import Exact as Exact
    from pomrl.judging.inference import Student as Student
    from pomrl.judging.inference import mean as mean
    from pomrl.judging.inference import smooth as smooth
    from pomrl.judging.judgements import Judgement as Judgement
    from pomrl.judging.judgements import Judgements as Judgements
    from pomrl.judging.over_variants import Change as Change
    from pomrl.judging.over_variants import changes as changes
    from pomrl.judging.over_variants import over as over
    from pomrl.judging.over_variants import rank as rank
    from pomrl.judging.verdict import LOOKS as LOOKS
    from pomrl.judging.verdict import Part as Part
    from pomrl.judging.verdict import Verdict as Verdict
    from pomrl.pages import Page as Page
    from pomrl.results.bootstrap import bootstrap_means as bootstrap_means
    from pomrl.results.bootstrap import percentile as percentile
    from pomrl.results.intervals import Interval as Interval
    from pomrl.results.losses import Losses as Losses
    from pomrl.results.losses import LossPerRun as LossPerRun
    from pomrl.results.losses import SweepLosses as SweepLosses
    from pomrl.results.losses import at_best_fixed as at_best_fixed
    from pomrl.results.statistics import Kind as Kind
    from pomrl.results.statistics import band as band
    from pomrl.results.statistics import best_gamma as best_gamma
    from pomrl.results.statistics import best_gamma_band as best_gamma_band
    from pomrl.results.statistics import difference as difference
    from pomrl.results.stored_sweeps import StoredSweeps as StoredSweeps
    from pomrl.results.tables import markdown as markdown_table
    from pomrl.science.algorithm import pomrl as pomrl
    from pomrl.science.data import Batches as Batches
    from pomrl.science.estimators.pomrl import paper_mixing_rate as paper_mixing_rate
    from pomrl.science.experiment import tables as tables
    from pomrl.science.gamma_schedules import Fixed as Fixed
    from pomrl.science.gamma_schedules import Grid as Grid
    from pomrl.science.gamma_schedules import UpperBound as UpperBound
    from pomrl.science.gamma_star import minimising as minimising
    from pomrl.science.loss_tables import loss_array as loss_array
    from pomrl.science.planners import PolicyIteration as PolicyIteration
    from pomrl.science.problem import Method as Method
    from pomrl.science.problem import Problem as Problem
    from pomrl.science.tasks.random_chains import Dirichlet as Dirichlet
    from pomrl.science.tasks.random_chains import UniformBall as UniformBall
    from pomrl.science.upper_bound import regret_constant as regret_constant
    from pomrl.science.upper_bound import regret_upper_bound as regret_upper_bound
    from pomrl.science.upper_bound import upper_bound_gamma as upper_bound_gamma
    from pomrl.store import signature as signature
    from pomrl.store.simulations import Simulation as Simulation


def __getattr__(name: str) -> Any:
    return load_from(__name__, name)


def __dir__() -> list[str]:
    return sorted(names_of(__name__))
