"""The command `verdicts`: judge, check, plan and lock claims.

Exit status: 0 if all claims hold, 1 if one does not or has changed, 2 if claims or table cannot be read.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd

from verdicts.estimates import ERROR
from verdicts.judging import failing, judge
from verdicts.locking import lock_claims
from verdicts.output import FORMATS, to_text
from verdicts.parts import INTEREST_SHARE, Verdict
from verdicts.planning import plan
from verdicts.tables import TableError

ROLES = {
    "value": "column of numbers",
    "method": "column of methods",
    "unit": "column of independent units; run for a claim about these very problems",
    "problem": "column of problems",
}
"""The options for the roles of columns."""

FAILED, UNREADABLE = 1, 2
"""Exit statuses."""

CLOSED = 141
"""The exit status if the reader of the output has gone."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # as in `verdicts judge ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except (ValueError, OSError, ImportError) as error:
        print(f"verdicts: {' '.join(str(error).split())}", file=sys.stderr)
        return UNREADABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="verdicts", description="Judge claims about a table of results.")
    commands = parser.add_subparsers(required=True, metavar="judge|check|plan|lock")
    judging = _add(commands, "judge", _judge, "judge claims and print all verdicts")
    judging.add_argument("--format", choices=FORMATS, default="text")
    judging.add_argument("--plot", type=Path, metavar="FILE", help="write a forest plot (needs matplotlib)")
    judging.add_argument("--against", type=Path, metavar="CSV", help="earlier verdicts; status 1 only if one changed")
    checking = _add(commands, "check", _check, "judge claims and print those without an allowed verdict")
    for command in (judging, checking):
        command.add_argument("--interest", type=float, default=INTEREST_SHARE, help="smallest difference of interest")
        command.add_argument("--lock", type=Path, help="lock of the claims (default: beside them)")
        command.add_argument("--allow", action="append", default=[], choices=[*map(str, Verdict)], metavar="VERDICT")
    planning = _add(commands, "plan", _plan, "tell how many units would decide each claim")
    planning.add_argument("--power", type=float, default=0.8, help="probability to decide a claim")
    locking = commands.add_parser("lock", help="record claims before looking at results")
    locking.set_defaults(run=_lock)
    locking.add_argument("claims", type=Path)
    locking.add_argument("-n", "--n", type=int, help="planned number of units in each group")
    locking.add_argument("-o", "--output", type=Path, help="default: beside the claims, with suffix .lock")
    return parser


def _add(commands: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    """Add a command with claims, a table and roles of its columns."""
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(run=run)
    command.add_argument("claims", type=Path, help=".txt (one a line), .toml or .yaml")
    command.add_argument("results", type=Path, help=".csv, .tsv, .parquet, .json or .jsonl")
    command.add_argument("--error", type=float, default=ERROR, help="probability of any wrong verdict")
    for role, meaning in ROLES.items():
        command.add_argument(f"--{role}", default="", metavar="COLUMN", help=meaning)
    command.add_argument("--paired", action=argparse.BooleanOptionalAction, help="pair units with the same name")
    return command


def _judge(options: argparse.Namespace) -> int:
    result = _result(options)
    print(FORMATS[options.format](result))
    if options.plot:
        from verdicts.forest import forest

        forest(result, options.plot)
    return _compare(result, options.against) if options.against else int(len(failing(result, options.allow)) > 0)


def _check(options: argparse.Namespace) -> int:
    result = _result(options)
    failures = failing(result, options.allow)
    if failures.empty:
        print(f"All {len(result)} claims have an allowed verdict.")
        return 0
    print(to_text(failures))
    return FAILED


def _result(options: argparse.Namespace) -> pd.DataFrame:
    extras = {"interest": options.interest, "lock": options.lock}
    return judge(options.results, options.claims, options.error, **_roles(options), **extras)


def _roles(options: argparse.Namespace) -> dict[str, Any]:
    return {role: getattr(options, role) for role in (*ROLES, "paired")}


def _compare(result: pd.DataFrame, path: Path) -> int:
    """Print changed verdicts and return the status."""
    earlier = pd.read_csv(path)
    if not {"claim", "verdict"} <= {*earlier.columns}:
        raise TableError(f"{path} must be an output of --format csv, got columns {', '.join(earlier.columns)}")
    old, new = (dict(zip(frame["claim"], frame["verdict"], strict=True)) for frame in (earlier, result))
    changed = [claim for claim in old if new.get(claim) != old[claim]]
    for claim in changed:
        print(f"verdicts: {claim}: was {old[claim]!r}, is {new.get(claim, 'not judged')!r}", file=sys.stderr)
    return FAILED if changed else 0


def _plan(options: argparse.Namespace) -> int:
    table = plan(options.results, options.claims, options.error, power=options.power, **_roles(options))
    for name, claim, units, needed in zip(*(table[key] for key in ("id", "claim", "n", "needed")), strict=True):
        number = "unknown" if needed == inf else f"{needed:,.0f}"
        print(f"{name}: {claim}\n    needed: {number} units in each group; there are {units:,}")
    return 0


def _lock(options: argparse.Namespace) -> int:
    path = lock_claims(options.claims, options.output, options.n)
    print(f"Locked in {path}; judge the claims once.")
    return 0
