"""The page of a selection of stored experiments, without a study: curves, settings, tables, pairs and provenance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pomrl.configuration.composed import METHOD_GROUPS
from pomrl.report import curves
from pomrl.report.encoding import data_uri, packed_json
from pomrl.report.environment import environment
from pomrl.report.figure_files import FigureFiles
from pomrl.report.provenance import report_provenance, sweep_provenances
from pomrl.results.chosen_runs import Chosen
from pomrl.results.stored_sweeps import Source
from pomrl.results.summary_tables import as_text, summarised


@dataclass(frozen=True)
class Selected:
    """The experiments of the page, as what a figure shows."""

    chosen: Chosen

    @property
    def sources(self) -> Iterator[tuple[str, Source]]:
        """Each experiment, after the word that stands for a sweep of all of them."""
        return (("stored", source) for source in self.chosen.sources())


def reference(chosen: Chosen) -> dict[str, Any] | None:
    """Return the settings of the method that others are compared with by default: that of the first experiment.

    It is None where the experiments do not differ in their methods.
    """
    keys = [key for key in chosen.varying if key.partition(".")[0] in METHOD_GROUPS]
    return {key: chosen.settings[0].get(key) for key in keys} or None


def html(
    chosen: Chosen, figures: Sequence[FigureFiles], command: str, against: Mapping[str, Any] | None, remarks: list[str]
) -> str:
    """Render the page.

    Args:
        chosen: The experiments.
        figures: The figures that were drawn of them.
        command: The command that makes the page again.
        against: The method that the others are compared with in pairs of runs; None where there is none.
        remarks: Sentences on what the page cannot show.

    Raises:
        ReportError: Fewer runs are stored than a figure shows.
        StoreError: A stored experiment is damaged.
    """
    shown = [Selected(chosen)]
    data = curves.data(shown)
    (sweep,) = sweep_provenances(shown)
    return (
        environment()
        .get_template("selection.html.j2")
        .render(
            command=command,
            runs=chosen.runs,
            figures=[(figure, data_uri(figure.picture.content, "image/webp")) for figure in figures],
            summaries=as_text(summarised(chosen)),
            pairs=_pairs(chosen, against) if against else None,
            against=", ".join(f"{key}={value}" for key, value in (against or {}).items()),
            remarks=remarks,
            common=sweep.common,
            experiments=list(zip(chosen.stored, chosen.settings, strict=True)),
            varying=chosen.varying,
            digest=sweep.digest,
            provenance=report_provenance(shown),
            curves=packed_json(data) if data["series"] else "",
        )
    )


def _pairs(chosen: Chosen, against: Mapping[str, Any]) -> pd.DataFrame:
    """Return the differences from a method as text, without the rows of the method itself."""
    table = summarised(chosen, statistics=["mean"], against=against)
    shown = as_text(table.loc[table["mean_difference"].notna()])
    return shown.drop(columns=["mean"])
