"""Bad inputs of the commands end with a line and a status: arguments, and files of somebody's own that are wrong."""

import importlib
import sys
from pathlib import Path

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

COMMANDS = [
    "diff", "diff a", "diff sigma=[ sigma=0.01", "diff estimator=pomrl zzz", "reproduce", "reproduce ../x figures",
    "reproduce no.such figures", "reproduce pomrl2023 figures nothing", "reproduce pomrl2023 figures --only nothing",
    "reproduce pomrl2023 claims --only 4", "reproduce .. claims", "reproduce pomrl2023 nothing",
    "reproduce pomrl2023 claims --runs much", "reproduce pomrl2023 claims --variants ../readings",
    "reproduce pomrl2023 report", "reproduce pomrl2023 article", "view --report", "plot --task middle", "table --where",
    "view sigma", "new", "claims pomrl2023", "nothing",
]  # fmt: skip
"""Commands with arguments that name nothing that there is."""

OWN = "run --config-dir conf estimator=mine dry_run=true"
INPUTS: dict[str, tuple[str, dict[str, str]]] = {
    **{f"run {arguments}": (f"run {arguments}", {}) for arguments in ARGUMENTS},
    **{command: (command, {}) for command in COMMANDS},
    **{f"option: {name}": (OWN, {"conf/estimator/mine.yaml": text}) for name, text in YAML.items()},
    **{
        f"module: {name}": (OWN, {"conf/estimator/mine.yaml": "_target_: mine.Mine", "mine.py": text})
        for name, text in MODULES.items()
    },
    **{
        f"claims: {name}": ("reproduce mine claims", {"mine/study.yaml": "title: mine", "mine/claims.py": text})
        for name, text in MODULES.items()
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_a_bad_input_ends_with_a_line(name: str, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line, files = INPUTS[name]
    for file, text in files.items():
        (cwd / file).parent.mkdir(parents=True, exist_ok=True)
        (cwd / file).write_text(text, errors="surrogateescape")
    monkeypatch.setattr(sys, "path", [str(cwd), *sys.path])
    command, *arguments = line.split(" ")
    importlib.invalidate_caches()
    status, _, err = call(command, *arguments)
    assert status in (1, 2)
    lines = err.splitlines()
    assert 1 <= len(lines) <= 2, err
    assert lines[-1].strip()
    assert not err.startswith("Traceback")
    assert not (cwd / "outputs" / "runs").exists()


@pytest.mark.parametrize("arguments", [("plot",), ("table",), ("plot", "sigma=0.01"), ("table", "tag=first")])
def test_unknown_columns_are_named_with_known_ones(arguments: tuple[str, ...], cwd: Path) -> None:
    status, _, err = call(*arguments, "--y", "nonsense")
    columns = "gamma, planning_loss, alpha, sigma_hat, model_error, distinct_policies, training_loss, value"
    assert (status, err) == (1, f"unknown column 'nonsense'; available: {columns}\n")
    assert "no stored runs" in call(*arguments, "--y", "value")[2]


def test_an_unknown_study_is_not_exported(cwd: Path) -> None:
    status, _, err = call("export", "out.zip", "nostudy")
    assert (status, err.count("\n")) == (1, 1)
    assert "nostudy" in err
    assert "study" in err.replace("nostudy", "")
    assert "signature" in call("export", "out.zip", "abc123")[2]


def test_best_needs_two_settings(cwd: Path) -> None:
    assert call("run", "T=1", "runs=2")[0] == 0
    message = "best needs rows and columns; set both, such as rows=sigma and columns=estimator\n"
    assert call("table", "--best", "bold")[::2] == (1, message)
    assert call("table", "--best", "bold", "--rows", "sigma")[::2] == (1, message)
