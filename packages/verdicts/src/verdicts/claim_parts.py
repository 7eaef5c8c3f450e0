"""Build the parts of a claim: estimates from a table, with claimed ranges."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, nan

import numpy as np

from verdicts.comparisons import slope
from verdicts.estimates import Count, Rate, ScalarEstimate, largest
from verdicts.groups import Linear, Lowest, Ratio
from verdicts.language import Cell, Claim, ClaimError, Side
from verdicts.parts import Part
from verdicts.tables import Pairs, Samples, Table

LOSS_NAMES = re.compile(
    r"loss|(?<![a-z])(err|errors?|wer|cer|rmse|mse|mae|nll)(?![a-z])|regret|cost|risk|perplexity|time|second|energy",
    re.IGNORECASE,
)
"""Names of numbers whose lowest may be the best."""

ROUNDING = 1e-12
"""The relative size of differences that count as ties."""


def claim_parts(table: Table, claim: Claim, interest: float) -> list[Part]:
    """Return the parts of a claim; all must hold."""
    build = BUILDERS[claim.kind]
    table = table.by_runs() if is_by_runs(table, claim) else table
    if not claim.each:
        return [build(table, claim, claim.where, interest)]
    levels = table.levels(claim.each, claim.where)
    return [
        replace(build(table, claim, (*claim.where, (claim.each, level)), interest), topic=f"{claim.each}={level}")
        for level in levels
    ]


def is_by_runs(table: Table, claim: Claim) -> bool:
    """Return whether a claim is about single problems, so that their runs are the units."""
    is_count = claim.kind == "share" and not claim.is_percent and claim.column == table.unit
    fixed = [dict([*claim.where, *table.cell_pairs(cell)[1]]) for cell in claim.cells]
    is_single = is_count or claim.each == table.unit or any(table.unit in pairs for pairs in fixed)
    return table.has_problem_units and is_single


def _less(table: Table, claim: Claim, where: Pairs, interest: float) -> Part:
    """Build `left > right`, with the numbers of the sides as threshold."""
    samples = table.samples(claim.cells, where)
    estimate, threshold = _comparison(samples, claim)
    return _one_sided(estimate, claim.sign, interest * abs(_level(samples, claim.right)), threshold)


def _comparison(samples: Samples, claim: Claim) -> tuple[ScalarEstimate, float]:
    """Estimate left - right without numbers, and return the threshold; 0 and 1 against a number are a rate."""
    side = _minus(claim.left, claim.right)
    threshold = 0.0 - side.pop(None, 0.0)
    estimate = samples.linear(side)
    is_one = len(estimate.groups) == 1 and [*side.values()] == [1.0] and 0.0 <= threshold <= 1.0
    if is_one and np.isin(estimate.groups[0].sample, (0.0, 1.0)).all():
        return Rate.of(estimate.groups[0].sample == 1.0), threshold
    return estimate, threshold


def _equal(table: Table, claim: Claim, where: Pairs, _: float) -> Part:
    """Build `left ~ right within` a margin."""
    samples = table.samples(claim.cells, where)
    if not claim.is_relative:
        return _within(claim, samples.linear(_minus(claim.left, claim.right)))
    return _within(claim, _ratio(samples, claim.left, claim.right))


def _flat(table: Table, claim: Claim, where: Pairs, _: float) -> Part:
    """Build `cell is flat with column within` a margin, by the slope from the first to the last level."""
    samples, sides = _by_level(table, claim, where)
    change, mean = _slope(sides), _mean(sides)
    if not claim.is_relative:
        return _within(claim, samples.linear(change))
    return _within(claim, _ratio(samples, _minus(change, mean, -1.0), mean))


def _trend(table: Table, claim: Claim, where: Pairs, interest: float) -> Part:
    """Build `cell rises with column`, by the slope or by every step."""
    samples, sides = _by_level(table, claim, where)
    if not claim.is_stepwise:
        return _one_sided(samples.linear(_slope(sides)), claim.sign, interest * abs(_level(samples, _mean(sides))))
    steps = [samples.linear(_minus({}, _minus(following, side), claim.sign)) for side, following in pairwise(sides)]
    return Part("the worst step", largest(steps), below=0.0, interest=interest * abs(_level(samples, sides[0])))


def _best(table: Table, claim: Claim, where: Pairs, interest: float) -> Part:
    """Build `cell is best over column`, by the difference to each rival."""
    own = claim.cells[0] if claim.cells else None
    if own is None or claim.left != {own: 1.0}:
        raise ClaimError(f"'over {claim.column}' must compare one cell, got a sum")
    measure = table.cell_pairs(own)[0]
    if claim.sign == 0 and LOSS_NAMES.search(measure):
        raise ClaimError(f"'is best' must be 'is lowest' or 'is highest' for {measure!r}")
    rivals, sign = _rivals(table, own, claim.column, where), claim.sign or 1
    samples = table.samples([own, *rivals.values()], where)
    estimates = {level: samples.linear({cell: 1.0 * sign, own: -1.0 * sign}) for level, cell in rivals.items()}
    nearest = max(estimates, key=lambda level: estimates[level].value)
    small = interest * abs(_level(samples, claim.left))
    return Part(f"nearest is {nearest}", largest([*estimates.values()]), below=0.0, interest=small)


def _rivals(table: Table, own: Cell, column: str, where: Pairs) -> dict[str, Cell]:
    """Return the cells with other values of a column."""
    measure, pairs = table.cell_pairs(own)
    name = dict(pairs).get(column)
    if name is None:
        raise ClaimError(f"{own} must say its {column}, as in {measure}[{column}=...]")
    remaining = [pair for pair in pairs if pair[0] != column]
    levels = [level for level in table.levels(column, [*where, *remaining]) if level != name]
    if not levels:
        raise ClaimError(f"{own} must have rivals, got no other value of {column}")
    return {level: Cell(measure, (*remaining, (column, level))) for level in levels}


def _extreme(table: Table, claim: Claim, where: Pairs, interest: float) -> Part:
    """Build `cell is lowest at column in` a range, by all pairs of places inside and outside."""
    samples, sides = _by_level(table, claim, where)
    low, high = claim.range
    positions = [float(level) for level in table.numeric_levels(claim.column, where)]
    inside = [low - ROUNDING <= position <= high + ROUNDING for position in positions]
    if all(inside) or not any(inside):
        values = ", ".join(f"{position:g}" for position in positions)
        raise ClaimError(f"the range must have some values of {claim.column} and not all; they are {values}")
    claimed = [side for side, is_inside in zip(sides, inside, strict=True) if is_inside]
    outside = [side for side in sides if side not in claimed]
    pairs = [
        tuple(samples.linear(_minus({}, _minus(side, other), claim.sign)) for other in outside) for side in claimed
    ]
    value = min(max(pair.value for pair in row) for row in pairs)
    levels = [claim.sign * _level(samples, side) for side in outside]
    return Part("", Lowest(value, pairs[0][0].units, tuple(pairs)), below=0.0, interest=interest * abs(max(levels)))


def _share(table: Table, claim: Claim, where: Pairs, interest: float) -> Part:
    """Build `left > right in > 50 % of game`, or `in >= 40 of game`."""
    if not claim.is_percent:
        return _count(table, claim, where)
    table = table.by_problems(claim.column)
    difference = _signed(claim)
    group, *more_groups = table.samples(claim.cells, where).linear(difference).groups
    if more_groups:
        raise ClaimError(f"{claim.column} must be paired to count differences; say paired (--paired) if they are")
    numbers = group.sample + difference.get(None, 0.0)
    is_tie = np.abs(numbers) <= ROUNDING * max(1.0, float(np.abs(group.sample).max()))
    return Part("", Rate.of((numbers > 0.0) & ~is_tie, is_tie), above=claim.number, interest=interest)


def _count(table: Table, claim: Claim, where: Pairs) -> Part:
    """Build `in >= 40 of game`: the claim is tested in each game, from its runs."""
    levels = table.levels(claim.column, where)
    if not 0.0 <= claim.number < len(levels):
        raise ClaimError(f"the number must be possible in {len(levels)} values of {claim.column}")
    all_where = [(*where, (claim.column, level)) for level in levels]
    tested = [_comparison(table.samples(claim.cells, conditions), claim) for conditions in all_where]
    p = np.array([estimate.p_values(threshold)[:: claim.sign] for estimate, threshold in tested])
    p = np.where(np.isnan(p), 1.0, p)
    n_true = sum(claim.sign * (estimate.value - threshold) > 0.0 for estimate, threshold in tested)
    smallest = min((estimate for estimate, _ in tested), key=lambda estimate: estimate.units)
    least_p, size = max(estimate.smallest_p for estimate, _ in tested), smallest.units
    count = Count(float(n_true), size, tuple(p[:, 0]), tuple(p[:, 1]), least_p, smallest.sizes_text)
    return Part("", count, above=claim.number)


BUILDERS: dict[str, Callable[[Table, Claim, Pairs, float], Part]] = {
    "less": _less,
    "equal": _equal,
    "best": _best,
    "extreme": _extreme,
    "trend": _trend,
    "flat": _flat,
    "share": _share,
}
"""The builder of a part for each kind of claim."""


def _one_sided(estimate: ScalarEstimate, sign: int, interest: float, threshold: float = 0.0) -> Part:
    above, below = (threshold, inf) if sign > 0 else (-inf, threshold)
    return Part("", estimate, above=above, below=below, interest=interest)


def _within(claim: Claim, estimate: ScalarEstimate) -> Part:
    return Part("", estimate, above=-claim.margin, below=claim.margin, margin=claim.margin)


def _ratio(samples: Samples, a: Side, b: Side) -> Ratio:
    """Estimate a / b - 1, for b above 0."""
    below = samples.linear(b, is_ratio=True)
    level = below.value

    def difference(ratio: float) -> Linear:
        return samples.linear(_minus(a, b, 1.0 + ratio), is_ratio=True)

    ratio = _level(samples, a) / level - 1.0 if level > 0.0 else nan
    p_below = below.p_values(0.0)[0] if below.is_possible else 1.0
    return Ratio(ratio, difference(0.0).units, difference, p_below)


def _by_level(table: Table, claim: Claim, where: Pairs) -> tuple[Samples, list[Side]]:
    """Return the left side at each level of the claim's column, with its samples."""
    levels = table.numeric_levels(claim.column, where)
    sides = [_fix_level(claim.left, claim.column, level) for level in levels]
    return table.samples([cell for side in sides for cell in side if cell is not None], where), sides


def _fix_level(side: Side, column: str, level: str) -> Side:
    return {cell and replace(cell, where=(*cell.where, (column, level))): factor for cell, factor in side.items()}


def _level(samples: Samples, side: Side) -> float:
    return samples.linear(side).value if any(side) else side.get(None, 0.0)


def _signed(claim: Claim) -> Side:
    """Return left - right, or right - left of a claim of less."""
    return _minus({}, _minus(claim.right, claim.left), claim.sign)


def _minus(a: Side, b: Side, factor: float = 1.0) -> Side:
    """Return a - factor * b."""
    return {cell: a.get(cell, 0.0) - factor * b.get(cell, 0.0) for cell in {**a, **b}}


def _mean(sides: Sequence[Side]) -> Side:
    return _sum(sides, np.full(len(sides), 1.0 / len(sides)))


def _slope(sides: Sequence[Side]) -> Side:
    """Return the least-squares slope over ranks, times the number of steps."""
    return _sum(sides, slope(np.eye(len(sides))))


def _sum(sides: Sequence[Side], weights: np.ndarray) -> Side:
    total: Side = {}
    for side, weight in zip(sides, weights.tolist(), strict=True):
        total = _minus(total, side, -weight)
    return total
