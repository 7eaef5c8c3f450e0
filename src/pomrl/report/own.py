"""Figures and claims of a user's own, from the files in outputs/figures/ and outputs/own_claims/."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pomrl.claims.own import FOLDER
from pomrl.report import ours
from pomrl.report.figure_files import FigureFiles
from pomrl.report.markup import Caption, caption
from pomrl.report.ours import ClaimOfOurs
from pomrl.report.provenance import command_of_sweep


@dataclass(frozen=True)
class FigureOfOnesOwn(FigureFiles):
    """The files of a figure of a user's own; the module that draws it need not be importable when the page is made."""

    @cached_property
    def caption(self) -> Caption:
        return caption(self.sidecar.caption or self.name)

    @property
    def commands(self) -> list[str]:
        sweeps = [command_of_sweep(sweep) for sweep in self.sidecar.sweeps]
        return [*sweeps, f"python -m src.figures --config-dir DIR {self.sidecar.figure}"]


def figures(folder: Path, of_ours: Collection[str]) -> list[FigureOfOnesOwn]:
    """Return the figures in a folder of outputs whose files have other names than those of ours."""
    folder = folder / "figures"
    stems = {path.stem for path in folder.glob("*.json") if path.with_suffix(".csv").exists()}
    return [FigureOfOnesOwn(stem, folder) for stem in sorted(stems - set(of_ours))]


def claims(folder: Path) -> dict[str, list[ClaimOfOurs]]:
    """Return the claims of each module in a folder of outputs, by its dotted name.

    Raises:
        ReportError: A table is damaged, or another version wrote it.
    """
    modules = sorted(path.stem for path in (folder / FOLDER).glob("*.json"))
    return {each: ours.read(folder / FOLDER / f"{each}.csv", f"python -m src.claims {each}") for each in modules}
