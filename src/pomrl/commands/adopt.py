"""Carry results of earlier code over to the present code: pomrl adopt [KEY=VALUE ...] [--code LABEL] [--blocks N].

An edit that changes no number, such as a new name of a function, has another digest all the same. Of each experiment
some random blocks are recomputed by the present code; where all have the same bytes, the others are carried over, and
marked as `carried over, n of N blocks recomputed` wherever they are shown. `pomrl audit` recomputes more of them.
"""

from pomrl.commands.arguments import Parser, add_asked, add_code, asked
from pomrl.commands.errors import one_line_errors
from pomrl.commands.repairing import from_settings
from pomrl.commands.terminal import exit_with, one_line, print_rows, warn
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.wording import number_of
from pomrl.execution.parallel import one_by_one
from pomrl.results.chosen_runs import PREVIOUS, choose
from pomrl.running.adopting import carry_over, lacking, sampled
from pomrl.store import StoredExperiment, StoreError, lookup


@one_line_errors()
def main() -> None:
    """Run the command; the exit status is 1 where something that was meant cannot be carried over."""
    parser = Parser(prog="pomrl adopt", description="Carry results of earlier code over to the present code.")
    add_asked(parser)
    add_code(parser)
    parser.set_defaults(code=PREVIOUS)
    parser.add_argument("--blocks", type=int, default=1, metavar="N", help="how many of each to recompute (default 1)")
    arguments = parser.parse_intermixed_args()
    if arguments.blocks < 1:
        exit_with("--blocks has to be at least 1", 2)
    chosen = choose(asked(arguments))
    wanted: list[tuple[StoredExperiment, Experiment]] = []
    refused = 0
    for old, experiment in zip(chosen.stored, chosen.experiments, strict=True):
        try:
            wanted.append((old, experiment or from_settings(old)))
        except (StoreError, ConfigError) as error:
            refused += 1
            warn(f"{old.signature}: {one_line(error)}; name its settings instead of a tag")
    raise SystemExit(1 if _adopt(wanted, arguments.blocks) or refused else 0)


def _adopt(wanted: list[tuple[StoredExperiment, Experiment]], number: int) -> int:
    """Carry over what the present code lacks and computes alike; return how many experiments it computes otherwise."""
    wanted = [(old, experiment) for old, experiment in wanted if lacking(old, experiment)]
    warn(f"recomputing {number_of(number, 'block')} of each of {number_of(len(wanted), 'experiment')}")
    rows, failed = list[list[str]](), 0
    olds, experiments = [old for old, _ in wanted], [experiment for _, experiment in wanted]
    samples = one_by_one(sampled, olds, experiments, [number] * len(wanted))
    for (old, experiment), sample in zip(wanted, samples, strict=True):
        if sample.failure:
            failed += 1
            warn(f"{old.signature}: not carried over; {sample.failure}")
            continue
        carry_over(old, experiment, sample.recomputed)
        new = lookup(experiment)
        rows.append([old.signature, old.code(), new.signature, str(new.complete()), new.origin()])
    if rows:
        print_rows(["from", "code", "to", "runs", "origin"], rows)
    return failed
