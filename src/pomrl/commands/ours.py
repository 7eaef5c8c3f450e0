"""Claims of ours in the terminal: a row for each, as `python -m src.claims --ours` judges them on what is stored."""

from collections.abc import Sequence
from pathlib import Path

from pomrl.claims import OURS, REPORTED, beyond, deciding
from pomrl.claims.deciding import Case, Spending
from pomrl.claims.loading import Reader, Settings
from pomrl.claims.verdict import LOOKS, claimed_range
from pomrl.commands import tables
from pomrl.commands.deciding import decided
from pomrl.commands.result_files import write_table
from pomrl.commands.terminal import console, exit_with
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED
from pomrl.outputs import outputs
from pomrl.report.stored_tables import read_table
from pomrl.store import files

BUDGET = 1500.0
"""What the runs may cost that claims of ours take to be decided, in estimated seconds of one core."""


def check_ours(budget: float | None = None) -> None:
    """Judge claims of ours on the stored sweeps: outputs/claims_ours.csv, and a table in the terminal.

    Args:
        budget: What the runs may cost that are added, in estimated seconds of one core; None to add none.
    """
    settings, reader = _settings(), Reader()
    basis = beyond.basis(settings)
    if budget is None and not any(map(basis.stored, basis.claims)):
        exit_with("nothing is stored that claims of ours are about; to compute all of it: ./reproduce.sh beyond")
    basis.refuse_damage()
    cases = deciding.stored_outcomes([basis], reader) if budget is None else decided([basis], reader, Spending(budget))
    write_table(beyond.table(cases, beyond.reported(settings, reader)), outputs() / "claims_ours.csv")
    show(cases, "claims of ours, which go beyond the paper", "claims_ours.csv", "./reproduce.sh beyond")


def renew_document(path: Path) -> bool:
    """Write docs/ours.md, at this path, from claims_ours.csv in the folder of outputs; return whether there is one."""
    table = read_table(outputs() / "claims_ours.csv", "python -m src.claims --ours --decide")
    if table is None or table.empty:
        return False
    files.write(path, beyond.document(table).encode())
    return True


def _settings() -> Settings:
    names = dict.fromkeys(name for claim in (*OURS, *REPORTED) for name in claim.experiments)
    return {name: studies.sweep(PUBLISHED, name) for name in names}


def show(cases: Sequence[Case], title: str, file: str, remedy: str) -> None:
    """Print a row for each claim, and the command that computes what claims lack.

    Args:
        cases: The claims.
        title: The title of the table.
        file: The name of the file that has all comparisons.
        remedy: The command.
    """
    shown = tables.plain_table(title, "claim", "verdict", "estimate")
    lacking = []
    for outcome in (case.outcome for case in cases):
        sentence = f"{outcome.claim.id}: {outcome.claim.statement}"
        if not outcome.parts:
            lacking.append(outcome.claim.id)
            continue
        part = outcome.decisive.part
        number = f"{part.estimate.value:.3f}\n[{outcome.decisive.lower:.3f}, {outcome.decisive.upper:.3f}]"
        number += f"\nclaimed {claimed_range(part.above, part.below)}\n{part.estimate.runs} runs"
        shown.add_row(
            f"{sentence}\n{part.compared}", beyond.WORDS[outcome.verdict], number, style=LOOKS[outcome.verdict].style
        )
    shown.caption = f"estimate: of the decisive comparison; all comparisons are in {file}"
    terminal = console()
    terminal.print(shown)
    for outcome in (case.outcome for case in cases):
        if outcome.parts and outcome.reason:
            terminal.print(f"{outcome.claim.id} {outcome.reason}")
    if lacking:
        terminal.print(f"too few runs are stored for {', '.join(lacking)}; to compute them: {remedy}")
