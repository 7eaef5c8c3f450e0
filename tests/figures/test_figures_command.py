import sys
from pathlib import Path

import pytest
from tests.settings import ROOT

from pomrl.commands import figures as figures_command
from pomrl.figures import FIGURES, INTERVALS


def test_the_command_with_nothing_stored_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["figures", "planning_omrl", "varyingSmT"])
    with pytest.raises(SystemExit) as end:
        figures_command.main()
    said = capsys.readouterr().err
    assert end.value.code == 1
    for sweep in ("task_similarity", "states_20", "states_30"):
        assert f"python -m src.run experiment={sweep}" in said
    assert "./reproduce.sh" in said
    assert not list(tmp_path.iterdir())


def test_the_command_refuses_a_name_that_does_not_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures", "no_such_figure"])
    with pytest.raises(SystemExit) as end:
        figures_command.main()
    assert end.value.code == 1
    assert "no_such_figure: there is no such figure; there are overview" in capsys.readouterr().err


def test_pictures_of_the_readme_are_those_that_the_command_renews() -> None:
    assert {path.stem for path in (ROOT / "outputs/readme").glob("*.png")} == set(figures_command.README)
    text = (ROOT / "README.md").read_text() + (ROOT / "docs" / "results.md").read_text()
    assert all(f"outputs/readme/{name}.png" in text for name in figures_command.README)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["planning_omrl"], ["planning_omrl", "planning_omrl_intervals"]),
        (["planning_omrl_intervals", "upper_bound"], ["planning_omrl_intervals", "upper_bound"]),
        ([], [*FIGURES, *INTERVALS]),
    ],
)
def test_both_versions_of_a_figure_are_drawn_unless_one_is_named(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: list[str]
) -> None:
    asked: list[str] = []

    def drawn(names: list[str], *_: object) -> tuple[list[str], dict[str, str]]:
        asked.extend(names)
        return names, {}

    monkeypatch.setattr(sys, "argv", ["figures", *arguments])
    monkeypatch.setattr(figures_command, "draw", drawn)
    figures_command.main()
    assert sorted(asked) == sorted(expected)
