"""Tables of the page on the authors' notebook: the effect of each difference."""

from collections.abc import Callable, Sequence
from itertools import product

import pandas as pd

from pomrl.study import Interval, Page, markdown_table
from pomrl_studies.pomrl2023.choices import Difference, differences
from pomrl_studies.pomrl2023.ledger import GAIN, GAMMA_STAR, LOSS, effects, ladder


def parts(page: Page) -> dict[str, str]:
    """Return the tables; write effects and ladder to the outputs."""
    return tables(page.write("notebook_effects", effects(page)), page.write("notebook_ladder", ladder(page)))


def tables(ledger_effects: pd.DataFrame, checks: pd.DataFrame) -> dict[str, str]:
    """Return the tables of the page, from the effects and the ladder."""
    with_key = [difference for difference in differences() if difference.choice]
    without_key = [difference for difference in differences() if not difference.choice]
    return {
        "differences with a key": _table(with_key, "key", _keys),
        "differences without a key": _table(without_key, "why it has no key", lambda difference: difference.why),
        "effects": _effects(ledger_effects),
        "effects on others": _effects_on_others(ledger_effects),
        "ladder": _ladder(checks),
    }


def _table(differences: Sequence[Difference], head: str, last: Callable[[Difference], str]) -> str:
    """Return the table of differences, with this head of the last column."""
    rows = [
        [
            _name(difference),
            difference.where,
            difference.text or "says nothing of it",
            difference.notebook,
            difference.kind,
            last(difference),
        ]
        for difference in differences
    ]
    return markdown_table(["difference", "section", "the text", "the notebook", "kind", head], rows)


def _name(difference: Difference) -> str:
    return difference.name + (f" ({difference.reading})" if difference.reading else "")


def _keys(difference: Difference) -> str:
    assert difference.choice is not None
    return ", ".join(f"`{_short(override)}`" for override in difference.choice.overrides)


def _short(override: str) -> str:
    """Shorten an override with a long list."""
    return override if len(override) < 60 else f"{override.partition('=')[0]}=[...]"


def _effects(effects: pd.DataFrame) -> str:
    """Return the effects on ada-POMRL, a row for each difference."""
    numbers, bases = (LOSS, GAIN, GAMMA_STAR), ("repaired", "computed")
    cells = effects.set_index(["difference", "number", "place"])
    names = effects.loc[effects["number"] == LOSS, "difference"].unique()
    heads = [f"{number}, as {base}" for number, base in product(numbers, bases)]
    rows = [[name, *(_cell(cells, (name, *key)) for key in product(numbers, bases))] for name in names]
    return markdown_table(["difference", *heads], rows)


def _effects_on_others(effects: pd.DataFrame) -> str:
    other_effects = effects[~effects["number"].isin([LOSS, GAIN, GAMMA_STAR])]
    cells = other_effects.set_index(["difference", "number", "place"])
    rows = [
        [name, number, *(_cell(cells, (name, number, base)) for base in ("repaired", "computed"))]
        for name, number in other_effects[["difference", "number"]].drop_duplicates().itertuples(index=False)
    ]
    return markdown_table(["difference", "what changes", "as repaired", "as computed"], rows)


def _ladder(checks: pd.DataFrame) -> str:
    cells = checks.set_index(["rung", "number"])
    names = list(checks["number"].unique())
    rows = [
        [rung, *(f"{cells.loc[(rung, name), 'estimate']:.2f}" for name in names)] for rung in checks["rung"].unique()
    ]
    return markdown_table(["rung", *names], rows)


def _cell(effects: pd.DataFrame, key: tuple[str, ...]) -> str:
    """Format an effect with its interval, bold if significant."""
    if key not in effects.index:
        return "–"
    row = effects[["estimate", "lower", "upper"]].to_numpy(float)[effects.index.get_loc(key)]
    estimate, lower, upper = row.ravel().tolist()
    if max(abs(lower), abs(upper)) < 0.0005:
        return "0"
    text = Interval(estimate, lower, upper).text(signed=True)
    return f"**{text}**" if lower > 0 or upper < 0 else text
