"""Claims of a user's own in the terminal, as `python -m src.claims MODULE` judges them on what is stored."""

from pomrl.claims import beyond, deciding, own
from pomrl.claims.loading import Basis, Reader
from pomrl.commands import ours
from pomrl.commands.result_files import write_table
from pomrl.commands.terminal import exit_with
from pomrl.configuration import studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import Sources
from pomrl.outputs import outputs


def check_own(sources: Sources, module: str) -> None:
    """Judge the claims of a module on the stored sweeps: outputs/own_claims/MODULE.csv, and a table in the terminal.

    Args:
        sources: Where the configurations of the sweeps come from.
        module: The dotted name of the module.

    Raises:
        ConfigError: The module or one of its sweeps is not found or is wrong, or a claim reads a setting that its
            sweeps do not have.
    """
    claims = own.claims_of(module)
    names = dict.fromkeys(name for claim in claims for name in claim.experiments)
    settings = {name: studies.sweep(sources, name) for name in names}
    judged, others = ([each for each in claims if each.is_judged is wanted] for wanted in (True, False))
    bases = [Basis(module, settings, analyses=(), of_ones_own=each) for each in (judged, others) if each]
    missing = {each.id for each in claims} - {each.id for basis in bases for each in basis.claims}
    if missing:
        raise ConfigError(f"{module}: {', '.join(sorted(missing))} reads a setting that its sweeps do not have")
    remedy = " && ".join(studies.command(sources, name) for name in names)
    if not any(basis.stored(each) for basis in bases for each in basis.claims):
        exit_with(f"nothing is stored that {module} is about; to compute it: {remedy}")
    for basis in bases:
        basis.refuse_damage()
    reader = Reader()
    cases = deciding.stored_outcomes(bases[:1], reader) if judged else []
    estimates = beyond.estimates(bases[-1], reader) if others else {}
    write_table(beyond.table(cases, estimates), outputs() / own.FOLDER / f"{module}.csv")
    ours.show(cases, f"claims of {module}", f"{module}.csv", remedy)
