"""Rows that repeat others: a whole table, each row, a run of rows, or rows here and there."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int, UInt64

BASE, SPREAD = np.uint64(6364136223846793005), np.uint64(11400714819323198485)
"""Odd numbers by which runs of rows get their keys."""

WINDOW = 48
"""The number of rows in a run that repeats."""

LEAST_DIFFERENT = 8
"""A run of fewer different rows may repeat by chance."""

MOST_COPIES = 4
"""A run that is there more often repeats by itself, as in a world without chance."""

FEWEST_DIFFERENT = 20
"""Fewer different rows may all be there several times by chance."""

FEWEST_TRIPLES = 8.0
"""If chance made fewer rows the same three times, nobody can say that rows are copies."""


def find_copies(
    columns: Sequence[Int[np.ndarray, " n"]], labels: Sequence[int]
) -> tuple[Bool[np.ndarray, " n"], list[int], Int[np.ndarray, " n"]]:
    """Return which rows repeat others in runs, in all columns or in all but some labels.

    Copies may have another number of an export or another name, and tables may number their rows. Therefore a label
    that differs in every row is left out, and so is one other label, whichever it is.

    Args:
        columns: The number of the value in each row of each column, from 0.
        labels: The columns that may differ, such as those of episodes and those without a role.

    Returns:
        Which rows are copies; the columns in which they differ; and a number for each row, the same for rows that are
        the same in all columns.
    """
    n = len(columns[0])
    keys = [_mixed(column, number) for number, column in enumerate(columns)]
    total = sum(keys, np.zeros(n, np.uint64))
    row = pd.factorize(total)[0]
    if (repeated := find_repeats(row)).any():
        return repeated, [], row
    numbered = [label for label in labels if int(columns[label].max(initial=0)) + 1 == n]
    total = total - sum((keys[label] for label in numbered), np.zeros(n, np.uint64))
    happened = pd.factorize(total - sum((keys[label] for label in {*labels} - {*numbered}), np.zeros(n, np.uint64)))[0]
    others = [[label] for label in labels if label not in numbered]
    for one in [[], *others] if numbered else others:
        but_some = total - sum((keys[label] for label in one), np.zeros(n, np.uint64))
        if (copies := _runs_repeat(pd.factorize(but_some)[0], happened)).any():
            return copies, [*numbered, *one], row
    return repeated, [], row


def _mixed(column: Int[np.ndarray, " n"], number: int) -> UInt64[np.ndarray, " n"]:
    """Return numbers whose sums over columns differ where rows do."""
    key = (column.astype(np.uint64) + np.uint64(1)) * (SPREAD + np.uint64(2 * number)) ^ np.uint64(number)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def find_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows repeat others in runs: each row several times, the whole table, or a part of it.

    Args:
        row: A number for each row, the same for rows that are the same in all columns.
    """
    repeated = _each_row_repeats(row)
    if not repeated.any():
        repeated = _table_repeats(row)
    return repeated if repeated.any() else _runs_repeat(row, row)


def _each_row_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows are further copies where each row stands k times below itself."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    lengths = np.diff(np.append(starts, len(row)))
    times = int(np.gcd.reduce(lengths)) if len(lengths) else 1
    if times < 2 or len(lengths) < FEWEST_DIFFERENT:
        return np.zeros(len(row), bool)
    return (np.arange(len(row)) - np.repeat(starts, lengths)) % times > 0


def _table_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows are further copies where each different row is there a multiple of k times."""
    counts = np.bincount(row)
    times = int(np.gcd.reduce(counts)) if len(counts) else 1
    if times < 2 or len(counts) < FEWEST_DIFFERENT:
        return np.zeros(len(row), bool)
    return number_of_copy(row) >= counts[row] // times


def are_copies(row: Int[np.ndarray, " n"]) -> bool:
    """Return whether rows are there twice that chance would make the same three times too.

    If rows are the same by chance, those that are there once, twice and three times have Poisson's proportions, n_3 =
    2 n_2² / (3 n_1), and more triples if rows differ in their chance.
    """
    once, twice, thrice = np.bincount(np.bincount(row), minlength=4)[1:4]
    by_chance = 2.0 * float(twice) ** 2 / (3.0 * max(float(once), 1.0))
    return bool(by_chance >= FEWEST_TRIPLES and thrice < 0.3 * by_chance)


def number_of_copy(row: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Return how many of the same rows are above each row."""
    order = np.argsort(row, kind="stable")
    starts = np.flatnonzero(np.append(True, row[order][1:] != row[order][:-1]))
    copies = np.empty(len(row), int)
    copies[order] = np.arange(len(row)) - np.repeat(starts, np.diff(np.append(starts, len(row))))
    return copies


def _runs_repeat(row: Int[np.ndarray, " n"], happened: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows are in a run of `WINDOW` rows that stands above too, and in which different things happen."""
    n = len(row) - WINDOW + 1
    if n < 2:
        return np.zeros(len(row), bool)
    code = pd.factorize(_keys_of_runs(row))[0]
    further = np.flatnonzero((number_of_copy(code) > 0) & (np.bincount(code)[code] <= MOST_COPIES))
    different = [len(np.unique(happened[start : start + WINDOW])) for start in further[::WINDOW]]
    further = further[np.repeat(np.array(different, int), WINDOW)[: len(further)] >= LEAST_DIFFERENT]
    marks = np.zeros(len(row) + 1, int)
    np.add.at(marks, further, 1)
    np.add.at(marks, further + WINDOW, -1)
    return marks.cumsum()[:-1] > 0


def _keys_of_runs(row: Int[np.ndarray, " n"]) -> UInt64[np.ndarray, " m"]:
    """Return a number for each run of `WINDOW` rows, the same for the same runs: a polynomial, modulo 2^64."""
    powers = np.cumprod(np.append(np.uint64(1), np.full(len(row), BASE, np.uint64)))
    inverse = np.cumprod(np.append(np.uint64(1), np.full(len(row) - WINDOW, pow(int(BASE), -1, 2**64), np.uint64)))
    mixed = (row.astype(np.uint64) + np.uint64(1)) * SPREAD
    total = np.append(np.uint64(0), np.cumsum((mixed ^ (mixed >> np.uint64(31))) * powers[:-1]))
    return (total[WINDOW:] - total[:-WINDOW]) * inverse
