"""Format a statistic by two settings as a table for a paper."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pomrl.configuration.composed import METHOD_GROUPS, suggest_key
from pomrl.results.intervals import CONFIDENCE_PERCENT, Interval
from pomrl.results.result import LossPerRun, TaskChoice
from pomrl.results.selection import describe_runs
from pomrl.results.summaries import paired_difference, summary
from pomrl.results.sweep_results import SweepResults
from pomrl.results.tables import ABSENT, printable

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

BEST = "best"
"""The column that lists the labels of a row's best columns, separated by semicolons."""

UNKNOWN = Interval(np.nan, np.nan, np.nan)
"""The cell of an experiment that is not stored."""

NAMES = {"mean": "mean", "iqm": "interquartile mean", "median": "median"}
"""The words for statistics in captions."""

MARKS = {"text": ("", " *"), "markdown": ("**", "**"), "latex": (r"\textbf{", "}")}
"""The text before and after a best cell, by the form of a table."""

LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
    | {"α": r"$\alpha$", "γ": r"$\gamma$", "σ": r"$\sigma$", "ₑ": "$_e$", "ᵥ": "$_v$", "ₐ": "$_a$", "ₗ": "$_l$"}
)
"""The LaTeX replacements for characters of labels and captions."""


def cross_table(  # noqa: PLR0913  (what is tabulated, and how)
    results: SweepResults,
    rows: str | None,
    columns: str | None,
    *,
    value: str = "planning_loss",
    tasks: TaskChoice = "all",
    statistic: str = "mean",
    marks_best: bool = False,
    labels: Mapping[str, Mapping[Any, str]] | None = None,
) -> "pd.DataFrame":
    """Tabulate a statistic over runs by two settings.

    `value` is a stored column or a metric, and `statistic` one of `summaries.STATISTICS`. `labels` maps each key to
    the labels of its values. With `marks_best`, the column `best` lists the smallest value of each row and all not
    significantly larger.

    Only the first runs that all experiments of a problem have are used.

    Returns:
        A column for `rows`, then LABEL, LABEL_lower and LABEL_upper for each value of `columns`. `attrs` has `caption`,
        `label`, `columns` and `statistic`.

    Raises:
        ValueError: A setting does not vary, a cell has several experiments, or, with `marks_best`, `columns`
        is no setting of a method.
    """
    import pandas as pd

    if marks_best and columns and columns.partition(".")[0] not in METHOD_GROUPS:
        raise ValueError(f"columns must be a setting of {', '.join(METHOD_GROUPS)} to mark the best, got {columns}")
    indices = _cell_indices(results, rows, columns)
    results = results.with_common_runs()
    samples = {cell: results.results[index].per_run(value, tasks) for cell, index in indices.items()}
    row_heads, column_heads = (
        _heads([cell[axis] for cell in indices], (labels or {}).get(str(key), {}))
        for axis, key in enumerate((rows, columns))
    )
    lines: list[dict[str, Any]] = []
    for row, row_head in row_heads.items():
        in_row = {head: samples[row, other] for other, head in column_heads.items() if (row, other) in samples}
        line: dict[str, Any] = {str(rows): row_head}
        for head in column_heads.values():
            line |= (summary(in_row[head], statistic) if head in in_row else UNKNOWN).columns(str(head))
        lines.append(line | ({BEST: "; ".join(best_columns(in_row, statistic))} if marks_best else {}))
    frame = pd.DataFrame(lines)
    runs = describe_runs(results.runs, are_common=results.has_only_common_runs)
    frame.attrs = {
        "columns": columns,
        "statistic": statistic,
        "caption": _caption(value, tasks, statistic, runs),
        "label": f"tab:{value}-{rows}-{columns}".replace("_", "-"),
    }
    return frame


def _heads(values: Sequence[Any], labels: Mapping[Any, str]) -> dict[Any, Any]:
    distinct = dict.fromkeys(values)
    are_numbers = all(isinstance(value, int | float) for value in distinct)
    heads = {value: labels.get(value, value) for value in (sorted(distinct) if are_numbers else distinct)}
    return heads if len({*heads.values()}) == len(heads) else {value: value for value in heads}


def best_columns(samples: Mapping[Any, LossPerRun], statistic: str) -> list[str]:
    """Name the smallest sample and all not significantly larger, paired by run.

    Samples without an estimate (NaN) are not named. In a single pair of runs, no difference is significant.
    """
    estimates = {name: summary(sample, statistic).estimate for name, sample in samples.items()}
    known_estimates = {name: estimate for name, estimate in estimates.items() if not np.isnan(estimate)}
    if not known_estimates:
        return []
    first = samples[smallest := min(known_estimates, key=known_estimates.__getitem__)]
    names: list[str] = []
    for name in known_estimates:
        pairs = min(len(first), len(sample := samples[name]))
        if name == smallest or not paired_difference(first[:pairs], sample[:pairs], statistic).lower > 0.0:
            names.append(str(name))
    return names


def _cell_indices(results: SweepResults, rows: str | None, columns: str | None) -> Mapping[tuple[Any, Any], int]:
    varying = ", ".join(results.keys) or "none"
    for name, key in (("rows", rows), ("columns", columns)):
        if key not in results.keys:
            got = f"{key}{suggest_key(key, results.keys)}" if key else "none"
            raise ValueError(f"{name} must be a setting that varies ({varying}), got {got}")
    if rows == columns:
        raise ValueError(f"rows and columns must be two settings, got {rows} twice")
    indices: dict[tuple[Any, Any], int] = {}
    for index, settings in enumerate(results.settings):
        cell = settings.get(str(rows)), settings.get(str(columns))
        first = results.settings[indices.setdefault(cell, index)]
        if differing := [key for key in results.keys if first.get(key) != settings.get(key)]:
            raise ValueError(
                f"rows and columns must distinguish all experiments, which also differ in {', '.join(differing)}; "
                "select one value of each"
            )
    return indices


def _caption(value: str, tasks: TaskChoice, statistic: str, runs: str) -> str:
    number = value.replace("_", " ").capitalize() + " at gamma_eval" * (value == "planning_loss")
    where = f"in task {tasks}" if isinstance(tasks, int) else f"in the {tasks} task"
    spread = f"± half the width of its {CONFIDENCE_PERCENT} % interval"
    interval = spread if statistic == "mean" else f"with its {CONFIDENCE_PERCENT} % interval"
    averaged = "averaged over tasks" if tasks == "all" else where
    return f"{number}, {averaged}: {NAMES[statistic]} over {runs} {interval}."


def caption(table: "pd.DataFrame", form: str) -> str:
    """Return the caption of a table, with the meaning of marks."""
    if BEST not in table:
        return table.attrs["caption"]
    mark = "A star marks" if form == "text" else "Bold marks"
    return (
        f"{table.attrs['caption']} {mark} the smallest value of each row and all not significantly larger: the "
        f"{CONFIDENCE_PERCENT} % interval of the difference in pairs of runs contains 0."
    )


def cells(table: "pd.DataFrame", form: str = "text") -> "pd.DataFrame":
    """Format the cells of a table, with marks on the best."""
    import pandas as pd

    escape = _latex if form == "latex" else str
    before, after = MARKS[form]
    heads = [str(name) for name in table if f"{name}_lower" in table]
    best = [str(names).split("; ") for names in table.get(BEST, [""] * len(table))]
    columns = {str(table.columns[0]): [escape(printable(str(value))) for value in table.iloc[:, 0]]}
    for head in heads:
        intervals = [Interval(*triple) for triple in table[[head, f"{head}_lower", f"{head}_upper"]].to_numpy()]
        texts = [escape(_cell(interval, table.attrs["statistic"])) for interval in intervals]
        columns[head] = [
            f"{before}{text}{after}" if head in names else text for text, names in zip(texts, best, strict=True)
        ]
    return pd.DataFrame(columns)


def _cell(interval: Interval, statistic: str) -> str:
    if np.isnan(interval.estimate):
        return ABSENT
    if statistic != "mean" or np.isnan(interval.lower):
        return interval.text()
    return f"{interval.estimate:.3f} ± {(interval.upper - interval.lower) / 2:.3f}"


def _latex(text: str) -> str:
    return text.translate(LATEX).replace(r"gamma\_eval", r"$\gamma_{\mathrm{eval}}$")


def latex(table: "pd.DataFrame") -> str:
    """Format a table as LaTeX with booktabs, caption and label."""
    text = cells(table, "latex")
    first, *heads = (_latex(printable(str(name))) for name in text)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(caption(table, 'latex'))}}}",
        rf"\label{{{table.attrs['label']}}}",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        rf" & \multicolumn{{{len(heads)}}}{{c}}{{{_latex(table.attrs['columns'])}}} \\",
        rf"\cmidrule(lr){{2-{len(heads) + 1}}}",
        rf"{' & '.join([first, *heads])} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in text.itertuples(index=False)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
