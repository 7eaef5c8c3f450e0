"""Bad inputs of the commands, made from a seed: arguments, YAML files and modules of somebody's own that are wrong.

Each is given to the main function of a command in this process. `outcome` returns how the command ended: it may not
raise anything but SystemExit, has to end with status 1 or 2, and says why in at most `MOST_LINES` lines.
"""

import contextlib
import importlib
import io
import os
import random
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOST_LINES = 2

KEYS = ("sigma", "m", "T", "S", "A", "gamma_eval", "runs", "seed", "force", "estimator.sigma_1", "estimator.prior")

OVERRIDES = (
    "=", "==", "a=b=c", "+", "~", "~~", "++", "+=", "~sigma", "~estimator", "sigma", "sigma=[", "sigma=]",
    "sigma={", "sigma=(",
    "sigma='", 'sigma="', "sigma=", "sigma=nan", "sigma=inf", "sigma='inf'", "sigma=-inf", "sigma=null",
    "sigma=${nothing}",
    "sigma=${sigma}", "sigma=${half:}", "sigma=${oc.env:NOWHERE}", "sigma=???", "sigma={a:1}", "sigma=[1,2]",
    "runs=1e400",
    "runs=99999999999999999999", "runs=4611686018427387904",
    "runs=0", "runs=-1", "runs=1.5", "runs=true", "T=1.5", "T=40000", "m=true", "m=1e3", "m=10000000000",
    "S=1", "S=1000000",
    "gamma_eval=1.0000001", "gamma_eval=-0.1", "seed=-1", "seed=abc", "sigma=é", "é=1", "\U0001f600=1",
    "sigma=\u202e1", "estimator=é", "estimator=", "estimator={a:1}", "estimator=null", "estimator=../pomrl",
    "estimator=/etc/passwd", "estimator@sigma=pomrl", "experiment=", "experiment=null.x", "experiment=..",
    "+experiment=theory",
    "planner=null", "~planner", "execution=null", "hydra=null", "hydra.mode=NONE",
    "hydra.launcher=null",
    "hydra/launcher=joblib", "hydra/sweeper=optuna", "hydra.job=1", "hydra.run=null",
    "hydra.searchpath=1", "hydra.searchpath=[nowhere://x]", "--config-name=nothing", "--config-path=nowhere",
    "--config-dir=nowhere", "--cfg=no", "--no-such-flag", "--experimental-rerun=nothing", "task_distribution.zeros=99",
    "task_distribution.varying=0", "gamma_schedule.gammas=[]", "gamma_schedule.gammas=[1]", "gamma_schedule.gammas=[a]",
    "gamma_schedule.gammas=0.5", "execution.workers=-1", "execution.workers=many", "estimator.nothing=1",
    "+nothing.x=1",
    "yes=1", "dry_run=maybe", "sigma=1e-400x", "sigma=0.01,0.02", "estimator=pomrl,oracle",
)  # fmt: skip
"""Overrides that are wrong by themselves, for `pomrl run` without -m."""

SWEEPS = (
    "sigma=range(1,0)", "sigma=range(0,1,0)", "sigma=range(a,b)", "sigma=interval(0,1)",
    "estimator=glob(zzz)", "sigma=glob(*)",
    "sigma=choice()", "sigma=sort()", "sigma=0.01,-1", "sigma=0.01,", "seed=range(0,1e12)", "seed=range(0,20000)",
    "estimator=pomrl,best", "experiment=theory,nothing", "S=4,1", "m=choice(1,a)",
)  # fmt: skip
"""Overrides that are wrong with -m."""

TARGETS = (
    "", "5", "true", "null", "[a]", "os.system", "os", "os.path.join", "pomrl.science.estimators.estimator",
    "pomrl.science.estimators.estimator.", ".Estimator", "pomrl..Estimator",
    "pomrl.science.planners.PolicyIteration", "pomrl.science.planners.Planner",
    "pomrl.science.tasks.distribution.TaskDistribution",
    "pomrl.configuration.parsing.parse", "no.Such", "no", "é.É", "'a b.C'", "builtins.exit", "builtins.dict",
    "typing.Any",
    "pomrl.science.estimators.estimator.Estimator.check", "'pomrl.science.estimators.estimator.Estimator\n'", "'\x00'",
)  # fmt: skip

YAML = {
    "malformed": "_target_: [",
    "a tab": "_target_:\n\t- x",
    "tagged": "_target_: !!python/object/apply:os.system [true]",
    "of an unknown tag": "_target_: !nothing x",
    "cyclic": "a: &a\n  b: *a",
    "cyclic list": "a: &a [*a]",
    "an unknown alias": "a: *nothing",
    "a list": "- a\n- b",
    "text": "text",
    "a number": "5",
    "empty": "",
    "null": "null",
    "two documents": "a: 1\n---\nb: 2",
    "keys that are no text": "1: 2\nnull: 3\n[a]: 4",
    "duplicate keys": "a: 1\na: 2",
    "deep": "a: " + "[" * 3000 + "]" * 3000,
    "interpolations in a circle": "_target_: ${estimator.a}\na: ${estimator._target_}",
    "an interpolation of nothing": "_target_: ${nothing.at.all}",
    "an unknown resolver": "_target_: ${nothing:1}",
    "an unclosed interpolation": "_target_: ${half:",
    "a bad defaults list": "defaults: 5",
    "defaults of itself": "defaults: [mine, _self_]\n_target_: a.B",
    "defaults of nothing": "defaults: [nothing, _self_]",
    "defaults of a dict": "defaults: [{a: {b: c}}]",
    "not UTF-8": "\udcff\udcfe",
    "a null byte": "a: '\x00'",
    "package": "# @package nothing..\na: 1",
    "a date": "_target_: 2020-01-01",
    "a set": "_target_: !!set {a, b}",
    "merge": "<<: 5",
}
"""Contents of a YAML file of an option of one's own, which is none."""

MODULES = {
    "a syntax error": "def (",
    "an error": "1 / 0",
    "sys.exit": "import sys\nsys.exit(0)",
    "exit": "exit(0)",
    "sys.exit when it is made": "import sys\nfrom pomrl.components import RegularisedLeastSquares\n"
    "class Mine(RegularisedLeastSquares):\n    def __new__(cls, **_): sys.exit(0)",
    "BaseException": "class Odd(BaseException): pass\nraise Odd('[red]markup[/red]')",
    "recursion": "def f(): f()\nf()",
    "an import": "import nothing_of_this_name",
    "not UTF-8": "# \udcff\udcfe",
    "a null byte": "a = '\x00'",
    "no class": "",
    "a class of nothing": "class Mine: pass",
    "an __init__": "from pomrl.components import RegularisedLeastSquares\n"
    "class Mine(RegularisedLeastSquares):\n    def __init__(self, **_): pass",
    "an error when it is made": "from pomrl.components import RegularisedLeastSquares\n"
    "class Mine(RegularisedLeastSquares):\n    def __post_init__(self): raise KeyError('nothing')",
    "an attribute that raises": "def __getattr__(name): raise RuntimeError(name)",
}
"""Sources of modules in which `_target_: mine.Mine` finds no component."""

DIFF: tuple[tuple[str, ...], ...] = (
    (), ("",), ("", "["), ("a",), ("sigma=[", "sigma=0.01"), ("'", "="), ("=", "sigma=1"), ("..", "/"),
    ("sigma='", "sigma=0.01"), ("0", "1", "2"), ("\x00=1", "x"), ("estimator=pomrl", "zzz"), ("runs=", "T=2"),
    ("--x", "a", "b"),
    ("sigma=0.01,0.02", "sigma=0.01"), ("--config-dir", "nowhere", "a", "b"), ("é", "ü"),
    ("estimator._target_=os.system", "T=1"),
)  # fmt: skip

STUDIES: tuple[tuple[str, ...], ...] = (
    (), ("../x",), ("",), (".",), ("..",), ("nothing",), ("no.such",), ("os.path",), ("é",), ("\x00",),
    ("/etc/passwd",), (".x",), ("mine.",), ("pomrl.",), ("--nothing",),
)  # fmt: skip
"""Arguments that name no study."""

FIGURES: tuple[tuple[str, ...], ...] = (
    ("pomrl", "../x"), ("pomrl", ""), ("pomrl", "nothing"), ("pomrl", "\x00"), ("pomrl", "--replace", "="),
    ("pomrl", "--replace", "a=b"), ("pomrl", "--replace", "ada_pomrl=../x"), ("pomrl", "--config-dir", "nowhere"),
    ("pomrl", "--variants", "nothing"), ("pomrl", "--variants", ""),
)  # fmt: skip

CLAIMS: tuple[tuple[str, ...], ...] = (
    ("pomrl", "nothing"), ("pomrl", "--replace", ""), ("pomrl", "--replace", "a"), ("pomrl", "--replace", "pomrl=é"),
    ("pomrl", "--config-dir", "nowhere"), ("pomrl", "--budget", "much"), ("pomrl", "--variants", "../readings"),
)  # fmt: skip


STUDY = "study"
"""What stands in the place of a group of options for the description of a study."""


@dataclass(frozen=True)
class BadInput:
    """Arguments of a command, and the files that it finds."""

    name: str
    command: str
    arguments: tuple[str, ...]
    option: str | None = None
    """The content of `conf/GROUP/mine.yaml` in the folder of the files, or of `mine/study.yaml`."""
    module: str | None = None
    """The source of `mine.py` there, or of `claims.py` or `figures.py` in the study `mine`."""
    group: str = "estimator"


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    said: list[str] = field(default_factory=list)
    """The lines on standard error."""
    raised: BaseException | None = None

    @property
    def fault(self) -> str | None:
        """What is wrong with it; None if it ended as it has to."""
        if self.raised is not None:
            return f"raised {self.raised!r}"
        if self.status not in (1, 2):
            return f"status {self.status}"
        if not 1 <= len(self.said) <= MOST_LINES or not self.said[-1].strip():
            return f"{len(self.said)} lines on standard error"
        return "a traceback" if any(line.startswith("Traceback") for line in self.said) else None


def all_inputs() -> list[BadInput]:
    """Return all bad inputs that are written out in this module."""
    chosen = ("--config-dir", "conf", "estimator=mine", "dry_run=true")
    found = [BadInput(f"override {text!a}", "run", (text,)) for text in OVERRIDES]
    found += [BadInput(f"sweep {text!a}", "run", ("-m", text)) for text in SWEEPS]
    found += [BadInput(f"target {text!a}", "run", (f"estimator._target_={text}",)) for text in TARGETS]
    found += [BadInput(f"option: {name}", "run", chosen, text) for name, text in YAML.items()]
    found += [BadInput(f"sweep: {name}", "run", ("--config-dir", "conf", "experiment=mine"), text, group="experiment")
              for name, text in YAML.items() if name not in HARMLESS_SWEEPS]  # fmt: skip
    found += [BadInput(f"module: {name}", "run", chosen, "_target_: mine.Mine", text) for name, text in MODULES.items()]
    found += [BadInput(f"diff: {name}", "diff", ("--config-dir", "conf", "estimator=mine", "T=2"), text)
              for name, text in YAML.items()]  # fmt: skip
    found += [BadInput(f"{command}: {name}", command, ("mine",), module=text)
              for command in ("claims", "figures") for name, text in MODULES.items()]  # fmt: skip
    found += [BadInput(f"study: {name}", "figures", ("mine",), text, group=STUDY) for name, text in YAML.items()]
    for command, lists in (("diff", DIFF), ("figures", STUDIES + FIGURES), ("claims", STUDIES + CLAIMS)):
        found += [BadInput(f"{command} {arguments!a}", command, arguments) for arguments in lists]
    return found


HARMLESS_SWEEPS = ("empty", "null")
"""Contents of a file that describe a sweep of one default job."""


def seeded(seed: int, number: int) -> list[BadInput]:
    """Return so many bad inputs: a random choice of all that are written out, then random text for random keys."""
    rng = random.Random(seed)
    written = all_inputs()
    rng.shuffle(written)
    letters = "=[]{}()'\"$,:+~\\@!*&#%;|<>?-. \té\u202e0a"
    garbled = [
        BadInput(f"garbled {text!a}", "run", (text,))
        for text in (
            f"{rng.choice(KEYS)}=![{''.join(rng.choices(letters, k=rng.randint(1, 12)))}"
            for _ in range(max(0, number - len(written)))
        )
    ]
    return [*written, *garbled][:number]


def prepare(bad: BadInput, folder: Path) -> None:
    """Write the files of a bad input into an empty folder."""
    is_of_study = bad.command in ("claims", "figures") and (bad.module is not None or bad.group == STUDY)
    if is_of_study:
        (folder / "mine").mkdir()
        description = "title: mine" if bad.group != STUDY else bad.option or ""
        (folder / "mine" / "study.yaml").write_text(description, errors="surrogateescape")
    elif bad.option is not None:
        (folder / "conf" / bad.group).mkdir(parents=True)
        (folder / "conf" / bad.group / "mine.yaml").write_text(bad.option, errors="surrogateescape")
    if bad.module is not None:
        path = folder / "mine" / f"{bad.command}.py" if is_of_study else folder / "mine.py"
        path.write_text(bad.module, errors="surrogateescape")


def outcome(bad: BadInput, folder: Path) -> Outcome:
    """Give a bad input to its command, in an empty folder, and return how the command ended."""
    prepare(bad, folder)
    out, err = io.StringIO(), io.StringIO()
    with _in_folder(folder, [bad.command, *bad.arguments]):
        command = importlib.import_module(f"pomrl.commands.{bad.command}")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
                command.main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
            return Outcome(status, err.getvalue().splitlines())
        except BaseException as error:
            return Outcome(1, err.getvalue().splitlines(), error)
    return Outcome(0, err.getvalue().splitlines())


@contextlib.contextmanager
def _in_folder(folder: Path, arguments: Sequence[str]):
    """Let this process look as one that was started in a folder with these arguments, and undo that."""
    before = Path.cwd(), sys.argv, sys.path.copy(), dict(os.environ)
    modules = set(sys.modules)
    os.chdir(folder)
    sys.argv, sys.path[:0] = list(arguments), [str(folder)]
    os.environ |= {"POMRL_OUTPUTS": str(folder / "outputs"), "HYDRA_FULL_ERROR": "0"}
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.chdir(before[0])
        sys.argv, sys.path[:] = before[1], before[2]
        os.environ.clear()
        os.environ.update(before[3])
        for name in set(sys.modules) - modules:
            if name.partition(".")[0] == "mine":
                del sys.modules[name]
