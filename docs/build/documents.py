"""Publish the results of studies in this checkout.

    python -m docs.build [STUDY ...]
    python -m docs.build STUDY --pictures NAME ...

The first command writes the table of judgements and the pages into the folder of each study, unless its results are
provisional or old. It then renews all generated documents: those with lookups in these tables (`pomrl_report.lookups`)
and in the board (`pomrl_studies.board.tiers`), the reference of keys, the code of the paper and stored columns. The
second command draws small pictures for README.md and the page of results into outputs/readme.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from docs.build import columns, paper, pictures
from docs.build.configuration import configuration

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import warn
from pomrl.configuration.composed import number_of
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import Study, find, shipped_studies
from pomrl.drawing.figures_of_study import versions
from pomrl.judging import judgements, study_claims
from pomrl.judging.judgements import Judgements
from pomrl.store import files
from pomrl.store.derived import DerivedFiles
from pomrl_report import documents as pages
from pomrl_report import lookups
from pomrl_report.address import repository_address
from pomrl_studies.board.tiers import board, board_text

ROOT = Path(__file__).parents[2]

CITATION = ROOT / "CITATION.cff"


@one_line_errors()
def main() -> None:
    """Publish the studies of the command line, and print the written paths."""
    parser = Parser(prog="python -m docs.build", description="Make all generated documents from what is stored.")
    parser.add_argument("study", nargs="*", metavar="STUDY", help="studies (default: those that are shipped)")
    parser.add_argument("--pictures", nargs="+", metavar="NAME", help="draw small pictures of these figures instead")
    arguments = parser.parse_args()
    named, studies = arguments.pictures or (), [*map(find, arguments.study)] or shipped_studies()
    for study in studies:
        small = (pictures.renew(study, name) for name in versions(study, named) if name in named)
        for path in small if named else renew(study):
            print(path)
    if not named and any(study.folder.is_relative_to(ROOT) for study in studies):
        for path in renew_documents():
            print(path)


def renew_documents() -> list[Path]:
    """Renew the generated documents, and return the paths of changed ones."""
    changed = []
    for path, content in generated_documents().items():
        before, text = path.read_text(encoding="utf-8"), content()
        if text != before:
            files.write(path, text.encode())
            changed.append(path)
    return changed


def generated_documents() -> Mapping[Path, Callable[[], str]]:
    """Return the generated documents of the repository, each with the function for its text."""
    return {
        **{source.with_suffix(""): partial(document, source) for source in sources()},
        CITATION: citation,
        ROOT / "docs" / "configuration.md": partial(configuration, PUBLISHED),
        paper.PAGE: paper.document,
        columns.PAGE: columns.document,
    }


def renew(study: Study) -> list[Path]:
    """Renew the pages of a study, and return the published paths."""
    study_judgements = study_claims.load_judgements(study)
    pages.renew_all(study, study_judgements, warn)
    return publish(study, study_judgements)


def publish(study: Study, study_judgements: Judgements) -> list[Path]:
    """Publish a study, and return the written paths.

    The table of judgements and the pages go into the folder of the study. Provisional or old results are not published.
    """
    if not pages.is_final(study_judgements):
        few = sum(claim.provisional for claim in study_judgements.main)
        older = "verdicts are old" if study_judgements.main else "no claims are judged"
        reason = f"{number_of(few, 'claim')} with too few runs" if few else older
        remedy = f"pomrl reproduce {study.argument} computes them"
        warn(f"{study.argument}: its own pages stay as they are, because {reason}; {remedy}")
        return []
    described = [judgement for variant in study.variants for judgement in study_judgements.of(variant.name).values()]
    tables = [study.folder / judgements.FILE, *sorted((study.folder / "pages").glob("*.csv"))]
    contents = {tables[0]: judgements.content(described)}
    for path in tables[1:]:
        values = DerivedFiles((study.outputs / path.name).with_suffix(".json"))
        contents |= {path: values.content(path.name)} if values.is_made else {}
    documents = pages.read_documents(study)
    documents.pop(pages.CLAIMS, None)  # which the site makes from the table
    contents |= {study.folder / "pages" / f"{name}.md": text.encode() for name, text in documents.items()}
    for path, content in contents.items():
        files.write(path, content)
    return [*contents]


def citation() -> str:
    """Return CITATION.cff with the address of this project, if it has one."""
    text = re.sub(r"^repository-code: .*\n", "", CITATION.read_text("utf-8"), flags=re.MULTILINE)
    address = repository_address()
    return text.replace("license: ", f"repository-code: {address}\nlicense: ", 1) if address else text


def sources() -> list[Path]:
    """Return the sources of all documents with lookups."""
    patterns = ("*.md.in", "docs/*.md.in", "src/*/*/pages/*.md.in", "packages/*/src/*/*/pages/*.md.in")
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def document(source: Path) -> str:
    """Return a document with its lookups in the published judgements."""
    study = find(str(source.parents[1]) if source.parent.name == "pages" else "pomrl2023")
    results = pages.study_results(study, judgements.read_published(study))
    return lookups.fill(source.read_text("utf-8"), results, source.name, {"board": board, "board_text": board_text})
