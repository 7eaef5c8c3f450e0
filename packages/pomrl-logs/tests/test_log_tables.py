"""How tables of a log are read: files, names, next states and orders; values are in test_log_values.py."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_logs import HEAD, LINES, make_frame, moves, visits, write

import pomrl_logs
from pomrl.planning import END
from pomrl_logs.log_tables import ColumnRoles, read_log
from pomrl_logs.logs import Log

STATES, ACTIONS = ("007", "07", "7"), ("None", "repair")


def with_lone_returns(path: Path) -> Path:
    (path / "log.csv").write_bytes("\r".join([HEAD, *LINES]).encode())
    return path / "log.csv"


def as_jsonl(path: Path) -> Path:
    rows = [dict(zip(HEAD.split(","), line.split(","), strict=True)) for line in LINES]
    return write(path / "log.jsonl", *(json.dumps(row | {"reward": float(row["reward"])}) for row in rows))


def as_gzip(path: Path) -> Path:
    (path / "log.csv.gz").write_bytes(gzip.compress("\n".join([HEAD, *LINES]).encode()))
    return path / "log.csv.gz"


def as_parquet(path: Path) -> Path:
    frame = pd.DataFrame([line.split(",") for line in LINES], columns=HEAD.split(","))
    frame.assign(reward=frame["reward"].astype(float)).to_parquet(path / "log.parquet")
    return path / "log.parquet"


def separated(separator: str) -> Callable[[Path], Path]:
    return lambda path: write(path / "log.txt", *(line.replace(",", separator) for line in [HEAD, *LINES]))


FILES: dict[str, Callable[[Path], Any]] = {
    "csv": lambda path: write(path / "log.csv", HEAD, *LINES),
    "tabs": lambda path: write(path / "log.tsv", *(line.replace(",", "\t") for line in [HEAD, *LINES])),
    "semicolons": separated(";"),
    "bars": separated("|"),
    "gzip": as_gzip,
    "jsonl": as_jsonl,
    "parquet": as_parquet,
    "comments": lambda path: write(path / "log.csv", "# made, by, hand", "", HEAD, LINES[0], "# half", "", *LINES[1:]),
    "quotes": lambda path: write(path / "log.csv", HEAD, 't,"007","None","1.5",07', *LINES[1:]),
    "a mark of the encoding": lambda path: write(path / "log.csv", "\ufeff" + HEAD, *LINES),
    "blanks": lambda path: write(path / "log.csv", HEAD.replace(",", " , "), *(x.replace(",", " ,") for x in LINES)),
    "lines that end with a return alone": with_lone_returns,
    "blank lines": lambda path: write(
        path / "log.tsv", *(x.replace(",", "\t") for x in [HEAD, LINES[0], "  ", *LINES[1:]])
    ),
    "blank lines and quotes": lambda path: write(path / "log.csv", HEAD, "  ", 't,"007","None","1.5",07', *LINES[1:]),
    "another column": lambda path: write(path / "log.csv", "note," + HEAD, *(f'"a,b",{line}' for line in LINES)),
    "decimal commas": lambda path: write(
        path / "log.csv", HEAD.replace(",", ";"), *(x.replace(",", ";").replace("1.5", "1,5") for x in LINES)
    ),
    "several files": lambda path: [
        write(path / f"{i}.csv", HEAD, *lines) for i, lines in enumerate((LINES[:2], LINES[2:]))
    ],
    "several frames": lambda _: [pd.DataFrame([x.split(",")], columns=HEAD.split(",")) for x in LINES],
}


@pytest.mark.parametrize("form", FILES)
def test_all_file_formats_give_one_log(form: str, tmp_path: Path):
    log = read_log(FILES[form](tmp_path), ColumnRoles())
    assert (log.tasks, log.states, log.actions) == (("t", "u"), STATES, ACTIONS)
    assert log.reward.tolist() == [1.5, -2.0, 0.0]
    assert np.argwhere(log.counts).tolist() == [[0, 0, 0, 1], [0, 1, 1, 2], [1, 2, 0, 0]]
    findings = {finding.name for finding in log.findings}
    assert findings == {"blanks": {"names"}, "decimal commas": {"decimals"}}.get(form, set())


def test_frames_keep_their_names():
    rows = [(2**53, "1", None, 0.0, 2**53 + 1), (2**53 + 1, 1, None, 0.0, 2**53)]
    frame = pd.DataFrame(rows, columns=HEAD.split(","), dtype=object).assign(action="NA")
    log = read_log(frame.rename(columns={"task": "state", "state": "task"}), ColumnRoles())
    assert log.tasks == ("1", 1)
    assert log.states == (2**53, 2**53 + 1)
    assert log.actions == ("NA",)


def test_whole_numbers_of_parquet_have_no_point(tmp_path: Path):
    frame = pd.DataFrame({"task": 1, "state": [10, 9], "action": 0, "reward": 0.0, "next_state": [9.0, 10.0]})
    frame.to_parquet(tmp_path / "log.parquet")
    log = read_log(tmp_path / "log.parquet", ColumnRoles())
    assert (log.tasks, log.states) == (("1",), ("9", "10"))


def test_formats_share_names(tmp_path: Path):
    frame = pd.DataFrame({"task": [1, 2], "state": [10, 9], "action": 0, "reward": 0.0, "next_state": [9, 10]})
    frame.to_parquet(tmp_path / "old.parquet")
    frame.assign(task=["1", "x"]).to_csv(tmp_path / "new.csv", index=False)
    old, new = (read_log(tmp_path / name, ColumnRoles()) for name in ("old.parquet", "new.csv"))
    assert (old.tasks, new.tasks, old.states) == (("1", "2"), ("1", "x"), new.states)


def test_many_states_need_no_dense_array():
    """A ring of 60,000 states: an array of all transitions would take 57 GB."""
    S = 60_000
    state = np.arange(S)
    frame = pd.DataFrame({"task": 0, "state": state, "action": "go", "reward": 0.0, "next_state": (state + 1) % S})
    frame.loc[S - 1, "reward"] = 1.0
    rare_rows = frame.iloc[:2].assign(action="wait", reward=1e-6, next_state=[0, 1])
    log = read_log(pd.concat([frame, rare_rows]), ColumnRoles())
    plan = log.model().plan([0.9])
    last = 1.0 + 0.9 * plan.values[0, 0]
    np.testing.assert_allclose(plan.values[0, [S - 1, S - 3]], [last, 0.9**2 * last], rtol=1e-12)
    np.testing.assert_allclose(plan.values[0, :2], 1e-5, rtol=1e-6)  # waiting for ever, far from the reward
    assert plan.policies[0, 2:].max() == 0
    with pytest.raises(ValueError, match=r"1 tasks, 60000 states, for which model.* plans without a prior"):
        log.new_task()


def test_missing_values_interrupt_an_episode():
    frame = pd.DataFrame({"state": ["a", "b", "NA", "c", "d", "e"], "action": "go", "reward": 1.0, "visit": 1})
    log = read_log(frame, ColumnRoles(episode="visit"), missing=["NA"])
    assert moves(log) == [("a", "b"), ("c", "d"), ("d", "e")]
    assert log.episode.tolist() == [0, 0, 0]
    rewards = frame.assign(state=list("abcdef"), reward=["1", "NA", "-1", "1", "", "1"])
    log = read_log(rewards, ColumnRoles(episode="visit"), missing=["NA", "", -1])
    assert moves(log) == [("c", "d")]


def test_all_faults_are_reported_together(tmp_path: Path):
    rows = ["t,,x,1,b,no", "t,b,x,low,a,maybe", *["t,b,x,,a,no"] * 9]
    path = write(tmp_path / "log.csv", HEAD + ",done", *rows)
    with pytest.raises(ValueError, match="line 2") as raised:
        read_log(path, ColumnRoles(terminated="done"))
    assert [line.removeprefix(f"{path}: ") for line in str(raised.value).splitlines()] == [
        "line 3: the value 'maybe' of 'done' must be true or false, yes or no, or 1 or 0",
        "line 2: the value '' of 'state' is missing; write a name, or add --missing '' to end the episode there",
        "line 4: the value '' of 'reward' is missing; write 0 where nothing was paid, or leave the row out, as "
        "--missing '' does (also line 5, line 6, line 7, 5 more)",
        "line 3: the value 'low' of 'reward' is not a finite number; write it like 2.5 or 1000, without units",
    ]


def test_single_decisions_need_no_next_states():
    frame = pd.DataFrame({"state": ["u", "v"] * 9, "action": [0, 1, 1] * 6, "reward": 1.0, "done": "yes"})
    log = read_log(frame, ColumnRoles(terminated="done"))
    assert log.states == ("u", "v", END)
    assert np.unique(log.indices[3]).tolist() == [2]
    with pytest.raises(ValueError, match="row 1: the value 'no' of 'done' is not an end; without next states, all"):
        read_log(frame.assign(done=["yes", "no"] * 9), ColumnRoles(terminated="done"))


def test_counts_weigh_transitions(tmp_path: Path):
    head = "state,action,next_state,count,reward"
    path = write(tmp_path / "log.csv", head, "0,0,1,120,1", "0,1,0,3,0", "1,0,0,55,1", "1,1,1,0,0")
    log = read_log(path, ColumnRoles(weight="count"))
    assert log.counts.sum(-1).tolist() == [[[120, 3], [55, 0]]]
    assert any("column 'count' is not used; if it counts equal" in line for line in read_log(path, ColumnRoles()).audit)
    assert {finding.name for finding in read_log(path, ColumnRoles(weight="count")).findings} == {"task", "weight"}
    with pytest.raises(ValueError, match=r"line 2: the value '1.5' of 'count' is not a number of transitions"):
        read_log(write(path, head, "0,0,1,1.5,1"), ColumnRoles(weight="count"))


def chain() -> pd.DataFrame:
    """Two episodes of two tasks, of which the first one ends and the second one is cut off."""
    rows = [("x", 1, i, f"s{i}", "go", 1.0 + i) for i in range(3)] + [("y", 1, i, f"s{i}", "go", 2.0) for i in range(4)]
    return pd.DataFrame(rows, columns=["task", "visit", "t", "state", "action", "reward"])


def test_next_states_come_from_next_rows():
    frame = chain().assign(done=[0, 0, 1, 0, 0, 0, 0])
    log = read_log(frame.sample(frac=1.0, random_state=1), ColumnRoles(episode="visit", time="t", terminated="done"))
    assert log.states == ("s0", "s1", "s2", "s3", END)
    task, state, _, following = log.indices
    actual = sorted(zip(task.tolist(), state.tolist(), following.tolist(), strict=True))
    assert actual == [(0, 0, 1), (0, 1, 2), (0, 2, 4), (1, 0, 1), (1, 1, 2), (1, 2, 3)]
    assert any("last rows of episodes left out, because they have no next state: 1 (row" in line for line in log.audit)


def test_ended_episodes_need_no_next_state(tmp_path: Path):
    frame = pd.DataFrame({"task": "t", "state": ["a", "b"] * 5, "action": "go", "reward": 1.0, "done": [0, 1] * 5})
    frame["next_state"] = ["b", None] * 5
    frame.to_csv(tmp_path / "log.csv", index=False)
    for source in (frame, tmp_path / "log.csv"):
        log = read_log(source, ColumnRoles(terminated="done"), accept=["repeats"])
        assert log.states == ("a", "b", END)
        assert log.counts.ravel().nonzero()[0].size == 2
    with pytest.raises(ValueError, match="of 'next_state' is missing; mark ends of episodes with --terminated COLUMN"):
        read_log(frame, ColumnRoles())
    cut = read_log(frame.assign(visit=np.arange(10) // 2), ColumnRoles(episode="visit"))
    assert cut.states == ("a", "b")
    assert len(cut.cell) == 5


def test_state_named_end_goes_on():
    def value(end: str) -> dict[object, float]:
        states, following = ["start", "mid", end, "mid"] * 30, ["mid", end, "mid", "mid"] * 30
        frame = pd.DataFrame({"task": "t", "state": states, "action": ["go", "go", "back", "stop"] * 30})
        frame = frame.assign(reward=[0.0, 0.0, 0.0, 1.0] * 30, next_state=following, done=[0, 0, 0, 1] * 30)
        log = read_log(frame, ColumnRoles(terminated="done"))
        return dict(zip(log.states, log.model(log.new_task()).plan([0.9]).values[0], strict=True))

    assert value("end")["mid"] == pytest.approx(value("other")["mid"])
    assert value("end")["mid"] == pytest.approx(1.0, abs=0.01)  # stop, which pays 1


def test_log_without_tasks_has_one():
    log = read_log(chain().drop(columns="task").assign(next_state="s0"), ColumnRoles(), accept=["chain", "breaks"])
    assert log.tasks == ("all",)
    assert "no column 'task', so all rows belong to one task" in log.audit


def test_several_columns_form_a_name():
    frame = chain().assign(next_state=chain()["state"].shift(-1), age=[7] * 3 + [8] * 4, next_age=[7, 7, 8, 8, 8, 8, 9])
    roles = ColumnRoles(state=["state", "age"], next_state=["next_state", "next_age"], action=["action", "visit"])
    log = read_log(frame.dropna(), roles)
    assert log.states[:2] == (("s0", 7), ("s0", 8))
    assert log.actions == (("go", 1),)
    assert str(log.states[0]) == "s0, 7"
    with pytest.raises(ValueError, match="of 'age' changes within an episode; add a column of next values"):
        read_log(frame.assign(age=range(7)).dropna(), ColumnRoles(state=["state", "age"], episode="visit"))


BAD_FILES = {
    "a field too many": (
        "log.csv", [HEAD, LINES[0], LINES[1] + ",9"], r"log\.csv: line 3 must have 5 fields, like the header, got 6"
    ),
    "a field too many in all rows": (
        "log.csv", [HEAD, "t,0,a,1,1,9", "t,1,b,5,0,9"], "line 2 must have 5 fields, like the header, got 6"
    ),
    "a field too few after a comment": (
        "log.csv", ["# c", HEAD, "# d", LINES[0], "t,1"], "line 5 must have 5 fields, like the header, got 2"
    ),
    "two quotes": (
        "log.csv", [HEAD, LINES[0], '""', LINES[1]], r"log\.csv: line 3 must have 5 fields, like the header, got 1"
    ),
    "a header alone": ("log.csv", [HEAD], "the table has no rows"),
    "an empty file": ("log.csv", [""], "the file has no header"),
    "another format": ("log.xlsx", [""], r"the name of a log must end in .*, got \.xlsx"),
    "no format that is compressed": (
        "log.gz", [""], r"must end in .*\.ndjson, or for text also in \.gz after it, got \.gz"
    ),
    "a line that is no object": (
        "log.jsonl", ["{}", "", "{state: 1}"], r"the file cannot be read \(line 3, column 2: Expecting property name"
    ),
    "a line of another object": (
        "log.jsonl", ["{}", "[1, 2]"], r'line 2 must be an object such as {"state": 1, ...}, got \[1, 2\]'
    ),
    "two columns of a name": (
        "log.csv",
        ["state," + HEAD, *("1," + line for line in LINES)],
        "2 columns 'state', of which one needs another name; available: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "lines", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_are_refused_in_one_line(name: str, lines: list[str], message: str, tmp_path: Path):
    with pytest.raises(ValueError, match=message) as raised:
        pomrl_logs.from_log(write(tmp_path / name, *lines))
    assert "\n" not in str(raised.value)


BAD_TABLES: list[tuple[Any, dict[str, Any], str]] = [
    (
        make_frame(t=["1.2.2025", "2.2.2025"]),
        {"time": "t", "dates": "dd.mm.yyyy"},
        "--dates must be a form such as %d/%m/%Y or %Y-%m-%d, got 'dd.mm.yyyy'",
    ),
    (make_frame(), {"dates": "%Q"}, "--dates must be a form such as .*, got '%Q'"),
    (
        make_frame(n=2, t=[1, 2]),
        {"time": "t", "weight": "n"},
        "--weight must stand without --episode and --time, as counts have no order",
    ),
    (
        make_frame(),
        {"state": "Stat"},
        r"no column 'Stat' \(did you mean 'state'\?\); available: 'task', 'state', 'action',",
    ),
    (
        make_frame().drop(columns="next_state"),
        {},
        "no column 'next_state'.*; add --next-state COLUMN, or the order of rows with --episode",
    ),
    (
        make_frame(t=1),
        {"time": "t"},
        "the value 1 of 't' occurs in another row of its task; give the column of episodes with --episode",
    ),
    (make_frame(t="early"), {"time": "t"}, "'t' is neither a number nor a"),
    (make_frame(t=[1, "early"]), {"time": "t"}, "row 1: the value 'early' of 't' is neither a number nor a date"),
    (
        make_frame(t=["2025-12-31", 1.5]),
        {"time": "t"},
        "row 1: the value 1.5 of 't' is a number, but others are dates",
    ),
    (
        make_frame(e=[0, 1]).drop(columns="next_state"),
        {"episode": "e"},
        "no row has a next state; check --episode and --next-state",
    ),
    (make_frame(), {"ends": [7]}, "unknown state 7 in ends; available: 0, 1"),
    (make_frame(), {"ends": [1]}, "row 1: states in ends must not start a row, got 1"),
    (make_frame(), {"bins": {"age": 3}}, "unknown column 'age' in bins; available: 'state', 'action'"),
    (make_frame(), {"bins": {"state": 1}}, "the number of bins must be at least 2, got 1 for 'state'"),
    (make_frame(state="a"), {"bins": {"state": 3}}, "'state' must be a number for --bins"),
    (make_frame(state=[0, "a"]), {"bins": {"state": 3}}, "row 1: the value 'a' of 'state' must be a number for --bins"),
    (make_frame(reward="low"), {}, "row 0: .* is not a finite number"),
    (
        [make_frame(), make_frame(more=1)],
        {},
        "the columns must equal the columns of the log; only one has 'more'",
    ),
    ([], {}, "a log must have at least one table, got none"),
]


@pytest.mark.parametrize(("table", "options", "message"), BAD_TABLES, ids=[message[:40] for *_, message in BAD_TABLES])
def test_bad_tables_are_refused_in_one_line(table: Any, options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message) as raised:
        pomrl_logs.from_log(table, **options)
    assert "\n" not in str(raised.value)


def test_order_of_rows_is_irrelevant(tmp_path: Path):
    first = read_log(write(tmp_path / "a.csv", HEAD, *LINES), ColumnRoles())
    second = read_log(write(tmp_path / "b.csv", HEAD, *reversed(LINES)), ColumnRoles())
    assert isinstance(first, Log)
    assert (first.counts == second.counts).all()


QUOTED = {
    "a quoted name with a hash": ([HEAD, '"#t",1,a,1,2', '"#t",2,a,2,1'], [("1", "2"), ("2", "1")]),
    "a comment after a field of two lines": (
        [HEAD, 't,"1', '2",a,1,s', "# b,c,d,e,f", "t,s,a,2,s"],
        [("1\n2", "s"), ("s", "s")],
    ),
    "comments with a quote": (
        ['# "', HEAD, "t,1,a,1,2", '# of 5" pipes', '#,"x', 't,2,"a",1,1', '# "'],
        [("1", "2"), ("2", "1")],
    ),
}


@pytest.mark.parametrize("case", QUOTED)
def test_comments_are_unquoted_lines(case: str, tmp_path: Path):
    lines, expected = QUOTED[case]
    log = read_log(write(tmp_path / "log.csv", *lines), ColumnRoles(), accept=["chain", "breaks"])
    assert moves(log) == expected


def test_ends_of_combined_states(tmp_path: Path):
    frame = pd.DataFrame({"a": ["x", "y"], "b": [0, 1], "action": "go", "reward": 1.0, "a2": ["y", "z"], "b2": [1, 2]})
    frame.to_csv(tmp_path / "log.csv", index=False)
    roles = ColumnRoles(state=["a", "b"], next_state=["a2", "b2"])
    for end in (("z", "2"), ("z", 2), "z, 2"):
        assert read_log(tmp_path / "log.csv", roles, ends=[end]).ends == {("z", "2")}
    assert read_log(frame, roles, ends=[("z", 2)]).ends == {("z", 2)}
    assert read_log(frame, roles, ends=["z, 2"]).ends == {("z", 2)}


def test_many_columns_form_a_state():
    frame = pd.DataFrame({f"s{i}": np.arange(200) for i in range(20)}).assign(action="a", reward=1.0, visit=0)
    log = read_log(frame, ColumnRoles(state=[f"s{i}" for i in range(20)], episode="visit"))
    assert len(log.states) == 200
    assert log.states[:2] == ((0,) * 20, (1,) * 20)


def test_columns_are_named_by_their_text():
    frame = visits([0, 1], [1, 0]).set_axis(range(4), axis=1)
    names = {"state": "0", "action": "1", "reward": "2", "next_state": "3"}
    assert read_log(frame, ColumnRoles(**names)).states == (0, 1)
    levels = frame.set_axis(pd.MultiIndex.from_product([range(4), ["x"]]), axis=1)
    pairs = {role: f"({number}, 'x')" for role, number in names.items()}
    assert read_log(levels, ColumnRoles(**pairs)).states == (0, 1)
