"""The page: the data that the other modules of the report read, rendered by the templates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pomrl.claims import scorecard as claims_scorecard
from pomrl.claims.beyond import WORDS
from pomrl.claims.verdict import LOOKS, Verdict
from pomrl.figures import AUTHORS, BEYOND, FIGURES, INTERVALS, PAPER, SUPPLEMENTARY, THEORY
from pomrl.report import ReportError, curves, extensions, ours, own, readings, scorecard
from pomrl.report.encoding import data_uri, script_data
from pomrl.report.figure_files import FigureFiles, refuse_damage
from pomrl.report.markup import document, sentence, symbols
from pomrl.report.provenance import report_provenance, shown_experiments, sweep_provenances
from pomrl.report.scorecard import ScoredClaim
from pomrl.report.titles import title

LINKS = {"docs/theory.md": "#theory", "ERRATA.md": "#errata", "docs/readings.md": "#readings"}
"""The sections of the page that links between documents lead to, by path of the document."""


@dataclass(frozen=True)
class Documents:
    """The documents of the repository that the page contains, in Markdown."""

    errata: str
    theory: str
    readings: str


def html(folder: Path, documents: Documents) -> str:
    """Render the page for a folder of outputs.

    Raises:
        ReportError: The folder has neither figures nor claims, or a file in it is damaged or of another version.
        StoreError: A stored experiment that a figure shows is damaged.
    """
    figures = {name: FigureFiles(name, folder / "figures") for name in FIGURES}
    of_ones_own = own.figures(folder, {*FIGURES, *INTERVALS})
    refuse_damage([*figures.values(), *of_ones_own])
    drawn = [figure for figure in (*figures.values(), *of_ones_own) if figure.is_drawn]
    for stored in shown_experiments(drawn).values():
        stored.refuse_damage()
    scored = scorecard.read(folder / "claims.csv")
    own_claims = own.claims(folder)
    if not drawn and not scored and not own_claims:
        raise ReportError("there is nothing to report yet; ./reproduce.sh computes, draws and checks all of it")
    return (
        _environment()
        .get_template("index.html.j2")
        .render(
            figures=figures,
            sections=_sections(figures),
            sweeps={sweep.name: sweep for sweep in sweep_provenances([v for each in drawn for v in each.versions])},
            provenance=report_provenance(drawn),
            drawn=drawn,
            extensions=extensions.read(folder, scored),
            own_figures=of_ones_own,
            own_claims=own_claims,
            claims_of_ours=ours.read(folder / "claims_ours.csv"),
            matrix=readings.read(folder / "readings.csv"),
            errata=document(documents.errata, "errata", LINKS),
            theory=document(documents.theory, "theory", LINKS),
            readings_text=document(documents.readings, "readings", LINKS),
            **_claims(scored),
            curves=_curves(drawn),
        )
    )


def _sections(figures: Mapping[str, FigureFiles]) -> list[tuple[str, str, list[FigureFiles]]]:
    """Return the identifier, the heading and the figures of each section of figures.

    The heading of the theory's figures is empty, because the template has it.
    """
    named = (
        ("paper", "Figures of the paper", PAPER),
        ("authors", "As the authors computed it", AUTHORS),
        ("supplementary", "Supplementary figures", SUPPLEMENTARY),
        ("beyond", "Beyond the paper", BEYOND),
        ("theory", "", THEORY),
    )
    return [(id, heading, [figures[name] for name in names]) for id, heading, names in named]


def _claims(scored: Sequence[ScoredClaim]) -> dict[str, Any]:
    """Return the variables of the template that are about claims."""
    not_computed = scorecard.not_computed(scored)
    return {
        "scored": scored,
        "by_verdict": [(verdict, [each for each in scored if each.verdict is verdict]) for verdict in LOOKS],
        "at_paper_runs": Counter(each.at_paper_runs for each in scored),
        "provisional": [each for each in scored if each.runs < each.promised],
        "claims_of": {name: [each for each in scored if name in each.figures] for name in FIGURES},
        "not_computed": not_computed,
        "claim_ids": {each.id for each in scored} | {id for id, *_ in not_computed if scored},
        "selected": claims_scorecard.SELECTED,
        "claim_sections": list(dict.fromkeys(each.section for each in scored)),
        "findings": scorecard.findings(scored),
        "answer": scorecard.summed_up(scored) if scored else "",
        "as_the_authors": claims_scorecard.AUTHORS if any(each.authors for each in scored) else "",
    }


def _curves(drawn: Sequence[FigureFiles]) -> str:
    """Return the data of the interactive curves; empty if no curve is stored."""
    data = curves.data(drawn)
    return script_data(data) if data["series"] else ""


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pomrl.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"LOOKS": LOOKS, "Verdict": Verdict, "OF_OURS": WORDS}
    environment.filters |= {
        "symbols": symbols,
        "sentence": sentence,
        "data_uri": data_uri,
        "title_of": title,
        "kind": _kind,
        "value": _value,
    }
    return environment


def _kind(verdict: Verdict) -> str:
    """Return a verdict as the name of a CSS class."""
    return verdict.replace(" ", "-")


def _value(setting: Any) -> str:
    """Return a setting as it is written on the command line."""
    return ", ".join(map(str, setting)) if isinstance(setting, list) else str(setting)
