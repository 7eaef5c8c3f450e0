"""docs/stored_formats.md describes every column of the tables that are stored, and no other."""

import re

import numpy as np
import pytest
from tests.support.settings import ROOT
from tests.support.shipped import SIMULATIONS

from pomrl.configuration.studies import find
from pomrl.drawing.series import COLUMNS
from pomrl.judging.claim import JudgedClaim, claims_of
from pomrl.judging.judgements import judgement, to_frame
from pomrl.science.stored_columns import MEASURED, SCHEMA
from pomrl.store.derived import Simulation
from verdicts.estimates import mean
from verdicts.parts import Part

DOCUMENT = (ROOT / "docs" / "stored_formats.md").read_text()


def described(table: str) -> list[str]:
    """The columns of a table that the document describes, in its order."""
    lines = DOCUMENT.partition(f"<!-- columns of {table} -->")[2].strip().partition("\n\n")[0].splitlines()[2:]
    return [name for line in lines for name in re.findall(r"`(\w+)`", line.split(" | ")[0])]


def test_of_runs_are_those_of_the_code() -> None:
    assert described("runs") == [*SCHEMA, MEASURED]


@pytest.mark.slow
@pytest.mark.parametrize("simulation", SIMULATIONS.values(), ids=lambda simulation: simulation.name)
def test_of_simulations(simulation: Simulation) -> None:
    few = {"sequences": 20} if "sequences" in simulation.parameters else {}
    assert described(simulation.name) == [*simulation.function(**{**simulation.arguments, **few})]


def test_of_figures() -> None:
    assert described("figures") == COLUMNS


def test_of_judgements() -> None:
    claim = next(claim for claim in claims_of(find("pomrl2023")) if claim.is_judged)
    outcome = JudgedClaim(claim, 1000).judge([Part("a less b", mean(np.arange(1000.0)), below=0.0)])
    assert sorted(described("claims")) == sorted(to_frame([judgement("printed", outcome)]).columns)
