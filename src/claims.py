"""Check the claims of the paper on what is stored: python -m src.claims.

Prints a verdict for each claim, writes every comparison behind them to outputs/claims.csv, and the scorecard to
outputs/scorecard.md. All complete runs are used that the settings of a sweep have in common.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.table import Table

from pomrl import published, store, summary
from pomrl.claims import CLAIMS, UNCHECKED
from pomrl.claims.losses import Sweep
from pomrl.claims.report import Judged, estimate, judge, scorecard, table, threshold
from pomrl.claims.verdict import MOST_RUNS, Verdict

CONF = Path(__file__).parents[1] / "conf"

STYLES = {Verdict.REPRODUCED: "green", Verdict.NOT_REPRODUCED: "red", Verdict.INCONCLUSIVE: "yellow"}

LEGEND = (
    "verdict: with Holm's correction over all claims, and beneath it without where that differs; (s): readings were "
    "chosen after looking at what the claim is about; the estimate is that of the decisive comparison, with its 95 % "
    "interval; in pairs: over runs; all comparisons are in claims.csv"
)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m src.claims", description="Check the claims on stored runs.")
    parser.parse_args()
    try:
        sweeps = stored()
        if not sweeps:
            _exit("nothing is stored to check; ./reproduce.sh computes all of it")
        judged = judge(sweeps)
        write(judged, store.root().parent)
        show(judged, sweeps)
    except (store.StoreError, OSError) as error:
        _exit(" ".join(str(error).split()))


def stored() -> dict[str, Sweep]:
    """The sweeps that claims read, as far as they are stored, with the runs that all of their settings have."""
    sweeps = {}
    for name in dict.fromkeys(name for claim in CLAIMS for name in claim.experiments):
        settings = published.sweep(CONF, name)
        runs = min(store.run_of(setting.experiment).complete() for setting in settings)
        if runs:
            sweeps[name] = Sweep(published.tables(settings, runs).table)
    return sweeps


def show(judged: Sequence[Judged], sweeps: Mapping[str, Sweep]) -> None:
    """Print the verdicts, and what to run for those that are open or not computed."""
    console = Console(width=None if sys.stdout.isatty() else 80, highlight=False, markup=False)
    console.print(_verdicts(judged))
    for each in judged:
        if each.provisional or each.verdict is Verdict.INCONCLUSIVE:
            console.print(_advice(each))
    for lacking, ids in _not_computed(sweeps).items():
        console.print(f"not computed: {', '.join(ids)}{_commands(lacking)}")
    for id, reason in UNCHECKED.items():
        console.print(f"not computed: {id}, {reason}")


def _not_computed(sweeps: Mapping[str, Sweep]) -> dict[tuple[str, ...], list[str]]:
    """The claims that lack sweeps, by the sweeps they lack."""
    found: dict[tuple[str, ...], list[str]] = {}
    for claim in CLAIMS:
        if lacking := tuple(name for name in claim.experiments if name not in sweeps):
            found.setdefault(lacking, []).append(claim.id)
    return found


def _verdicts(judged: Sequence[Judged]) -> Table:
    shown = summary.plain_table("claims", "claim", "verdict", "estimate [95 %]", "of what")
    for each in judged:
        part, parts = each.evidence.decisive, len(each.evidence.parts)
        verdict = ("provisional: " if each.provisional else "") + each.verdict
        if each.evidence.verdict is not each.verdict:
            verdict += f"\n({each.evidence.verdict})"
        what = part.compared + (f" (1 of {parts})" if parts > 1 else "")
        name = " ".join([each.claim.id, each.claim.mark]).strip()
        numbers = f"{estimate(part)}\nclaimed {threshold(part)}"
        shown.add_row(name, verdict, numbers, what, style=STYLES[each.verdict])
    shown.caption = LEGEND
    return shown


def _advice(judged: Judged) -> str:
    if judged.provisional:
        return f"{judged.claim.id}: {judged.runs} of {judged.claim.runs} runs{_commands(judged.claim.experiments)}"
    runs = judged.runs_to_decide
    if runs is None:
        return f"{judged.claim.id}: more than {MOST_RUNS} runs would be needed to decide it"
    return f"{judged.claim.id}: about {runs} runs would decide it{_commands(judged.claim.experiments, runs)}"


def _commands(experiments: Sequence[str], runs: int | None = None) -> str:
    more = f" runs={runs}" if runs else ""
    return "".join(f"\n    python -m src.run experiment={name}{more}" for name in experiments)


def write(judged: Sequence[Judged], folder: Path) -> None:
    """Every comparison as a table, and the scorecard."""
    table(judged).to_csv(folder / "claims.csv", index=False, float_format="%.6g", lineterminator="\n")
    (folder / "scorecard.md").write_text(scorecard(judged))


def _exit(line: str) -> NoReturn:
    print(line, file=sys.stderr)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
