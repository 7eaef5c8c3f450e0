"""Bad inputs of the commands end with a line and a status: arguments, and files of somebody's own that are wrong."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.computed import call

ARGUMENTS = (
    "=", "a=b=c", "~", "sigma=[", "sigma=${nothing}", "sigma=???", "sigma=[1,2]", "T=40000",
    "runs=99999999999999999999", "\U0001f600=1", "estimator=null", "estimator=../pomrl", "+experiment=theory",
    "hydra=null", "--config-dir=nowhere", "estimator._target_=builtins.exit",
)  # fmt: skip

YAML = {
    "malformed": "_target_: [",
    "cyclic": "a: &a\n  b: *a",
    "a list": "- a\n- b",
    "interpolations in a circle": "_target_: ${estimator.a}\na: ${estimator._target_}",
    "a bad defaults list": "defaults: 5",
    "defaults of nothing": "defaults: [nothing, _self_]",
    "not UTF-8": "\udcff\udcfe",
}
"""Contents of a YAML file that is no option."""

MODULES = {
    "a syntax error": "def (",
    "sys.exit": "import sys\nsys.exit(0)",
    "recursion": "def f(): f()\nf()",
    "an import": "import nothing_of_this_name",
    "no class": "Mine = claims = figures = 5; raise ImportError('none')",
}
"""Sources of modules in which there is no component, claim or figure."""

WORDS = [
    "diff", "diff a", "diff sigma=[ sigma=0.01", "diff estimator=pomrl zzz", "figures ../x", "figures no.such",
    "figures pomrl2023 nothing", "claims ..", "claims pomrl2023 nothing",
    "claims pomrl2023 --runs much", "claims pomrl2023 --variants ../readings",
]  # fmt: skip
"""Commands with arguments that name nothing that there is."""

OWN = "run --config-dir conf estimator=mine dry_run=true"
INPUTS: dict[str, tuple[str, dict[str, str]]] = {
    **{f"run {words}": (f"run {words}", {}) for words in ARGUMENTS},
    **{words: (words, {}) for words in WORDS},
    **{f"option: {name}": (OWN, {"conf/estimator/mine.yaml": text}) for name, text in YAML.items()},
    **{
        f"module: {name}": (OWN, {"conf/estimator/mine.yaml": "_target_: mine.Mine", "mine.py": text})
        for name, text in MODULES.items()
    },
    **{
        f"claims: {name}": ("claims mine", {"mine/study.yaml": "title: mine", "mine/claims.py": text})
        for name, text in MODULES.items()
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_a_bad_input_ends_with_a_line(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, files = INPUTS[name]
    for file, text in files.items():
        (here / file).parent.mkdir(parents=True, exist_ok=True)
        (here / file).write_text(text, errors="surrogateescape")
    monkeypatch.setattr(sys, "path", [str(here), *sys.path])
    command, *arguments = words.split(" ")
    importlib.invalidate_caches()
    module: Any = importlib.import_module(f"pomrl.commands.{command}")
    status, _, said = call(module, *arguments)
    assert status in (1, 2)
    lines = said.splitlines()
    assert 1 <= len(lines) <= 2, said
    assert lines[-1].strip()
    assert not said.startswith("Traceback")
    assert not (here / "outputs" / "runs").exists()
