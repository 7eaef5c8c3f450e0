"""The page of one study or of several: what the other modules of the report read, rendered by the templates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from markupsafe import Markup

from pomrl.configuration.study import Study
from pomrl.drawing.figure import INTERVALS, figures_of
from pomrl.drawing.figures_of_study import FOLDER
from pomrl.judging import claims_of_variants, views
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import counts, ranked
from pomrl.judging.verdict import LOOKS
from pomrl.report import answer, curves, pages, provenance
from pomrl.report.figure_files import FigureFiles
from pomrl.report.markup import document
from pomrl.report.rendering import packed_json, rendered
from pomrl.store import StoreError

CLAIMS = "claims"
"""The document that lists all claims, in whose place the page has its own list."""

MOST_COLUMNS = 4
"""The most variants whose verdicts stand beside a claim; those of others are in a matrix."""


@dataclass(frozen=True)
class Shown:
    """Everything that the page shows of one study."""

    study: Study
    prefix: str
    """What the identifiers of the study's elements begin with; empty for the first study of a page."""

    @cached_property
    def figures(self) -> list[FigureFiles]:
        """The figures of the study, drawn or not, and those that its pages have made."""
        folder = self.study.outputs / FOLDER
        said = {each.name: each.docstring for each in figures_of(self.study)}
        drawn = {path.stem.removesuffix(INTERVALS): "" for path in sorted(folder.glob("*.json"))}
        return [
            FigureFiles(name, folder, docstring, self.study.word)
            for name, docstring in (said | {name: "" for name in drawn if name not in said}).items()
        ]

    @cached_property
    def under_variants(self) -> dict[str, list[FigureFiles]]:
        """The figures that are drawn under each other variant; those that the description names come first."""
        folder = self.study.outputs / FOLDER
        folders = sorted(path.name for path in folder.glob("*") if path.is_dir())
        drawn = {
            name: [replace(each, folder=folder / name, variant=name) for each in self.figures]
            for name in dict.fromkeys([*self.study.described.variants, *folders])
        }
        found = {name: [each for each in figures if each.versions] for name, figures in drawn.items()}
        return {name: figures for name, figures in found.items() if figures}

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements of the study."""
        return claims_of_variants.stored(self.study)

    @property
    def main(self) -> list[Judgement]:
        """The judgements under the variant of the answer."""
        return self.judgements.main

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

    def claims_of(self, figure: FigureFiles) -> list[Judgement]:
        """Return the claims that a figure shows."""
        judged = self.judgements.of(figure.variant) if figure.variant else {each.id: each for each in self.main}
        return [judged[each.id] for each in self.main if figure.name in each.figures and each.id in judged]

    @property
    def documents(self) -> list[tuple[str, str, Markup]]:
        """The pages of the study: identifier, title and content of each, but the one that lists all claims."""
        links = {f"{name}.md": f"#{self.prefix}{name}" for name in pages.documents(self.study) if name != CLAIMS}
        links |= {f"{CLAIMS}.md": f"#{self.prefix}scorecard"}
        links |= {f"{figure.name}.png": f"#{self.prefix}{figure.id}" for figure in self.figures}
        found = []
        for name in pages.documents(self.study):
            text = pages.text(self.study, name)
            if name != CLAIMS:
                title = text.partition("\n")[0].removeprefix("# ")
                found.append((f"{self.prefix}{name}", title, document(text, f"{self.prefix}{name}", links)))
        return found

    def brought(self, suffix: str) -> list[Markup]:
        """Return the interactive sections of a shipped study, `pages/*.html`, or their scripts, `pages/*.js`."""
        paths = sorted((self.study.folder / "pages").glob(f"*.{suffix}")) if self.study.is_shipped else []
        return [Markup(path.read_text(encoding="utf-8")) for path in paths]


def html(studies: Sequence[Study], command: str, warn: Callable[[str], object] = str) -> str:
    """Render the page of studies.

    Args:
        studies: The studies, of which the first one gives the page its title.
        command: The command that makes the page again.
        warn: A function that is called with a line on each study whose verdicts are old.

    Raises:
        StoreError: The studies have neither figures nor claims; a file, or a stored experiment that a figure shows, is
            damaged or of another version.
    """
    shown = [Shown(study, f"{study.name}-" * bool(number)) for number, study in enumerate(studies)]
    figures = [
        figure for each in shown for figure in chain(each.figures, *each.under_variants.values()) if figure.versions
    ]
    if not figures and not any(each.main for each in shown):
        words = " && ".join(f"pomrl reproduce {each.study.word}" for each in shown)
        raise StoreError(f"there is nothing to report yet; {words} computes, draws and judges all of it")
    for each in shown:
        if older := views.older_in_words(each.study, each.judgements):
            warn(f"{each.study.word}: {older}")
    sources: dict[str, list[provenance.Shown]] = {"": []}
    for figure in figures:
        sources.setdefault(figure.variant, []).extend(chain.from_iterable(each.shown for each in figure.versions))
    plain = [figure.versions[-1] for figure in figures if not figure.variant]
    data = curves.data(chain.from_iterable(version.shown for version in plain))
    return rendered(
        "study.html.j2",
        shown=shown,
        first=shown[0],
        command=command,
        sweeps={variant: provenance.sweep_provenances(of_variant) for variant, of_variant in sources.items()},
        provenance=provenance.report_provenance(
            chain.from_iterable(sources.values()), [figure.versions[-1].sidecar for figure in figures]
        ),
        curves=packed_json(data) if data["series"] else "",
        lost=data["lost"],
        answers=answer,
        views=views,
        counts=counts,
        LOOKS=LOOKS,
    )
