"""The table of the page `advice.md`: the loss of each method in each cell."""

import pandas as pd

from pomrl.study import Page, markdown_table
from pomrl_studies.horizons.claims import PROBLEMS, TRANSITIONS


def parts(page: Page) -> dict[str, str]:
    """Return the table of shares in per cent, with intervals."""
    cells = dict(list(page.points("advice").groupby(["x", "panel"], sort=False)))
    methods = cells[0, "a"]["series"]
    rows = [
        [f"`{problem}`", str(m), *_in_words(cells[index, panel])]
        for index, problem in enumerate(PROBLEMS)
        for m, panel in zip(TRANSITIONS, "abc", strict=True)
    ]
    return {"the losses": markdown_table(["problem", "m", *map(str, methods)], rows)}


def _in_words(methods: pd.DataFrame) -> list[str]:
    shares = 100.0 * methods[["mean", "lower", "upper"]].to_numpy()
    least = shares[:, 0].min()
    texts = [f"{_number(share, 3)} ± {_number((upper - lower) / 2, 2)}" for share, lower, upper in shares]
    return [f"**{text}**" if share == least else text for text, share in zip(texts, shares[:, 0], strict=True)]


def _number(value: float, digits: int) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.{digits}g}"
