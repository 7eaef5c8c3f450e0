"""The page of a selection of stored experiments, without a study: curves, settings, a table and provenance."""

from pomrl.report import curves
from pomrl.report.figure_files import FigureFiles
from pomrl.report.provenance import report_provenance, sweep_provenances
from pomrl.report.rendering import packed_json, rendered
from pomrl.results.chosen_runs import Chosen
from pomrl.results.summary_tables import summarised
from pomrl.results.tables import as_text


def html(chosen: Chosen, figure: FigureFiles | None, command: str, remark: str) -> str:
    """Render the page.

    Args:
        chosen: The experiments.
        figure: The figure that was drawn of them, if there is one.
        command: The command that makes the page again.
        remark: A sentence on what the page cannot show; may be empty.

    Raises:
        StoreError: A stored experiment is damaged.
    """
    shown = [("stored", source) for source in chosen.sources()]
    data = curves.data(shown)
    return rendered(
        "selection.html.j2",
        command=command,
        runs=chosen.runs,
        figure=figure,
        summaries=as_text(summarised(chosen)),
        remark=remark,
        sweep=sweep_provenances(shown)["stored"],
        experiments=list(zip(chosen.stored, chosen.settings, strict=True)),
        varying=chosen.varying,
        provenance=report_provenance(shown),
        curves=packed_json(data) if data["series"] else "",
        lost=data["lost"],
    )
