"""Compositions that are kept on disk: what is read is what would be composed, whatever happened to the files."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.settings import CONF, ROOT

from pomrl.configuration import composition_cache
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.composition import Composer
from pomrl.configuration.composition_cache import cached
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import experiment, names, sweep
from pomrl.configuration.variants import replacing

SWEEPS = [name for name in names(PUBLISHED) if "/" in name]
"""The sweeps of all studies that are shipped, each under its full name."""


@pytest.fixture(autouse=True)
def caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches"


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """A folder of YAML files that a test may edit."""
    return Path(shutil.copytree(CONF, tmp_path / "conf"))


class Counting:
    """Composes something, and counts how often it is asked to."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = {"a": [1, 0.5, None, True]} if answer is None else answer
        self.calls = 0

    def __call__(self) -> Any:
        self.calls += 1
        return self.answer


def entries(caches: Path) -> list[Path]:
    return sorted((caches / "pomrl" / "compositions").glob("*"))


def ask(folder: Path, request: Any = "request") -> int:
    """Ask twice, and return how often it was composed."""
    compose = Counting()
    for _ in range(2):
        assert cached([folder], request, compose) == compose.answer
    return compose.calls


def test_what_was_composed_is_read(conf: Path, caches: Path) -> None:
    assert [ask(conf), ask(conf)] == [1, 0]
    assert ask(conf, ["another", "request"]) == 1
    assert len(entries(caches)) == 2


@pytest.mark.parametrize("name", ["mixing_rates", "samples_and_tasks"])
def test_a_sweep_that_is_read_is_the_one_that_was_composed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    composed = sweep(PUBLISHED, name)
    monkeypatch.setattr("pomrl.configuration.composition._loader", None)
    assert sweep(PUBLISHED, name) == composed


@pytest.mark.parametrize("name", SWEEPS)
def test_a_job_is_composed_as_hydra_composes_it(name: str) -> None:
    """Hydra's own part is left out where a job is composed among others, and nothing else differs."""
    composer = Composer(PUBLISHED.folders, PUBLISHED.studies, keeps=False)
    job = composer.sweep(name)[1][-1]
    assert composer.each([job]) == [composer.one(job)]


@pytest.mark.parametrize("job", [["+tag=mine", "sigma=0.02"], ["~dry_run", "estimator=pomrl"], ["hydra.verbose=true"]])
def test_keys_that_are_added_or_removed_are_those_of_hydra(job: list[str]) -> None:
    composer = Composer(PUBLISHED.folders, PUBLISHED.studies, keeps=False)
    assert composer.each([job]) == [composer.one(job)]


def test_an_experiment_that_is_read_is_the_one_that_was_composed(monkeypatch: pytest.MonkeyPatch) -> None:
    composed = experiment(PUBLISHED, ["sigma=0.02", "estimator=oracle"])
    monkeypatch.setattr("pomrl.configuration.composition._loader", None)
    assert experiment(PUBLISHED, ["sigma=0.02", "estimator=oracle"]) == composed


def edit_an_option(conf: Path) -> None:
    path = conf / "estimator" / "ada_pomrl.yaml"
    path.write_text(path.read_text().replace("sigma_1: 0.5", "sigma_1: 0.25"))


def edit_a_comment(conf: Path) -> None:
    with (conf / "config.yaml").open("a") as file:
        file.write("# more\n")


def add_an_option(conf: Path) -> None:
    (conf / "estimator" / "more.yaml").write_text("defaults: [pomrl, _self_]\n")


def remove_an_option(conf: Path) -> None:
    (conf / "planner" / "value_iteration.yaml").unlink()


def rename_an_option(conf: Path) -> None:
    (conf / "planner" / "value_iteration.yaml").rename(conf / "planner" / "vi.yaml")


@pytest.mark.parametrize("edit", [edit_an_option, edit_a_comment, add_an_option, remove_an_option, rename_an_option])
def test_an_edited_folder_is_composed_again(edit: Callable[[Path], None], conf: Path, caches: Path) -> None:
    ask(conf)
    edit(conf)
    assert [ask(conf), ask(conf)] == [1, 0]
    assert len(entries(caches)) == 1


def test_an_edited_default_reaches_the_experiments(conf: Path) -> None:
    sources = Sources(conf)
    before = sweep(sources, "samples_and_tasks")[0].experiment.method.estimator
    edit_an_option(conf)
    after = sweep(sources, "samples_and_tasks")[0].experiment.method.estimator
    assert [vars(estimator)["sigma_1"] for estimator in (before, after)] == [0.5, 0.25]


def test_an_edited_sweep_of_a_study_is_composed_again(tmp_path: Path) -> None:
    study = tmp_path / "mine"
    (study / "sweeps").mkdir(parents=True)
    (study / "study.yaml").write_text("title: Mine\n")
    seeds = []
    for seed in (1, 2):
        (study / "sweeps" / "first.yaml").write_text(f"# @package _global_\nseed: {seed}\n")
        seeds += [one.experiment.problem.seed for one in sweep(PUBLISHED.with_study(study), "mine/first")]
    assert seeds == [1, 2]


def test_a_linked_folder_is_looked_into(conf: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").mkdir()
    (conf / "more").symlink_to(tmp_path / "linked")
    ask(conf)
    (tmp_path / "linked" / "option.yaml").write_text("a: 1\n")
    assert ask(conf) == 1


@pytest.mark.parametrize("function", ["_code", "_versions"])
def test_other_code_or_another_hydra_composes_again(function: str, conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(conf)
    monkeypatch.setattr(composition_cache, function, lambda: "another")
    assert ask(conf) == 1


def test_a_named_variable_of_the_environment_counts(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (conf / "option.yaml").write_text("folder: ${half:${oc.env:FOLDER_OF_A_TEST,x}}\n")
    assert [ask(conf), ask(conf)] == [1, 0]
    monkeypatch.setenv("FOLDER_OF_A_TEST", "y")
    assert ask(conf) == 1
    monkeypatch.setenv("FOLDER_OF_ANOTHER_TEST", "y")
    assert ask(conf) == 0


@pytest.mark.parametrize(
    "text", ["a: ${now:%s}", "a: ${oc.env:${b}}", "a: ${half:${my.own:1}}", "a: ${${b}:1}", "hydra: {searchpath: [x]}"]
)
def test_what_may_depend_on_more_is_composed_each_time(text: str, conf: Path, caches: Path) -> None:
    (conf / "option.yaml").write_text(f"{text}\n")
    assert ask(conf) == 2
    assert not entries(caches)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("0.5", "0.6"),
        lambda text: "[]",
        lambda text: "",
        lambda text: text.replace('"content"', '"contents"'),
        lambda text: json.dumps(json.loads(text) | {"key": "0" * 64}),
        lambda text: "\x00\xff",
    ],
)
def test_a_damaged_entry_is_ignored_and_replaced(damage: Callable[[str], str], conf: Path, caches: Path) -> None:
    ask(conf)
    (entry,) = entries(caches)
    whole = entry.read_text()
    assert damage(whole) != whole
    entry.write_text(damage(whole))
    assert [ask(conf), ask(conf)] == [1, 0]
    assert entry.read_text() == whole


def test_the_entry_of_another_request_is_ignored(conf: Path, caches: Path) -> None:
    ask(conf)
    (entry,) = entries(caches)
    ask(conf, "another")
    (other,) = set(entries(caches)) - {entry}
    other.write_text(entry.read_text())
    assert ask(conf, "another") == 1


@pytest.mark.parametrize("answer", [{1: 2}, [(1, 2)], [float("nan")], [object()]])
def test_what_json_would_change_is_not_kept(answer: Any, conf: Path, caches: Path) -> None:
    compose = Counting(answer)
    assert [cached([conf], "request", compose) is answer for _ in range(2)] == [True, True]
    assert compose.calls == 2
    assert not entries(caches)


def test_a_folder_that_cannot_be_written_is_no_error(conf: Path, caches: Path) -> None:
    caches.write_text("not a folder")
    assert ask(conf) == 2


def test_nothing_is_left_where_an_entry_cannot_take_its_name(conf: Path, caches: Path) -> None:
    ask(conf)
    (entry,) = entries(caches)
    entry.unlink()
    entry.mkdir()
    assert ask(conf) == 2
    assert entries(caches) == [entry]


def test_errors_are_not_kept(caches: Path) -> None:
    sources = Sources(CONF, ROOT / "examples" / "conf")
    variant = replacing("gamma_schedule", "upper_bound", "growing_horizon")
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"^gamma_0, variant growing_horizon: .*gamma_0"):
            sweep(sources, "gamma_0", variant)


def test_processes_that_write_at_once_leave_one_whole_entry(conf: Path, caches: Path) -> None:
    script = """
import sys
from pathlib import Path
from pomrl.configuration.composition import Composer
from pomrl.configuration.composition_cache import cached
for _ in range(20):
    assert cached([Path(sys.argv[1])], sys.argv[2], lambda: list(range(10000))) == list(range(10000))
"""
    at_once = [subprocess.Popen([sys.executable, "-c", script, str(conf), "request"]) for _ in range(4)]
    assert [process.wait() for process in at_once] == [0] * 4
    (entry,) = entries(caches)
    assert cached([conf], "request", Counting("composed again")) == list(range(10000))
    assert entry.suffix == ".json"
