"""How CPU time, memory and disk of each command grow with runs, experiments, states and figures.

    python -m benchmarks.growth_of_commands --output FOLDER

Each size has a store of its own, in which the commands run one after the other. The exponent of a quantity is the slope
of its logarithm between the two largest sizes: 1 where it doubles with the size, and about 0 where what it costs does
not depend on it. That of a time below one second says more about the start of Python than about growth, and is left
out.
"""

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

FIGURE = '''

@figure()
def figure_{number}() -> PanelGrid:
    """Figure number {number}."""
    return PanelGrid([[Panel("", of_estimators("first", {{"sigma": 0.01}}, ("ada_pomrl",)), "task", "ci")]])
'''


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float
    """CPU time of the process and of those that it waits for."""
    megabytes: float
    """Peak memory of the largest process."""


def cost(folder: Path, words: str) -> Cost:
    """Run `pomrl` with these words in a folder.

    Raises:
        RuntimeError: It ends with an error.
    """
    with TemporaryDirectory() as spare:
        log = Path(spare, "log")
        with log.open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "pomrl", *shlex.split(words)], cwd=folder, stdout=said, stderr=subprocess.STDOUT
            )
            _, status, used = os.wait4(process.pid, 0)
        if status and not words.startswith("diff "):  # whose status is 1 where something differs
            raise RuntimeError(f"pomrl {words}: {log.read_text()[-500:]}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def disk(folder: Path) -> float:
    """Return the megabytes of the files in the outputs of a folder."""
    return sum(path.lstat().st_size for path in (folder / "outputs").rglob("*") if path.is_file()) / 1e6


COMMANDS = ("runs", "table tag=t", "plot tag=t --y planning_loss", "runs --verify", "export crate.zip tag=t")
"""What is done with a store, whatever has grown in it."""

Steps = Iterator[tuple[str, Cost]]
"""Names of commands, with what they cost."""


def of_runs(folder: Path, size: int) -> Steps:
    """Yield what commands cost with experiments of so many runs."""
    settings = f"S=3 T=2 runs={size}"
    yield "run, 2 estimators", cost(folder, f"run -m estimator=pomrl,ada_pomrl {settings} +tag=t execution.workers=1")
    yield from of_store(folder)
    yield "diff", cost(folder, f"diff 'estimator=pomrl {settings}' 'estimator=ada_pomrl {settings}'")


def of_experiments(folder: Path, size: int) -> Steps:
    """Yield what commands cost with so many experiments of two runs."""
    for name in ("run", "run, all stored"):
        yield name, cost(folder, f"run -m seed=range(1,{size + 1}) S=3 T=2 runs=2 +tag=t execution.workers=1")
    yield from of_store(folder)


def of_states(folder: Path, size: int) -> Steps:
    """Yield what commands cost with experiments of so many states."""
    yield "run, 20 runs", cost(folder, f"run S={size} T=3 runs=20 +tag=t execution.workers=1")
    yield from of_store(folder)


def of_figures(folder: Path, size: int) -> Steps:
    """Yield what commands cost with a study of so many figures."""
    cost(folder, "new grown")
    code = "from pomrl.study import Panel, PanelGrid, figure, of_estimators\n"
    (folder / "grown" / "figures.py").write_text(code + "".join(FIGURE.format(number=number) for number in range(size)))
    cost(folder, "run experiment=grown/first execution.workers=1")
    yield "figures, one of them", cost(folder, "figures grown figure_0")
    yield "figures", cost(folder, "figures grown")
    yield "report", cost(folder, "report grown")


def of_store(folder: Path) -> Steps:
    """Yield what commands cost that read what is stored."""
    for words in COMMANDS:
        yield words.partition(" tag=t")[0].partition(" crate")[0], cost(folder, words)


AXES: Mapping[str, tuple[Callable[[Path, int], Steps], Sequence[int]]] = {
    "runs": (of_runs, (10, 100, 1000, 10_000, 100_000)),
    "experiments": (of_experiments, (10, 100, 1000, 10_000)),
    "states": (of_states, (10, 20, 40, 80, 160)),
    "figures": (of_figures, (1, 10, 100)),
}
"""What grows, and its sizes."""


def grown(axis: str) -> pd.DataFrame:
    """Return the costs of all commands at all sizes: columns command, size, seconds, megabytes and disk."""
    steps, sizes = AXES[axis]
    rows: list[dict[str, object]] = []
    for size in sizes:
        with TemporaryDirectory() as folder:
            for command, took in steps(Path(folder), size):
                rows.append({"command": command, "size": size, "seconds": took.seconds, "megabytes": took.megabytes})
                print(axis, size, command, took, file=sys.stderr)
            rows.append({"command": "(disk)", "size": size, "megabytes": disk(Path(folder))})
    return pd.DataFrame(rows)


def table(costs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each command: what it costs at each size, and both exponents."""
    said = costs["seconds"].map("{:.1f} s, ".format).where(costs["seconds"].notna(), "")
    costs = costs.assign(cost=said + costs["megabytes"].map("{:.4g} MB".format))
    wide = costs.pivot(index="command", columns="size")
    small, large = wide["cost"].columns[-2:]
    slopes = {}
    for quantity, least in (("seconds", 1.0), ("megabytes", 0.0)):
        of = wide[quantity].where(wide[quantity][large] >= least)
        slopes[f"exponent of {quantity}"] = np.log(of[large] / of[small]) / np.log(large / small)
    return wide["cost"].assign(**slopes).round(2)


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description="How the costs of commands grow.")
    parser.add_argument("--axes", nargs="+", choices=list(AXES), default=list(AXES))
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.environ.pop("POMRL_OUTPUTS", None)
    for axis in arguments.axes:
        costs = grown(axis)
        costs.to_csv(arguments.output / f"{axis}.csv", index=False)
        print(f"{axis}\n\n{table(costs).to_string(na_rep='')}\n")


if __name__ == "__main__":
    main()
