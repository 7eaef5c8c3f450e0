"""Published sweeps, options and results are equal to kept files, which a reviewer reads in `git diff`.

- `golden/configurations.yml`: the default configuration, and what each option and sweep changes in it. A component of
  another class has all its keys. A sweep has its options, such as its reading, and what it changes beside them.
- `golden/sweeps.csv`: a digest of the settings of each published sweep and variant.
- `golden/results.csv`: for each experiment of the paper's main sweep, the mean loss at gamma_eval over tasks and runs,
  with four digits, and a digest of the whole table of results.

To renew them after an intended change: python -m pytest tests/configuration/test_golden.py --force-regen
"""

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pytest_regressions.file_regression import FileRegressionFixture
from tests.support.settings import CONF, OPTIONS

from pomrl.configuration.composed import GROUPS, READING
from pomrl.configuration.composition import Composer
from pomrl.configuration.resolvers import register_resolvers
from pomrl.configuration.settings import scientific_settings
from pomrl.configuration.sources import PAPER, PUBLISHED
from pomrl.configuration.studies import shipped_studies
from pomrl.configuration.sweeps import names, sweep
from pomrl.science.experiment import tables

GOLDEN = Path(__file__).parent / "golden"
SWEEPS = [f"experiment={name}" for name in names(PUBLISHED)]
PUBLISHED_SWEEPS = [override for override in SWEEPS if "/" in override]
"""Without the short names of the paper's sweeps."""

READINGS = ["reading=printed", "reading=computed"]
BATCHES = [f"batches={path.stem}" for path in sorted((CONF / "batches").glob("*.yaml"))]
CHOICES = [*OPTIONS, *BATCHES, *READINGS]
RUNS = 20

Flat = Mapping[str, Any]
"""Values by the path of their key, such as estimator.prior; those of the axes are one value."""

OF_GROUPS = [[*group] for _, group in groupby(CHOICES, lambda change: change.partition("=")[0])]
TOGETHER = [*([override] for override in SWEEPS), *([*filter(None, row)] for row in zip_longest(*OF_GROUPS))]
"""Each sweep by itself, and the options, one of each group at a time: Hydra takes long to compose."""


class Dumper(yaml.SafeDumper):
    """Writes the values of a list beside each other, so that a changed list is one or two changed lines."""


Dumper.add_representer(
    list, lambda dumper, values: dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)
)


def by_hydra(overrides: list[str]) -> Flat:
    """Compose values and axes with Hydra."""
    register_resolvers()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        actual = compose("config", overrides, return_hydra_config=True)
    axes = OmegaConf.to_container(OmegaConf.create(actual.hydra.sweeper.get("params") or {}))
    own = OmegaConf.masked_copy(actual, [str(key) for key in actual if key != "hydra"])
    return {**flat(OmegaConf.to_container(own, resolve=True)), "axes": axes}


@cache
def composed(*overrides: str) -> Flat:
    """Compose values and axes fast."""
    composer = Composer.from_sources(PUBLISHED)
    name = next((override.removeprefix("experiment=") for override in overrides if override in SWEEPS), "")
    return {**flat(dict(composer.compose(overrides).values)), "axes": composer.axes(name) if name else {}}


def flat(values: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """Flatten nested values; an empty mapping is a value."""
    if not isinstance(values, dict) or not values:
        return {".".join(path): values}
    return {key: value for name, nested in values.items() for key, value in flat(nested, (*path, str(name))).items()}


def configurations() -> dict[str, dict[str, Any]]:
    """Return the default configuration, and the differences of each option and sweep from it."""
    options = {change: differences(composed(), composed(change)) for change in CHOICES}
    return {"default": dict(composed()), **options, **{name: sweep_differences(name) for name in PUBLISHED_SWEEPS}}


def sweep_differences(override: str) -> dict[str, Any]:
    """Return a sweep's reading and options, and its differences from the configuration with these."""
    selected, default = composed_options(override), composed_options()
    reading = {READING: selected[READING]} if selected[READING] != default[READING] else {}
    unchosen = composed_options(f"{READING}={selected[READING]}")
    options = reading | {group: name for group, name in selected.items() if name != unchosen.get(group)}
    before = composed(*(f"{group}={name}" for group, name in options.items()))
    return options | differences(before, composed(override))


def composed_options(*overrides: str) -> dict[str, str]:
    options = Composer.from_sources(PUBLISHED).compose(overrides).options
    return {group: name for group, name in options.items() if group in {*GROUPS, "batches", READING}}


def differences(before: Flat, after: Flat) -> dict[str, Any]:
    """Return other values, all keys of a component of another class, and the missing keys."""
    other = tuple(key.removesuffix("_target_") for key in after if is_other_class(key, before, after))
    changed = {key: after[key] for key in after if key.startswith(other) or not is_same(key, before, after)}
    missing = sorted(key for key in before.keys() - after.keys() if not key.startswith(other))
    return changed | ({"without": missing} if missing else {})


def is_other_class(key: str, before: Flat, after: Flat) -> bool:
    return key.endswith("._target_") and not is_same(key, before, after)


def is_same(key: str, before: Flat, after: Flat) -> bool:
    """Return whether a value is equal and of the same type: 1, 1.0 and true differ."""
    return key in before and repr(before[key]) == repr(after[key])


def test_configurations_are_equal_to_the_kept_ones(file_regression: FileRegressionFixture) -> None:
    lines = {name: dict(sorted(values.items())) for name, values in configurations().items()}
    text = yaml.dump(lines, Dumper=Dumper, sort_keys=False, default_flow_style=False, width=90)
    file_regression.check(text, fullpath=GOLDEN / "configurations.yml")


@pytest.mark.parametrize("changes_together", TOGETHER, ids=" ".join)
def test_fast_composition_equals_hydras(changes_together: list[str]) -> None:
    assert composed(*changes_together) == by_hydra(changes_together)


@pytest.mark.parametrize("override", [override for override in SWEEPS if override not in PUBLISHED_SWEEPS])
def test_a_short_name_is_the_same_sweep(override: str) -> None:
    assert composed(override) == composed(override.replace("=", f"={PAPER}/"))


def test_results_are_equal_to_the_kept_ones(file_regression: FileRegressionFixture) -> None:
    """Bytes are promised on x86-64 only; other processors have the same four digits."""
    is_exact = platform.machine().lower() in ("x86_64", "amd64")
    check_fn = None if is_exact else check_means
    file_regression.check(as_csv(results()), fullpath=GOLDEN / "results.csv", check_fn=check_fn)


def check_means(obtained: Path, stored: Path) -> None:
    means, kept_means = (pd.read_csv(path, dtype=str).drop(columns="digest") for path in (obtained, stored))
    pd.testing.assert_frame_equal(means, kept_means)


def test_sweeps_are_equal_to_the_kept_ones(file_regression: FileRegressionFixture) -> None:
    file_regression.check(as_csv(digest_published()), fullpath=GOLDEN / "sweeps.csv")


def as_csv(rows: Any) -> str:
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


def results() -> list[dict[str, Any]]:
    """Compute the rows of results.csv."""
    settings = sweep(PUBLISHED, f"{PAPER}/task_similarity")
    rows = []
    for problem, group in groupby(settings, lambda setting: setting.experiment.problem):
        methods = [*group]
        computed = tables(problem, [setting.experiment.method for setting in methods], range(RUNS))
        for setting, table in zip(methods, computed, strict=True):
            loss = table.loc[table["gamma"] == problem.gamma_eval, "planning_loss"].mean()
            numbers = {"seed": problem.seed, "runs": RUNS, "loss": f"{loss:#.4g}", "digest": digest(table)}
            rows.append({**setting.varied, **numbers})
    return rows


def digest(table: pd.DataFrame) -> str:
    """Digest all columns, their names and types."""
    columns = {name: table[name].to_numpy() for name in table}
    content = [f"{name} {column.dtype}".encode() + column.tobytes() for name, column in columns.items()]
    return hashlib.sha256(b"\0".join(content)).hexdigest()[:12]


def digest_published() -> Iterator[dict[str, Any]]:
    """Yield each published sweep and variant with the number of experiments and a digest of their settings."""
    for study in shipped_studies():
        for variant in study.variants:
            for name in study.sweeps if variant.sweeps is None else variant.sweeps:
                settings = [scientific_settings(setting.experiment) for setting in study.settings(name, variant)]
                text = json.dumps(settings, sort_keys=True)
                line = {"study": study.name, "sweep": name, "variant": variant.name, "experiments": len(settings)}
                yield {**line, "digest": hashlib.sha256(text.encode()).hexdigest()[:12]}
