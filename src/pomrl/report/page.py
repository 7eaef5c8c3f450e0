"""The page, put together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined

from pomrl.claims.report import SELECTED
from pomrl.claims.verdict import Verdict
from pomrl.figures import FIGURES, PAPER, SUPPLEMENTARY, THEORY
from pomrl.report import curves, extensions, readings, scorecard
from pomrl.report.contents import title
from pomrl.report.drawn import Drawn
from pomrl.report.encoding import data_uri, script, script_data
from pomrl.report.errors import ReportError
from pomrl.report.origins import origins, sweeps
from pomrl.report.scorecard import ORDER, SIGNS, Scored
from pomrl.report.words import document, symbols

LINKS = {"docs/theory.md": "#theory", "ERRATA.md": "#errata", "docs/readings.md": "#readings"}
"""Where documents link to each other, the sections of the page."""


@dataclass(frozen=True)
class Documents:
    """Texts of the repository that the page contains, in Markdown."""

    errata: str
    theory: str
    readings: str
    """Empty where there is none."""


def html(folder: Path, documents: Documents) -> str:
    """The page for a folder of outputs. ReportError where nothing is in it, or something of another version."""
    figures = {name: Drawn(name, folder / "figures") for name in FIGURES}
    drawn = [figure for figure in figures.values() if figure.is_drawn]
    scored = scorecard.read(folder / "claims.csv")
    if not drawn and not scored:
        raise ReportError("there is nothing to report yet; ./reproduce.sh computes, draws and checks all of it")
    return (
        _environment()
        .get_template("index.html.j2")
        .render(
            figures=figures,
            sections=_sections(figures),
            sweeps={sweep.name: sweep for sweep in sweeps(drawn)},
            origins=origins(drawn),
            drawn=drawn,
            extensions=extensions.read(folder, scored),
            matrix=readings.read(folder / "readings.csv"),
            errata=document(documents.errata, "errata", LINKS),
            theory=document(documents.theory, "theory", LINKS),
            readings_text=document(documents.readings, "readings", LINKS),
            **_claims(scored),
            **_interactive(drawn),
        )
    )


def _sections(figures: Mapping[str, Drawn]) -> list[tuple[str, str, list[Drawn]]]:
    """Identifier, heading and figures of those sections that consist of figures."""
    named = (("paper", "Figures of the paper", PAPER), ("supplementary", "Supplementary figures", SUPPLEMENTARY))
    return [(id, heading, [figures[name] for name in names]) for id, heading, names in (*named, ("theory", "", THEORY))]


def _claims(scored: Sequence[Scored]) -> dict[str, Any]:
    not_computed = scorecard.not_computed(scored)
    return {
        "scored": scored,
        "by_verdict": [(verdict, [each for each in scored if each.verdict is verdict]) for verdict in ORDER],
        "alone": Counter(each.alone for each in scored),
        "provisional": [each for each in scored if each.runs < each.promised],
        "claims_of": {name: [each for each in scored if name in each.figures] for name in FIGURES},
        "not_computed": not_computed,
        "claim_ids": {each.id for each in scored} | {id for id, *_ in not_computed if scored},
        "selected": SELECTED,
    }


def _interactive(drawn: Sequence[Drawn]) -> dict[str, Any]:
    """The curves and the library that draws them; neither where no curve is stored."""
    data = curves.data(drawn)
    versions = {
        "Vega": vl_convert.get_vega_version(),
        "Vega-Lite": vl_convert.get_vegalite_versions()[-1],
        "Vega-Embed": vl_convert.get_vega_embed_version(),
    }
    if not data["series"]:
        return {"curves": "", "library": "", "versions": versions}
    library = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return {"curves": script_data(data), "library": script(library), "versions": versions}


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pomrl.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"SIGNS": SIGNS, "ORDER": ORDER, "Verdict": Verdict}
    environment.filters |= {"symbols": symbols, "data_uri": data_uri, "title_of": title, "kind": _kind, "value": _value}
    return environment


def _kind(verdict: Verdict) -> str:
    """A verdict as the name of a class."""
    return verdict.replace(" ", "-")


def _value(setting: Any) -> str:
    """A setting as one writes it on the command line."""
    return ", ".join(map(str, setting)) if isinstance(setting, list) else str(setting)
