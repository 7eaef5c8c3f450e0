"""Small folders of studies for tests."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from pomrl.configuration.sources import SWEEPS

SWEEP = """\
# @package _global_
runs: 10
S: 3
T: 2
seed: {seed}
gamma_schedule: {{gammas: [0.0, 0.5, 0.99]}}
hydra: {{mode: MULTIRUN, sweeper: {{params: {{estimator: "ada_pomrl,without_meta"}}}}}}
"""
"""A sweep of two fast experiments."""

CLAIM = '''\
from pomrl.study import claim, less


@claim("K1", "first", figures=("curves",))
def meta_learning_helps(sweep):
    """Ada-POMRL loses less than no meta-learning."""
    return [less(*(sweep.at(estimator=name).regret for name in ("ada_pomrl", "without_meta")), "ada less none")]
'''

FIGURE = '''\
from pomrl.figures import Panel, PanelGrid, figure, of_estimators

GRID = PanelGrid([[Panel("two", of_estimators("first", {}, ("ada_pomrl", "without_meta")), "task", "ci")]])


@figure(panels=GRID)
def curves(data):
    """Curves of the small study.

    Two estimators in two tasks.
    """
    return GRID.draw(data)
'''

SMALL: Mapping[str, str] = {
    "study.yaml": "title: A small study\nruns: 10\n",
    "sweeps/first.yaml": SWEEP.format(seed=1),
    "claims.py": CLAIM,
    "figures.py": FIGURE,
}
"""The files of a small study, by their paths in its folder."""

UNDRAWN: Mapping[str, str] = {
    **{name: text for name, text in SMALL.items() if name != "figures.py"},
    "claims.py": CLAIM.replace(', figures=("curves",)', ""),
}
"""The files of a study without figures, which take longest to make."""


def write(folder: Path, files: Mapping[str, str] = SMALL, **changed: str) -> Path:
    """Write the files of a study into a folder.

    `claims_py="..."` replaces the content of `claims.py`. `sweeps/NAME.yaml` becomes the path of the sweep for Hydra.
    """
    renamed = {name.replace("_py", ".py").replace("_yaml", ".yaml"): text for name, text in changed.items()}
    for name, text in {**files, **renamed}.items():
        path = folder / re.sub("^sweeps/", f"{SWEEPS}/{folder.name}/", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def forget(*names: str) -> None:
    """Remove imported modules of studies, so that their files are read again."""
    for module in [module for module in sys.modules if module.partition(".")[0] in names]:
        del sys.modules[module]


@contextmanager
def inside(folder: Path, *studies: str) -> Iterator[Path]:
    """Work in a folder with its own outputs, and forget these studies."""
    forget(*studies)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        patch.setenv("POMRL_OUTPUTS", "outputs")
        yield folder
    forget(*studies)
