"""Sweeps with Hydra's own launcher and sweeper, and with the shipped ones, for tests."""

from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from tests.support.computed import called

from pomrl.commands import run
from pomrl.configuration.resolvers import register_resolvers

command = partial(called, run)
SMALL = ("T=2", "runs=3", "S=3")
BASIC = ("hydra/launcher=basic", "hydra/sweeper=basic")
LOGS = ("hydra/hydra_logging=default", "hydra/job_logging=default")
RECORDED = "+hydra.callbacks.{0}._target_=tests.support.recorded.RecordedCallback"
LOGGED = "+hydra.callbacks.log._target_=hydra.experimental.callbacks.LogJobReturnCallback"

FAILING = "estimator=pomrl,action_prior"
"""A sweep whose second job passes all checks and fails: actions need a study's planner."""

OWN_KEYS = ("launcher", "sweeper")
"""The keys of `hydra` with other values for `BASIC`."""


def succeed(*arguments: str) -> list[str]:
    """Return the lines on standard output of a command with status 0."""
    status, lines, err = command(*arguments)
    assert status == 0, err
    return lines


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def without_time(lines: list[str], tag: str = "[HYDRA]") -> list[str]:
    """Return the log lines with this word, from it on; numbers of seconds in them stay."""
    return [line[line.index(tag) :] for line in lines if tag in line]


def content(path: Path, sweep: str) -> Any:
    """Return a YAML file as data, without what `BASIC` and another folder change."""
    text = path.read_text().replace(f"dir: {sweep}\n", "dir: SWEEP\n").replace(f"/{sweep}", "/SWEEP")
    config = OmegaConf.create(text)
    if path.name == "config.yaml":
        return OmegaConf.to_container(config, resolve="${hydra:" not in text)
    values: Any = OmegaConf.to_container(config)
    if path.name in ("hydra.yaml", "multirun.yaml"):
        hydra = values["hydra"]
        for key in OWN_KEYS:
            hydra.pop(key)
            hydra["runtime"]["choices"].pop(f"hydra/{key}")
        own = (*(f"hydra/{key}=" for key in OWN_KEYS), "hydra.sweep.dir=")
        hydra["overrides"]["hydra"] = [line for line in hydra["overrides"]["hydra"] if not line.startswith(own)]
    return values


def composed(sweep: str, key: str) -> list[Any]:
    """Return a key of each job's configuration."""
    register_resolvers()
    return [content(path, sweep)[key] for path in sorted(Path(sweep).rglob("config.yaml"))]


def files(sweep: str) -> dict[str, Any]:
    """Return the content of each YAML file below a sweep's folder."""
    register_resolvers()
    paths = sorted(Path(sweep).rglob("*.yaml"))
    return {str(path.relative_to(sweep)): content(path, sweep) for path in paths}


def sweep_both(*arguments: str) -> tuple[list[str], list[str]]:
    """Sweep into the folders `basic` and `shipped`; return both outputs."""
    return (
        succeed("-m", *arguments, *BASIC, "hydra.sweep.dir=basic"),
        succeed("-m", *arguments, "hydra.sweep.dir=shipped"),
    )


def experiment(override: str, settings: str = "T: 2\nruns: 3\nS: 3\n", folder: str = "experiment") -> tuple[str, ...]:
    write(Path("own") / folder / "mine.yaml", f"# @package _global_\ndefaults:\n  - override {override}\n{settings}")
    return ("--config-dir", "own", f"{'' if folder == 'experiment' else '+'}{folder}=mine")
