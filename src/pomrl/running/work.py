"""Compute missing runs in parallel, and store complete blocks."""

# joblib has no type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import os
import platform
import shlex
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from joblib import delayed

from pomrl import store
from pomrl.configuration.parsing import Experiment, Request
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.execution import ExecutionError
from pomrl.execution.local import keep_freed_memory, one_thread
from pomrl.running.plan import Chunk, PlannedExperiment, divide, find_unfinished, is_foreign
from pomrl.science.drawn_tasks import STACK_BYTES
from pomrl.science.experiment import tables
from pomrl.science.problem import Method, Problem
from pomrl.store import StoredBlock, StoredExperiment, StoreError, block_files, files
from pomrl.store.block_files import encode
from pomrl.store.code_digest import code_digest
from pomrl.store.derived import Simulation
from pomrl.store.manifests import decisive_versions

MAX_BYTES = 256 * 2**20
"""The default memory of runs computed together, in bytes."""

ARRAYS_PER_TASK, ARRAYS_PER_METHOD = 4, 8
"""The approximate numbers of arrays of model size in a run: for its task, and for each method."""

MAX_ROUNDS = 10
"""The number of attempts if another process removes runs meanwhile."""

PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Failure:
    """The failure of a method in a chunk."""

    reason: str
    traceback: str
    where: str
    """The frames of the traceback outside of this package."""


Outcomes = Mapping[str, bytes | Failure]
"""The encoded table or failure of each method of a chunk, by signature."""


def work(jobs: Sequence[PlannedExperiment], advance: Callable[[int, int], None]) -> dict[str, Failure]:
    """Compute and store missing runs, with `execution` of the first experiment.

    A failed method does not end the others; its traceback is in its run.log. `advance` receives the numbers of computed
    runs and failed experiments. ExecutionError if the work cannot continue.

    Returns:
        The failures, by signatures.
    """
    if not jobs:
        return {}
    execution = jobs[0].experiment.execution
    requests: defaultdict[str, list[Request]] = defaultdict(list)
    for job in jobs:
        requests[job.stored.signature].append(job.experiment.request)
    failures: dict[str, Failure] = {}
    if unfinished := find_unfinished(jobs):
        files.check_writable(store.root())
    for _ in range(MAX_ROUNDS):
        blocks = _Blocks(unfinished, requests)
        if chunks := divide([*blocks.jobs.values()]):
            versions = Versions.current([job.experiment for job in jobs])
            calls = (
                delayed(simulate)(chunk, versions, execution.runs_at_a_time)
                for chunk in chunks
                if not chunk.methods.keys() <= blocks.refused
            )
            with execution.parallel(sum(chunk.max_seconds for chunk in chunks)) as parallel:
                for simulated in parallel(calls):
                    blocks.add(*simulated)
                    advance(blocks.done, len(blocks.failures))
        blocks.end()
        failures |= blocks.failures
        by_signature = {job.stored.signature: job for job in jobs}
        finished = [_finish(job, requests[name]) for name, job in by_signature.items() if name not in failures]
        if not (unfinished := [job for job in finished if job]):
            return failures
    folder = unfinished[0].stored.folder
    raise ExecutionError(
        f"{folder}: another process removed runs {MAX_ROUNDS} times while they were computed; stop that process"
    )


def simulate(
    chunk: Chunk, versions: "Versions", runs_at_a_time: int | None = None, *, is_new: bool = True
) -> tuple[range, range, Outcomes]:
    """Simulate a chunk; return its block, its runs and each method's outcome.

    By default `runs_at_a_time` follows from `MAX_BYTES`; it changes no result. If the runs are new, user-defined
    components show that they are reproducible. ExecutionError if this process has other versions.
    """
    import pandas as pd

    versions.check_worker()
    keep_freed_memory()
    methods, runs = list(chunk.methods.values()), chunk.runs
    size = runs_together(chunk.problem, methods, len(runs), runs_at_a_time)
    tables_by_method: list[list[pd.DataFrame]] = [[] for _ in methods]
    try:
        with one_thread():
            for i in range(0, len(runs), size):
                new_tables = tables(chunk.problem, methods, runs[i : i + size])
                for method_tables, table in zip(tables_by_method, new_tables, strict=True):
                    method_tables.append(table)
            whole = [pd.concat(method_tables, ignore_index=True) for method_tables in tables_by_method]
            if is_new and runs.stop == chunk.block.stop:  # one chunk of a block is enough
                _check_first_uses(chunk, whole)
        return (
            chunk.block,
            runs,
            {name: encode(table, name, runs) for name, table in zip(chunk.methods, whole, strict=True)},
        )
    except (Exception, SystemExit) as error:  # a user's component may even exit
        if len(methods) == 1:
            return chunk.block, runs, dict.fromkeys(chunk.methods, _failure(error))
        outcomes: dict[str, bytes | Failure] = {}
        for signature, method in chunk.methods.items():
            single = replace(chunk, methods={signature: method})
            outcomes |= simulate(single, versions, runs_at_a_time, is_new=is_new)[-1]
        return chunk.block, runs, outcomes


def _check_first_uses(chunk: Chunk, tables_by_method: Sequence[Any]) -> None:
    pairs = zip(chunk.methods.values(), tables_by_method, strict=True)
    if own := [(method, table) for method, table in pairs if is_foreign(chunk.problem, method)]:
        from pomrl.running import first_use  # here, because few experiments need it

        if chunk.block.start < store.BLOCK:
            first_use.check_alone(chunk.problem, own)
        first_use.check_in_new_process(chunk.problem, own)


def _failure(error: BaseException) -> Failure:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not Path(frame.filename).is_relative_to(PACKAGE)]
    where = "".join(traceback.format_list(own))
    return Failure(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)), where)


def runs_together(problem: Problem, methods: Sequence[Method], runs: int, limit: int | None) -> int:
    """Return the number of runs computed together: `limit`, or by memory."""
    if limit is not None:
        return min(limit, runs)
    size = MAX_BYTES // (problem.bytes_of_model * (ARRAYS_PER_TASK + ARRAYS_PER_METHOD * len(methods)))
    if problem.copies > 1:  # a single task can have many batches
        size = min(size, STACK_BYTES // (problem.bytes_of_model * problem.copies))
    return int(np.clip(size, 1, runs))


@dataclass(frozen=True)
class Versions:
    """The versions of packages and code, equal in all processes."""

    classes: tuple[str, ...]
    """The component classes covered by the code digest."""
    numbers: Mapping[str, str]

    @staticmethod
    def current(experiments: Sequence[Experiment]) -> "Versions":
        names = (component_classes(scientific_settings(experiment)) for experiment in experiments)
        classes = tuple(sorted({*chain.from_iterable(names)}))
        return Versions(classes, _versions(classes))

    def check_worker(self) -> None:
        versions = _versions(self.classes)
        if other := [name for name, number in self.numbers.items() if versions[name] != number]:
            numbers = ", ".join(f"{name} {self.numbers[name]}, got {versions[name]}" for name in other)
            raise ExecutionError(f"the worker on {platform.node()} must have the versions of the driver: {numbers}")


@cache
def _versions(classes: tuple[str, ...]) -> dict[str, str]:
    return decisive_versions() | {"pomrl": version("pomrl"), "pomrl (code)": code_digest(classes)[:12]}


class _Blocks:
    def __init__(self, unfinished: Sequence[PlannedExperiment], requests: Mapping[str, Sequence[Request]]) -> None:
        self.done = 0
        """The number of computed runs, summed over methods."""
        self.failures: dict[str, Failure] = {}
        self.jobs = {job.stored.signature: job for job in unfinished}
        """The unfinished experiments with the runs to compute, by signature."""
        self._requests = requests
        self._arrived: defaultdict[str, dict[range, dict[range, bytes]]] = defaultdict(dict)
        begun = [signature for signature, job in self.jobs.items() if job.stored.names()]
        for signature in begun:  # refuses other versions before anything is computed
            self.jobs[signature] = _begin(self.jobs[signature], requests[signature])
        self._new = self.jobs.keys() - begun
        self._first_blocks = {signature: job.missing[0] for signature, job in self.jobs.items() if _has_own_code(job)}
        """The first block to store of each experiment with user-defined components."""
        self.refused: set[str] = set()
        """The signatures of experiments whose first block of user-defined components failed."""

    def add(self, block: range, runs: range, outcomes: Outcomes) -> None:
        for signature, outcome in outcomes.items():
            stored = self.jobs[signature].stored
            if signature in self._new:
                self._new.remove(signature)
                _begin(self.jobs[signature], self._requests[signature])
            if isinstance(outcome, Failure):
                self.failures[signature] = outcome
                store.log(stored, outcome.traceback)
                self.refused |= {signature} if block == self._first_blocks.get(signature) else set()
            elif signature not in self.refused:
                self._arrived[signature].setdefault(block, {})[runs] = outcome
                self._store(signature)
        self.done += len(runs) * len(outcomes)

    def _store(self, signature: str) -> None:
        """Store complete blocks; those of user-defined components wait for the first one."""
        stored, arrived = self.jobs[signature].stored, self._arrived[signature]
        blocks = sorted((block for block in arrived if sum(map(len, arrived[block])) == len(block)), key=min)
        if signature in self._first_blocks and self._first_blocks[signature] not in blocks:
            return
        self._first_blocks.pop(signature, None)
        for block in blocks:
            is_stored = store.add_block(stored, block, arrived.pop(block))
            what = "stored" if is_stored else "not stored, because earlier runs were removed:"
            store.log(stored, f"{what} runs {block.start} to {block.stop - 1}")

    def end(self) -> None:
        for job in self.jobs.values():
            store.log(job.stored, "ended")


def _has_own_code(job: PlannedExperiment) -> bool:
    return bool(job.missing) and is_foreign(job.experiment.problem, job.experiment.method)


def _begin(job: PlannedExperiment, requests: Sequence[Request]) -> PlannedExperiment:
    """Write the description and labels, and repair files; return the experiment without proven runs."""
    is_reproduced = partial(is_recomputed, experiment=job.experiment)
    force = job.experiment.request.force
    stored = store.open_experiment(job.experiment, force=force, is_reproduced=is_reproduced)
    store.log(stored, shlex.join(sys.argv))
    if job.faults:
        store.repair(stored)
        runs = max((block.stop for block in job.missing), default=0)
        job = replace(job, missing=store.missing_runs(stored, runs))
    _label(job, requests)
    return job


def is_recomputed(stored: StoredExperiment, block: StoredBlock, experiment: Experiment) -> bool:
    """Return whether the present code reproduces the columns of a block, bit for bit.

    StoreError if the signature differs now, or the computation fails.
    """
    if store.signature(experiment) != stored.signature:
        raise StoreError("the signature differs under the present code")
    chunk = Chunk(experiment.problem, {stored.signature: experiment.method}, block.runs, block.runs)
    versions, size = Versions.current([experiment]), experiment.execution.runs_at_a_time
    _, _, outcomes = simulate(chunk, versions, size, is_new=False)
    outcome = outcomes[stored.signature]
    if isinstance(outcome, Failure):
        raise StoreError(outcome.reason)
    return block_files.is_same(stored.folder, block, outcome, stored.shape())


def _label(job: PlannedExperiment, requests: Sequence[Request]) -> None:
    for request in requests:
        store.label(job.stored, request.tag, request.note, looks=job.experiment.looks)


def _finish(job: PlannedExperiment, requests: Sequence[Request]) -> PlannedExperiment | None:
    """Mark an experiment as complete, or return it with missing runs."""
    stored, runs = job.stored, max(request.runs for request in requests)
    _label(job, requests)
    if stored.manifest() and not store.missing_runs(stored, runs) and os.access(stored.folder, os.W_OK):
        store.complete(stored)
    missing = store.missing_runs(stored, runs)  # again, because another process may have removed runs
    return replace(job, missing=missing, faults=[]) if missing or not stored.manifest() else None


def raise_failures(failures: Mapping[str, Failure]) -> None:
    """Raise an ExecutionError if any method has failed."""
    if failures:
        raise ExecutionError("; ".join(dict.fromkeys(failure.reason for failure in failures.values())))


def store_simulations(simulations: Iterable[Simulation], announce: Callable[[str], None]) -> None:
    """Compute and store missing or damaged simulations; announce each."""
    for simulation in simulations:
        if simulation.is_stored:
            continue
        announce(f"simulating {simulation.name.replace('_', ' ')}")
        with one_thread():
            simulation.save(simulation.function(**simulation.arguments))
