from collections.abc import Callable

import pytest
from tests.support.worlds import BY_ID, PAPER, World, as_in_the_paper, simulated

from pomrl.configuration.sweeps import Setting
from pomrl.results.sweep_results import SweepResults

Settings = dict[str, list[Setting]]
InWorld = Callable[..., dict[str, SweepResults]]


@pytest.fixture(scope="session")
def settings() -> Settings:
    """The settings of every sweep that claims are about."""
    names = dict.fromkeys(name for claim in BY_ID.values() for name in claim.sweeps)
    return {name: PAPER.settings(name) for name in names}


@pytest.fixture(scope="session")
def in_world(settings: Settings) -> InWorld:
    """The losses of the sweeps that a claim is about in a world, by their names."""

    def losses(world: World, id: str, **options: int) -> dict[str, SweepResults]:
        return {name: simulated(world, name, settings[name], **options) for name in BY_ID[id].sweeps}

    return losses


@pytest.fixture(scope="session")
def paper(settings: Settings) -> dict[str, SweepResults]:
    """The losses of every sweep in the world in which all claims hold."""
    return {name: simulated(as_in_the_paper, name, sweep_settings) for name, sweep_settings in settings.items()}
