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
    "=", "a=b=c", "+", "~", "+=", "~sigma", "~estimator", "sigma", "sigma=[", "sigma={", "sigma='", "sigma=nan",
    "sigma=-inf", "sigma=${nothing}", "sigma=${sigma}", "sigma=${half:}", "sigma=???", "sigma={a:1}", "sigma=[1,2]",
    "runs=99999999999999999999", "runs=4611686018427387904", "runs=0", "runs=1.5", "T=40000", "S=1", "S=1000000",
    "gamma_eval=1.0000001", "gamma_eval=1", "seed=abc", "sigma=é", "\U0001f600=1", "sigma=\u202e1", "estimator=é",
    "estimator={a:1}", "estimator=null", "estimator=../pomrl", "estimator=/etc/passwd", "estimator@sigma=pomrl",
    "experiment=..", "+experiment=theory", "~planner", "execution=null", "hydra=null", "hydra.mode=NONE",
    "hydra.launcher=null", "hydra/launcher=joblib", "--config-name=nothing", "--config-dir=nowhere",
    "--no-such-flag", "--experimental-rerun=nothing", "task_distribution.zeros=99", "gamma_schedule.gammas=[]",
    "gamma_schedule.gammas=[a]", "execution.workers=many", "estimator.nothing=1", "+nothing.x=1", "dry_run=maybe",
    "sigma=0.01,0.02", "estimator=pomrl,oracle",
)  # fmt: skip
"""Overrides that are wrong by themselves, for `pomrl run` without -m."""

SWEEPS = (
    "sigma=range(1,0)", "sigma=range(0,1,0)", "sigma=range(a,b)", "sigma=interval(0,1)", "sigma=0.01,-1",
    "sigma=0.01,", "seed=range(0,1e12)", "seed=range(0,20000)", "estimator=pomrl,best", "experiment=theory,nothing",
)  # fmt: skip
"""Overrides that are wrong with -m."""

TARGETS = (
    "", "5", "[a]", "os.system", "os", "pomrl..Estimator", "pomrl.science.planners.PolicyIteration", "builtins.exit",
    "pomrl.science.tasks.distribution.TaskDistribution", "no.Such", "no", "é.É", "builtins.dict", "'\x00'",
)  # fmt: skip

YAML = {
    "malformed": "_target_: [",
    "tagged": "_target_: !!python/object/apply:os.system [true]",
    "cyclic": "a: &a\n  b: *a",
    "an unknown alias": "a: *nothing",
    "a list": "- a\n- b",
    "a number": "5",
    "empty": "",
    "two documents": "a: 1\n---\nb: 2",
    "keys that are no text": "1: 2\nnull: 3\n[a]: 4",
    "interpolations in a circle": "_target_: ${estimator.a}\na: ${estimator._target_}",
    "an unknown resolver": "_target_: ${nothing:1}",
    "a bad defaults list": "defaults: 5",
    "defaults of itself": "defaults: [mine, _self_]\n_target_: a.B",
    "defaults of nothing": "defaults: [nothing, _self_]",
    "not UTF-8": "\udcff\udcfe",
    "package": "# @package nothing..\na: 1",
}
"""Contents of a YAML file of an option of one's own, which is none."""

MODULES = {
    "a syntax error": "def (",
    "an error": "1 / 0",
    "sys.exit": "import sys\nsys.exit(0)",
    "recursion": "def f(): f()\nf()",
    "an import": "import nothing_of_this_name",
    "not UTF-8": "# \udcff\udcfe",
    "no class": "",
    "a class of nothing": "class Mine: pass",
    "an __init__": "from pomrl.components import RegularisedLeastSquares\n"
    "class Mine(RegularisedLeastSquares):\n    def __init__(self, **_): pass",
}
"""Sources of modules in which `_target_: mine.Mine` finds no component."""

WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "diff": (
        (), ("",), ("a",), ("sigma=[", "sigma=0.01"), ("=", "sigma=1"), ("..", "/"), ("sigma='", "sigma=0.01"),
        ("estimator=pomrl", "zzz"), ("--x", "a", "b"), ("--config-dir", "nowhere", "a", "b"),
    ),
    "figures": (
        (), ("../x",), ("",), ("..",), ("no.such",), ("/etc/passwd",), ("pomrl", "../x"), ("pomrl", "nothing"),
        ("pomrl", "--replace", "="), ("pomrl", "--replace", "ada_pomrl=../x"), ("pomrl", "--variants", ""),
    ),
    "claims": (
        ("../x",), ("..",), ("pomrl", "nothing"), ("pomrl", "--replace", "a"), ("pomrl", "--config-dir", "nowhere"),
        ("pomrl", "--budget", "much"), ("pomrl", "--variants", "../readings"),
    ),
}  # fmt: skip
"""Arguments of other commands, which name nothing that there is."""


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
    return found + [BadInput(f"{of} {words!a}", of, words) for of, every in WORDS.items() for words in every]


HARMLESS_SWEEPS = ("empty",)
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
