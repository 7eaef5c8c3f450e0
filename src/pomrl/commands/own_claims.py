"""Claims of a user's own in the terminal, as `python -m src.claims MODULE` judges them on what is stored."""

from pomrl.claims import beyond, deciding, own
from pomrl.claims.loading import Basis, Reader
from pomrl.claims.verdict import Verdict
from pomrl.commands import ours
from pomrl.commands.result_files import write_table
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration import studies
from pomrl.configuration.sources import Sources
from pomrl.outputs import outputs


def check_own(sources: Sources, module: str) -> None:
    """Judge the claims of a module on the stored sweeps: outputs/own_claims/MODULE.csv, and a table in the terminal.

    A claim whose function raises an error or returns no parts is named in a line and left out; the exit status is 1.

    Args:
        sources: Where the configurations of the sweeps come from.
        module: The dotted name of the module.

    Raises:
        ConfigError: The module or one of its sweeps is not found or is wrong.
    """
    found, reader = own.claims_of(module), Reader()
    settings = own.settings_of(sources, module, found)
    faults = {each.id: line for each in found if (line := own.fault(module, each, settings, reader))}
    for line in faults.values():
        warn(line)
    claims = [each for each in found if each.id not in faults]
    judged, others = ([each for each in claims if each.is_judged is wanted] for wanted in (True, False))
    bases = [Basis(module, settings, analyses=(), of_ones_own=each) for each in (judged, others) if each]
    remedy = " && ".join(studies.command(sources, name) for name in settings)
    if not claims:
        raise SystemExit(1)
    if not any(basis.stored(each) for basis in bases for each in basis.claims):
        exit_with(f"nothing is stored that {module} is about; to compute it: {remedy}")
    cases = deciding.stored_outcomes(bases[:1], reader) if judged else []
    estimates = beyond.estimates(bases[-1], reader) if others else {}
    write_table(beyond.table(cases, estimates), outputs() / own.FOLDER / f"{module}.csv")
    ours.show(cases, f"claims of {module}", f"{module}.csv", remedy)
    if any(case.outcome.verdict is Verdict.UNDECIDED for case in cases):
        print("undecided: with more runs (the key runs of the sweep) the interval is smaller, and may decide")
    if faults:
        raise SystemExit(1)
