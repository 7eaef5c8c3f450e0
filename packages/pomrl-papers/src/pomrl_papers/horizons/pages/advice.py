"""The table of the page `advice.md`."""

import pandas as pd

from pomrl.figures import Page
from pomrl.study import markdown_table
from pomrl_papers.horizons.claims import PROBLEMS, TRANSITIONS


def parts(page: Page) -> dict[str, str]:
    """Return the table; write shares of loss, in per cent, to the outputs."""
    points, sizes = page.points("advice"), dict(zip("abc", TRANSITIONS, strict=True))
    columns = {"problem": points["x"].map(dict(enumerate(PROBLEMS))), "m": points["panel"].map(sizes)}
    shares = points.assign(**columns).rename(columns={"series": "method", "mean": "share"})
    shares[["share", "lower", "upper"]] *= 100.0
    return tables(page.write("losses", shares[["problem", "m", "method", "share", "lower", "upper"]]))


def tables(losses: pd.DataFrame) -> dict[str, str]:
    """Summarise the shares of each method.

    Shares are in per cent of the loss of planning on frequencies with gamma_eval; better is significantly below
    100 %.
    """
    best = losses["share"] == losses.groupby(["problem", "m"])["share"].transform("min")
    cells = losses.assign(best=best, better=losses["upper"] < 100.0, worse=losses["lower"] > 100.0)
    names = ["best", "better", "worse"]
    rows = [
        [
            str(method),
            *(str(group[name].sum()) for name in names),
            *(f"{number:.0f} %" for number in (group["share"].median(), group["share"].max())),
        ]
        for method, group in cells.groupby("method", sort=False)
    ]
    return {"the losses": markdown_table(["method", *names, "median", "largest"], rows)}
