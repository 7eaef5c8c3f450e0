"""The tables of the page `notebook.md`: effects of differences from the paper's text."""

from itertools import product

import pandas as pd

from pomrl.figures import Page
from pomrl.study import Interval, markdown_table
from pomrl_studies.pomrl2023.ledger import GAIN, GAMMA_STAR, LOSS, effects, ladder

EFFECTS = ("trajectories", "fresh", "v2", "samples", "start_weight", "per_pair", "start_deviation")
"""The differences on the page: those that change the loss by at least 0.1."""

RUNGS = ("repaired", "trajectories", "v2", "samples", "start_deviation", "lag", "fresh", "grid")
"""The rungs of `ledger.ladder` on the page."""

HEADINGS = {
    "share of it from the uniform model": "share from the uniform model",
    "1.1 oracle less ada-POMRL, tasks 11 to 15": "margin to the oracle, tasks 11 to 15",
}
"""The headings of the columns explained on the page, by the names in the table of rungs."""


def parts(page: Page) -> dict[str, str]:
    """Return the tables; write all effects and rungs to the outputs."""
    return tables(page.write("notebook_effects", effects(page)), page.write("notebook_ladder", ladder(page)))


def tables(effects: pd.DataFrame, checks: pd.DataFrame) -> dict[str, str]:
    """Format the tables of effects and rungs."""
    return {"effects": _effects(effects), "ladder": _ladder(checks)}


def _effects(effects: pd.DataFrame) -> str:
    numbers, readings = (LOSS, GAIN, GAMMA_STAR), ("repaired", "computed")
    cells = effects.set_index(["difference", "number", "place"])
    heads = [f"{number}, as {reading}" for number, reading in product(numbers, readings)]
    rows = [[f"`{name}`", *(_cell(cells, (name, *key)) for key in product(numbers, readings))] for name in EFFECTS]
    return markdown_table(["difference", *heads], rows)


def _cell(effects: pd.DataFrame, key: tuple[str, ...]) -> str:
    """Format an effect and its interval, in bold if it excludes 0."""
    row = effects[["estimate", "lower", "upper"]].to_numpy(float)[effects.index.get_loc(key)]
    estimate, lower, upper = row.ravel().tolist()
    if max(abs(lower), abs(upper)) < 0.0005:
        return "0"
    text = Interval(estimate, lower, upper).text(signed=True)
    return f"**{text}**" if lower > 0 or upper < 0 else text


def _ladder(checks: pd.DataFrame) -> str:
    cells = checks.set_index(["rung", "number"])
    names = list(checks["number"].unique())
    rows = [[f"`{rung}`", *(f"{cells.loc[(rung, name), 'estimate']:.2f}" for name in names)] for rung in RUNGS]
    return markdown_table(["rung", *(HEADINGS.get(str(name), str(name)) for name in names)], rows)
