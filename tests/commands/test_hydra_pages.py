"""The command blocks of Hydra 1.3's pages do here what the pages say.

Each block is translated to this application. `BASIC` selects the launcher and the sweeper of Hydra; with the shipped
ones, the same files and messages are expected. Test classes have the names of pages.
"""

import logging
from pathlib import Path

import pandas as pd
import pytest
import yaml
from tests.support.computed import folders
from tests.support.hydra_sweeps import (
    BASIC,
    FAILING,
    LOGGED,
    LOGS,
    RECORDED,
    SMALL,
    command,
    composed,
    experiment,
    files,
    succeed,
    sweep_both,
    without_time,
    write,
)
from tests.support.recorded import events

pytestmark = pytest.mark.usefixtures("cwd", "quiet_root")


class TestMultirun:
    @pytest.mark.parametrize(
        "arguments",
        [
            ("sigma=0.01,0.02", "estimator=pomrl,ada_pomrl"),
            ("seed=range(1,4)",),
            ("gamma_schedule=glob(*,exclude=[d*,b*,u*])",),
            # Basic override syntax
            ("note=hello world,'a,b'", "estimator.prior=exclusive,inclusive"),
            (r"note=job\{a\=1\,b\=2\},x",),
            ("gamma_schedule.gammas=[0.1,0.5],[0.9]", "++note=x", "+tag=y"),
            # Extended override syntax
            ("sigma=choice(0.01,0.02)", "m=range(4,8,2)"),
            ("sigma=sort(0.03,0.01,reverse=true)", "m=int(2.9),4"),
            ("sigma=tag(log,choice(0.01,0.02))",),
        ],
    )
    def test_job_folders_have_the_same_files(self, arguments: tuple[str, ...]) -> None:
        sweep_both(*SMALL, *arguments, "dry_run=true")
        expected = files("basic")
        assert "0/.hydra/hydra.yaml" in expected
        assert files("shipped") == expected

    def test_jobs_are_listed_by_hydras_log(self) -> None:
        basic, shipped = sweep_both(*SMALL, "sigma=0.01,0.02", *LOGS[:1])
        assert without_time(shipped) == without_time(basic)
        for number, sigma in enumerate((0.01, 0.02)):
            assert len([line for line in shipped if f"#{number}" in line and f"sigma={sigma}" in line]) == 1

    @pytest.mark.parametrize("how", [("hydra.mode=MULTIRUN",), ("--multirun",), ("-m",)])
    def test_each_flag_of_a_sweep_makes_one(self, how: tuple[str, ...]) -> None:
        succeed(*how, "sigma=0.01,0.02", "dry_run=true", "hydra.sweep.dir=sweep")
        assert [path.name for path in sorted(Path("sweep").iterdir()) if path.is_dir()] == ["0", "1"]

    def test_the_command_line_overrides_configured_sweeps(self, cwd: Path) -> None:
        text = "defaults: [config, _self_]\nhydra: {sweeper: {params: {sigma: '0.01,0.02', m: '2,3,4'}}}\n"
        write(cwd / "own" / "mine.yaml", text)
        sweep_both("--config-dir", "own", "-cn", "mine", "m=2", "dry_run=true")
        assert composed("shipped", "sigma") == [0.01, 0.02]
        assert files("shipped") == files("basic")


class TestWorkingDirectory:
    @pytest.mark.parametrize(
        ("arguments", "folders"),
        [
            (
                ("hydra.sweep.subdir=${hydra.job.override_dirname}",),
                ["S=3,T=2,runs=3,sigma=0.01", "S=3,T=2,runs=3,sigma=0.02"],
            ),
            (("hydra.sweep.subdir=s_${sigma}",), ["s_0.01", "s_0.02"]),
            (
                ("hydra.sweep.subdir=${hydra:runtime.choices.metric}/${hydra.job.num}",),
                ["planning_loss/0", "planning_loss/1"],
            ),
            (
                (
                    "hydra.sweep.subdir=${hydra.job.override_dirname}",
                    "hydra.job.config.override_dirname.kv_sep=-",
                    "hydra.job.config.override_dirname.item_sep=_",
                    "hydra.job.config.override_dirname.exclude_keys=[S,T,runs]",
                ),
                ["sigma-0.01", "sigma-0.02"],
            ),
        ],
    )
    def test_job_folders_have_the_configured_names(self, arguments: tuple[str, ...], folders: list[str]) -> None:
        sweep_both(*SMALL, "sigma=0.01,0.02", *arguments)
        configurations = Path("shipped").rglob("config.yaml")
        assert {str(path.parent.parent.relative_to("shipped")) for path in configurations} == {*folders}
        assert files("shipped") == files("basic")

    @pytest.mark.parametrize(
        "folder", ["${hydra.job.name}/here", "opt:${hydra:runtime.choices.estimator}", "${hydra.job.override_dirname}"]
    )
    def test_run_folders_may_name_settings(self, folder: str) -> None:
        succeed("S=3", "dry_run=true", f"hydra.run.dir=outputs/{folder}")
        values = {"${hydra.job.name}": "run", "${hydra:runtime.choices.estimator}": "ada_pomrl"}
        values["${hydra.job.override_dirname}"] = "S=3,dry_run=true"
        for key, value in values.items():
            folder = folder.replace(key, value)
        assert {path.name for path in (Path("outputs") / folder / ".hydra").iterdir()} == {
            "config.yaml",
            "hydra.yaml",
            "overrides.yaml",
        }

    @pytest.mark.parametrize("argument", ["hydra.output_subdir=.h", "hydra.job.chdir=True"])
    def test_subfolders_are_renamed_and_folders_entered(self, argument: str) -> None:
        sweep_both(*SMALL, "sigma=0.01,0.02", argument)
        assert files("shipped") == files("basic")
        assert ("0/.h/config.yaml" in files("shipped")) is (".h" in argument)
        assert not Path("shipped/0/outputs").exists()


class TestJob:
    def test_values_may_use_the_job_number(self) -> None:
        sweep_both(*SMALL, "sigma=0.01,0.02", "note=${hydra:job.num}", "seed=${hydra:job.num}")
        assert files("shipped") == files("basic")

    def test_values_may_use_the_job_option(self) -> None:
        arguments = ("estimator=pomrl,ada_pomrl", "note=${hydra:runtime.choices.estimator}", RECORDED.format("a"))
        sweep_both(*SMALL, *arguments)
        notes = [event["note"] for event in events(Path()) if event["event"] == "job start"]
        assert notes == ["pomrl", "ada_pomrl"] * 2

    @pytest.mark.parametrize("how", [(), BASIC])
    def test_each_job_has_its_environment(self, how: tuple[str, ...]) -> None:
        arguments = ("+hydra.job.env_set.FOO='${hydra:job.num}'", "note=${oc.env:FOO}", RECORDED.format("a"))
        succeed("-m", *SMALL, "sigma=0.01,0.02", *arguments, *how)
        starts = [event for event in events(Path()) if event["event"] == "job start"]
        assert [(str(event["note"]), event["FOO"]) for event in starts] == [("0", "0"), ("1", "1")]

    @pytest.mark.parametrize(
        "arguments", [("-m", "sigma=0.01,0.02"), ("-m", "sigma=0.01,0.02", *BASIC), ("sigma=0.01",)]
    )
    def test_the_environment_is_set_without_callbacks(self, arguments: tuple[str, ...]) -> None:
        folders = succeed(*arguments, *SMALL, "+hydra.job.env_set.FOO=1", "estimator=pomrl", "seed=${oc.env:FOO}")
        single = succeed(*arguments, *SMALL, "estimator=pomrl", "seed=1")
        assert folders[-1] == single[-1]

    @pytest.mark.parametrize("arguments", [(), BASIC])
    def test_jobs_are_listed_with_their_numbers(self, arguments: tuple[str, ...]) -> None:
        lines = succeed("-m", *SMALL, "sigma=0.01,0.02", "hydra.sweep.dir=sweep", *arguments)
        jobs = pd.read_csv("sweep/jobs.csv")
        assert jobs["job"].tolist() == [0, 1]
        assert [f"outputs/runs/{signature}" for signature in jobs["signature"]] == folders(lines)
        assert [str(path) for path in Path("sweep").rglob("jobs.csv")] == ["sweep/jobs.csv"]


class TestLogging:
    @pytest.mark.parametrize("arguments", [(), ("-m", "sigma=0.01,0.02"), ("-m", "sigma=0.01,0.02", *BASIC)])
    def test_verbose_sets_the_level_of_loggers(self, arguments: tuple[str, ...]) -> None:
        succeed(*arguments, *SMALL, "hydra.verbose=[mine,other]")
        assert [logging.getLogger(name).level for name in ("mine", "other")] == [logging.DEBUG] * 2
        succeed(*arguments, *SMALL, "hydra.verbose=true")
        assert logging.getLogger().level == logging.DEBUG

    @pytest.mark.parametrize("arguments", [(), ("-m", "sigma=0.01,0.02"), ("-m", "sigma=0.01,0.02", *BASIC)])
    def test_verbose_shows_what_hydra_has_found(self, arguments: tuple[str, ...]) -> None:
        lines = succeed(*arguments, *SMALL, "hydra.verbose=true", "hydra/hydra_logging=default")
        assert any("Installed Hydra Plugins" in line for line in lines)

    def test_a_default_log_has_each_line_once(self) -> None:
        basic, shipped = sweep_both(*SMALL, "sigma=0.01,0.02", LOGGED, *LOGS)
        for lines in (basic, shipped):
            returned = without_time(lines, "Succeeded with return value")
            assert len(returned) == 2
        assert without_time(shipped, "Succeeded with") == without_time(basic, "Succeeded with")
        assert without_time(shipped) == without_time(basic)

    @pytest.mark.parametrize("log", ["disabled", "none"])
    @pytest.mark.parametrize("arguments", [(), ("-m", "sigma=0.01,0.02")])
    def test_a_log_can_be_turned_off(self, log: str, arguments: tuple[str, ...]) -> None:
        lines = succeed(*arguments, *SMALL, f"hydra/job_logging={log}", f"hydra/hydra_logging={log}")
        assert not [line for line in lines if "[HYDRA]" in line or "INFO" in line]
        assert not [*Path("outputs/hydra").rglob("*.log")]

    @pytest.mark.parametrize("arguments", [(), ("-m", "sigma=0.01,0.02"), ("-m", "sigma=0.01,0.02", *BASIC)])
    def test_a_log_of_ones_own_is_used(self, arguments: tuple[str, ...], cwd: Path) -> None:
        custom = """version: 1
formatters:
  simple:
    format: '[%(levelname)s] - %(message)s'
handlers:
  console:
    class: logging.StreamHandler
    formatter: simple
    stream: ext://sys.stdout
root:
  handlers: [console]

disable_existing_loggers: false
"""
        write(cwd / "own" / "hydra" / "job_logging" / "custom.yaml", custom)
        lines = succeed("--config-dir", "own", *arguments, *SMALL, "hydra/job_logging=custom", LOGGED)
        logged = [line for line in lines if line.startswith("[INFO] - Succeeded with return value: ")]
        assert len(logged) == (2 if arguments else 1)


class TestCallbacks:
    def test_a_run_calls_each_event_in_order(self) -> None:
        succeed(*SMALL, RECORDED.format("a"))
        assert [event["event"] for event in events(Path())] == ["run start", "job start", "job end", "run end"]

    @pytest.mark.parametrize("how", [(), BASIC])
    def test_sweeps_call_events_around_each_job(self, how: tuple[str, ...]) -> None:
        succeed("-m", *SMALL, "sigma=0.01,0.02", RECORDED.format("a"), *how)
        recorded = events(Path())
        assert [event["event"] for event in recorded] == [
            "multirun start",
            *["job start", "job end"] * 2,
            "multirun end",
        ]
        assert [event["number"] for event in recorded if event["event"] == "job start"] == [0, 1]

    @pytest.mark.parametrize("how", [(), BASIC])
    def test_jobs_start_before_results_are_stored(self, how: tuple[str, ...]) -> None:
        succeed("-m", *SMALL, "sigma=0.01,0.02", RECORDED.format("a"), *how)
        assert [event["stored"] for event in events(Path()) if event["event"] == "job start"] == [0, 1]

    @pytest.mark.parametrize("how", [(), BASIC])
    def test_callbacks_end_in_reverse_order(self, how: tuple[str, ...]) -> None:
        names = [
            argument for name in "ab" for argument in (RECORDED.format(name), f"+hydra.callbacks.{name}.name={name}")
        ]
        succeed("-m", *SMALL, "sigma=0.01,0.02", *names, *how)
        assert "".join(event["by"] for event in events(Path())) == "ab" + "abba" * 2 + "ba"

    @pytest.mark.parametrize("how", [(), BASIC])
    def test_a_failed_job_ends_as_failed(self, how: tuple[str, ...]) -> None:
        status, _, err = command("-m", *SMALL, FAILING, RECORDED.format("a"), *how)
        assert status == 1, err
        assert [event["status"] for event in events(Path()) if event["event"] == "job end"] == ["COMPLETED", "FAILED"]

    def test_a_failed_run_ends_as_failed(self) -> None:
        status, _, err = command(*SMALL, "estimator=action_prior", RECORDED.format("a"))
        assert status == 1, err
        assert [event["status"] for event in events(Path()) if event["event"] == "job end"] == ["FAILED"]

    @pytest.mark.parametrize("how", [(), BASIC])
    def test_returned_failures_are_logged(self, how: tuple[str, ...]) -> None:
        status, lines, err = command("-m", *SMALL, FAILING, LOGGED, *LOGS, *how)
        assert status == 1, err
        assert len(without_time(lines, "Succeeded with return value: ")) == 1
        assert len(without_time(lines, "LogJobReturnCallback][ERROR]")) == 1

    @pytest.mark.parametrize("how", [(), BASIC])
    def test_a_file_can_name_callbacks(self, how: tuple[str, ...], cwd: Path) -> None:
        target = "tests.support.recorded.RecordedCallback"
        text = f"# @package _global_\nhydra:\n  callbacks:\n    mine: {{_target_: {target}}}\n"
        write(cwd / "own" / "hydra" / "callbacks" / "mine.yaml", text)
        write(cwd / "own" / "first.yaml", "defaults: [config, /hydra/callbacks: [mine], _self_]\nT: 2\n")
        succeed("--config-dir", "own", "-cn", "first", "-m", "runs=3", "S=3,4", *how)
        assert [event["event"] for event in events(Path())].count("job end") == 2


class TestConfiguringExperiments:
    """An experiment's file chooses what else a command line would, as the page on the Defaults List says."""

    def test_it_chooses_the_launcher(self) -> None:
        arguments = experiment("/hydra/launcher: basic")
        succeed("-m", *arguments, "sigma=0.01,0.02", "hydra.sweep.dir=sweep")
        hydra = yaml.safe_load(Path("sweep/0/.hydra/hydra.yaml").read_text())["hydra"]
        assert hydra["launcher"]["_target_"].endswith("BasicLauncher")

    def test_it_chooses_the_sweeper(self) -> None:
        arguments = experiment("/hydra/sweeper: basic")
        succeed("-m", *arguments, "sigma=0.01,0.02", "hydra.sweep.dir=sweep")
        sweeper = yaml.safe_load(Path("sweep/multirun.yaml").read_text())["hydra"]["sweeper"]
        assert sweeper["_target_"].endswith("BasicSweeper")

    @pytest.mark.parametrize("how", [(), ("-m", "sigma=0.01,0.02")])
    def test_it_chooses_the_log(self, how: tuple[str, ...]) -> None:
        arguments = experiment("/hydra/job_logging: default")
        assert without_time(succeed(*how, *arguments, LOGGED), "Succeeded with return value")

    def test_it_chooses_the_folder_of_a_run(self) -> None:
        settings = "T: 2\nruns: 3\nhydra:\n  run:\n    dir: mine/${T}\n"
        succeed(*experiment("/estimator: pomrl", settings))
        assert Path("mine/2/.hydra/config.yaml").is_file()

    def test_the_command_line_replaces_its_choice(self) -> None:
        arguments = experiment("/hydra/launcher: basic")
        succeed("-m", *arguments, "sigma=0.01,0.02", "hydra.sweep.dir=sweep", "hydra/launcher=pomrl")
        launcher = yaml.safe_load(Path("sweep/multirun.yaml").read_text())["hydra"]["launcher"]
        assert launcher["_target_"].endswith("JointLauncher")

    @pytest.mark.parametrize("axis", ["experiment=mine,other", "experiment=glob([mine,other])"])
    def test_several_are_swept_over(self, axis: str) -> None:
        experiment("/estimator: pomrl")
        write(Path("own/experiment/other.yaml"), "# @package _global_\nT: 3\nruns: 3\nS: 3\n")
        sweep_both("--config-dir", "own", axis, "dry_run=true")
        assert files("shipped") == files("basic")


class TestSearchPath:
    @pytest.mark.parametrize("path", ["pkg://additional_conf", "file://additional_conf"])
    def test_it_takes_packages_and_folders(self, path: str, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(cwd / "additional_conf" / "__init__.py", "")
        write(cwd / "additional_conf" / "estimator" / "mine.yaml", "defaults: [pomrl, _self_]\nprior: exclusive\n")
        monkeypatch.syspath_prepend(str(cwd))
        sweep_both(f"hydra.searchpath=[{path}]", "estimator=mine,pomrl", "dry_run=true")
        assert composed("shipped", "estimator")[0]["prior"] == "exclusive"
        assert files("shipped") == files("basic")

    @pytest.mark.parametrize("path", ["file://more", "file://${oc.env:HERE}/more"])
    def test_a_primary_configuration_may_name_it(self, path: str, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HERE", str(cwd))
        write(cwd / "more" / "estimator" / "mine.yaml", "defaults: [pomrl, _self_]\nprior: exclusive\n")
        write(cwd / "own" / "first.yaml", f"defaults: [config, _self_]\nhydra: {{searchpath: ['{path}']}}\n")
        sweep_both("--config-dir", "own", "-cn", "first", "estimator=mine,pomrl", "dry_run=true")
        assert files("shipped") == files("basic")


def test_a_specialized_configuration_follows_two_choices(cwd: Path) -> None:
    text = "defaults: [config, optional special: '${estimator}_${data}', _self_]\n"
    write(cwd / "own" / "first.yaml", text)
    write(cwd / "own" / "special" / "pomrl_trajectories.yaml", "# @package _global_\nm: 7\n")
    axes = ("estimator=pomrl,ada_pomrl", "data=generative,trajectories")
    sweep_both("--config-dir", "own", "-cn", "first", *axes, "dry_run=true")
    assert composed("shipped", "m") == [5, 7, 5, 5]
    assert files("shipped") == files("basic")


def test_the_configuration_of_a_plugin_is_extended(cwd: Path) -> None:
    write(cwd / "own" / "hydra" / "launcher" / "mine.yaml", "defaults: [pomrl]\njob_folders: 1\n")
    succeed("-m", "--config-dir", "own", "hydra/launcher=mine", "S=3,4", "dry_run=true", "hydra.sweep.dir=sweep")
    assert not [*Path("sweep").glob("[01]")]
