"""Draw the figures of the paper from what is stored: python -m src.figures [NAME ...].

Each becomes NAME.pdf, NAME.png and NAME.csv (what is drawn) in outputs/figures/. With --readme the small pictures that
the README shows are renewed instead, in outputs/readme/.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import pandas as pd

from pomrl import published, store
from pomrl.figures import FIGURES
from pomrl.figures.drawing import Drawing
from pomrl.figures.files import save, save_small

CONF = Path(__file__).parents[1] / "conf"

README = ("dependence_on_tasksimilarity", "planning_omrl")

Writer = Callable[[Drawing, Path, str], list[Path]]


def main() -> None:
    """The command. It ends with a warning that names the sweeps to run where runs are missing."""
    parser = argparse.ArgumentParser(prog="python -m src.figures", description="Draw figures from stored runs.")
    parser.add_argument("name", nargs="*", help=f"which to draw (default: all): {', '.join(FIGURES)}")
    parser.add_argument("--readme", action="store_true", help="renew the small pictures of the README instead")
    arguments = parser.parse_args()
    wanted = list(README) if arguments.readme else arguments.name or list(FIGURES)
    for name in wanted:
        if name not in FIGURES:
            _exit(f"{name}: there is no such figure; there are {', '.join(FIGURES)}")
    try:
        folder = store.root().parent / ("readme" if arguments.readme else "figures")
        drawn, lacking = draw(wanted, folder, save_small if arguments.readme else save)
        for sweep, line in lacking.items():
            print(f"{line}; to compute them: python -m src.run experiment={sweep}", file=sys.stderr)
    except (store.StoreError, OSError) as error:
        _exit(" ".join(str(error).split()))
    if not drawn:
        _exit("nothing is stored to draw from; ./reproduce.sh computes all of it")


def draw(names: Sequence[str], folder: Path, write: Writer) -> tuple[list[Path], dict[str, str]]:
    """Draw the figures: the files, and a line for each sweep that lacks runs.

    A sweep is read once for all figures that it serves.
    """
    drawn: list[Path] = []
    lacking: dict[str, str] = {}
    for sweep in dict.fromkeys(FIGURES[name].EXPERIMENT for name in names):
        settings = published.sweep(CONF, sweep)
        served = [name for name in names if sweep == FIGURES[name].EXPERIMENT]
        tables, missing = published.tables(settings, max(FIGURES[name].RUNS for name in served))
        if missing:
            lacking[sweep] = missing
        for name in served:
            drawn += _drawn(name, tables, folder, write)
    return drawn, lacking


def _drawn(name: str, tables: pd.DataFrame, folder: Path, write: Writer) -> list[Path]:
    """The files of a figure; none, and a word about it, where the tables hold nothing that it shows."""
    try:
        drawing = FIGURES[name].draw(tables)
    except ValueError as error:
        print(f"{name} is not drawn: {error}", file=sys.stderr)
        return []
    paths = write(drawing, folder, name)
    print("\n".join(map(str, paths)))
    return paths


def _exit(line: str) -> NoReturn:
    print(line, file=sys.stderr)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
