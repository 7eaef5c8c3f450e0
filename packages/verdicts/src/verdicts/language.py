"""Claims as lines of text.

    less: `left > right`, also <, >= and <=. A side is a sum of numbers, cells and number * cell
    share: `left > right in > 50 % of game`, a share of units
    count: `left > right in >= 40 of game`, each tested
    equal: `left ~ right within 10 %`, or `within 0.5` in units of the numbers
    best: `cell is best over method`, or `is highest`, `is lowest`
    extreme: `cell is lowest at gamma in 0.5 .. 0.9`
    trend: `cell rises with n`, or `falls`; `at every step` claims each step
    flat: `cell is flat with n within 10 %`

`id:` may precede a claim. `where game=pong, n=3` selects rows for all cells; `for each game` claims it of each. A cell
is `score[method=A, n=3]`, or a method alone. Names with spaces or signs need quotes: "A (tuned)". Text after ` #` is a
comment.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?!\w|\.\w)"
"""A number without sign; not the start of a name such as 7b."""

NAME = r'"(?P<quoted>[^"]+)"|(?P<bare>\w+(?:[.-]+\w+)*)'
"""A name, in quotes or of words joined by points and hyphens."""

PAIR_VALUE = r'"(?P<quoted>[^"]*)"|(?P<bare>[^",\]]+?)(?=\s*(?:,|\]|for\s+each\b|$))'
"""The value of column=value."""

RELATIONS = "> < ~, 'is best over', 'is lowest at', 'is flat with', 'rises with' or 'falls with'"

CELL = "a cell, such as A or score[method=A]"

COMMENT = re.compile(r'((?:"[^"]*"|[^"#]|(?<=\S)#)*)(?<!\S)#.*')

BULLET = r"[-*•]\s+"
"""The sign before a claim in a list; a minus sign stands next to its term."""

SUFFIXES = (".txt", ".toml", ".yaml", ".yml")
"""Suffixes of files with claims."""


class ClaimError(ValueError):
    """A claim cannot be read or judged."""


@dataclass(frozen=True)
class Cell:
    """A mean: a column of numbers (empty for the default), at values of columns; a bare name is a method."""

    measure: str = ""
    where: tuple[tuple[str, str], ...] = ()
    name: str = ""

    def __str__(self) -> str:
        where = ", ".join(f"{column}={value}" for column, value in self.where)
        return self.name if self.name and not where else f"{self.name or self.measure}[{where}]"


Side = dict[Cell | None, float]
"""The coefficients of cells; None is the constant."""


@dataclass(frozen=True)
class Claim:
    """A claim as data."""

    text: str
    kind: str
    """One of less, equal, share, best, extreme, trend and flat."""
    left: Side
    right: Side = field(default_factory=dict)
    id: str = ""
    sign: int = 1
    """1 for more or highest, -1 for less or lowest, 0 for best."""
    margin: float = 0.0
    is_relative: bool = False
    """Whether the margin is a share of the right side."""
    column: str = ""
    """The column after over, at, with or of."""
    number: float = 0.0
    """The share or number of units above which the claim is true."""
    is_percent: bool = False
    range: tuple[float, float] = (0.0, 0.0)
    """The claimed places of an extreme."""
    is_stepwise: bool = False
    where: tuple[tuple[str, str], ...] = ()
    each: str = ""

    @property
    def cells(self) -> list[Cell]:
        """The cells of both sides."""
        return [cell for cell in (*self.left, *self.right) if cell is not None]


class Reader:
    """A line, read from left to right."""

    def __init__(self, line: str) -> None:
        self.line, self.position = line.rstrip(), 0

    def take(self, pattern: str) -> re.Match[str] | None:
        """Read a pattern after spaces, if it comes next."""
        match = re.compile(rf"\s*(?:{pattern})").match(self.line, self.position)
        self.position = match.end() if match else self.position
        return match

    def need(self, pattern: str, expected: str) -> re.Match[str]:
        """Read a pattern, or raise a ClaimError with the place."""
        if match := self.take(pattern):
            return match
        raise self.error(expected)

    def error(self, expected: str) -> ClaimError:
        """Return the error "character N must be ..., got ..."."""
        remainder = self.line[self.position :]
        number = self.position + len(remainder) - len(remainder.lstrip()) + 1
        got = repr(remainder.strip()) if remainder.strip() else "the end"
        return ClaimError(f"character {number} of {self.line.strip()!r} must be {expected}, got {got}")

    def name(self, expected: str) -> str:
        """Read a name, in quotes or not."""
        match = self.need(NAME, expected)
        return match["quoted"] or match["bare"]


def parse(line: str) -> Claim:
    """Read a claim from a line."""
    match = COMMENT.fullmatch(line)
    reader = Reader(match[1] if match else line)
    reader.take(BULLET)
    match = reader.take(r"([\w.-]+):(?=\s)")
    text = reader.line[reader.position :].strip()
    fields: dict[str, Any] = {"text": text, "id": match[1] if match else "", "left": _read_side(reader)}
    fields |= _read_relation(reader)
    while match := reader.take(r"where\b|for\s+each\b"):
        is_where = match[0].strip() == "where"
        fields |= {"where": _read_pairs(reader)} if is_where else {"each": reader.name("a column, such as game")}
    reader.need("$", "'where column=value', 'for each column' or the end")
    claim = Claim(**fields)
    is_turned = claim.kind in ("less", "share") and not any(claim.left)  # such as 0.9 < A
    return replace(claim, left=claim.right, right=claim.left, sign=-claim.sign) if is_turned else claim


def _read_side(reader: Reader) -> Side:
    """Read a sum of terms."""
    side: Side = {}
    sign = reader.take(r"[-+]")
    while True:
        cell, coefficient = _read_term(reader)
        side[cell] = side.get(cell, 0.0) + (-coefficient if sign and sign[0].strip() == "-" else coefficient)
        sign = reader.take(r"[-+]")
        if sign is None:
            return side


def _read_term(reader: Reader) -> tuple[Cell | None, float]:
    """Read a number, a cell, or a number times a cell."""
    number = reader.take(NUMBER)
    if number is None:
        return _read_cell(reader), 1.0
    return (_read_cell(reader) if reader.take(r"\*") else None), float(number[0])


def _read_cell(reader: Reader) -> Cell:
    name = reader.name(CELL)
    if not reader.take(r"\["):
        return Cell(name=name)
    pairs = () if reader.take(r"\]") else _read_pairs(reader)
    if pairs:
        reader.need(r"\]", "',' or ']'")
    return Cell(name, pairs)


def _read_pairs(reader: Reader) -> tuple[tuple[str, str], ...]:
    """Read column=value, ..."""
    pairs = []
    while True:
        column = reader.name("column=value")
        reader.need("=", f"'=' and a value of {column}")
        match = reader.need(PAIR_VALUE, f"a value of {column}")
        pairs.append((column, match["quoted"] if match["bare"] is None else match["bare"]))
        if not reader.take(","):
            return tuple(pairs)


def _read_relation(reader: Reader) -> dict[str, Any]:
    """Read what a claim says about its left side."""
    if match := reader.take(r">=|<=|>|<"):
        return {"sign": 1 if ">" in match[0] else -1, "right": _read_side(reader), **_read_share(reader)}
    if reader.take("~"):
        return {"kind": "equal", "right": _read_side(reader), **_read_margin(reader)}
    if match := reader.take(r"(rises|falls)\s+with\b"):
        column = reader.name("a column, such as n")
        is_stepwise = reader.take(r"at\s+every\s+step\b") is not None
        return {"kind": "trend", "sign": 1 if match[1] == "rises" else -1, "column": column, "is_stepwise": is_stepwise}
    if reader.take(r"is\s+flat\s+with\b"):
        return {"kind": "flat", "column": reader.name("a column, such as n"), **_read_margin(reader)}
    if match := reader.take(r"is\s+(best|highest|lowest)\b"):
        return _read_extreme(reader, match[1])
    raise reader.error(RELATIONS)


def _read_share(reader: Reader) -> dict[str, Any]:
    """Read `in > 50 % of game`, if it is next."""
    if not reader.take(r"in\b"):
        return {"kind": "less"}
    sign = reader.need(r">=?", "'> 50 % of game' or '>= 40 of game'")[0].strip()
    number, is_percent = _read_amount(reader)
    reader.need(r"of\b", "'of' and a column")
    if not is_percent:
        number += 0.5 if sign == ">" else -0.5  # at least 40 is more than 39.5
    column = reader.name("a column of units, such as game")
    return {"kind": "share", "number": number, "is_percent": is_percent, "column": column}


def _read_margin(reader: Reader) -> dict[str, Any]:
    reader.need(r"within\b", "'within 10 %' or 'within 0.5'")
    margin, is_relative = _read_amount(reader)
    if margin == 0.0:
        raise reader.error("after a margin above 0")
    return {"margin": margin, "is_relative": is_relative}


def _read_amount(reader: Reader) -> tuple[float, bool]:
    """Read a number, divided by 100 before a percent sign."""
    number = float(reader.need(NUMBER, "a number")[0])
    return (number / 100, True) if reader.take("%") else (number, False)


def _read_extreme(reader: Reader, keyword: str) -> dict[str, Any]:
    """Read `over method`, or `at gamma in 0.5 .. 0.9`."""
    sign = -1 if keyword == "lowest" else 1
    if reader.take(r"over\b"):
        is_best = keyword == "best"
        return {"kind": "best", "sign": 0 if is_best else sign, "column": reader.name("a column, such as method")}
    if keyword == "best":
        raise reader.error("'over' and a column; write highest or lowest before 'at'")
    reader.need(r"at\b", "'over' or 'at', and a column")
    column = reader.name("a column, such as gamma")
    reader.need(r"in\b", "'in 0.5 .. 0.9'")
    low = _read_signed(reader)
    reader.need(r"\.\.", "'..' and a number")
    return {"kind": "extreme", "sign": sign, "column": column, "range": (low, _read_signed(reader))}


def _read_signed(reader: Reader) -> float:
    return float(reader.need(rf"-?{NUMBER}", "a number")[0])


def read_claims(claims: str | Path | dict[str, str] | Iterable[str | Claim]) -> list[Claim]:
    """Read claims from lines, from a dict by id, or from a file (.txt, .toml, .yaml).

    Claims without id are named C1, C2, ... by their place.
    """
    is_path = isinstance(claims, Path) or (isinstance(claims, str) and claims.lower().endswith(SUFFIXES))
    source = Path(str(claims)) if is_path else None
    lines = _lines(_load(source) if source else claims)
    if not lines:
        raise ClaimError(f"{source or 'claims'} must have at least one claim, got none")
    start = "claim" if source is None else f"{source}, line" if source.suffix == ".txt" else f"{source}, claim"
    listed = [_parse_at(line, f"{start} {position}: ") for position, line in lines]
    listed = [replace(claim, id=claim.id or f"C{number}") for number, claim in enumerate(listed, 1)]
    ids = [claim.id for claim in listed]
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        raise ClaimError(f"ids of claims must differ, got {', '.join(repeated)} twice")
    return listed


def _parse_at(line: str | Claim, label: str) -> Claim:
    try:
        return line if isinstance(line, Claim) else parse(line)
    except ClaimError as error:
        raise ClaimError(f"{label}{error}") from None


def _lines(claims: object) -> list[tuple[int, str | Claim]]:
    """Return claims with their places, without empty lines and comments."""
    if isinstance(claims, dict):
        claims = [f"{name}: {line}" for name, line in claims.items()]
    lines = claims.splitlines() if isinstance(claims, str) else claims
    if not isinstance(lines, Iterable):
        raise ClaimError(f"claims must be lines of text, got {type(claims).__name__}")
    numbered = [(number, line) for number, line in enumerate(lines, 1)]
    if wrong := [line for _, line in numbered if not isinstance(line, str | Claim)]:
        raise ClaimError(f"a claim must be a line of text, got {wrong[0]!r}")
    return [(number, line) for number, line in numbered if isinstance(line, Claim) or not re.match(r"\s*(#|$)", line)]


def _load(path: Path) -> object:
    """Read a file of claims: its text, or the list or table `claims`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".txt":
            return text
        loaded = _load_toml(text) if path.suffix.lower() == ".toml" else _load_yaml(text)
    except (ValueError, SyntaxError) as error:
        raise ClaimError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    return loaded["claims"] if isinstance(loaded, dict) and "claims" in loaded else loaded


def _load_toml(text: str) -> object:
    import tomllib

    return tomllib.loads(text)


def _load_yaml(text: str) -> object:
    try:
        import yaml
    except ImportError:
        raise ClaimError("claims in YAML need PyYAML: pip install pyyaml") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ClaimError(str(error)) from None
