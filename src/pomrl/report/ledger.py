"""The tables of docs/notebook.md, in Markdown."""

from collections.abc import Sequence

import pandas as pd

from pomrl.configuration.ledger import Difference, Ledger
from pomrl.results.intervals import Interval
from pomrl.results.ledger import GAIN, GAMMA_STAR, LOSS
from pomrl.results.markdown import table


def tables(ledger: Ledger, effects: pd.DataFrame, ladder: pd.DataFrame, blind: pd.DataFrame) -> dict[str, str]:
    """Return the tables of docs/notebook.md by their names.

    Args:
        ledger: The differences.
        effects: What each of them does, as `results.ledger.effects` returns it.
        ladder: The numbers on each rung, as in `results.ledger.Ladder.checks`.
        blind: The errors of the prediction by the text, as `results.blind_prediction` returns them.
    """
    with_key = [each for each in ledger.differences if each.choice]
    without_key = [each for each in ledger.differences if not each.choice]
    return {
        "differences with a key": _differences(with_key),
        "differences without a key": _reasons(without_key),
        "effects": _effects(effects),
        "effects on others": _effects_on_others(effects),
        "ladder": _ladder(ladder),
        "prediction": _prediction(blind),
    }


def _differences(differences: Sequence[Difference]) -> str:
    rows = [
        [_name(each), each.where, _sentence(each.text), each.notebook, each.kind, _keys(each)] for each in differences
    ]
    return table(["difference", "section", "the text", "the notebook", "kind", "key"], rows)


def _reasons(differences: Sequence[Difference]) -> str:
    rows = [[_name(each), each.where, _sentence(each.text), each.notebook, each.kind, each.why] for each in differences]
    return table(["difference", "section", "the text", "the notebook", "kind", "why it has no key"], rows)


def _name(difference: Difference) -> str:
    return difference.name + (f" ({difference.of})" if difference.of else "")


def _sentence(text: str) -> str:
    return text or "says nothing of it"


def _keys(difference: Difference) -> str:
    assert difference.choice is not None
    return ", ".join(f"`{_short(override)}`" for override in difference.choice.overrides)


def _short(override: str) -> str:
    """Return an override without the values of a long list."""
    return override if len(override) < 60 else f"{override.partition('=')[0]}=[...]"


def _effects(effects: pd.DataFrame) -> str:
    """Return the effects on the numbers of ada-POMRL, with a row for each difference."""
    numbers, places = (LOSS, GAIN, GAMMA_STAR), ("text", "notebook")
    cells = effects.set_index(["difference", "number", "place"])
    names = effects.loc[effects["number"] == LOSS, "difference"].unique()
    heads = [f"{number}, in the {place}'s" for number in numbers for place in places]
    rows = [[name, *(_cell(cells, (name, *key)) for key in _pairs(numbers, places))] for name in names]
    return table(["difference", *heads], rows)


def _effects_on_others(effects: pd.DataFrame) -> str:
    others = effects[~effects["number"].isin([LOSS, GAIN, GAMMA_STAR])]
    cells = others.set_index(["difference", "number", "place"])
    rows = [
        [name, number, *(_cell(cells, (name, number, place)) for place in ("text", "notebook"))]
        for name, number in others[["difference", "number"]].drop_duplicates().itertuples(index=False)
    ]
    return table(["difference", "what changes", "in the text's", "in the notebook's"], rows)


def _ladder(checks: pd.DataFrame) -> str:
    cells = checks.set_index(["rung", "number"])
    names = list(checks["number"].unique())
    rows = [
        [rung, *(f"{cells.loc[(rung, name), 'estimate']:.2f}" for name in names)] for rung in checks["rung"].unique()
    ]
    return table(["rung", *names], rows)


def _prediction(blind: pd.DataFrame) -> str:
    rows = [
        [
            f"{row['figure']} (cell {row['cell']})",
            row["of"],
            str(row["points"]),
            *(f"{row[name]:.2f}" for name in ("theirs", "ours", "distance", "correlation")),
        ]
        for row in blind.to_dict("records")
    ]
    return table(["figure", "of", "points", "theirs", "ours by the text", "distance", "correlation"], rows)


def _pairs(numbers: Sequence[str], places: Sequence[str]) -> list[tuple[str, str]]:
    return [(number, place) for number in numbers for place in places]


def _cell(effects: pd.DataFrame, key: tuple[str, ...]) -> str:
    """Return an effect with its interval, in bold where that does not contain 0, or a dash where there is none."""
    if key not in effects.index:
        return "–"
    row = effects[["estimate", "lower", "upper"]].to_numpy(float)[effects.index.get_loc(key)]
    estimate, lower, upper = row.ravel().tolist()
    if max(abs(lower), abs(upper)) < 0.0005:
        return "0"
    text = Interval(estimate, lower, upper).text(signed=True)
    return f"**{text}**" if lower > 0 or upper < 0 else text
