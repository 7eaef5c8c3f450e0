"""Computing what experiments lack: parts of blocks become tables, and blocks are stored as soon as they are whole.

What is computed together is a part: some runs of one problem by one or more methods, for which models, tasks and
batches are drawn once. It is a whole block of runs, or less where blocks are dear and fewer than the processes. The
files are the same either way.
"""

import os
import platform
import shlex
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.metadata import version
from itertools import pairwise
from math import ceil, inf
from pathlib import Path

import numpy as np
import pandas as pd

from pomrl import store
from pomrl.configuration.parsing import Experiment, Request
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.execution import ExecutionError
from pomrl.execution.parallel import one_thread
from pomrl.running import cost
from pomrl.running.plan import Job, find_unfinished
from pomrl.science.drawn_tasks import STACK_BYTES
from pomrl.science.experiment import tables
from pomrl.science.problem import Method, Problem, components
from pomrl.store import StoredBlock, StoredExperiment, StoreError, files
from pomrl.store.block_files import encode
from pomrl.store.code_digest import code_digest
from pomrl.store.provenance import decisive_versions

MEMORY = 256 * 2**20
"""Bytes that the runs which are computed together may take, unless a number of runs is given."""

OF_TASK, OF_METHOD = 4, 8
"""About how many arrays of the size of its model a task takes in each run, and each method beside it."""


@dataclass(frozen=True)
class Part:
    """Runs of one problem, and the methods that are applied to them. It may travel to another machine."""

    problem: Problem
    methods: Mapping[str, Method]
    """The methods, by the signatures of their experiments."""
    block: range
    """The runs that are stored together."""
    runs: range
    """Those of them that are computed together."""

    @cached_property
    def seconds(self) -> float:
        """An estimate of the time that one process needs; infinite for components of somebody's own."""
        if any(is_foreign(self.problem, method) for method in self.methods.values()):
            return inf
        return sum(cost.seconds(self.problem, method, len(self.runs)) for method in self.methods.values())


ROUNDS = 10
"""How often runs are computed again that another process removes meanwhile."""

PACKAGE = Path(__file__).parents[1]
"""The folder of this package."""


def is_foreign(problem: Problem, method: Method) -> bool:
    """Return whether a component of an experiment is not of this package."""
    parts = components(problem, method).values()
    return any(type(component).__module__.partition(".")[0] != "pomrl" for component in parts)


@dataclass(frozen=True)
class Failure:
    """Why a method has no table."""

    reason: str
    traceback: str
    where: str
    """The frames of the traceback that are not in this package; empty if there are none."""


Outcomes = Mapping[str, bytes | Failure]
"""The encoded table of each method of a part, or why it has none, by the signatures of the experiments."""


def work(jobs: Sequence[Job], advance: Callable[[int, int], None]) -> dict[str, Failure]:
    """Compute and store the runs that jobs lack, all with the execution of the first.

    A method that fails does not end the others: its traceback is in its run.log.

    Args:
        jobs: The jobs, as `plan` returns them.
        advance: Called after each part with the number of runs that are done, and how many experiments have failed.

    Returns:
        The failures, by the signature of their experiment.

    Raises:
        ExecutionError: If the work cannot go on.
    """
    requests: defaultdict[str, list[Request]] = defaultdict(list)
    for job in jobs:
        requests[job.stored.signature].append(job.experiment.request)
    failures: dict[str, Failure] = {}
    ahead = find_unfinished(jobs)
    if ahead:
        files.check_writable(store.root())
    for _ in range(ROUNDS):
        failures |= _compute_round(jobs, ahead, requests, advance)
        succeeded = {job.stored.signature: job for job in jobs if job.stored.signature not in failures}.values()
        if not (ahead := [again for job in succeeded if (again := _finish(job, requests[job.stored.signature]))]):
            return failures
    raise ExecutionError(f"{ahead[0].stored.folder}: its runs were removed again and again while they were computed")


def _compute_round(
    jobs: Sequence[Job],
    unfinished: Sequence[Job],
    requests: Mapping[str, Sequence[Request]],
    advance: Callable[[int, int], None],
) -> dict[str, Failure]:
    """Compute and store what jobs lack, with the execution of the first of all jobs; return the failures."""
    lacking = {job.stored.signature: job for job in unfinished}
    begun = [signature for signature, job in lacking.items() if job.stored.names()]
    for signature in begun:  # what other versions have computed is refused before anything is computed
        _begin(lacking[signature], requests[signature])
    new = lacking.keys() - begun
    failures: dict[str, Failure] = {}
    arrived: defaultdict[tuple[str, range], dict[range, bytes]] = defaultdict(dict)
    done = 0
    for part, outcomes in _compute_parts(jobs, divide(list(lacking.values()))):
        for signature, outcome in outcomes.items():
            stored, key = lacking[signature].stored, (signature, part.block)
            if signature in new:
                new.remove(signature)
                _begin(lacking[signature], requests[signature])
            if isinstance(outcome, Failure):
                failures[signature] = outcome
                store.log(stored, outcome.traceback)
                continue
            arrived[key][part.runs] = outcome
            if sum(map(len, arrived[key])) == len(part.block):
                is_stored = store.add_block(stored, part.block, arrived.pop(key))
                what = "stored" if is_stored else "not stored, because those before them were removed:"
                store.log(stored, f"{what} runs {part.block.start} to {part.block.stop - 1}")
        done += len(part.runs) * len(outcomes)
        advance(done, len(failures))
    for job in lacking.values():
        store.log(job.stored, "ended")
    return failures


def _begin(job: Job, requests: Sequence[Request]) -> None:
    """Write what an experiment is and what labels requests give it, and remove what is damaged."""
    force = job.experiment.request.force
    stored = store.open_experiment(job.experiment, force=force, gives_same_bytes=partial(_gives_same_bytes, job))
    store.log(stored, shlex.join(sys.argv))
    if job.faults:
        store.repair(stored)
    _label(job, requests)


def _gives_same_bytes(job: Job, stored: StoredExperiment) -> bool:
    """Return whether the shortest block of what is stored has the same bytes when it is computed again."""
    sound = [block for block in stored.blocks() if not stored.fault_of(block)]
    return not sound or is_recomputed(stored, min(sound, key=lambda block: len(block.runs)), job.experiment)


def is_recomputed(stored: StoredExperiment, block: StoredBlock, experiment: Experiment) -> bool:
    """Return whether the present code gives the file of a block again, to the byte.

    Raises:
        StoreError: The settings have another signature under the present code, or the computation failed.
    """
    if store.signature(experiment) != stored.signature:
        raise StoreError("its settings have another signature under the present code")
    part = Part(experiment.problem, {stored.signature: experiment.method}, block.runs, block.runs)
    with one_thread():
        outcome = compute_part(part, experiment.execution.runs_at_a_time)[stored.signature]
    if isinstance(outcome, Failure):
        raise StoreError(outcome.reason)
    return StoredBlock.of(block.runs, outcome) == block


def _label(job: Job, requests: Sequence[Request]) -> None:
    for request in requests:
        store.label(job.stored, request.tag, request.note, looks=job.experiment.looks)


def _finish(job: Job, requests: Sequence[Request]) -> Job | None:
    """Say that the runs of a job are complete; return a job of what it lacks where another process removed runs."""
    stored, runs = job.stored, max(request.runs for request in requests)
    _label(job, requests)
    if stored.manifest() and not store.lacking(stored, runs) and os.access(stored.folder, os.W_OK):
        store.complete(stored)
    missing = store.lacking(stored, runs)
    return replace(job, missing=missing, faults=[]) if missing or not stored.manifest() else None


def refuse_failures(failures: Mapping[str, Failure]) -> None:
    """Raise an ExecutionError if a method has failed."""
    if failures:
        raise ExecutionError("; ".join(dict.fromkeys(failure.reason for failure in failures.values())))


def divide(jobs: Sequence[Job]) -> list[Part]:
    """Divide what jobs lack into parts, the dearest first: the methods at one problem together, dear blocks for all."""
    methods: defaultdict[tuple[Problem, range], dict[str, Method]] = defaultdict(dict)
    for job in jobs:
        for block in job.missing:
            methods[job.experiment.problem, block][job.stored.signature] = job.experiment.method
    blocks = [Part(problem, of_block, block, block) for (problem, block), of_block in methods.items()]
    if not blocks:
        return []
    at_once = jobs[0].experiment.execution.at_once(sum(block.seconds for block in blocks))
    parts = [part for block in blocks for part in _divide(block, ceil(at_once / len(blocks)))]
    return sorted(parts, key=lambda part: part.seconds, reverse=True)


def _divide(block: Part, most: int) -> list[Part]:
    """Return a block in parts of about as many runs; each part takes a while."""
    number = max(1, int(min(most, block.seconds / cost.PART, len(block.runs))))
    edges = [len(block.runs) * i // number for i in range(number + 1)]
    return [replace(block, runs=block.runs[start:stop]) for start, stop in pairwise(edges)]


def _compute_parts(jobs: Sequence[Job], parts: Sequence[Part]) -> Iterator[tuple[Part, Outcomes]]:
    """Compute parts, and yield each with its outcomes as soon as they are there.

    Raises:
        ExecutionError: If the work cannot go on.
    """
    if not parts:
        return
    execution = jobs[0].experiment.execution
    classes = {name for job in jobs for name in component_classes(scientific_settings(job.experiment))}
    names = tuple(sorted(classes))
    function = SameVersions(versions(names), names, execution.runs_at_a_time)
    for index, outcomes in execution.map_unordered(function, parts, sum(part.seconds for part in parts)):
        yield parts[index], outcomes


@dataclass(frozen=True)
class SameVersions:
    """The function that an engine applies to parts; it refuses to compute with other versions than the driver has."""

    versions: Mapping[str, str]
    components: tuple[str, ...]
    runs_at_a_time: int | None

    def __call__(self, part: Part) -> Outcomes:
        here = versions(self.components)
        differing = [name for name, said in self.versions.items() if here[name] != said]
        if differing:
            said = ", ".join(f"{name} {here[name]} there and {self.versions[name]} here" for name in differing)
            raise ExecutionError(
                f"the worker on {platform.node()} has other versions: {said}; they have to be the same"
            )
        return compute_part(part, self.runs_at_a_time)


@cache
def versions(components: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of packages and code that have to be the same wherever parts of a sweep are computed."""
    return decisive_versions() | {"pomrl": version("pomrl"), "pomrl (code)": code_digest(components)[:12]}


def compute_part(part: Part, runs_at_a_time: int | None = None) -> dict[str, bytes | Failure]:
    """Compute the encoded table of each method of a part; if one fails, the others are not affected.

    Args:
        part: The runs and the methods.
        runs_at_a_time: How many runs are computed together; by default as many as fit into `MEMORY`. It changes no bit.
    """
    try:
        computed = zip(part.methods, _tables(part, runs_at_a_time), strict=True)
        return {signature: encode(table, signature, part.runs) for signature, table in computed}
    except (Exception, SystemExit) as error:  # a component of somebody's own may even exit
        if len(part.methods) == 1:
            frames = traceback.extract_tb(error.__traceback__)
            own = [frame for frame in frames if not Path(frame.filename).is_relative_to(PACKAGE)]
            where = "".join(traceback.format_list(own))
            failure = Failure(f"{type(error).__name__}: {error}", traceback.format_exc(), where)
            return dict.fromkeys(part.methods, failure)
        alone = (replace(part, methods={signature: method}) for signature, method in part.methods.items())
        return {name: outcome for method in alone for name, outcome in compute_part(method, runs_at_a_time).items()}


def _tables(part: Part, runs_at_a_time: int | None) -> "list[pd.DataFrame]":
    methods = list(part.methods.values())
    size = runs_together(part.problem, methods, len(part.runs), runs_at_a_time)
    computed = [tables(part.problem, methods, part.runs[i : i + size]) for i in range(0, len(part.runs), size)]
    return [pd.concat(of_method, ignore_index=True) for of_method in zip(*computed, strict=True)]


def runs_together(problem: Problem, methods: Sequence[Method], runs: int, asked: int | None) -> int:
    """Return how many of so many runs are computed together: those asked for, or as many as fit into `MEMORY`."""
    if asked is not None:
        return min(asked, runs)
    most = MEMORY // (problem.bytes_of_model * (OF_TASK + OF_METHOD * len(methods)))
    if problem.copies > 1:  # the batches of a single task can be many
        most = min(most, STACK_BYTES // (problem.bytes_of_model * problem.copies))
    return int(np.clip(most, 1, runs))
