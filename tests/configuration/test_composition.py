"""What is composed fast is what Hydra composes, whatever was composed before it and whatever happened to the files."""

import re
import shutil
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from hydra.core.config_store import ConfigStore
from hydra.utils import instantiate
from omegaconf import OmegaConf
from tests.support.computed import call, called
from tests.support.settings import CONF, OPTIONS

from pomrl.commands import run
from pomrl.configuration import overrides
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.composition import Composer, to_composed
from pomrl.configuration.parsing import parse
from pomrl.configuration.resolvers import register_resolvers
from pomrl.configuration.sources import PUBLISHED, SWEEPS, Sources
from pomrl.configuration.sweeps import find_options, sweep
from pomrl.configuration.variants import of_keys


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """A folder of YAML files that a test may edit."""
    return Path(shutil.copytree(CONF, tmp_path / "conf"))


def by_hydra(overrides: Sequence[str]) -> Any:
    register_resolvers()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_container(compose("config", list(overrides)), resolve=True)


@pytest.mark.parametrize("job", [["+tag=mine", "sigma=0.02"], ["+note=later", "estimator=pomrl"]])
def test_added_and_removed_keys_match_hydra(job: list[str]) -> None:
    assert Composer.from_sources(PUBLISHED).compose(job).values == by_hydra(job)


def test_jobs_do_not_depend_on_earlier_ones() -> None:
    composer = Composer.from_sources(PUBLISHED)
    jobs = [["batches=m20_T5"], [], ["experiment=beyond/families"], ["reading=computed"], ["estimator=pomrl"], ["T=2"]]
    expected = [by_hydra(job) for job in jobs]
    assert [composed.values for composed in map(composer.compose, jobs)] == expected
    assert [composed.values for composed in map(composer.compose, reversed(jobs))] == expected[::-1]


@pytest.mark.parametrize("values", ["range(0,1,0.3)", "range(3)", "1e-5,1e16,true,null", "str(1,2)", "'2',x y,[1]"])
def test_each_value_is_read_as_hydra_does(values: str) -> None:
    composer = Composer.from_sources(PUBLISHED)
    lines = [line for (line,) in composer.product({"+note": values})]
    assert [repr(composer.compose([line]).values["note"]) for line in lines] == [
        repr(by_hydra([line])["note"]) for line in lines
    ]


def test_sweeps_inherit_the_axes_of_their_base(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    text = "# @package _global_\ndefaults: [task_similarity, _self_]\nhydra: {sweeper: {params: {T: '1,2'}}}\n"
    (tmp_path / "experiment" / "more.yaml").write_text(text)
    composer = Composer.from_sources(Sources(CONF, tmp_path))
    assert list(composer.axes("more")) == ["sigma", "estimator", "T"]


def test_missing_marks_do_not_replace_values(tmp_path: Path) -> None:
    (tmp_path / "estimator").mkdir()
    (tmp_path / "estimator" / "mine.yaml").write_text("defaults: [ada_pomrl, _self_]\nstart_deviation: ???\n")
    composed = Composer.from_sources(Sources(CONF, tmp_path)).compose(["estimator=mine"])
    assert composed.values["estimator"]["start_deviation"] == 0.5


def edit_an_option(conf: Path) -> None:
    path = conf / "estimator" / "ada_pomrl.yaml"
    path.write_text(path.read_text().replace("start_deviation: 0.5", "start_deviation: 0.25"))


def remove_an_option(conf: Path) -> None:
    (conf / "planner" / "value_iteration.yaml").unlink()


@pytest.mark.parametrize("edit", [edit_an_option, remove_an_option])
def test_files_are_read_again_after_changes(edit: Callable[[Path], None], conf: Path) -> None:
    before = Composer.from_sources(Sources(conf))
    assert Composer.from_sources(Sources(conf)) is before
    edit(conf)
    assert Composer.from_sources(Sources(conf)) is not before


def test_an_edited_sweep_is_composed_again(tmp_path: Path) -> None:
    study = tmp_path / "mine"
    sweeps = study / SWEEPS / "mine"
    sweeps.mkdir(parents=True)
    (study / "study.yaml").write_text("title: Mine\n")
    seeds = []
    for seed in (1, 2):
        (sweeps / "first.yaml").write_text(f"# @package _global_\nseed: {seed}\n")
        seeds += [setting.experiment.problem.seed for setting in sweep(PUBLISHED.with_study(study), "mine/first")]
    assert seeds == [1, 2]


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("foo=1", "foo=1: unknown key; available: S, "),
        ("sgma=1", r"sgma=1: unknown key \(did you mean sigma\?\); available: S, "),
        ("+sgma=1", r"sgma=1: unknown key \(did you mean sigma\?\); available: S, "),
        ("estimator.foo=1", r"estimator.foo=1: unknown key; available: estimator\.mixing, "),
        ("estimator.prio=x", r"estimator.prio='x': unknown key \(did you mean estimator\.prior\?\); available: "),
        ("+estimator.prio=x", r"estimator.prio='x': unknown key \(did you mean estimator\.prior\?\); available: "),
        ("~estimator", "~estimator: a group must have the name of an option"),
        (
            "+estimator._partial_=true",
            "estimator._partial_: a component is made from its fields alone; remove this key",
        ),
        ("+estimator._args_=[1]", "estimator._args_: a component is made from its fields alone; remove this key"),
        ("sigma.x=1", "sigma={'x': 1}: Input should be a valid number"),
        ("sigma=1,2", "sigma=1,2: several values need a sweep; add -m"),
        ("sigma=???", "sigma: Missing mandatory value: sigma$"),
        ("sigma='${oc.env:NO_SUCH_NAME}'", "sigma: Environment variable 'NO_SUCH_NAME' not found$"),
        ("sigma='${sigma}'", "sigma: Recursive interpolation detected$"),
        ("estimator=adapomrl", r"estimator=adapomrl: unknown option \(did you mean ada_pomrl\?\)"),
        ("experiment=my/first", "experiment=my/first: unknown study my"),
        ("experiment=beyond/tied_row", r"experiment=beyond/tied_row: .* \(did you mean tied_rows\?\);"),
    ],
)
def test_unknown_and_malformed_keys_are_one_line(override: str, line: str) -> None:
    with pytest.raises(ConfigError, match=f"^{line}"):
        parse(Composer.from_sources(PUBLISHED).compose([override]))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("_target_: ???", r"estimator._target_ \(estimator/mine\.yaml\): Missing mandatory value: _target_"),
        ("mixing: ${oc.env:NO_SUCH_NAME}", r"estimator\.mixing \(estimator/mine\.yaml\): Environment variable .*"),
        ("_target_:", "estimator must be an option with its class in _target_, got .* in estimator/mine.yaml"),
        ("", "estimator must be an option with its class in _target_, got {} in estimator/mine.yaml"),
        ("3", "/.*/estimator/mine.yaml: Invalid loaded object type: int"),
    ],
)
def test_a_bad_option_file_is_one_line(content: str, line: str, tmp_path: Path) -> None:
    file = tmp_path / "estimator/mine.yaml"
    file.parent.mkdir()
    file.write_text(content)
    for arguments in ((), ("-m", "sigma=0.01,0.02")):
        status, _, err = call(run, *arguments, "--config-dir", str(tmp_path), "estimator=mine")
        assert (status, re.fullmatch(f"{line}\n", err) is not None) == (1, True), err


@pytest.mark.parametrize("option", [*OPTIONS, "gamma_schedule.snap=[0.5,0.9] gamma_schedule=dong"])
def test_hydra_instantiates_the_component_of_the_experiment(option: str) -> None:
    group = option.partition("=")[0].partition(".")[0]
    changes = option.split()
    register_resolvers()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", changes)
    experiment = parse(Composer.from_sources(PUBLISHED).compose(changes))
    components = vars(experiment) | vars(experiment.problem) | vars(experiment.method)
    assert instantiate(config[group]) == components[group]


def test_a_group_that_hydra_removed_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^estimator must have an option, got none; available: .*pomrl"):
        parse(to_composed(by_hydra(["~estimator"])))


def test_old_files_are_read_by_their_schedule() -> None:
    own = ["task_distribution=garnet", "data=generative", "meta_batch=own", "estimator=tied_rows"]
    changes = [*own, "gamma_schedule=dong", "reading=computed"]
    composed = Composer.from_sources(PUBLISHED).compose(changes)
    schedule = {key: value for key, value in composed.values["gamma_schedule"].items() if key != "_convert_"}
    actual = find_options({**composed.values, "gamma_schedule": schedule}, PUBLISHED)
    assert (actual["gamma_schedule"], actual["reading"]) == ("dong", "computed")


def test_own_options_cannot_hide_shipped_ones(tmp_path: Path) -> None:
    options = tmp_path / "conf"
    (options / "estimator").mkdir(parents=True)
    (options / "estimator" / "mine.yaml").touch()
    assert PUBLISHED.with_options(options).own == options
    assert PUBLISHED.with_study(tmp_path).named == (tmp_path,)
    (options / "estimator" / "bayes.yaml").touch()
    for change, folder in ((PUBLISHED.with_options, options), (PUBLISHED.with_study, tmp_path)):
        with pytest.raises(
            ConfigError, match=r"bayes\.yaml: the option estimator=bayes exists already in .*bayes\.yaml"
        ):
            change(folder)


def test_meaningless_sweeps_of_a_variant_are_named() -> None:
    with pytest.raises(ConfigError, match=r"^gamma_0, variant known: .*gamma_0"):
        sweep(PUBLISHED, "gamma_0", of_keys("known", {"gamma_schedule": "dong"}))


def test_numbers_of_the_environment_are_numbers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIGMA", "0.02")
    composer = Composer.from_sources(PUBLISHED)
    assert composer.compose(["sigma=${oc.env:SIGMA}"]).values["sigma"] == 0.02
    assert composer.compose(["sigma=${oc.env:NO_SUCH_VARIABLE,0.03}"]).values["sigma"] == 0.03


def test_old_suffixes_of_options_are_refused(tmp_path: Path):
    (tmp_path / "estimator").mkdir()
    (tmp_path / "estimator" / "mine.yml").write_text("_target_: x.Y")
    with pytest.raises(ConfigError, match=r"estimator/mine\.yml: a file of options must end in \.yaml"):
        PUBLISHED.with_options(tmp_path)


def test_letters_beyond_a_to_z_are_quoted():
    assert overrides.overrides({"tag": "größe"}) == ['tag="größe"']
    with pytest.raises(ConfigError, match="non-ASCII letters must be quoted: 'tag=\"größe\"'"):
        Composer.from_sources(PUBLISHED).compose(["tag=größe"])


@pytest.mark.parametrize("override", ["σ=0.01", "größe"])
def test_letters_beyond_ascii_in_keys_are_refused(override: str):
    with pytest.raises(ConfigError, match="an override must be key=value, such as sigma"):
        Composer.from_sources(PUBLISHED).compose([override])


def test_variants_set_keys_outside_the_axes() -> None:
    wide = of_keys("wide", {"sigma": 0.02, "m": 3})
    problems = [setting.experiment.problem for setting in sweep(PUBLISHED, None, wide, further=["sigma=0.01,0.03"])]
    assert [(problem.sigma, problem.m) for problem in problems] == [(0.01, 3), (0.03, 3)]


class TestShallowCopies:
    """Hydra's repository of configurations is copied without its files, which saves most of the time of help."""

    @staticmethod
    def with_and_without(function: Callable[[], Any]) -> list[Any]:
        results = [function()]
        with pytest.MonkeyPatch.context() as patch:
            for repository in (ConfigRepository, CachingConfigRepository):
                patch.delattr(repository, "__deepcopy__")
            return [*results, function()]

    @pytest.mark.parametrize("flag", ["--help", "--info", "--hydra-help"])
    def test_help_has_the_bytes_of_deep_copies(self, flag: str) -> None:
        shallow, deep = self.with_and_without(lambda: call(run, flag))
        assert shallow == deep
        assert "estimator" in shallow[1] or flag == "--hydra-help"

    def test_structured_options_equal_deep_copies(self, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ConfigStore.instance(), "repo", deepcopy(ConfigStore.instance().repo))
        option = {"defaults": ["ada_pomrl", "_self_"], "start_deviation": 0.25}
        ConfigStore.instance().store("structured", option, group="estimator")
        (cwd / "own" / "estimator").mkdir(parents=True)
        (cwd / "own" / "estimator" / "mine.yaml").write_text("defaults: [structured, _self_]\nprior: exclusive\n")
        arguments = ("-m", "hydra.searchpath=[file://own]", "estimator=structured,mine,pomrl", "dry_run=true")

        def configurations() -> list[str]:
            status, _, err = called(run, *arguments, "hydra/launcher=basic", "hydra.sweep.dir=sweep")
            assert status == 0, err
            return [path.read_text() for path in sorted((cwd / "sweep").glob("*/.hydra/config.yaml"))]

        shallow, deep = self.with_and_without(configurations)
        assert shallow == deep
        assert ["start_deviation: 0.25" in text for text in shallow] == [True, True, False]
