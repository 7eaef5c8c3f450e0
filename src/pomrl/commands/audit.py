"""Recompute a random sample of what is stored: pomrl audit [KEY=VALUE ...] [--blocks N].

Digests show that files are as they were written, and not that the numbers in them are right. On another machine or with
other packages, rounding may break a tie otherwise, so that a block has other bytes.
"""

from secrets import SystemRandom

from pomrl.commands.arguments import Parser, add_asked, chosen
from pomrl.commands.terminal import exit_with, printable
from pomrl.configuration.composed import GROUPS, Composed, ConfigError
from pomrl.configuration.parsing import Experiment, parse
from pomrl.running.auditing import is_recomputed
from pomrl.store import StoredExperiment, StoreError

DEFAULTS = {
    "agent": {"_target_": "pomrl.science.agents.agent.CertaintyEquivalence"},
    "metric": {"_target_": "pomrl.science.metrics.metric.PlanningLoss"},
    "execution": {"_target_": "pomrl.execution.local.Local"},
    "runs": 1,
}
"""What settings leave out where it is not decisive."""


def main(parser: Parser) -> None:
    """Run the command; the exit status is 1 where numbers are not what the code gives, or cannot be recomputed."""
    add_asked(parser)
    parser.add_argument("--blocks", type=int, default=20, metavar="N", help="how many blocks; 20")
    arguments = parser.parse_intermixed_args()
    if arguments.blocks < 1:
        exit_with(f"--blocks {arguments.blocks}: it has to be at least 1", 2)
    everything = [(each, block) for each in chosen(arguments, value=None).stored for block in each.blocks()]
    drawn = SystemRandom().sample(everything, min(arguments.blocks, len(everything)))
    wrong = 0
    for stored, block in drawn:
        name = f"{stored.signature}/{block.name}"
        try:
            same = is_recomputed(stored, block, from_settings(stored))
            said = "" if same else "its numbers are not what the code gives"
        except (StoreError, ConfigError) as error:
            said = f"it cannot be recomputed ({error})"
        if said:
            print(printable(f"{name}: {said}"), flush=True)
            wrong += 1
    print(f"{len(drawn) - wrong:,} of {len(drawn):,} recomputed blocks have the same bytes")
    raise SystemExit(int(wrong > 0))


def from_settings(stored: StoredExperiment) -> Experiment:
    """Return the experiment that the stored settings describe.

    Raises:
        StoreError: The description of the experiment is missing or damaged.
        ConfigError: The settings are wrong, or a class is not of this package, so that it must not be imported.
    """
    said = stored.said()
    groups = [value for group, value in said.settings.items() if group in GROUPS and isinstance(value, dict)]
    if not all(str(value.get("_target_")).startswith("pomrl.") for value in groups):
        raise ConfigError("it has components of your own: the pomrl run or pomrl reproduce that made it does so")
    return parse(Composed({**DEFAULTS, **said.settings}, said.options))
