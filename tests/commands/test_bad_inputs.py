"""Bad inputs end with a line and a status, whatever they are: a sample of those in `tests.support.bad_inputs`."""

from pathlib import Path

import pytest
from tests.support.bad_inputs import BadInput, all_inputs, outcome, seeded

SAMPLE = [bad for bad in seeded(1, 250) if bad.command == "run"][:30]


@pytest.mark.slow
@pytest.mark.parametrize("bad", SAMPLE, ids=lambda bad: bad.name)
def test_a_bad_input_ends_with_a_line(bad: BadInput, tmp_path: Path) -> None:
    assert outcome(bad, tmp_path).fault is None
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("diff", ": cyclic"),
        *[(command, name) for command in ("figures", "claims") for name in (": sys.exit", "('../x',)", "('..',)")],
        ("figures", "study: cyclic"),
        ("figures", "study: a list"),
        ("figures", "study: not UTF-8"),
        ("claims", "('pomrl', '--variants', '../readings')"),
    ],
)
def test_other_commands_end_with_a_line_too(command: str, name: str, tmp_path: Path) -> None:
    fitting = [bad for bad in all_inputs() if bad.command == command and bad.name.endswith(name)]
    assert fitting
    for number, bad in enumerate(fitting):
        (tmp_path / str(number)).mkdir()
        assert outcome(bad, tmp_path / str(number)).fault is None
