"""`pomrl reproduce` computes every sweep of a study once, and then its claims, figures, pages and report."""

from pathlib import Path

import pytest
from tests.support.computed import call, refused
from tests.support.study_folders import CLAIM, SMALL, write

from pomrl.commands import computing, reproduce
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.study import find


def test_every_sweep_and_those_that_others_have_is_computed_with_its_own_number_of_runs_or_another(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments: list[Experiment] = []
    monkeypatch.setattr(computing, "compute", lambda of_study: experiments.extend(of_study) or {})
    theirs = CLAIM[CLAIM.index("@claim") :].replace('"first", figures=("curves",)', '"pomrl2023/illustration"')
    theirs = theirs.replace("K1", "K2").replace("meta_learning_helps", "of_theirs")
    write(here / "mine", claims_py=f"{CLAIM}\n\n{theirs}")
    of_theirs = find("pomrl2023").settings("illustration")
    promised = of_theirs[0].experiment.request.runs
    for runs, expected in ((None, [10, 10, *[promised] * len(of_theirs)]), (3, [3] * (2 + len(of_theirs)))):
        experiments.clear()
        reproduce.compute_sweeps(find("mine"), runs)
        assert [experiment.request.runs for experiment in experiments] == expected
        assert [experiment.problem.seed for experiment in experiments][:2] == [1, 1]


def test_a_study_with_sweeps_alone_has_a_page_of_their_curves(here: Path) -> None:
    write(here / "mine", {name: SMALL[name] for name in ("study.yaml", "sweeps/first.yaml")})
    status, out, said = call(reproduce, "mine", "--runs", "3")
    assert status == 0, said
    assert out.split()[-2:] == ["report", "outputs/studies/mine/report/index.html"]
    assert "ada_pomrl" in (here / out.split()[-1]).read_text()
    assert "pomrl reproduce" not in said
    assert [line.split()[0] for line in said.splitlines()[-3:]] == ["sweeps", "pages", "report"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_stage_that_fails_ends_the_command_with_status_1_after_the_others(fails: bool, monkeypatch):
    done: list[int] = []
    stages = {"sweeps": lambda: fails, "figures": lambda: done.append(1)}
    monkeypatch.setattr(reproduce, "prepare", lambda *_, **__: stages)
    status, _, said = call(reproduce, "pomrl")
    assert (status, done, said.splitlines()[:2]) == (fails, [1], ["== sweeps", "== figures"])


def test_no_runs_at_all_are_refused_in_one_line():
    assert "at least 1" in refused(reproduce, "pomrl", "--runs", "0")
