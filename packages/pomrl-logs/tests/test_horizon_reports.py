"""The report on a log: its three outcomes, the changes that it lists, the command and the page."""

import hashlib
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_logs import chain_log, make_log
from threadpoolctl import threadpool_info, threadpool_limits

import pomrl_logs
from pomrl.commands import main
from pomrl_logs import horizon_reports
from pomrl_logs.amounts import amount
from pomrl_logs.gain_figure import draw
from pomrl_logs.gains import Gains, estimate_gains
from pomrl_logs.horizon_reports import MAX_DOUBT, HorizonReport, _enough, _warnings
from pomrl_logs.logs import Log
from pomrl_logs.recommendations import LIMIT_WORDS, NOT_SHOWN, Improvement
from pomrl_logs.safe_improvement import KEEP


def sold(tried: int, *, pays: float = 2.0, tasks: int = 4) -> Log:
    """A log of two states, in which the second action pays more in the first one, and was tried so often there."""
    counts = np.zeros((tasks, 2, 2, 2), int)
    counts[:, :, 0] = 40
    counts[:, 0, 1] = tried
    R = np.zeros((1, 2, 2, 1))
    R[:, 0] = np.array([1.0, pays])[:, None]
    return make_log(counts, R)


@pytest.fixture(scope="module")
def report() -> HorizonReport:
    return pomrl_logs.horizon_report(sold(20), 0.9)


def test_what_is_better_is_to_be_changed(report: HorizonReport):
    advice = report.recommendation
    assert advice.policies.tolist() == [[1, 0]] * 4
    assert advice.changed.tolist() == [[True, False]] * 4
    assert report.words[0].startswith("Change 4 of 8 decisions, and keep all others. Then 'reward' rises by an ")
    assert 0.0 < report.improvement.lower < report.improvement.mean
    first = report.changes.iloc[0]
    named = ["task", "state", "from", "to", "tried", "tried_in_all"]
    assert first[named].tolist() == [0, 0, "0 67%, 1 33%", 1, 40, 160]


def test_gains_of_changes_add_up(report: HorizonReport):
    # Each visit to the first state, which is any second one from anywhere, pays 2 and not (80 + 40 * 2) / 120.
    visits = 0.5 / (1.0 - 0.9)
    assert report.changes["gain"].sum() == pytest.approx(visits * 2.0 / 3.0, rel=0.05)
    assert report.tasks["gain"].mean() == pytest.approx(report.changes["gain"].sum())
    assert report.tasks["changes"].tolist() == [1] * 4


def test_table_and_figure_have_all_comparisons(report: HorizonReport):
    selected = report.table.query(
        f"support == {report.recommendation.support} and gamma == {report.recommendation.gamma}"
    )
    assert selected["lower"].item() == report.table["lower"].max() == report.improvement.lower
    assert sorted(set(report.table["gamma"])) == [0.0, 0.5, 0.7, 0.8, 0.9]
    marked = draw(report).data
    assert marked.loc[marked["marker"], "x"].tolist() == [report.recommendation.gamma]


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (sold(0), "Keep to the decisions of the log: no change that the log has tried often enough looks better."),
        (sold(20, pays=1.0), "Keep to the decisions of the log: no change"),
        (
            make_log(np.ones((4, 2, 2, 2), int), np.ones(1)),
            "Not enough data: keep to the decisions of the log. The log",
        ),
    ],
    ids=["one action alone", "actions that pay the same", "too few transitions"],
)
def test_what_shows_no_gain_is_kept(log: Log, text: str):
    report = pomrl_logs.horizon_report(log, 0.9)
    assert report.words[0].startswith(text)
    assert (report.recommendation.policies == KEEP).all()
    assert report.improvement == Improvement(0.0, 0.0)
    assert report.changes.empty


def test_the_requested_amount_of_data_suffices():
    frame = chain_log(tasks=5, m=6, seed=1)
    frame["reward"] = np.random.default_rng(0).normal(frame["action"] == "b", 3.0)
    report = pomrl_logs.horizon_report(pomrl_logs.from_log(frame), 0.9)
    assert report.words[0].startswith("Not enough data: keep to the decisions of the log. Some changes look better;")
    times = int(np.ceil(report.recommendation.transitions / len(frame)))
    assert times > 1
    repeated = pd.concat([frame] * 2 * times)
    assert pomrl_logs.horizon_report(
        pomrl_logs.from_log(repeated, accept=["repeats", "shifted"]), 0.9
    ).recommendation.changed.any()


@pytest.mark.parametrize("rows", [10, 17, 30, 60, 90])
def test_small_logs_give_no_required_number(rows: int):
    frame = chain_log(tasks=1, m=20, seed=1).sample(rows, random_state=0)
    frame["reward"] = np.random.default_rng(rows).normal(frame["action"] == "b", 3.0)
    report = pomrl_logs.horizon_report(pomrl_logs.from_log(frame, accept=["repeats"]), 0.9)
    assert not np.isfinite(report.recommendation.transitions)
    assert not re.search(r"\d", report.words[0])


@pytest.mark.parametrize(("deviation", "is_known"), [(0.9, True), (1.1, False)])
def test_uncertain_gains_give_no_number(deviation: float, is_known: bool):
    gains = Gains(np.array([1.0]), np.array([deviation]), np.zeros(1), quantile=2.0)
    assert np.isfinite(_enough(sold(20), gains)) == is_known


def test_the_report_depends_on_its_seed_alone():
    log = pomrl_logs.from_log(chain_log(m=30))
    first, same, other = (pomrl_logs.horizon_report(log, 0.9, [0.5], seed=seed).table for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, same)
    assert not first.equals(other)


@pytest.mark.parametrize(
    ("lower", "n_warnings"), [(MAX_DOUBT - 1e-6, 0), (MAX_DOUBT + 1e-6, 1), (np.nan, 0)], ids=["below", "above", "none"]
)
def test_doubtful_limits_have_a_warning(lower: float, n_warnings: int):
    assert len(_warnings(Improvement(1.0, lower))) == n_warnings
    assert len(_warnings(Improvement(300.0, 300.0 * lower))) == n_warnings


def test_a_report_has_the_warnings_of_its_limit(report: HorizonReport):
    doubtful = pomrl_logs.horizon_report(sold(4000), 0.9)
    assert report.improvement.doubt < MAX_DOUBT <= doubtful.improvement.doubt
    assert report.warnings == []
    assert doubtful.warnings == _warnings(doubtful.improvement)
    assert set(doubtful.warnings) <= set(doubtful.words)


def test_costs_fall_in_their_units():
    frame = pd.DataFrame({"state": "s", "action": list("xy") * 60, "euros": [3000.0, 1000.0] * 60, "next_state": "s"})
    log = pomrl_logs.from_log(frame, cost="euros", accept=["repeats", "history"])
    report = pomrl_logs.horizon_report(log, 0.5)
    # Both actions cost 4,000 over the whole future, and the cheaper one 2,000.
    text = (
        "Change 1 of 1 decisions, and keep all others. Then 'euros' falls by an estimated 2,000, with a lower limit of "
    )
    assert report.words[0].startswith(text)
    assert "discounted sum of 'euros' falls" in report.words[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(2163.0, "2,160"), (-13.04, "-13.0"), (0.99999, "1.00"), (0.0, "0"), (1e-9, "1e-09"), (1234567.0, "1,230,000")],
)
def test_amounts_have_three_digits_and_separators(value: float, text: str):
    assert amount(value) == text


def test_common_changes_are_one_row(report: HorizonReport):
    (row,) = report.merged_changes.to_dict("records")
    assert (row["task"], row["state"], row["from"], row["to"], row["tried"]) == ("all", 0, "0 67%, 1 33%", 1, 40)
    assert row["gain"] == pytest.approx(report.changes["gain"].sum())
    log = sold(20)
    some = pomrl_logs.horizon_report(log.only((log.indices[0] < 3) | (log.indices[2] == 0)), 0.9)
    assert some.merged_changes["task"].tolist() == some.changes["task"].tolist() == [0, 1, 2]


def test_the_limit_stands_beside_what_breaks_it(report: HorizonReport):
    assert "used information that is not in the log, this limit fails: in such benchmark logs it" in report.words[0]


def test_a_report_uses_one_thread_of_blas(monkeypatch: pytest.MonkeyPatch):
    threads = list[int]()

    def estimate(*arguments: Any) -> Gains:
        threads.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return estimate_gains(*arguments)

    monkeypatch.setattr(horizon_reports, "estimate_gains", estimate)
    with threadpool_limits(2, user_api="blas"):
        pomrl_logs.horizon_report(sold(20), 0.9)
    assert {*threads} == {1}


def called(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(folder))
    monkeypatch.setattr("sys.argv", [])
    main.command("horizon", [str(folder / "visits.csv"), "--task", "patient", *arguments])()


def test_the_command_prints_and_writes_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    chain_log(m=40).rename(columns={"task": "patient"}).to_csv(tmp_path / "visits.csv", index=False)
    called(tmp_path, monkeypatch)
    digest = hashlib.sha256((tmp_path / "visits.csv").read_bytes()).hexdigest()
    output = capsys.readouterr().out
    lines = [line for line in output.splitlines() if not line.startswith(str(tmp_path))]
    assert lines[0].startswith("The audit of 1,920 transitions found no problems. The rewards")
    assert any(line.startswith("Change ") for line in lines[:4])
    assert max(map(len, lines)) <= 80

    folder = tmp_path / "horizon" / "visits"
    files = {"report.html", "changes.csv", "gains.pdf", "gains.png", "gains.csv", "gains.json"}
    assert {path.name for path in folder.iterdir()} == files
    changes = pd.read_csv(folder / "changes.csv")
    report = pomrl_logs.horizon_report(pomrl_logs.from_log(tmp_path / "visits.csv", task="patient"))
    assert changes["to"].tolist() == report.changes["to"].tolist()
    assert set(changes["to"]) <= {"a", "b"}
    page = unescape((folder / "report.html").read_text())
    assert all(sentence in page for sentence in report.words)
    assert 'src="data:image/png;base64,' in page
    merged = report.merged_changes["task"]
    assert page.count('<th scope="row">task 3</th>') == 1 + (merged == "task 3").sum()
    assert page.count('<th scope="row">all</th>') == (merged == "all").sum()
    assert f"visits.csv: SHA-256 <code>{digest}</code>" in page
    assert re.search(r"20\d\d-\d\d-\d\d, by the command <code>pomrl horizon \S*visits.csv --task patient</code>", page)
    assert all(fault in page for fault in NOT_SHOWN)
    assert LIMIT_WORDS in page[page.index("Estimated gain at each") :]
    assert "http://" not in page.replace("http-equiv", "")

    called(tmp_path, monkeypatch)
    assert unescape((folder / "report.html").read_text()) == page
