"""A user's option by YAML: errors name the file and the lines that are missing."""

from pathlib import Path

import pytest
from tests.support.computed import call, refused
from tests.support.study_folders import forget

from pomrl.commands import run

pytestmark = pytest.mark.usefixtures("cwd")

MODULE = """
import numpy as np
from pomrl.components import RandomChains, RegularisedLeastSquares, TaskFamily


class Chains(RandomChains):
    width: float = 1.0

    def _draw(self, rng, mean, tasks):
        return np.stack([mean.P_o] * tasks)

    def variance(self, mean):
        return np.zeros_like(mean.P_o)

    def _largest_deviation(self, P_o):
        return 1.0


class Family(TaskFamily):
    size = (2, 1)

    def models(self, latent):
        P = np.stack([latent, 1 - latent], axis=-1)
        return np.stack([P, P], axis=1)[:, :, None], np.eye(2)[:, :1]


class Learner(RegularisedLeastSquares):
    pass


class Weighted(RegularisedLeastSquares):
    weight: float
"""


def own(text: str, group: str = "task_distribution") -> tuple[str, ...]:
    """Write an option `mine` of a group, and return the words to select it."""
    forget("my_module")
    path = Path("own/conf") / group / "mine.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    Path("my_module.py").write_text(MODULE)
    return "--config-dir", "own/conf", f"{group}=mine", "T=2", "runs=3", "S=3"


MISSING = {
    ("task_distribution", "Chains"): "zeros: a value is missing; add zeros: VALUE to task_distribution/mine.yaml, "
    "or begin it with defaults: [gaussian, _self_]",
    ("task_distribution", "Family"): "centre: a value is missing; add centre: VALUE, spread: VALUE to "
    "task_distribution/mine.yaml",
    ("estimator", "Learner"): "mixing: a value is missing; add mixing: VALUE to estimator/mine.yaml, "
    "or begin it with defaults: [ada_pomrl, _self_]",
    ("estimator", "Weighted"): "mixing: a value is missing; add mixing: VALUE, weight: VALUE to estimator/mine.yaml",
}


@pytest.mark.parametrize(("group", "name"), MISSING)
def test_missing_keys_are_named_with_their_lines(group: str, name: str) -> None:
    line = refused(run, *own(f"_target_: my_module.{name}\n", group))
    assert line == f"{group}.{MISSING[group, name]}"


FAMILY = "S: null\nA: null\nsigma: null\ntask_distribution:\n  _target_: my_module.Family\n"


@pytest.mark.parametrize(
    "text",
    [
        "_target_: my_module.Chains\nwidth: 2.0\nzeros: 1\n",
        "defaults: [gaussian, _self_]\n_target_: my_module.Chains\nwidth: 2.0\n",
        f"# @package _global_\n{FAMILY}  centre: 0.5\n  spread: 0.2\n",
    ],
)
def test_files_with_the_added_lines_are_computed(text: str) -> None:
    arguments = [argument for argument in own(text) if "Family" not in text or argument != "S=3"]
    status, printed, err = call(run, *arguments)
    assert (status, "outputs/runs/" in printed) == (0, True), err


def test_misspelt_keys_are_named_before_missing_ones() -> None:
    line = refused(run, *own("_target_: my_module.Chains\nzeross: 1\n"))
    assert line.startswith("task_distribution.zeross=1: unknown key (did you mean task_distribution.zeros?)")


def test_replaced_classes_get_no_file_advice() -> None:
    own("")
    settings = ("task_distribution=uniform_ball", "task_distribution._target_=my_module.Chains")
    line = refused(run, *settings, "~task_distribution.zeros")
    assert line == "task_distribution.zeros: a value is missing"


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("own", "no options in this folder (did you mean own/conf?)"),
        ("empty", "no options in this folder; they are files such as estimator/mine.yaml"),
    ],
)
def test_a_folder_without_options_is_refused(folder: str, reason: str) -> None:
    own("_target_: my_module.Chains\n")
    Path("empty").mkdir()
    assert refused(run, "--config-dir", folder, "dry_run=true") == f"{folder}: {reason}"


@pytest.mark.parametrize("path", ["mine.yaml", "lengths/short.yaml", "hydra/launcher/mine.yaml"])
def test_folders_with_other_groups_are_used(path: str) -> None:
    file = Path("other") / path
    file.parent.mkdir(parents=True)
    file.write_text("# @package _global_\nT: 2\n")
    assert call(run, "--config-dir", "other", "dry_run=true")[0] == 0


HEAD = b"# @package _global_\n"


@pytest.mark.parametrize(
    ("content", "label"),
    [
        (HEAD + b"T: !!python/object/apply:os.system [exit]\n", "conf/experiment/mine.yaml"),
        (HEAD + b"T: 3  # caf\xe9\n", "conf/experiment/mine.yaml"),
        ("# @package _global_\nT: 3\n".encode("utf-16"), "conf/experiment/mine.yaml"),
        (HEAD + b"T: " + b"[" * 5000 + b"]" * 5000 + b"\n", "conf/experiment/mine.yaml"),
        (HEAD + b"defaults: [mine]\n", "experiment/mine.yaml"),
        (HEAD + b"defaults: [{/experiment: mine}]\n", "experiment/mine.yaml"),
        (HEAD + b"defaults: {experiment: mine}\n", "conf/experiment/mine.yaml"),
        (HEAD + b"T: 1e400\n", "experiment=mine: T=inf"),
    ],
)
@pytest.mark.parametrize("arguments", [(), ("-m",)])
def test_an_unreadable_file_is_one_line(arguments: tuple[str, ...], content: bytes, label: str) -> None:
    Path("conf/experiment").mkdir(parents=True)
    Path("conf/experiment/mine.yaml").write_bytes(content)
    status, _, err = call(run, *arguments, "--config-dir", "conf", "experiment=mine")
    assert (status, err.count("\n")) == (1, 1)
    assert label in err
