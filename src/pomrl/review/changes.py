"""Find what changes between the composed sweeps of two revisions."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pomrl.results.comparison import differences


class Place(NamedTuple):
    """A sweep under a variant; or an option, the defaults, or a study's file, without experiments."""

    study: str
    sweep: str
    variant: str

    @property
    def name(self) -> str:
        return f"{self.study}/{self.sweep}" if self.study else self.sweep

    @property
    def full_name(self) -> str:
        """The name with its variant, if it has one."""
        return f"{self.name} ({self.variant})" if self.variant else self.name

    @property
    def is_sweep(self) -> bool:
        return bool(self.study) and self.sweep != "study.yaml"


@dataclass(frozen=True)
class Line:
    """An entry of a composition: settings with a signature, if they are an experiment."""

    place: Place
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    signature: str

    @property
    def varied_text(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.varied.items())


@dataclass(frozen=True)
class LinePair:
    """An entry before and after; one of them may be missing."""

    old: Line | None
    new: Line | None

    @property
    def line(self) -> Line:
        """The entry after the change, or the removed one."""
        line = self.new or self.old
        assert line is not None
        return line

    @property
    def is_whole(self) -> bool:
        return bool(self.old and self.new)

    @property
    def signatures(self) -> list[str]:
        return [line.signature for line in (self.old, self.new) if line]

    @property
    def changed_settings(self) -> dict[str, list[Any]]:
        """The old and new value of each changed key."""
        return differences([self.old.settings, self.new.settings]) if self.old and self.new else {}

    @property
    def is_recoded(self) -> bool:
        """Return whether equal settings have another signature, because the code changed."""
        return len({*self.signatures}) > 1 and not self.changed_settings


def read_lines(composition: Mapping[str, Any]) -> list[Line]:
    """Read the entries of a composition."""
    return [
        Line(Place(line["study"], line["sweep"], line["variant"]), **experiment)
        for line in composition["lines"]
        for experiment in line["experiments"]
    ]


def pair_lines(old: Iterable[Line], new: Iterable[Line]) -> list[LinePair]:
    """Pair entries by their place and varied values, then equal settings anywhere."""
    before: dict[Any, Line] = {_key(line): line for line in old}
    after: dict[Any, Line] = {_key(line): line for line in new}
    pairs = [LinePair(before[key], after[key]) for key in after if key in before]
    old_lines: defaultdict[str, list[Line]] = defaultdict(list)
    for line in (line for key, line in before.items() if key not in after):
        old_lines[_content(line)].append(line)
    for line in (line for key, line in after.items() if key not in before):
        same_lines = old_lines[_content(line)]
        pairs.append(LinePair(same_lines.pop(0) if same_lines else None, line))
    return [*pairs, *(LinePair(line, None) for lines in old_lines.values() for line in lines)]


def _key(line: Line) -> tuple[Place, str]:
    return line.place, json.dumps(line.varied, sort_keys=True, default=str)


def _content(line: Line) -> str:
    return json.dumps([line.place.is_sweep, line.settings], sort_keys=True, default=str)


def by_change(pairs: Iterable[LinePair]) -> dict[str, list[LinePair]]:
    """Group pairs by each changed setting, and by what is new, removed or renamed."""
    groups: defaultdict[str, list[LinePair]] = defaultdict(list)
    for pair in pairs:
        for description in _descriptions(pair):
            groups[description].append(pair)
    return dict(groups)


def _descriptions(pair: LinePair) -> Iterator[str]:
    if pair.old is None or pair.new is None:
        what = "experiments" if pair.line.place.is_sweep else "options and files"
        yield f"{'new' if pair.old is None else 'removed'} {what}"
        return
    if pair.old.place != pair.new.place:
        yield f"renamed: {pair.old.place.full_name} -> {pair.new.place.full_name}"
    for key, (old, new) in pair.changed_settings.items():
        yield f"{key}: {old} -> {new}"


def new_errors(old: Sequence[Mapping[str, str]], new: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Group the places of new errors by message; errors of both sides are left out."""
    old_counts = Counter(json.dumps(error, sort_keys=True) for error in old)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for error in new:
        if not old_counts[json.dumps(error, sort_keys=True)]:
            place = Place(error["study"], error["sweep"], error["variant"])
            message = error["message"].partition(f"{place.name}: ")[2] or error["message"]
            groups[message.rpartition(f"{place.name}, variant {place.variant}: ")[2]].append(place.name)
    return dict(groups)
