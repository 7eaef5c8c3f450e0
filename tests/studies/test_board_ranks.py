"""Ranks and tiers of the board, and boards joined from files."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.board import folder, theirs

from pomrl_studies.board import command, losses, other_boards, recomputing, scores
from pomrl_studies.board.__main__ import main
from pomrl_studies.board.cells import VERSION, Cell, all_cells, common_cells
from pomrl_studies.board.learner import shipped_learners
from pomrl_studies.board.losses import CellLosses
from pomrl_studies.board.ranks import Ranks

__all__ = ["folder"]

CELLS = [Cell(f"f{i} {spread}", "families", 50, {"task_distribution": f"f{i}"}) for i in range(12) for spread in "ab"]


def ranks(means: Mapping[str, np.ndarray], field: list[str]) -> Ranks:
    """Ranks from mean losses in the cells; runs share a factor, and have noise of 5 %."""
    table = {}
    for i, (name, in_cells) in enumerate(means.items()):
        rng = np.random.default_rng(i)
        noisy = [mean * (1.0 + 0.05 * rng.standard_normal(50)) for mean in in_cells]
        rows = zip(CELLS, noisy, strict=True)
        table[name] = {cell.name: CellLosses(name, cell.name, "", 0.1, 0.9, 1.0, loss) for cell, loss in rows}
    return Ranks.of_losses(table, field, CELLS)


def test_learners_with_decided_differences_are_in_tiers() -> None:
    ones = np.ones(len(CELLS))
    board = ranks({"a": ones, "b": ones, "c": 2 * ones, "d": 2 * ones, "e": 4 * ones}, list("abcde"))
    assert board.tiers == {"a": 1, "b": 1, "c": 2, "d": 2, "e": 3}
    assert board.decided_by_one_family == {}


def test_disagreeing_families_leave_one_tier() -> None:
    """All runs agree in each cell, so resamples of runs alone would decide."""
    side = np.where(np.arange(len(CELLS)) % 4 < 2, 0.5, 2.0)
    board = ranks({"a": np.where(np.arange(len(CELLS)) < 4, 0.5, side), "b": np.ones(len(CELLS))}, ["a", "b"])
    assert board.mean[0, 0] < board.mean[0, 1]
    assert board.tiers == {"a": 1, "b": 1}
    assert board.interval("a").upper - board.interval("a").lower > 0.3


def test_one_family_does_not_decide() -> None:
    """A learner that differs in one family only is not in a tier of its own."""
    in_one = np.where(np.arange(len(CELLS)) < 2, 9.0, 1.0)
    assert ranks({"a": np.ones(len(CELLS)), "b": in_one}, ["a", "b"]).tiers == {"a": 1, "b": 1}


def test_single_families_make_no_tier() -> None:
    """Learners are better than the first one in some families, and in single cells of others."""
    rng = np.random.default_rng(6)
    means = {"a": np.ones(len(CELLS))}
    for name in "bcd":
        is_better = np.repeat(rng.random(12) < 0.25, 2) | (rng.random(len(CELLS)) < 0.1)
        means[name] = np.where(is_better, 0.5, 2.0)
    board = ranks(means, [*means])
    assert board.tiers == dict.fromkeys("abcd", 1)
    ((pair, families),) = board.decided_by_one_family.items()
    assert pair == ("d", "a")
    for family in {*board.families}:
        reduced = board.without(family)
        worse, better = (reduced.names.index(name) for name in pair)
        assert reduced.is_significantly_worse[worse, better] == (family not in families)


def test_learners_outside_the_field_move_nothing() -> None:
    means = {"a": np.ones(len(CELLS)), "b": 2 * np.ones(len(CELLS))}
    without = ranks(means, ["a", "b"])
    for mine, tier in ((0.1, 1), (1.0, 1), (1.5, 2), (9.0, 2)):
        with_mine = ranks({**means, "mine": mine * np.ones(len(CELLS))}, ["a", "b"])
        assert {name: with_mine.tiers[name] for name in means} == without.tiers
        assert with_mine.tiers["mine"] == tier
        np.testing.assert_array_equal(with_mine.mean[:, :2], without.mean)


def test_random_learners_are_rarely_in_several_tiers() -> None:
    """Families draw the better learner: any decision is wrong, and at most 5 % of the boards may have one."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        by_family = {name: np.repeat(rng.lognormal(size=12), 2) for name in "abcd"}
        wrong += max(ranks(by_family, list("abcd")).tiers.values()) > 1
    assert wrong <= 7  # of a binomial number with 5 %, in less than 1 of 100 tests


def test_version_1_ranks_in_its_cells(capsys: pytest.CaptureFixture[str]) -> None:
    for version in range(1, VERSION + 1):
        command.board(version=version)
        ranked_cells = [cell for cell in all_cells(version) if cell in common_cells()]
        assert re.findall(r"in (\d+) cells", capsys.readouterr().out) == [str(len(ranked_cells))]
    assert len(all_cells(1)) < len(all_cells(VERSION))
    with pytest.raises(ValueError, match=f"got {VERSION + 1}$"):
        command.board(version=VERSION + 1)


# Joined boards


def test_merged_learners_rank_as_if_computed(folder: Path) -> None:
    shipped = losses.read_losses()
    rows = other_boards.read_theirs(theirs(folder / "theirs.csv", author="A. Student"), shipped)
    (learner,) = other_boards.learners_of(rows, folder / "theirs.csv")
    ranked = scores.score([*shipped_learners().values(), learner], scores.by_learner(shipped), scores.by_learner(rows))
    by_name = {score.learner.name: score for score in ranked}
    assert by_name["Theirs"].learner.about == "by A. Student"
    assert by_name["Theirs"].rank
    assert by_name["james_stein"].rank
    assert by_name["Theirs"].rank.estimate == pytest.approx(by_name["james_stein"].rank.estimate + 0.5)


def test_a_merged_learner_ranks_in_version_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.board(merge=theirs(folder / "theirs.csv"), version=1, output=folder / "page")
    out = capsys.readouterr().out
    assert "* Theirs" in out
    assert "in 21 cells" in out
    assert (folder / "page" / "losses.csv").is_file()


def test_a_learner_named_as_mine_is_refused(folder: Path) -> None:
    path = theirs(folder / "theirs.csv")
    with pytest.raises(ValueError, match="a learner of yours is also named Theirs; rename yours"):
        other_boards.read_theirs(path, losses.read_losses(), {"Theirs"})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cell": "mars 0.05"}, "Theirs: unknown cell 'mars 0.05' of the board"),
        ({"losses": np.ones(3)}, "Theirs: river_swim 0.05 must have 100 finite losses, got 3"),
        ({"losses": np.full(100, np.nan)}, "must have 100 finite losses"),
        ({"learner": "tied_rows"}, "tied_rows in river_swim 0.05 must have the shipped losses"),
        ({"cell": "queue 0.05"}, "a learner and cell must stand once, got Theirs in queue 0.05 twice"),
        ({"learner": "without_meta", "cell": "chains 0.01"}, "must have the shipped losses"),
    ],
    ids=["cell", "runs", "nan", "name", "twice", "checked row"],
)
def test_unfit_tables_are_refused(folder: Path, change: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        other_boards.read_theirs(theirs(folder / "theirs.csv", **change), losses.read_losses())


def test_a_table_of_other_code_is_refused(folder: Path) -> None:
    path = theirs(folder / "theirs.csv")
    shipped = losses.read_losses()
    checked = next(row for row in shipped if (row.learner, row.cell) == recomputing.CHECKED)
    path.write_text(path.read_text().replace(checked.signature, "0123456789ab"))
    with pytest.raises(ValueError, match="must be computed by the present code, with the signature"):
        other_boards.read_theirs(path, shipped)
    (folder / "other.csv").write_text("learner,loss\na,1\n")
    with pytest.raises(ValueError, match="must have the columns learner, cell, signature"):
        other_boards.read_theirs(folder / "other.csv", shipped)
    with pytest.raises(ValueError, match="must be an existing file"):
        other_boards.read_theirs(folder / "none.csv", shipped)


def test_cells_of_new_learners_are_drawn() -> None:
    rows = losses.read_losses()
    base = [row for row in rows if row.learner != "james_stein"]
    new = recomputing.changed_rows(base, rows)
    assert {row.learner for row in new} == {"james_stein"}
    draws = [[row.cell for row in recomputing.draw_rows(new, seed)] for seed in range(20)]
    assert all(len({*cells}) == 2 for cells in draws)
    assert draws[3] == [row.cell for row in recomputing.draw_rows(new[::-1], 3)]
    assert len({cell for cells in draws for cell in cells}) > 15


@pytest.mark.usefixtures("empty_outputs")
def test_changed_losses_are_noticed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for row in losses.read_losses() if (row.learner, row.cell) == ("pomrl", "chains 0.01")]
    losses.write_losses([], folder / "base.csv")
    losses.write_losses(rows, folder / "honest.csv")
    losses.write_losses([replace(row, losses=0.99 * row.losses) for row in rows], folder / "changed.csv")
    original = losses.read_losses
    for name, output in (("honest", "pomrl: chains 0.01 is as stored"), ("changed", "differ from its code's")):
        path = folder / f"{name}.csv"
        monkeypatch.setattr(losses, "read_losses", lambda file=path: original(file))
        if name == "honest":
            main(["--recompute", str(folder / "base.csv"), "7"])
            assert output in capsys.readouterr().out
        else:
            with pytest.raises(ValueError, match=output):
                main(["--recompute", str(folder / "base.csv"), "7"])


def test_each_cell_is_in_a_family() -> None:
    assert {cell.family for cell in common_cells() if cell.since == 1} >= {"river_swim", "chains"}
    assert len({cell.family for cell in common_cells()}) == 18
