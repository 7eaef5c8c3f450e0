"""The main job asks for every sweep of a study once, and then for its claims, figures, pages and report."""

import subprocess
from collections.abc import Iterator

import pytest
from tests.support.settings import ROOT

from pomrl.commands import reproduce
from pomrl.configuration.study import Study, find, shipped
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import Variant

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def composed_once() -> Iterator[None]:
    """The experiments of the shipped studies are composed once for all tests here, as that takes most of the time."""
    compose, known = Study.settings, {}

    def settings(study: Study, name: str, variant: Variant | None = None, own: None = None) -> list[Setting]:
        key = study.name, name, variant and variant.name
        if key not in known:
            known[key] = compose(study, name, variant)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "settings", settings)
        yield


def experiments(study: Study, runs: int | None) -> list:
    return list(reproduce._experiments(study, runs))


@pytest.fixture(scope="module")
def of_the_paper():
    return experiments(find("pomrl"), None)


def test_every_sweep_is_computed_with_its_own_number_of_runs(of_the_paper):
    for study in shipped():
        asked = of_the_paper if study.name == "pomrl" else experiments(study, None)
        for name in study.sweeps:
            for setting in study.settings(name):
                assert setting.experiment in asked


def test_a_study_asks_for_no_experiment_that_another_one_alone_has(of_the_paper):
    beyond = experiments(find("beyond"), None)
    assert beyond == [each.experiment for name in find("beyond").sweeps for each in find("beyond").settings(name)]
    assert not any(experiment in of_the_paper for experiment in beyond)


def test_another_number_of_runs_holds_for_all_and_no_sample_is_computed(of_the_paper):
    few = experiments(find("pomrl"), 3)
    assert {experiment.request.runs for experiment in few} == {3}
    family = find("pomrl").family("environments")
    assert family.is_sample
    of_sample = [each for of in family.variants for each in find("pomrl").settings("task_similarity", of)]
    assert len(few) == len(of_the_paper) - len(of_sample)
    assert all(setting.experiment in of_the_paper for setting in of_sample)


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        (None, ["sweeps", "claims", "figures", "pages", "report", "article"]),
        ("all", ["sweeps", "claims", "variants", "figures", "pages", "report", "article"]),
    ],
)
def test_the_stages_of_a_study(variants: str | None, expected: list[str]):
    assert list(reproduce.stages(find("pomrl"), None, variants)) == expected


def reproduced(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["pomrl reproduce", *words])
    try:
        reproduce.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize("failing", [(), ("sweeps",)])
def test_stages_run_in_order_and_their_times_are_printed(failing: tuple[str, ...], monkeypatch, capsys):
    done = []

    def stage(name: str) -> bool:
        done.append(name)
        return name in failing

    names = ("sweeps", "figures")
    stages = {name: lambda name=name: stage(name) for name in names}
    monkeypatch.setattr(reproduce, "stages", lambda study, runs, variants: stages)
    assert reproduced(monkeypatch, "pomrl") == bool(failing)
    assert done == list(names)
    printed = capsys.readouterr().err.splitlines()
    assert printed[:2] == ["== sweeps", "== figures"]
    assert [line.split()[0] for line in printed[2:]] == list(names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pomrl", "--runs", "0"), "at least 1"),
        ((), "STUDY"),
        (("nowhere",), "there is no such study or folder"),
        (("pomrl", "--variants", "nothing"), "there is no variant or family of variants nothing"),
    ],
)
def test_what_cannot_be_reproduced_is_refused_in_one_line(words: tuple[str, ...], said: str, monkeypatch, capsys):
    assert reproduced(monkeypatch, *words) in (1, 2)
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_an_unknown_job_of_the_script_is_refused():
    ended = subprocess.run([ROOT / "reproduce.sh", "everything"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("usage: ./reproduce.sh")
