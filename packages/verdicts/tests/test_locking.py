"""A lock says what was stated before looking, and who looked."""

import json
import re
from datetime import UTC, datetime

import pytest
from tables_of_tests import normal, two_methods

from verdicts import LockError, judge, lock_claims

TODAY = datetime.now(UTC).date().isoformat()


def table(n: int):
    return two_methods(normal(n, 1.0), normal(n, seed=1))


@pytest.fixture
def claims(tmp_path):
    path = tmp_path / "claims.txt"
    path.write_text("x: a > b\ny: a > 0\n")
    return path


def test_judgements_name_the_lock_date(claims):
    assert judge(table(60), claims).attrs["lock"] == []
    assert lock_claims(claims) == claims.with_suffix(".lock")
    (note,) = judge(table(60), str(claims)).attrs["lock"]
    assert re.fullmatch(r"locked on \d{4}-\d\d-\d\d", note)


def test_changed_added_and_removed_claims_are_named(claims):
    lock_claims(claims)
    claims.write_text("x: a > 2 * b\nz: a > 0\n# a comment\n")
    assert judge(table(60), claims).attrs["lock"][1] == "changed after the lock: x, y, z"


def test_an_earlier_look_is_named(claims):
    lock_claims(claims, n=60)
    assert judge(table(20), claims).attrs["lock"][1:] == ["only 20 of 60 planned units"]
    (note,) = judge(table(60), claims).attrs["lock"][1:]
    assert note.startswith("looked before: on ")
    assert note.endswith("with 20 of 60 planned units")


def test_the_same_table_is_one_look(claims):
    lock_claims(claims)
    assert [len(judge(table(60), claims).attrs["lock"]) for _ in range(3)] == [1, 1, 1]
    assert len(json.loads(claims.with_suffix(".lock").read_text())["looks"]) == 1
    assert "looked before" in judge(table(61), claims).attrs["lock"][1]


def test_new_locks_keep_dates_and_looks(claims):
    lock_claims(claims, n=60)
    judge(table(20), claims)
    lock_claims(claims, n=100)
    notes = judge(table(100), claims).attrs["lock"]
    assert notes[0].endswith(f", and earlier on {notes[0][10:20]}")
    assert "looked before" in notes[1]


def test_a_lock_can_have_another_place(claims, tmp_path):
    lock = lock_claims(claims, tmp_path / "other.json")
    assert judge(table(60), claims).attrs["lock"] == []
    assert len(judge(table(60), ["x: a > b", "y: a > 0"], lock=lock).attrs["lock"]) == 1


@pytest.mark.parametrize(
    ("old", "new"), [("a > b", "a > 2"), (TODAY, "2020-01-01"), ('"n": 60', '"n": 6'), ("{", "["), ("looks", "x")]
)
def test_a_lock_edited_by_hand_is_damaged(claims, old, new):
    lock = lock_claims(claims, n=60)
    lock.write_text(lock.read_text().replace(old, new))
    with pytest.raises(LockError, match="is damaged") as error:
        judge(table(60), claims)
    assert "\n" not in str(error.value)


def test_an_unwritable_lock_is_no_error(claims, monkeypatch):
    lock_claims(claims)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    assert judge(table(60), claims).attrs["lock"][-1] == "this look is not recorded: Read-only file system"
