"""The sweeps, figures and readings that the tested report is made of."""

from pathlib import Path

from pomrl.figures import FIGURES
from pomrl.store.derived import DerivedFiles

# The first has ada-POMRL's run under another name of an option, which the report must not take over.
SWEEPS = ["mixing_rates", "task_similarity", "gamma_schedules", "illustration"]
DRAWN = [name for name, figure in FIGURES.items() if set(figure.SWEEPS) <= set(SWEEPS)]

READINGS = """reading,claim,verdict,estimate
default,Q1.1,reproduced,-0.8
default,Q1.3,undecided,0.08
std,Q1.1,not reproduced,0.5
"""


def write_readings(folder: Path, text: str = READINGS) -> None:
    DerivedFiles(folder / "readings.json").write({"readings.csv": text.encode()}, {})
