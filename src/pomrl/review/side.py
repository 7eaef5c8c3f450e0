"""One side of a review: all sweeps of a working copy, composed and computed by the code of this copy.

`pomrl diff` runs this file as a program with other versions of the package, so it uses only names common to them. Each
line of standard input is a request in JSON, and each line of standard output its answer.
"""

import dataclasses
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from pomrl.configuration import sources, sweeps


def use_studies_of(folder: Path) -> None:
    """Use the studies in pyproject.toml files of the copy, if it is a copy of this project."""
    paths = [folder / "pyproject.toml", *sorted(folder.glob("packages/*/pyproject.toml"))]
    projects = [tomllib.loads(path.read_text(encoding="utf-8")).get("project", {}) for path in paths if path.is_file()]
    if not projects or projects[0].get("name") != "pomrl":
        return
    entry_points = (project.get("entry-points", {}).get(sources.ENTRY_POINTS, {}) for project in projects)
    by_name = dict(sorted(chain.from_iterable(points.items() for points in entry_points)))
    specs = {package: find_spec(package) for package in by_name.values()}
    folders = {package: spec.submodule_search_locations for package, spec in specs.items() if spec}
    packages = {Path(paths[0]).resolve(): package for package, paths in folders.items() if paths}
    sources.shipped_packages = lambda: packages  # before other modules import the name


if __name__ == "__main__":
    use_studies_of(Path.cwd())

from pomrl.configuration.composed import GROUPS, ConfigError  # noqa: E402  (the studies come first)
from pomrl.configuration.composition import Composer  # noqa: E402
from pomrl.configuration.settings import flat_settings, scientific_settings  # noqa: E402
from pomrl.configuration.studies import Study, read_study, shipped_studies  # noqa: E402
from pomrl.configuration.sweeps import Setting  # noqa: E402
from pomrl.judging import study_claims  # noqa: E402
from pomrl.judging.claim import claims_of  # noqa: E402
from pomrl.running.plan import estimate, plan  # noqa: E402
from pomrl.running.work import work  # noqa: E402
from pomrl.store import StoreError, signature  # noqa: E402

OPTIONS, DEFAULTS, STUDY = "options", "defaults", "study.yaml"
"""Kinds of settings beside those of sweeps: of options alone, of conf/config.yaml, and of the file of a study."""

OWN = "conf"
"""The folder of another repository with its options and sweeps, as in `--config-dir conf`."""


class WorkingSweeps:
    """The sweeps of the working copy in the current folder."""

    def __init__(self) -> None:
        self.errors: list[dict[str, str]] = []
        self.settings: dict[tuple[str, str, str], list[Setting]] = {}

    def studies(self) -> Iterator[Study]:
        """Yield the shipped studies and those in the top folder."""
        if (Path.cwd() / "src" / "pomrl").is_dir():
            yield from shipped_studies()
        for path in sorted(Path().glob("*/study.yaml")):
            with self._collect(path.parent.name, ""):
                yield read_study(path.parent.resolve())

    def compose(self) -> dict[str, Any]:
        """Compose all sweeps under all variants, all options, and the defaults."""
        groups = chain.from_iterable(map(self._sweeps, self.studies()))
        lines = [*groups, *self._own_sweeps(), *self._options(), *self._defaults()]
        return {"lines": lines, "errors": self.errors}

    def _collect(self, study: str, sweep: str, variant: str = "") -> "_Collect":
        return _Collect(self.errors, {"study": study, "sweep": sweep, "variant": variant})

    def _sweeps(self, study: Study) -> Iterator[dict[str, Any]]:
        described = _flatten(json.loads(json.dumps(dataclasses.asdict(study.config), default=str)))
        yield _line(study.name, STUDY, "", [{"varied": {}, "settings": described, "signature": ""}])
        variants: Sequence[Any] = ()
        with self._collect(study.name, ""):
            variants = study.variants
        with self._collect(study.name, "claims"):
            claims_of(study)
        for variant in variants:
            for sweep in study.sweeps if variant.sweeps is None else variant.sweeps:
                with self._collect(study.name, sweep, variant.name):
                    settings = study.settings(sweep, variant)
                    self.settings[study.name, sweep, variant.name] = settings
                    yield _line(study.name, sweep, variant.name, [*map(_plain, settings)])

    def _own_sweeps(self) -> Iterator[dict[str, Any]]:
        """Compose the sweeps of the repository's own folder, and each of its options with the defaults."""
        own = self._sources().own
        names = (
            [path.relative_to(own).with_suffix("").as_posix() for path in sorted(own.rglob("*.yaml"))] if own else []
        )
        groups = "|".join((*GROUPS, "reading"))
        for name in names:
            if match := re.fullmatch(rf"experiment/(?P<sweep>.+)|(?P<group>{groups})/(?P<option>[^/]+)", name):
                key = OWN, match["sweep"] or f"{match['group']}={match['option']}", ""
                with self._collect(*key):
                    yield _line(*key, [*map(_plain, self._find_settings(key))])

    def _find_settings(self, key: tuple[str, str, str]) -> list[Setting]:
        """Return the settings of a sweep, composed before or now."""
        if key not in self.settings and key[0] == OWN:
            folders, name = self._sources(), key[1]
            option = [Setting({}, sweeps.experiment(folders, [name]))] if "=" in name else []
            self.settings[key] = option or sweeps.sweep(folders, name)
        elif key not in self.settings:
            study = next(study for study in self.studies() if study.name == key[0])
            variant = next(variant for variant in study.variants if variant.name == key[2])
            self.settings[key] = study.settings(key[1], variant)
        return self.settings[key]

    def _options(self) -> Iterator[dict[str, Any]]:
        folders = self._sources()
        composer = Composer.from_sources(folders)
        for group in (*GROUPS, "reading"):
            for path in (path for path in folders.options(group) if folders.own not in path.parents):
                with self._collect("", f"{group}={path.stem}"):
                    values: Any = composer.compose([f"{group}={path.stem}"]).values
                    flat = _flatten({group: values[group]} if group in values else values)
                    option = {"varied": {}, "settings": flat, "signature": ""}
                    yield _line("", f"{group}={path.stem}", OPTIONS, [option])

    def _sources(self) -> Any:
        """Return the folders of options, with `conf/` and studies of another repository."""
        folders = sources.PUBLISHED
        own = Path.cwd() / OWN
        if own.is_dir() and own.resolve() != folders.folder.resolve():
            folders = folders.with_options(own)
        for path in sorted(Path().glob("*/study.yaml")):
            with suppress(ConfigError):  # another study has an option of this name; its sweeps are composed alone
                folders = folders.with_study(path.parent)
        return folders

    def _defaults(self) -> Iterator[dict[str, Any]]:
        with self._collect("", "conf/config.yaml"):
            values: Any = Composer.from_sources(sources.PUBLISHED).compose([]).values
            plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
            yield _line("", "conf/config.yaml", DEFAULTS, [{"varied": {}, "settings": plain, "signature": ""}])

    def experiments(self, keys: Sequence[Sequence[str]]) -> list[Any]:
        """Return the experiments of sweeps."""
        return [
            setting.experiment
            for study, sweep, variant in keys
            for setting in self._find_settings((study, sweep, variant))
        ]

    def _claims(self, by_study: Mapping[str, Sequence[str]]) -> Iterator[tuple[Study, Any]]:
        """Yield the claims about sweeps of studies, by variant; no sweeps stand for all."""
        for study in (study for study in self.studies() if study.name in by_study):
            names = {*by_study[study.name]}
            claims = [claim for claim in claims_of(study) if claim.sweeps and ({*claim.sweeps} & names or not names)]
            for variant in study.variants if claims else ():
                yield study, study_claims.basis(study, claims, variant)

    def _judge(self, by_study: Mapping[str, Sequence[str]], runs: int) -> Iterator[tuple[str, str]]:
        """Compute and judge the claims about sweeps of studies, on this number of runs."""
        for study, basis in self._claims(by_study):
            _compute(chain.from_iterable(map(basis.requests, basis.claims)), runs)
            for outcome in study_claims.judge_variant(study, basis, _FirstRuns(max_runs=runs)):
                if outcome.comparisons:
                    yield f"{study.name} {outcome.claim.id} {basis.variant}", str(outcome.verdict)

    def _requested(self, request: Mapping[str, Any]) -> list[Any]:
        """Return the experiments of a request: those of claims, or of sweeps with given signatures."""
        if "claims" in request:
            bases = [basis for _, basis in self._claims(request["claims"])]
            return [experiment for basis in bases for claim in basis.claims for experiment in basis.requests(claim)]
        return [
            experiment
            for experiment in self.experiments(request["sweeps"])
            if signature(experiment) in {*request["signatures"]}
        ]

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request: compose, estimate or compute runs, or judge claims."""
        match request["do"]:
            case "compose":
                return self.compose()
            case "judge":
                return dict(self._judge(request["claims"], request["runs"]))
            case "compute":
                return {"failures": _compute(self._requested(request), request["runs"])}
            case _:
                expected = estimate(plan(_with_runs(self._requested(request), request["runs"])))
                return {"experiments": expected.experiments, "runs": expected.runs, "seconds": expected.seconds}


@dataclasses.dataclass(frozen=True)
class _FirstRuns(study_claims.Reader):
    """A reader of the first runs only."""

    max_runs: int = 0

    def complete(self, experiment: Any) -> int:
        return min(self.max_runs, super().complete(experiment))


class _Collect:
    """A collector of errors of the configuration."""

    def __init__(self, errors: list[dict[str, str]], where: dict[str, str]) -> None:
        self.errors, self.where = errors, where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> bool:
        if isinstance(error, ConfigError | StoreError):
            self.errors.append({**self.where, "message": str(error)})
        return isinstance(error, ConfigError | StoreError)


def _with_runs(experiments: Iterable[Any], runs: int) -> list[Any]:
    """Return the experiments once, with this number of runs."""
    by_signature = {signature(experiment): experiment for experiment in experiments}
    return [
        dataclasses.replace(experiment, request=dataclasses.replace(experiment.request, runs=runs, force=False))
        for experiment in by_signature.values()
    ]


def _compute(experiments: Iterable[Any], runs: int) -> dict[str, str]:
    """Compute missing runs; return the reasons of failures by signature."""
    failures = work(plan(_with_runs(experiments, runs)), lambda *_: None)
    return {name: failure.reason for name, failure in failures.items()}


def _line(study: str, sweep: str, variant: str, experiments: list[Any]) -> dict[str, Any]:
    return {"study": study, "sweep": sweep, "variant": variant, "experiments": experiments}


def _plain(setting: Setting) -> dict[str, Any]:
    experiment = setting.experiment
    flat = flat_settings(scientific_settings(experiment), experiment.options)
    settings = {**flat, "runs": experiment.request.runs}
    return {"varied": setting.varied, "settings": settings, "signature": signature(experiment)}


def _flatten(values: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flatten(value, f"{start}{key}.") if isinstance(value, dict) else {f"{start}{key}": value}
    return flat


def main() -> None:
    """Answer requests until standard input ends."""
    sweeps, answers = WorkingSweeps(), os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # code of the copy, also in other processes, may print
    for line in sys.stdin:
        with redirect_stdout(sys.stderr):
            try:
                answer = sweeps.answer(json.loads(line))
            except Exception as error:  # another version may raise anything
                answer = {"error": " ".join(f"{error}".split()) or type(error).__name__}
        answers.write(f"{json.dumps(answer, default=str)}\n")
        answers.flush()


if __name__ == "__main__":
    main()
