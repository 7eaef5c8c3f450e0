"""Tables as text, at the width of a terminal."""

from pomrl.results.tables import fitted, plain

HEAD = ["estimator", "mean"]
ROWS = [["pomrl", "0.25 [0.2, 0.3]"], ["", "1"]]


def test_a_table_that_fits_has_columns():
    table = plain(HEAD, ROWS)
    assert fitted(HEAD, ROWS, max(map(len, table.splitlines()))) == table


def test_long_headings_are_short_with_a_key_below_before_rows_become_records():
    head = ["estimator", "task_distribution.measure", "mean difference"]
    rows = [["pomrl", "variance", "0.25 [0.2, 0.3]"], ["oracle", "std", "1"]]
    lines = fitted(head, rows, 40).splitlines()
    assert lines[0].split() == ["estimator", "meas.", "mean", "diff."]
    assert "0.25 [0.2, 0.3]" in lines[1]
    assert lines[3:] == ["meas.: task_distribution.measure", "mean diff.: mean difference"]
    alike = fitted(["estimator.mixing_rate", "data.mixing_rate"], [["x" * 20, "y" * 20]], 42)
    assert alike.splitlines()[0].split() == ["estimator.mixing_rate", "x" * 20]


def test_a_wider_table_has_lines_for_each_row_and_none_for_empty_cells():
    assert fitted(HEAD, ROWS, 23) == "estimator  pomrl\nmean       0.25 [0.2, 0.3]\n\nmean       1\n"
