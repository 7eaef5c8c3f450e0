"""Measure how often tables get a wrong verdict, and write the results and the tables of docs/methods.md.

    python packages/verdicts/benchmarks/wrong_verdicts.py --tables 1000

Each table has `CLAIMS` claims with an error of 5 % in all, and each truth is exactly its threshold, so that any verdict
on a difference is wrong. Power is the share of claims at an effect of `EFFECTS` that hold. Results go to
`results/wrong_verdicts.csv`; `--write-only` writes the page from them.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from verdicts.estimates import ERROR, mean
from verdicts.groups import Group, Linear

CLAIMS = 8
LEVEL = ERROR / CLAIMS / 2
SEED = 3

EFFECTS = {3: 3.0, 5: 2.5, 8: 2.0, 9: 1.9, 10: 1.8, 20: 1.2, 50: 0.7, 100: 0.5}
"""The difference of means in standard deviations for the measure of power, by number of units."""

PACKAGE = Path(__file__).parents[1]
RESULTS = PACKAGE / "benchmarks" / "results" / "wrong_verdicts.csv"
PAGE = PACKAGE / "docs" / "methods.md"

Draw = Callable[[np.random.Generator, int], np.ndarray]
PValues = tuple[float, float]
Design = tuple[str, str, Callable[[float], PValues]]
"""A kind of comparison, its data, and a draw of p-values, with an effect in the first sample if samples are alike."""

ALIKE: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: (rng.lognormal(size=n) - np.exp(0.5)) / 2.16,
    "ties": lambda rng, n: rng.poisson(0.5, n) - 0.5,
}
"""Numbers with mean 0 and about the standard deviation 1."""


def alike_designs(rng: np.random.Generator, n: int) -> Iterator[Design]:
    """Yield designs with two alike samples of n units."""
    for name, draw in ALIKE.items():
        yield "groups", name, lambda effect, draw=draw: groups(draw(rng, n) + effect, draw(rng, n))
        yield "pairs", name, lambda effect, draw=draw: pairs(draw(rng, n) + effect - draw(rng, n))


def unlike_designs(rng: np.random.Generator, n: int) -> Iterator[Design]:
    """Yield designs with unlike samples of n units, or with one sample and a number."""

    def skewed(units: int = n) -> np.ndarray:
        return rng.lognormal(size=units) - np.exp(0.5)

    def normal(spread: float = 1.0, units: int = n) -> np.ndarray:
        return spread * rng.normal(size=units)

    def less_nine_tenths() -> np.ndarray:
        b = rng.lognormal(size=n)
        return 0.9 * rng.lognormal(-0.045, 0.3, n) * b - 0.9 * b

    yield "groups", "lognormal against normal", lambda _: groups(skewed(), normal())
    yield "groups", "lognormal, units 1 to 5", lambda _: groups(skewed(), skewed(5 * n))
    yield "groups", "lognormal, spreads 3 to 1", lambda _: groups(3.0 * skewed(), skewed())
    yield "pairs", "lognormal differences", lambda _: pairs(skewed())
    yield "pairs", "lognormal less normal", lambda _: pairs(skewed() - normal())
    yield "groups", "spreads 1 to 3", lambda _: groups(normal(), normal(3.0))
    yield "groups", "spreads 3 to 1, units 1 to 2", lambda _: groups(normal(3.0), normal(1.0, 2 * n))
    yield "pairs", "ratio of .9, lognormal", lambda _: pairs(less_nine_tenths())
    yield "a number", "mean, lognormal", lambda _: mean(skewed()).p_values(0.0)
    yield "a number", "mean, normal", lambda _: mean(normal()).p_values(0.0)
    yield "a number", "rate of .95", lambda _: mean(rng.random(n) < 0.95).p_values(0.95)


def groups(a: np.ndarray, b: np.ndarray) -> PValues:
    """Return the p-values of equal means."""
    return Linear.of([Group(1.0, a), Group(-1.0, b)]).p_values(0.0)


def pairs(differences: np.ndarray) -> PValues:
    """Return the p-values of a mean difference of 0."""
    return Linear.of([Group(1.0, differences)]).p_values(0.0)


def measure(tables: int) -> pd.DataFrame:
    """Return the share of tables with any verdict, and the power, by design and number of units."""
    rows = []
    for n, effect in EFFECTS.items():
        rng = np.random.default_rng([SEED, n])
        for design, data, p_values in (*alike_designs(rng, n), *unlike_designs(rng, n)):
            shares = [any(min(p_values(0.0)) <= LEVEL for _ in range(CLAIMS)) for _ in range(tables)]
            power = np.mean([p_values(effect)[0] <= LEVEL for _ in range(tables)]) if data in ALIKE else np.nan
            rows.append({"design": design, "data": data, "units": n, "error": np.mean(shares), "power": power})
    return pd.DataFrame(rows)


def with_tables(page: str, results: pd.DataFrame) -> str:
    """Return the page with the present tables."""
    is_alike = results["data"].isin(ALIKE)
    tables = {
        "wrong verdicts, alike": markdown(results[is_alike], "error"),
        "power, alike": markdown(results[is_alike], "power"),
        "wrong verdicts, unlike": markdown(results[~is_alike], "error"),
    }
    for name, table in tables.items():
        pattern = re.compile(rf"(?<=<!-- {name} -->\n\n)(?:\|.*\n)*")
        page = pattern.sub(lambda _, table=table: table, page)
    return page


def markdown(results: pd.DataFrame, value: str) -> str:
    """Return a table with a row for each design and a column for each number of units."""
    table = results.pivot_table(value, ["design", "data"], "units", sort=False)
    rows = [["", *(f"{n} units" for n in table.columns)], ["---"] * (1 + len(table.columns))]
    rows += [[f"{design}, {data}", *(f"{share:.3f}" for share in row)] for (design, data), *row in table.itertuples()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    """Measure, and write results and page."""
    parser = argparse.ArgumentParser(description="How often tables get a wrong verdict.")
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--write-only", action="store_true", help="write the page from stored results")
    arguments = parser.parse_args()
    if not arguments.write_only:
        measure(arguments.tables).to_csv(RESULTS, index=False)
    PAGE.write_text(with_tables(PAGE.read_text(), pd.read_csv(RESULTS)))


if __name__ == "__main__":
    main()
