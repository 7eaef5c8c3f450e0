"""Tables as text, at the width of a terminal."""

from pomrl.results.tables import fitted, plain

HEAD = ["estimator", "mean"]
ROWS = [["pomrl", "0.25 [0.2, 0.3]"], ["", "1"]]


def test_a_table_that_fits_has_columns():
    table = plain(HEAD, ROWS)
    assert fitted(HEAD, ROWS, max(map(len, table.splitlines()))) == table


def test_a_wider_table_has_lines_for_each_row_and_none_for_empty_cells():
    assert fitted(HEAD, ROWS, 23) == "estimator  pomrl\nmean       0.25 [0.2, 0.3]\n\nmean       1\n"
