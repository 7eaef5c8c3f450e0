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
    def is_sweep(self) -> bool:
        return bool(self.study) and self.sweep != "study.yaml"


@dataclass(frozen=True)
class Line:
    """An entry of a composition: settings with a signature, if they are an experiment."""

    place: Place
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    signature: str


@dataclass(frozen=True)
class Pair:
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
    def changed(self) -> dict[str, list[Any]]:
        """The old and new value of each changed key."""
        return differences([self.old.settings, self.new.settings]) if self.old and self.new else {}


def read_lines(composition: Mapping[str, Any]) -> list[Line]:
    """Read the entries of a composition."""
    return [
        Line(Place(line["study"], line["sweep"], line["variant"]), **experiment)
        for line in composition["lines"]
        for experiment in line["experiments"]
    ]


def pair(old: Iterable[Line], new: Iterable[Line]) -> list[Pair]:
    """Pair entries by their place and varied values, then equal settings anywhere."""
    before: dict[Any, Line] = {_key(line): line for line in old}
    after: dict[Any, Line] = {_key(line): line for line in new}
    pairs = [Pair(before[key], after[key]) for key in after if key in before]
    removed = [line for key, line in before.items() if key not in after]
    added = [line for key, line in after.items() if key not in before]
    by_settings: defaultdict[str, list[Line]] = defaultdict(list)
    for line in removed:
        by_settings[_content(line)].append(line)
    for line in added:
        same = by_settings[_content(line)]
        pairs.append(Pair(same.pop(0) if same else None, line))
    return [*pairs, *(Pair(line, None) for lines in by_settings.values() for line in lines)]


def _key(line: Line) -> tuple[Place, str]:
    return line.place, json.dumps(line.varied, sort_keys=True, default=str)


def _content(line: Line) -> str:
    return json.dumps([line.place.is_sweep, line.settings], sort_keys=True, default=str)


class Change(NamedTuple):
    """A changed setting: key, old and new value."""

    key: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.key}: {self.old} -> {self.new}"


def by_change(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Group pairs by each changed setting, and by what is new, removed or renamed."""
    groups: defaultdict[str, list[Pair]] = defaultdict(list)
    for one in pairs:
        for description in _descriptions(one):
            groups[description].append(one)
    return dict(groups)


def _descriptions(one: Pair) -> Iterator[str]:
    if one.old is None or one.new is None:
        what = "experiments" if one.line.place.is_sweep else "options and files"
        yield f"{'new' if one.old is None else 'removed'} {what}"
        return
    if one.old.place != one.new.place:
        yield f"renamed: {one.old.place.name} -> {one.new.place.name}"
    for key, (old, new) in one.changed.items():
        yield str(Change(key, str(old), str(new)))


def new_errors(old: Sequence[Mapping[str, str]], new: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Group the places of new errors by message; errors of both sides are left out."""
    known = Counter(json.dumps(error, sort_keys=True) for error in old)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for error in new:
        if not known[json.dumps(error, sort_keys=True)]:
            place = Place(error["study"], error["sweep"], error["variant"])
            message = error["message"].partition(f"{place.name}: ")[2] or error["message"]
            groups[message.rpartition(f"{place.name}, variant {place.variant}: ")[2]].append(place.name)
    return dict(groups)
