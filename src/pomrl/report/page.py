"""The page of one study or of several: what the other modules of the report read, rendered by the templates."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from pomrl.configuration.study import Study
from pomrl.configuration.wording import number_of
from pomrl.drawing.figure import figures_of
from pomrl.drawing.figures_of_study import FOLDER
from pomrl.judging import claims_of_variants, views
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import counts, ranked
from pomrl.judging.verdict import LOOKS, Verdict
from pomrl.report import ReportError, curves, pages
from pomrl.report.answer import Column, Group, columns, groups
from pomrl.report.encoding import data_uri, packed, packed_json
from pomrl.report.environment import environment
from pomrl.report.figure_files import FigureFiles, found_in, refuse_damage
from pomrl.report.intervals import placed
from pomrl.report.markup import document, sentence, slug, symbols
from pomrl.report.provenance import report_provenance, shown_experiments, sweep_provenances

CLAIMS = "claims"
"""The document that lists all claims, in whose place the page has its own list."""

_SCRIPT = re.compile(r"^<!-- script: (\S+) -->\n?", re.MULTILINE)

MOST_COLUMNS = 4
"""The most variants whose verdicts stand beside a claim; those of others are in a matrix."""


@dataclass(frozen=True)
class Shown:
    """Everything that the page shows of one study."""

    study: Study
    prefix: str
    """What the identifiers of the study's elements begin with; empty for the first study of a page."""

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.study.name

    @cached_property
    def figures(self) -> list[FigureFiles]:
        """The figures of the study, drawn or not, and those that its pages have made."""
        folder = self.study.outputs / FOLDER
        known = [FigureFiles(each.name, folder, of=each, word=self.study.word) for each in figures_of(self.study)]
        others = found_in(folder, {each.name for each in known}, self.study.word)
        has_errata = not self.prefix and "errata" in pages.documents(self.study)
        return [replace(each, with_errata=has_errata, command=self.command_of("")) for each in (*known, *others)]

    @cached_property
    def under_variants(self) -> dict[str, list[FigureFiles]]:
        """The figures that are drawn under each other variant.

        The variants are those that the description names, those under which figures are drawn, and those with an option
        in the place of another one under which claims are judged.
        """
        folder = self.study.outputs / FOLDER
        of_families = {each.name for family in self.study.families.values() for each in family.variants}
        judged = [name for name in self.judgements.variants if name not in of_families]
        folders = sorted(path.name for path in folder.glob("*") if path.is_dir())
        names = dict.fromkeys([*self.study.described.variants, *judged, *folders])
        return {name: self._drawn_under(name) for name in names if name != self.study.unchanged}

    def _drawn_under(self, variant: str) -> list[FigureFiles]:
        folder, command = self.study.outputs / FOLDER / variant, self.command_of(variant)
        figures = (replace(each, folder=folder, command=command, variant=variant) for each in self.figures)
        return [figure for figure in figures if figure.is_drawn]

    def command_of(self, variant: str) -> str:
        """Return the command that draws the figures, under a variant if one is named."""
        named = variant in self.study.described.variants
        words = ["--variants", variant] if named else ["--replace", f"OLD={variant}"]
        return shlex.join(["pomrl", "figures", self.study.word, *(words if variant else [])])

    @property
    def drawn(self) -> list[FigureFiles]:
        """The figures that are drawn."""
        return [figure for figure in self.figures if figure.is_drawn]

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements of the study."""
        return claims_of_variants.stored(self.study)

    @property
    def main(self) -> list[Judgement]:
        """The judgements under the variant of the answer."""
        return self.judgements.main

    @property
    def judged(self) -> list[Judgement]:
        """The judgements under the variant of the answer that have a verdict."""
        return [each for each in self.main if each.verdict]

    @property
    def reported(self) -> list[Judgement]:
        """The judgements under the variant of the answer that report estimates and have no verdict."""
        return [each for each in self.main if not each.verdict]

    @property
    def by_verdict(self) -> list[tuple[Verdict, list[Judgement]]]:
        """The claims with each verdict; what a reader asks for first comes first."""
        return [(verdict, [each for each in self.judged if each.verdict is verdict]) for verdict in LOOKS]

    @property
    def columns(self) -> list[Column]:
        """The verdicts under each variant of the headline, counted; none if nothing is judged."""
        return columns(self.study, self.judgements)

    @property
    def groups(self) -> list[Group]:
        """What holds under the variants of the headline, and what does not, and why."""
        return groups(self.study, self.judgements)

    @property
    def how_sure(self) -> str:
        """The sentences that say how sure the verdicts are."""
        return views.how_sure(self.study, self.judgements)

    @property
    def older(self) -> str:
        """A sentence on verdicts that are older than the present code and settings; empty if there are none."""
        return views.older_in_words(self.study, self.judgements)

    @property
    def others(self) -> list[str]:
        """The other variants that the description of the study names, as far as claims are judged under them."""
        named = [name for name in self.study.described.variants if self.judgements.of(name)]
        return named[1 : 1 + MOST_COLUMNS]

    def beside(self, each: Judgement) -> list[tuple[str, Judgement]]:
        """Return the judgements of a claim under the other variants that the description names."""
        return [(name, found) for name in self.others if (found := self.judgements.of(name).get(each.id))]

    @property
    def matrix(self) -> list[str]:
        """All variants, those under which most claims hold first; empty if only a few are judged."""
        names = self.judgements.variants
        return ranked(self.judgements, names) if len(names) > 1 + len(self.others) else []

    def count(self, variant: str, verdict: Verdict) -> int:
        """Return the number of claims that have this verdict under a variant."""
        return counts(self.judgements.of(variant).values())[verdict]

    def claims_of(self, figure: FigureFiles) -> list[Judgement]:
        """Return the claims that a figure shows."""
        judged = self.judgements.of(figure.variant) if figure.variant else {each.id: each for each in self.main}
        return [judged[each.id] for each in self.main if figure.name in each.figures and each.id in judged]

    def figures_of(self, each: Judgement) -> list[FigureFiles]:
        """Return the figures that show a claim."""
        return [figure for figure in self.figures if figure.name in each.figures]

    @property
    def documents(self) -> list[tuple[str, str, Markup]]:
        """The pages of the study: identifier, title and content of each, but the one that lists all claims."""
        links = {f"{name}.md": f"#{self.prefix}{name}" for name in pages.documents(self.study) if name != CLAIMS}
        links |= {f"{CLAIMS}.md": f"#{self.prefix}scorecard"}
        links |= {f"{figure.name}.png": f"#{self.prefix}figure-{figure.name}" for figure in self.figures}
        found = []
        for name in pages.documents(self.study):
            text = pages.text(self.study, name)
            if name != CLAIMS:
                title = text.partition("\n")[0].removeprefix("# ")
                found.append((f"{self.prefix}{name}", title, document(text, f"{self.prefix}{name}", links)))
        return found

    @property
    def elements(self) -> list["Element"]:
        """Interactive parts that a shipped study brings: a section for each page `pages/*.html`."""
        paths = sorted((self.study.folder / "pages").glob("*.html")) if self.study.is_shipped else []
        return [Element(path) for path in paths]


@dataclass(frozen=True)
class Element:
    """A section of the page that a study brings as HTML, and its scripts.

    Lines `<!-- script: NAME.js -->` name the scripts, which are beside the file and run when the page is complete.
    """

    path: Path

    @property
    def title(self) -> str:
        """The title of the section in the table of contents."""
        return self.path.stem.replace("_", " ").capitalize()

    @property
    def id(self) -> str:
        """The identifier of the section."""
        return self.html.partition('<section id="')[2].partition('"')[0]

    @cached_property
    def _text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def html(self) -> Markup:
        """The section."""
        return Markup(_SCRIPT.sub("", self._text))

    @property
    def scripts(self) -> list[Markup]:
        """The content of its scripts."""
        paths = (self.path.with_name(name) for name in _SCRIPT.findall(self._text))
        return [Markup(path.read_text(encoding="utf-8")) for path in paths]


def shown_of(studies: Sequence[Study]) -> list[Shown]:
    """Return what the page of studies shows of each."""
    return [Shown(study, f"{study.name}-" * bool(number)) for number, study in enumerate(studies)]


def html(shown: Sequence[Shown], command: str) -> str:
    """Render the page of studies.

    Args:
        shown: What it shows of each study, of which the first one gives the page its title.
        command: The command that makes the page again.

    Raises:
        ReportError: The studies have neither figures nor claims, or a file is damaged or of another version.
        StoreError: A table or a stored experiment that a figure shows is damaged.
    """
    of_variants = [figures for each in shown for figures in each.under_variants.values()]
    for figures in (*(each.figures for each in shown), *of_variants):
        refuse_damage(figures)
    drawn = [figure for each in shown for figure in each.drawn]
    every = [*drawn, *chain.from_iterable(of_variants)]
    for stored in shown_experiments(every).values():
        stored.said()
    if not drawn and not any(each.main for each in shown):
        words = " && ".join(f"pomrl reproduce {each.study.word}" for each in shown)
        raise ReportError(f"there is nothing to report yet; {words} computes, draws and judges all of it")
    versions: dict[str, list[FigureFiles]] = {"": []}
    for version in chain.from_iterable(figure.versions for figure in every):
        versions.setdefault(version.variant, []).append(version)
    data = curves.data(drawn)
    return (
        _environment()
        .get_template("index.html.j2")
        .render(
            shown=shown,
            first=shown[0],
            command=command,
            drawn=drawn,
            sweeps={name: {each.name: each for each in sweep_provenances(of)} for name, of in versions.items()},
            provenance=report_provenance(every, [figure.sidecar for figure in every]),
            curves=packed_json(data) if data["series"] else "",
            selected=views.SELECTED,
        )
    )


def _environment() -> Environment:
    found = environment()
    found.globals |= {"LOOKS": LOOKS, "SENTENCES": views.SENTENCES, "placed": placed}
    found.filters |= {
        "symbols": symbols,
        "sentence": sentence,
        "slug": slug,
        "data_uri": data_uri,
        "packed": packed,
        "kind": _kind,
        "number_of": number_of,
        "value": _value,
    }
    return found


def _kind(verdict: Verdict | None) -> str:
    """Return a verdict as the name of a CSS class."""
    return str(verdict or "reported").replace(" ", "-")


def _value(setting: Any) -> str:
    """Return a setting as it is written on the command line."""
    return ", ".join(map(str, setting)) if isinstance(setting, list) else str(setting)
