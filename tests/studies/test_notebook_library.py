"""The library's version of the notebook's experiment against losses with the notebook's own random numbers.

These tests compute a few runs. `python -m examples.notebook.library` compares 200.
"""

import numpy as np
import pandas as pd
import pytest
from examples.notebook.library import (
    EXPERIMENTS,
    KEY,
    LEAST_P,
    PATH,
    differences,
    legacy_losses,
    losses,
    means,
    p_values,
)

import pomrl

pytestmark = pytest.mark.slow

FEW = 6
"""Runs that the tests compute of each concentration."""


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The losses of the sweep with few runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(tmp_path_factory.mktemp("similarity")))
        return losses(pomrl.sweep(**EXPERIMENTS, runs=FEW))


@pytest.fixture(scope="module")
def published() -> pd.DataFrame:
    return pd.read_csv(PATH)


def test_their_distribution_is_of_the_notebook(few: pd.DataFrame) -> None:
    p = p_values(few, legacy_losses())
    assert min(p) * len(p) > LEAST_P
    assert min(p_values(few.assign(loss=2 * few["loss"]), legacy_losses())) * len(p) < LEAST_P


def test_the_published_table_agrees_with_streams(published: pd.DataFrame) -> None:
    actual = differences(published, means(legacy_losses()))
    assert len(actual) == 525
    assert actual["z"].abs().max() < 4


def test_the_published_table_can_be_recomputed(few: pd.DataFrame, published: pd.DataFrame) -> None:
    assert published["runs"].min() >= 200
    merged = means(few).merge(published, on=KEY, suffixes=("", "_of_file"))
    assert len(merged) == len(published) == 3 * 5 * 15 * 11
    spread = merged["se_of_file"] * np.sqrt(merged["runs_of_file"])
    z = (merged["mean"] - merged["mean_of_file"]) / (spread * np.sqrt(1 / FEW - 1 / merged["runs_of_file"]))
    # losses are skewed, and a mean of few of them is too
    assert z.abs().max() < 6
    assert z.pow(2).mean() < 2.5
