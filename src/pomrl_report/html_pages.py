"""Render the HTML pages of studies and selections."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import attrgetter

from markupsafe import Markup

from pomrl.configuration.studies import Study
from pomrl.drawing.figure import INTERVALS, figures_of, file_name
from pomrl.drawing.figures_of_study import FOLDER
from pomrl.execution.local import in_threads
from pomrl.judging import study_claims, views
from pomrl.judging.agreement import counts, rank
from pomrl.judging.answer import VERBS, certainty
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.results.selection import describe_runs
from pomrl.results.summaries import summarise
from pomrl.results.sweep_results import SweepResults
from pomrl.results.tables import as_text
from pomrl.store import StoreError
from pomrl_report import claim_tables, curves, provenance
from pomrl_report.documents import CLAIMS
from pomrl_report.documents import documents as documents_of
from pomrl_report.figure_files import FigureFiles
from pomrl_report.markup import documents
from pomrl_report.rendering import render
from verdicts.parts import LOOKS


@dataclass(frozen=True)
class StudyPage:
    """The content of a study's page."""

    study: Study

    @cached_property
    def figures(self) -> list[FigureFiles]:
        """The figures of the study, drawn or not, and of its pages."""
        folder = self.study.outputs / FOLDER
        docstrings = {figure.name: figure.docstring for figure in figures_of(self.study)}
        drawn_names = [path.stem.removesuffix(INTERVALS) for path in sorted(folder.glob("*.json"))]
        numbered = {file_name(name, docstring) for name, docstring in docstrings.items()}
        names = dict.fromkeys([*docstrings, *(name for name in drawn_names if name not in numbered)])
        return [FigureFiles(name, folder, docstrings.get(name, ""), self.study.argument) for name in names]

    @cached_property
    def under_variants(self) -> dict[str, list[FigureFiles]]:
        """The drawn figures under other variants, in the order of `study.yaml`."""
        folder = self.study.outputs / FOLDER
        folders = sorted(path.name for path in folder.glob("*") if path.is_dir())
        by_variant = {}
        for name in dict.fromkeys([*self.study.config.variants, *folders]):
            figures = [replace(figure, folder=folder / name, variant=name) for figure in self.figures]
            if versions := [figure for figure in figures if figure.versions]:
                by_variant[name] = versions
        return by_variant

    @property
    def drawn_figures(self) -> list[FigureFiles]:
        """The drawn figures, and those under other variants."""
        return [figure for figure in chain(self.figures, *self.under_variants.values()) if figure.versions]

    @cached_property
    def judgements(self) -> Judgements:
        return study_claims.load_judgements(self.study)

    @property
    def main(self) -> list[Judgement]:
        """The judgements under the variant of the answer."""
        return self.judgements.main

    @property
    def sections(self) -> list[str]:
        """The sections of the paper with claims, each once."""
        sections = (str(judgement.where).partition(",")[0] for judgement in self.main)
        return [section for section in dict.fromkeys(sections) if section]

    def other_judgements(self, judgement: Judgement) -> list[tuple[str, Judgement]]:
        """Return judgements of a claim under other variants of `study.yaml`."""
        judgements = [self.judgements.of(name).get(judgement.id) for name in self.study.config.variants]
        return [(other.variant, other) for other in judgements if other and other.variant != judgement.variant]

    @property
    def matrix(self) -> list[str]:
        """All variants, best first; empty if all are in `study.yaml`."""
        names = self.judgements.variants
        return rank(self.judgements, names) if {*names} - {*self.study.config.variants} else []

    def figure_claims(self, figure: FigureFiles) -> list[Judgement]:
        by_id = self.judgements.of(figure.variant) if figure.variant else {claim.id: claim for claim in self.main}
        return [by_id[claim.id] for claim in self.main if figure.name in claim.figures and claim.id in by_id]

    @property
    def documents(self) -> list[tuple[str, str, Markup]]:
        """The identifier, title and content of documents, except the claims."""
        texts = documents_of(self.study)
        texts.pop(CLAIMS, None)
        links = {f"{CLAIMS}.csv": "#scorecard"} | {f"{name}.md": f"#{name}" for name in texts}
        links |= {f"{figure.name}.png": f"#{figure.id}" for figure in self.figures}
        return documents(texts, links)

    def read_sections(self, suffix: str) -> list[Markup]:
        """Return `pages/*.SUFFIX` of a shipped study: sections or scripts."""
        paths = sorted((self.study.folder / "pages").glob(f"*.{suffix}")) if self.study.is_shipped else []
        return [Markup(path.read_text(encoding="utf-8")) for path in paths]


def html(page: StudyPage, command: str, warn: Callable[[str], object] = str) -> str:
    """Render the page of a study.

    Its pictures and tables are files beside it (`FigureFiles.write`). `command` makes the page again. `warn` is
    called if verdicts are outdated.

    Raises:
        StoreError: No figures or claims exist, or a file is damaged or of another version.
    """
    study, figures = page.study, page.drawn_figures
    if not figures and not page.main:
        raise StoreError(
            f"{study.argument}: no figures or claims to report yet; run `pomrl reproduce {study.argument}`"
        )
    if older := views.describe_older(study, page.judgements):
        warn(f"{study.argument}: {older}")
    sources: dict[str, list[provenance.ShownExperiment]] = {"": []}
    for figure in figures:
        sources.setdefault(figure.variant, []).extend(
            chain.from_iterable(version.experiments for version in figure.versions)
        )
    # Pictures are cached for the template.
    in_threads(attrgetter("picture"), [version for figure in figures for version in figure.versions])
    return render(
        "study.html.j2",
        of=page,
        command=command,
        sweeps={variant: provenance.sweep_provenances(experiments) for variant, experiments in sources.items()},
        provenance=provenance.report_provenance(
            chain.from_iterable(sources.values()), [figure.versions[-1].sidecar for figure in figures]
        ),
        curves=curves.data(
            chain.from_iterable(figure.versions[0].experiments for figure in figures if not figure.variant)
        ),
        answers=claim_tables,
        views=views,
        counts=counts,
        LOOKS=LOOKS,
        VERBS=VERBS,
        certainty=certainty,
    )


def selection_page(
    results: SweepResults, figure: FigureFiles | None, command: str, remark: str, title: str = ""
) -> str:
    """Render a page of experiments; StoreError if one is damaged.

    `command` makes the page again, `remark` is a note on missing pieces, and `title` the title of their study.
    """
    shown_experiments = [("stored", source) for source in results.origins]
    return render(
        "selection.html.j2",
        title=title,
        command=command,
        runs=describe_runs(results.runs),
        figure=figure,
        summaries=as_text(summarise(results)),
        remark=remark,
        sweep=provenance.sweep_provenances(shown_experiments)["stored"],
        experiments=list(zip(results.stored, results.settings, strict=True)),
        varying=results.keys,
        provenance=provenance.report_provenance(shown_experiments),
        curves=curves.data(("stored", source) for source in results.with_common_runs().origins),
    )
