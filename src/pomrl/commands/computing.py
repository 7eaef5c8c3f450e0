"""The work of `pomrl run` after its command line has been composed: parse, check, compute, and report."""

import shlex
from collections.abc import Sequence

from hydra._internal.utils import get_args_parser

from pomrl import store
from pomrl.commands import tables
from pomrl.commands.progress import progress_of
from pomrl.commands.terminal import console, warn
from pomrl.configuration.composed import Composed, ConfigError, Sweep
from pomrl.configuration.jobs import MOST_JOBS
from pomrl.configuration.parsing import Experiment, parse
from pomrl.execution import ExecutionError
from pomrl.results.losses import Losses
from pomrl.running.plan import estimate, plan, refuse_what_takes_long
from pomrl.running.work import work
from pomrl.store import StoreError


def run(sweep: Sweep) -> bool:
    """Compute the experiments of a sweep, print the folder of each; return whether all of them succeeded.

    Raises:
        ConfigError: An experiment cannot be computed, or the sweep is too large.
    """
    experiments = [parse(composed) for composed in sweep.jobs]
    if len(experiments) < sweep.count:
        return _estimate_from_first(experiments[0], sweep.count)
    succeeded = compute(experiments)
    if len(experiments) > 1 and succeeded and not experiments[0].request.dry_run:
        _offer(experiments)
    for experiment in experiments:
        print(store.lookup(experiment).folder)
    return succeeded


def _refuse_what_is_ignored(experiments: Sequence[Experiment]) -> None:
    """Refuse a sweep over settings that hold for all of its experiments together.

    Raises:
        ConfigError: The experiments have different executions, or differ in force, dry_run or yes.
    """
    if any(each.execution != experiments[0].execution for each in experiments):
        raise ConfigError("execution: a sweep is computed with one execution; give it one value")
    for key in ("force", "dry_run", "yes"):
        if len({getattr(each.request, key) for each in experiments}) > 1:
            raise ConfigError(f"{key}: it holds for a sweep as a whole; give it one value")


def _offer(experiments: Sequence[Experiment]) -> None:
    """Print the commands that plot and tabulate a sweep that is stored: with its tag, or with the words of this one."""
    arguments, tag = get_args_parser().parse_args(), experiments[0].request.tag
    settings = [word for word in arguments.overrides if not word.startswith(("+tag=", "+note=", "hydra"))]
    own = ["--config-dir", arguments.config_dir] if arguments.config_dir else []
    metrics = [each.options["metric"] for each in experiments if each.method.is_measured]
    shown = [*([f"tag={tag}"] if tag is not None else [*settings, *own]), *(["--y", metrics[0]] if metrics else [])]
    warn(f"to plot it: pomrl plot {shlex.join(shown)}")
    warn(f"as a table: pomrl table {shlex.join(shown)}")


def objective(composed: Composed) -> float:
    """Compute an experiment that a sweeper asks for, print its folder, and return what the sweeper may minimise.

    This is the mean over runs and tasks of the planning loss: at gamma_eval, or at the discount factors that a schedule
    chose.

    Raises:
        ConfigError: The experiment cannot be computed, or failed.
    """
    experiment = parse(composed)
    try:
        if not compute([experiment]):
            raise ConfigError("the experiment failed, so that the sweeper gets no objective")
        print(store.lookup(experiment).folder)
        return float(Losses.of_experiment(experiment, experiment.request.runs).regret.mean())
    except (StoreError, ExecutionError) as error:
        raise ConfigError(str(error)) from error


def _estimate_from_first(first: Experiment, count: int) -> bool:
    """Refuse a sweep of which the first job alone was composed; where a dry run is asked for, print an estimate."""
    of_sweep = estimate(plan([first]), count)
    if not first.request.dry_run:
        raise ConfigError(f"{of_sweep}; more than {MOST_JOBS:,} jobs are computed with yes=true")
    console(stderr=True).print(f"estimated from the first job: {of_sweep}", soft_wrap=True)
    return True


def compute(experiments: Sequence[Experiment]) -> bool:
    """Compute the runs that are not stored yet, and report on standard error; return whether nothing failed."""
    terminal = console(stderr=True)
    _refuse_what_is_ignored(experiments)
    jobs = plan(experiments)
    request, wanted = experiments[0].request, estimate(jobs)
    for fault in dict.fromkeys(fault for job in jobs for fault in job.faults):
        warn(f"{fault}; it is computed again")
    if request.dry_run:
        if len(jobs) <= tables.MOST_ROWS:
            terminal.print(tables.plan(jobs))
        terminal.print(str(wanted), soft_wrap=True)
        return True
    if not request.yes:
        refuse_what_takes_long(wanted)
    if complete := sum(not job.missing for job in jobs):
        terminal.print(f"{complete} of {len(jobs)} stored already, not computed again (force=true would)")
    with progress_of(jobs) as advance:
        failures = work(jobs, advance)
    terminal.print(tables.results(jobs) if len(jobs) <= tables.MOST_ROWS else f"{len(jobs)} jobs are done")
    if failures:
        for line in "".join(dict.fromkeys(failure.traceback for failure in failures.values())).splitlines():
            warn(line)
        terminal.print(tables.failed(jobs, failures))
    return not failures
