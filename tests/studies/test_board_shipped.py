"""The command `pomrl board`, its page, what documents look up, and the losses that are shipped, computed again."""

import ast
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import Float
from playwright.sync_api import Browser
from scipy import sparse
from tests.support.board import MINE, NAMES, folder, made_up, mine, write
from tests.support.browser import AXE, browser, faults_of_axe, watched
from tests.support.settings import ROOT

import pomrl
from pomrl.outputs import outputs
from pomrl_studies.board import command, icu_sepsis, losses, page, recomputing, scores, tiers
from pomrl_studies.board.cells import ICU_SEPSIS, board_cells, common_cells
from pomrl_studies.board.learner import shipped_learners

__all__ = ["browser", "folder"]

# The command


losses_of_file = losses.read_losses

CHEAP = tuple(replace(cell, runs=5) for cell in common_cells() if cell.name in ("chains 0.01", "river_swim 0.05"))


@pytest.fixture
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the board have two cells of five runs, of which the shipped losses have the first five."""
    rows = [
        replace(row, losses=row.losses[:5]) for row in losses.read_losses() if row.cell in {cell.name for cell in CHEAP}
    ]
    monkeypatch.setattr(losses, "read_losses", lambda: rows)
    for module in (command, scores, page):
        monkeypatch.setattr(module, "common_cells", lambda: CHEAP)
    monkeypatch.setattr(command, "board_cells", lambda version: CHEAP)
    monkeypatch.setattr(recomputing, "all_cells", lambda: CHEAP)


@pytest.mark.usefixtures("empty_outputs", "few_runs")
def test_the_command_keeps_all_other_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.board(output=folder / "before")
    before = (folder / "before" / "board.csv").read_text().splitlines()
    capsys.readouterr()
    command.board(write(folder / "mine.py", MINE.format(estimate="memory.P_o_hat")), workers=1)
    out = capsys.readouterr().out
    after = (outputs() / "board" / "board.csv").read_text().splitlines()
    (own,) = {*after} - {*before}
    assert {*before} <= {*after}
    assert own.startswith("learners,Mine,Mine,1,")
    assert "* Mine" in out
    assert max(map(len, out.splitlines()[:-3])) <= 80
    assert 'class="own"' in (outputs() / "board" / "index.html").read_text()
    assert pomrl.find()["tags"].tolist() == ["board"] * 3  # two cells of Mine, and the checked cell


@pytest.mark.usefixtures("empty_outputs", "few_runs")
def test_missing_packages_omit_cells_for_everyone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command.board(output=folder / "two")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.setattr(icu_sepsis, "data_file", lambda: None)
    lake = replace(CHEAP[0], name="frozen_lake 0.05")
    rows = losses.read_losses()
    other = [replace(row, cell=lake.name, losses=row.losses[::-1] ** 2) for row in rows if row.cell == CHEAP[0].name]
    monkeypatch.setattr(losses, "read_losses", lambda: [*rows, *other])
    for module in (command, scores, page):
        monkeypatch.setattr(module, "common_cells", lambda: (*CHEAP, lake))
    capsys.readouterr()
    command.board(write(folder / "mine.py", MINE.format(estimate="memory.P_o_hat")), workers=1)
    out, err = capsys.readouterr()
    line = err.splitlines()[0]
    assert line.startswith("left out, because packages are not installed: frozen_lake 0.05, frozen_lake 0.15, ")
    assert line.endswith("icu_sepsis; run `pip install 'pomrl[families,icu-sepsis]'`")
    assert "in 2 cells" in out
    after = (outputs() / "board" / "board.csv").read_text().splitlines()
    assert {*(folder / "two" / "board.csv").read_text().splitlines()} < {*after}


@pytest.mark.usefixtures("empty_outputs", "few_runs")
def test_learners_with_the_truth_are_limits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.board(write(folder / "mine.py", MINE.format(estimate="truth.P_o")), workers=1)
    out, err = capsys.readouterr()
    assert "Mine: a limit without a rank, because its estimates depend on `truth`" in err.splitlines()
    assert [line.split()[2] for line in out.splitlines() if line.startswith("* Mine")] == ["limit"]
    sent = losses_of_file(outputs() / "board" / "losses.csv")
    assert [row.learner for row in sent] == ["without_meta"]  # others would rank it


@pytest.mark.usefixtures("empty_outputs")
def test_shipped_losses_of_other_code_are_noticed() -> None:
    rows = losses.read_losses()
    recomputing.check_shipped(rows)
    changed = [replace(row, losses=1.001 * row.losses) for row in rows]
    with pytest.raises(ValueError, match=r"the losses of without_meta in chains 0\.01 differ from the present code"):
        recomputing.check_shipped(changed)


# What is shipped


def best_values(P: Float[np.ndarray, "S A S"], admissible: list[list[int]], gamma: float) -> Float[np.ndarray, " S"]:
    """The largest probability of survival (discounted) from each state, by value iteration."""
    is_admissible = np.array([[a in actions for a in range(P.shape[1])] for actions in admissible])
    values, rows = np.zeros(len(P)), sparse.csr_array(P.reshape(-1, len(P)))  # few states can follow
    for _ in range(2000):
        following = (rows @ values).reshape(P.shape[:2])
        action_values = np.where(is_admissible, P[..., icu_sepsis.SURVIVAL] + gamma * following, -1.0)
        values = np.append(action_values.max(1)[: icu_sepsis.DEATH], np.zeros(-icu_sepsis.DEATH))
    return values


@pytest.mark.slow
@pytest.mark.skipif(icu_sepsis.data_file() is None, reason="needs icu-sepsis")
def test_the_page_states_the_cost_of_truncation() -> None:
    file = icu_sepsis.data_file()
    assert file is not None
    P = np.load(file)["tx_mat"]
    lines = (file.parent / "admissible_actions.txt").read_text().splitlines()[1 : len(P) + 1]
    every_action = [[int(action) for action in line.split()] for line in lines]
    first_eight = [actions[: icu_sepsis.MAX_ACTIONS] for actions in every_action]
    costs = [(best_values(P, every_action, g) - best_values(P, first_eight, g)).max() for g in (1.0, 0.99)]
    text = "by up to {:.3f} in a state (by {:.3f} at γ = 0.99)".format(*costs)
    assert text in " ".join((ROOT / "docs" / "board.md").read_text().split())


def test_every_learner_has_losses_everywhere() -> None:
    table = {(row.learner, row.cell): len(row.losses) for row in losses.read_losses()}
    cells = (*common_cells(), ICU_SEPSIS)
    expected = {
        (learner.name, cell.name): cell.runs
        for learner in shipped_learners().values()
        for cell in cells
        if learner.is_run_in(cell)
    }
    assert table == expected


@pytest.mark.usefixtures("empty_outputs")
@pytest.mark.parametrize(("name", "cell"), [("james_stein", "river_swim 0.05"), ("ada_pomrl_computed", "chains 0.047")])
def test_shipped_losses_are_computed_again(name: str, cell: str) -> None:
    (stored,) = (row for row in losses.read_losses() if (row.learner, row.cell) == (name, cell))
    (board_cell,) = (candidate for candidate in common_cells() if candidate.name == cell)
    (computed,) = losses.compute(shipped_learners()[name], [board_cell], str, workers=1)
    np.testing.assert_allclose(computed.losses, stored.losses, rtol=recomputing.TOLERANCE)
    assert computed.gamma == stored.gamma


@pytest.mark.slow
def test_shipped_losses_are_of_the_present_code() -> None:
    """`python -m pomrl_studies.board --signatures` renews what fails here because code moved that computes the same."""
    learners, cells = shipped_learners(), {cell.name: cell for cell in board_cells()}
    rows = [row for row in losses.read_losses() if row.cell in cells]
    outdated = [
        f"{row.learner}: {row.cell}"
        for row in rows
        if row.signature != losses.current_signature(learners[row.learner], cells[row.cell])
    ]
    assert outdated == []


def test_signatures_are_renewed_for_equal_losses() -> None:
    stored = next(row for row in losses.read_losses() if (row.learner, row.cell) == recomputing.CHECKED)
    outdated = replace(stored, signature="0" * 12)
    assert recomputing.with_current_signatures([outdated], shipped_learners(), common_cells()) == [stored]
    other = replace(outdated, losses=stored.losses + np.eye(1, len(stored.losses))[0])
    with pytest.raises(ValueError, match=r"the losses of without_meta in chains 0\.01 differ from the present code"):
        recomputing.with_current_signatures([other], shipped_learners(), common_cells())


@pytest.mark.parametrize("copied", ["beyond/estimators/james_stein.py", "board/learners/pooled_variances.py"])
def test_shipped_learners_equal_the_examples(copied: str) -> None:
    """A wheel has no examples, so studies have copies; their first lines alone differ."""
    paths = ROOT / "src" / "pomrl_studies" / copied, ROOT / "examples" / Path(copied).name
    copy, original = (ast.parse(path.read_text()) for path in paths)
    assert ast.dump(ast.Module(copy.body[1:], [])) == ast.dump(ast.Module(original.body[1:], []))


def test_tables_are_read_as_written(tmp_path: Path) -> None:
    rows = made_up(NAMES)
    losses.write_losses(rows, tmp_path / "losses.csv")
    for row, reread in zip(rows, losses.read_losses(tmp_path / "losses.csv"), strict=True):
        np.testing.assert_array_equal(reread.losses, row.losses)
        assert replace(reread, losses=row.losses) == row
    losses.write_losses(losses.read_losses(), tmp_path / "shipped.csv")
    assert (tmp_path / "shipped.csv").read_bytes() == losses.FILE.read_bytes()


def test_documents_look_up_counts_ranks_and_losses() -> None:
    actual = {score.learner.name: score for score in scores.score(shipped_learners().values(), shipped(), {})}
    families = [cell.name for cell in common_cells() if cell.group == "families"]
    for name in ("meta_gradient", "tied_rows"):
        worse = sum(actual[name].cells[cell].versus_ada == 1 for cell in families)
        assert tiers.board(name, "worse_than", "ada_pomrl") == f"{worse} of {len(families)}"
        rank = actual[name].rank
        assert rank
        assert tiers.board(name, "rank") == f"{rank.estimate:.1f}"
    assert tiers.board("without_meta", "loss", "chains 0.01") == "100 %"
    with pytest.raises(ValueError, match="what must be rank, loss"):
        tiers.board("tied_rows", "best")


def shipped() -> scores.Losses:
    return scores.by_learner(losses.read_losses())


# The page


def test_the_page_sorts_and_filters(browser: Browser, tmp_path: Path) -> None:
    own = [replace(row, learner="Mine") for row in losses.read_losses() if row.learner == "james_stein"]
    all_learners = [*shipped_learners().values(), mine(Path("mine.py"))]
    (html, _, _) = command.write(scores.score(all_learners, shipped(), scores.by_learner(own)), own, tmp_path)
    assert html.stat().st_size < 400_000
    with watched(browser) as visit:
        visit.goto(html.as_uri())
        visit.wait_for_selector("#profiles[data-ready]")
        ranking = visit.locator("table.sortable").first.locator("tbody tr")
        names = [name.partition(" yours")[0] for name in ranking.locator("th").all_inner_texts()]
        assert "Mine" in names
        heading = visit.locator("table.sortable th button", has_text="milliseconds").first
        for is_down in (False, True):
            heading.click()
            *times, none = ranking.locator("td:last-child").all_inner_texts()  # a limit has no time
            assert none == "–"
            assert times == sorted(times, key=float, reverse=is_down)
        visit.fill("#words", "rows")
        assert ranking.locator("visible=true").count() >= 2
        assert visit.text_content("#count") == f"2 of {len(names)} learners"
        visit.select_option("#group", "chains")
        assert visit.locator("th[data-group]:visible").count() == 3 * 2
        visit.fill("#words", "")
        if AXE:
            assert faults_of_axe(visit, 400, 1280) == []
