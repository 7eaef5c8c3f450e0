"""The page of a selection of stored experiments, without a study: curves, settings, tables, pairs and provenance."""

from collections.abc import Mapping, Sequence
from typing import Any

from pomrl.configuration.composed import METHOD_GROUPS
from pomrl.report import curves
from pomrl.report.figure_files import FigureFiles
from pomrl.report.provenance import report_provenance, sweep_provenances
from pomrl.report.rendering import packed_json, rendered
from pomrl.results.chosen_runs import Chosen
from pomrl.results.summary_tables import as_text, summarised


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
        StoreError: A stored experiment is damaged.
    """
    shown = [("stored", source) for source in chosen.sources()]
    data, pairs = curves.data(shown), None
    if against:
        differences = summarised(chosen, statistics=["mean"], against=against)
        pairs = as_text(differences.loc[differences["mean_difference"].notna()]).drop(columns=["mean"])
    return rendered(
        "selection.html.j2",
        command=command,
        runs=chosen.runs,
        figures=figures,
        summaries=as_text(summarised(chosen)),
        pairs=pairs,
        against=", ".join(f"{key}={value}" for key, value in (against or {}).items()),
        remarks=remarks,
        sweep=sweep_provenances(shown)["stored"],
        experiments=list(zip(chosen.stored, chosen.settings, strict=True)),
        varying=chosen.varying,
        provenance=report_provenance(shown),
        curves=packed_json(data) if data["series"] else "",
        lost=data["lost"],
    )
