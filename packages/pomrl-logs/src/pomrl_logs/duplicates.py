"""Find repeated tables, rows, or runs of successive rows, and scattered copies."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int, UInt64

BASE, MULTIPLIER = np.uint64(6364136223846793005), np.uint64(11400714819323198485)
"""Odd multipliers of the hashes of runs."""

RUN_ROWS = 48
"""The number of rows in the compared runs."""

MIN_DISTINCT_IN_RUN = 8
"""The smallest number of distinct rows in a run; runs with fewer may repeat by chance."""

MAX_RUN_COPIES = 4
"""The largest number of copies of a run; deterministic processes repeat runs more often."""

MIN_RETURNS, MIN_SHARE_OF_RETURNS = 50, 0.2
"""The smallest number and share of rows that return to a pair, to show a deterministic environment."""

MIN_DISTINCT_ROWS = 20
"""The smallest number of distinct rows in a table; fewer may all repeat by chance."""

MIN_EXPECTED_TRIPLES = 8.0
"""The smallest expected number of rows seen three times for a test of scattered copies."""


def find_copies(
    columns: Sequence[Int[np.ndarray, " n"]], labels: Sequence[int], *, in_runs: bool = True
) -> tuple[Bool[np.ndarray, " n"], list[int], Int[np.ndarray, " n"]]:
    """Find copies of rows, even if labels such as row numbers differ.

    Labels with a different value in each row are ignored. One other label may differ, too.

    Args:
        columns: The values of each column, coded from 0.
        labels: The positions of the columns that may differ.
        in_runs: Whether runs of rows are compared, besides the whole table and each row.

    Returns:
        A mask of copies, the differing columns, and a number per row, equal for equal rows.
    """
    n = len(columns[0])
    keys = [_hash_column(column, number) for number, column in enumerate(columns)]
    total = sum(keys, np.zeros(n, np.uint64))
    row = pd.factorize(total)[0]
    if (repeated := find_repeats(row, in_runs=in_runs)).any() or not in_runs:
        return repeated, [], row
    numbered = [label for label in labels if int(columns[label].max(initial=0)) + 1 == n]
    total = total - sum((keys[label] for label in numbered), np.zeros(n, np.uint64))
    content = pd.factorize(total - sum((keys[label] for label in {*labels} - {*numbered}), np.zeros(n, np.uint64)))[0]
    optional = [[label] for label in labels if label not in numbered]
    for left_out in [[], *optional] if numbered else optional:
        remaining = total - sum((keys[label] for label in left_out), np.zeros(n, np.uint64))
        if (copies := _runs_repeat(pd.factorize(remaining)[0], content)).any():
            return copies, [*numbered, *left_out], row
    return repeated, [], row


def _hash_column(column: Int[np.ndarray, " n"], number: int) -> UInt64[np.ndarray, " n"]:
    key = (column.astype(np.uint64) + np.uint64(1)) * (MULTIPLIER + np.uint64(2 * number)) ^ np.uint64(number)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def find_repeats(row: Int[np.ndarray, " n"], *, in_runs: bool = True) -> Bool[np.ndarray, " n"]:
    """Find copies if each row, the whole table, or a run repeats.

    `row` has equal numbers for equal rows.
    """
    repeated = _each_row_repeats(row)
    if not repeated.any():
        repeated = _table_repeats(row)
    return repeated if repeated.any() or not in_runs else _runs_repeat(row, row)


def is_deterministic(
    pair: Int[np.ndarray, " n"], outcome: Int[np.ndarray, " n"], repeated: Bool[np.ndarray, " n"]
) -> bool:
    """Return whether equal pairs of state and action always have equal outcomes.

    Rows that do not repeat must return to pairs often, because copies do.
    """
    returns = int((~repeated).sum()) - len(np.unique(pair[~repeated]))
    has_returns = returns >= max(MIN_RETURNS, MIN_SHARE_OF_RETURNS * int((~repeated).sum()))
    return has_returns and np.unique(np.stack([pair, outcome]), axis=1).shape[1] == len(np.unique(pair))


def _each_row_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Find the copies if each row occurs k times in succession."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    lengths = np.diff(np.append(starts, len(row)))
    times = int(np.gcd.reduce(lengths)) if len(lengths) else 1
    if times < 2 or len(lengths) < MIN_DISTINCT_ROWS:
        return np.zeros(len(row), bool)
    return (np.arange(len(row)) - np.repeat(starts, lengths)) % times > 0


def _table_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Find the copies if all rows occur in multiples of k."""
    counts = np.bincount(row)
    times = int(np.gcd.reduce(counts)) if len(counts) else 1
    if times < 2 or len(counts) < MIN_DISTINCT_ROWS:
        return np.zeros(len(row), bool)
    return number_of_copy(row) >= counts[row] // times


def are_copies(row: Int[np.ndarray, " n"]) -> bool:
    """Return whether more rows occur twice than by chance.

    Let n_1, n_2 and n_3 be the numbers of rows seen once, twice and three times. By chance, n_3 is at least about
    2 n_2² / (3 n_1) (Poisson).
    """
    singles, pairs, triples = np.bincount(np.bincount(row), minlength=4)[1:4]
    by_chance = 2.0 * float(pairs) ** 2 / (3.0 * max(float(singles), 1.0))
    return bool(by_chance >= MIN_EXPECTED_TRIPLES and triples < 0.3 * by_chance)


def number_of_copy(row: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Count the equal rows before each row."""
    order = np.argsort(row, kind="stable")
    starts = np.flatnonzero(np.append(True, row[order][1:] != row[order][:-1]))
    copies = np.empty(len(row), int)
    copies[order] = np.arange(len(row)) - np.repeat(starts, np.diff(np.append(starts, len(row))))
    return copies


def _runs_repeat(row: Int[np.ndarray, " n"], content: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    n = len(row) - RUN_ROWS + 1
    if n < 2:
        return np.zeros(len(row), bool)
    code = pd.factorize(_hash_runs(row))[0]
    copies = np.flatnonzero((number_of_copy(code) > 0) & (np.bincount(code)[code] <= MAX_RUN_COPIES))
    different = [len(np.unique(content[start : start + RUN_ROWS])) for start in copies[::RUN_ROWS]]
    copies = copies[np.repeat(np.array(different, int), RUN_ROWS)[: len(copies)] >= MIN_DISTINCT_IN_RUN]
    marks = np.zeros(len(row) + 1, int)
    np.add.at(marks, copies, 1)
    np.add.at(marks, copies + RUN_ROWS, -1)
    return marks.cumsum()[:-1] > 0


def _hash_runs(row: Int[np.ndarray, " n"]) -> UInt64[np.ndarray, " m"]:
    """Return a polynomial hash, modulo 2^64, of each run of `RUN_ROWS` rows."""
    powers = np.cumprod(np.append(np.uint64(1), np.full(len(row), BASE, np.uint64)))
    inverse = np.cumprod(np.append(np.uint64(1), np.full(len(row) - RUN_ROWS, pow(int(BASE), -1, 2**64), np.uint64)))
    mixed = (row.astype(np.uint64) + np.uint64(1)) * MULTIPLIER
    total = np.append(np.uint64(0), np.cumsum((mixed ^ (mixed >> np.uint64(31))) * powers[:-1]))
    return (total[RUN_ROWS:] - total[:-RUN_ROWS]) * inverse
