"""The main job asks for every sweep of the paper, and for those of the example in the place of ada-POMRL, once."""

import subprocess

import pytest
from tests.settings import ROOT

from pomrl.commands import reproduce
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED


@pytest.fixture(scope="module")
def experiments():
    return list(reproduce.experiments(runs=None))


def test_every_published_sweep_is_computed_with_its_own_number_of_runs(experiments):
    for name in studies.of_the_paper(PUBLISHED):
        for setting in studies.sweep(PUBLISHED, name):
            assert setting.experiment in experiments


def test_sweeps_beyond_the_paper_have_a_job_of_their_own(experiments):
    beyond = list(reproduce.experiments(None, studies.BEYOND))
    assert beyond == [each.experiment for name in studies.BEYOND for each in studies.sweep(PUBLISHED, name)]
    assert not any(experiment in experiments for experiment in beyond)


def test_the_extension_repeats_exactly_the_sweeps_that_have_the_option_it_replaces(experiments):
    replaced = reproduce.EXTENSION.replacement
    assert replaced is not None
    of_sweeps = {name: [each.experiment.options for each in studies.sweep(PUBLISHED, name)]
                 for name in studies.of_the_paper(PUBLISHED)}  # fmt: skip
    having = {name for name, options in of_sweeps.items() if any(map(replaced.concerns, options))}
    assert having >= set(reproduce.EXTENDED)
    assert any(experiment.options["estimator"] == replaced.new for experiment in experiments)


def test_another_number_of_runs_holds_for_all(experiments):
    few = list(reproduce.experiments(runs=3))
    assert len(few) == len(experiments) - len(studies.sweep(PUBLISHED, "environments"))
    assert {experiment.request.runs for experiment in few} == {3}


def test_stages_run_in_order_and_their_times_are_printed(monkeypatch, capsys):
    done = []
    names = ("sweeps", "figures")
    monkeypatch.setattr(reproduce, "stages", lambda runs: {name: lambda name=name: done.append(name) for name in names})
    monkeypatch.setattr("sys.argv", ["src.reproduce"])
    reproduce.main()
    assert done == list(names)
    printed = capsys.readouterr().err.splitlines()
    assert printed[:2] == ["== sweeps", "== figures"]
    assert [line.split()[0] for line in printed[2:]] == list(names)


def test_a_number_of_runs_below_one_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["src.reproduce", "--runs", "0"])
    with pytest.raises(SystemExit) as ended:
        reproduce.main()
    assert ended.value.code == 2
    assert "at least 1" in capsys.readouterr().err


def test_an_unknown_job_of_the_script_is_refused():
    ended = subprocess.run([ROOT / "reproduce.sh", "everything"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("usage: ./reproduce.sh")
