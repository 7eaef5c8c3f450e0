"""Variants of a family are judged beside those that `study.yaml` names, and never in their place."""

from pathlib import Path

import pytest
from tests.support.computed import call, claims
from tests.support.study_folders import CLAIM, SMALL, SWEEP, UNDRAWN, write

from pomrl.commands import reproduce
from pomrl.configuration.studies import find
from pomrl.judging import judgements
from pomrl.judging.study_verdicts import find_variants

VARIANTS = "variants: {default: {}, wide: {sigma: 0.02}}\n"

FAMILY = '''"""Two variants, one of which has the name of another one in study.yaml."""

from pomrl.study import family, of_keys


@family(sweeps=["first"])
def widths():
    """Yield variants under which the second claim cannot be judged, because they are for the first sweep alone."""
    yield of_keys("wide", {"sigma": 0.02})
    yield of_keys("wider", {"sigma": 0.03})
'''

SECOND = CLAIM.replace("K1", "K2").replace('"first"', '"second"').replace("meta_learning_helps", "it_helps_again")
"""The claim of the small study once more, about a second sweep."""


@pytest.fixture
def mine(cwd: Path) -> Path:
    two_claims = f"{CLAIM}\n\n{SECOND}".replace(', figures=("curves",)', "")
    files = {**UNDRAWN, "sweeps/second.yaml": SWEEP.format(seed=2), "claims.py": two_claims}
    return write(cwd / "mine", {**files, "study.yaml": SMALL["study.yaml"] + VARIANTS, "variants.py": FAMILY})


def judged_claims() -> dict[str, set[str]]:
    table = judgements.read(find("mine").outputs)
    return {variant: set(table.of(variant)) for variant in table.variants}


def test_variants_keep_judgements_of_their_namesakes(mine: Path) -> None:
    assert call(reproduce, "mine")[0] == 0
    assert judged_claims() == {"default": {"K1", "K2"}, "wide": {"K1", "K2"}}
    for command, names in ((reproduce, "widths"), (claims, "all"), (claims, "widths")):
        assert call(command, "mine", "--variants", names)[0] == 0
        assert judged_claims() == {"default": {"K1", "K2"}, "wide": {"K1", "K2"}, "wider": {"K1"}}


@pytest.mark.usefixtures("mine")
def test_study_yaml_names_come_first() -> None:
    study = find("mine")
    assert [variant.name for variant in find_variants(study, "all")] == ["default", "wide", "wider"]
    assert find_variants(study, "widths")[0] is study.variants[1]
