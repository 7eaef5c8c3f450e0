"""Claims under every reading of the paper's text: outputs/readings.csv, a figure, and tables in the terminal."""

from collections.abc import Sequence

import pandas as pd

from pomrl.claims import deciding, robustness
from pomrl.claims.deciding import Spending
from pomrl.claims.loading import Basis, Reader
from pomrl.claims.verdict import LOOKS, Verdict
from pomrl.commands.deciding import decided
from pomrl.commands.result_files import write_table
from pomrl.commands.tables import print_table
from pomrl.commands.terminal import exit_with
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED
from pomrl.outputs import outputs
from pomrl.store.provenance import commit


def check_readings(budget: float | None = None) -> None:
    """Judge the claims under every reading: outputs/readings.csv, a figure, and tables in the terminal.

    Args:
        budget: What the runs may cost that are added, in estimated seconds of one core; None to add none.
    """
    readings = studies.readings(PUBLISHED)
    bases = [Basis.of_reading(reading, settings) for reading, settings in readings.items()]
    if budget is None and not any(basis.stored(claim) for basis in bases for claim in basis.claims):
        exit_with("readings are not stored; to compute them: python -m src.run experiment=readings")
    for basis in bases:
        basis.refuse_damage()
    reader = Reader()
    cases = deciding.stored_outcomes(bases, reader) if budget is None else decided(bases, reader, Spending(budget))
    matrix = robustness.matrix(cases)
    write_table(matrix, outputs() / "readings.csv")
    from pomrl.figures import readings as readings_figure  # here, because the other verdicts need no figures
    from pomrl.figures.parts.files import Sidecar, save

    save(readings_figure.draw(matrix), outputs() / "figures", "readings", Sidecar("readings", **commit()))
    _show_readings(matrix, [reading.name for reading in readings if len(reading.choices) == 1])


def _show_readings(matrix: pd.DataFrame, single: Sequence[str]) -> None:
    """Print the matrix of claims and readings; `single` names the readings that consist of one choice."""
    ranking = robustness.ranking(matrix)
    numbered = ranking.rename_axis("number").rename(lambda index: index + 1).reset_index()
    print_table("readings, those that agree best with the paper first", numbered)
    _print_matrix(robustness.compact(matrix))
    best = ranking.iloc[0]
    claims = matrix["claim"].nunique()
    print(f"\n{best['reading']} agrees best: {best[Verdict.REPRODUCED]} of {claims} claims are reproduced under it\n")
    print_table("single choices that change a verdict", robustness.effects(matrix, single))
    print_table("under how many readings each claim has which verdict", robustness.over_readings(matrix))


def _print_matrix(compact: pd.DataFrame) -> None:
    """Print the verdicts on claims under numbered readings, in lines that are narrow enough for a terminal."""
    symbols = ", ".join(f"{LOOKS[verdict].symbol} {verdict}" for verdict in Verdict)
    print(f"\nclaims under readings, by number: {symbols}\n")
    numbers = [name if name == "claim" else f"{int(name) % 10}" for name in compact.columns]
    tens = ["" if name == "claim" else f"{int(name) // 10 or ' '}" for name in compact.columns]
    for head, *of_readings in [tens, numbers, *compact.itertuples(index=False)]:
        print(f"{head:6}{' '.join(map(str, of_readings))}")
