"""Read tables from files and data frames."""

import csv
import gzip
import io
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from pomrl_logs.findings import Finding

SEPARATORS = ",;\t|"
"""The separators of fields in text files."""

FORMATS = {
    ".parquet": "parquet",
    ".csv, .tsv, .txt": "text with a header, fields separated by , ; tab or |, and comment lines beginning with #",
    ".jsonl, .ndjson": "an object in each line",
    ".gz": "one of the text formats, compressed",
}
"""The file formats by suffix."""


@dataclass(frozen=True, eq=False)
class TableSource:
    """A table from one file or data frame; delimited text gives strings."""

    frame: "pd.DataFrame"
    where: str
    """The path, or "the log" for a data frame."""
    has_lines: bool = False
    """Whether the index of the frame is the number of the line; otherwise of the row."""
    separator: str = ","
    findings: tuple[Finding, ...] = ()

    def label(self, row: int) -> str:
        number = int(self.frame.index[row])
        return f"{'line' if self.has_lines else 'row'} {number}"


def read_source(source: Any, is_named: Callable[[str], bool]) -> TableSource:
    """Read a table from a data frame or a file.

    `is_named` recognises expected columns, to detect the separator. ValueError if the table is unreadable.
    """
    if isinstance(source, pd.DataFrame):
        texts = [str(column) for column in source.columns]  # names of columns are text, also of numbers and tuples
        return TableSource(source.reset_index(drop=True).set_axis(texts, axis=1), "the log")
    if not isinstance(source, str | Path):
        raise ValueError(f"a log must be a data frame, a path, or a list of these, got {source!r:.60}")
    path = Path(source).expanduser()
    suffix = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    if suffix == ".parquet":
        return TableSource(_read_or_refuse(path, lambda: pd.read_parquet(path)).reset_index(drop=True), str(path))
    if suffix in (".jsonl", ".ndjson"):
        return TableSource(_from_lines(path), str(path), has_lines=True)
    if suffix in (".csv", ".tsv", ".txt"):
        return _from_text(path, is_named)
    *names, compressed = FORMATS
    raise ValueError(
        f"{path}: the name of a log must end in {', '.join(names)}, or for text also in {compressed} after it, "
        f"got {''.join(path.suffixes[-2:]) or 'no suffix'}"
    )


def table_name(path: Path) -> str:
    """Return a file name without its suffix, and without .gz."""
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def _read_or_refuse(path: Path, reader: Callable[[], Any]) -> Any:
    try:
        return reader()
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file") from error
    except Exception as error:  # pandas and pyarrow raise many kinds of errors for damaged files
        if isinstance(error, OSError) and error.strerror:
            raise ValueError(f"{path}: {error.strerror}") from error
        hint = "; save it as UTF-8" if isinstance(error, UnicodeDecodeError) else ""
        raise ValueError(f"{path}: the file cannot be read ({_one_line(error)}){hint}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _open(path: Path) -> io.TextIOBase:
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def _from_lines(path: Path) -> "pd.DataFrame":
    def parse() -> "pd.DataFrame":
        with _open(path) as lines:
            objects = {number: _parse_line(line, number) for number, line in enumerate(lines, 1) if line.strip()}
            return pd.DataFrame([*objects.values()], [*objects], dtype=object)  # whole numbers stay whole

    return _read_or_refuse(path, parse)


def _parse_line(line: str, number: int) -> Any:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}, column {error.colno}: {error.msg}") from error
    if not isinstance(row, dict):
        raise ValueError(f'line {number} must be an object such as {{"state": 1, ...}}, got {row!r:.60}')
    return row


def _from_text(path: Path, is_named: Callable[[str], bool]) -> TableSource:
    skipped, header = _read_or_refuse(path, lambda: _header(path))
    fields = {separator: next(csv.reader([header], delimiter=separator), []) for separator in SEPARATORS}
    separator = max(
        SEPARATORS, key=lambda mark: (sum(is_named(name.strip()) for name in fields[mark]), len(fields[mark]))
    )
    names = [name.strip() for name in fields[separator]]
    rows, lines, counts, like_rows = _read_or_refuse(path, lambda: _records(path, skipped, separator))
    if (bad := counts != len(names)).any():
        line, count = lines[bad][0], counts[bad][0]
        also = f" (also {int(bad.sum()) - 1} more lines)" if bad.sum() > 1 else ""
        raise ValueError(
            f"{path}: line {line} must have {len(names)} fields, like the header, got {count}{also}; "
            f"put quotes around fields with {separator!r}"
        )
    options: dict[str, Any] = {"header": None, "names": range(len(names)), "index_col": False}
    options |= {"dtype": "str", "keep_default_na": False, "sep": separator}
    frame = _read_or_refuse(path, lambda: pd.read_csv(io.StringIO(rows), **options)) if len(lines) else pd.DataFrame()
    frame = frame.reindex(columns=range(len(names))).set_axis(names, axis=1).set_axis(lines)
    return TableSource(
        frame,
        str(path),
        has_lines=True,
        separator=separator,
        findings=_comment_findings(path, like_rows[len(names)]),
    )


def _comment_findings(path: Path, lines: Sequence[int]) -> tuple[Finding, ...]:
    line = (
        "lines that begin with # are skipped as comments, although they have the fields of a row: "
        f"{len(lines)} in {path} (first in line {lines[0] if lines else 0})"
    )
    return (Finding("comments", line),) if lines else ()


def _header(path: Path) -> tuple[int, str]:
    """Return the number of lines before the header, and the header."""
    with _open(path) as lines:
        for number, line in enumerate(lines):
            if line.strip() and not line.startswith("#"):
                return number, line.rstrip("\r\n")
    raise ValueError("the file has no header; the first line must name the columns")


def _records(
    path: Path, skipped: int, separator: str
) -> tuple[str, Int[np.ndarray, " n"], Int[np.ndarray, " n"], Mapping[int, list[int]]]:
    """Return the text of records, each record's last line and field count, and comments.

    Comments are lines, by their field count. They begin with # at the start of a record, unquoted, and may have any
    quotes. Blank lines are no records.
    """
    with _open(path) as file:
        for _ in range(skipped + 1):
            next(file)
        lines = list(file)
    text_lines, ends, counts, comments = [], [], [], defaultdict[int, list[int]](list)
    blanks, number, remaining = " \t\r\n".replace(separator, ""), skipped + 1, iter(lines)
    for line in remaining:
        number += 1
        if line.startswith("#"):
            comments[len(next(csv.reader([line], delimiter=separator)))].append(number)
        elif '"' in line:
            record = [line]  # and the lines that a quoted field continues
            reader = csv.reader(
                chain([line], (record.append(continuation) or continuation for continuation in remaining)),
                delimiter=separator,
            )
            counts.append(len(next(reader)))
            number += reader.line_num - 1
            ends.append(number)
            text_lines += record
        elif line.strip(blanks):  # pandas skips blank lines
            counts.append(line.count(separator) + 1)
            ends.append(number)
            text_lines.append(line)
    return "".join(text_lines), np.array(ends, int), np.array(counts, int), comments


def join(sources: Sequence[TableSource]) -> "pd.DataFrame":
    """Concatenate tables; ValueError unless their columns are equal."""
    first, *other_sources = sources
    for other in other_sources:
        if different := set(first.frame.columns) ^ set(other.frame.columns):
            column = min(map(str, different))
            raise ValueError(
                f"{other.where}: the columns must equal the columns of {first.where}; only one has {column!r}; "
                "remove it, or add it to the others"
            )
    if not other_sources:
        return first.frame
    objects = [source.frame.astype(object) for source in sources]
    return pd.concat(objects, ignore_index=True)


def missing_column_error(name: str, columns: Sequence[Any], where: str) -> ValueError:
    """Make the error for a missing or ambiguous column."""
    texts = [str(column) for column in columns]
    lowered = {text.lower(): text for text in reversed(texts)}
    times = texts.count(name)
    near = [] if times else [lowered[text] for text in get_close_matches(name.lower(), lowered, 1, 0.6)]
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    problem = f"{times} columns {name!r}, of which one needs another name" if times else f"no column {name!r}{hint}"
    return ValueError(f"{where}: {problem}; available: {', '.join(map(repr, texts))}")


def as_text(value: Any) -> Any:
    """Convert a name to text; whole numbers have no decimal point."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)
