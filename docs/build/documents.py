"""Publish the results of studies in this checkout: python -m docs.build [STUDY ...].

What is stored becomes the published answer: the table of judgements and the pages in the folder of each study, and
README.md and other documents, which look numbers up in that table (`pomrl_report.lookups`) and in the board
(`pomrl_studies.board.lookups`). Results that are
provisional or old are not published. With --pictures, the small pictures of README.md and of the page of results are
drawn instead, into outputs/readme. The reference of all keys is made by python -m docs.build.configuration,
and the page from the paper to the code by python -m docs.build.paper.
"""

from pathlib import Path

from docs.build import pictures

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import warn
from pomrl.configuration.composed import number_of
from pomrl.configuration.study import Study, find, shipped_studies
from pomrl.drawing.figures_of_study import versions
from pomrl.judging import judgements, study_claims
from pomrl.judging.judgements import Judgements
from pomrl.store import files
from pomrl.store.derived import DerivedFiles
from pomrl_report import documents as pages
from pomrl_report import lookups
from pomrl_studies.board.lookups import board

ROOT = Path(__file__).parents[2]


@one_line_errors()
def main() -> None:
    """Run with the arguments of the process, and print the paths of the documents that were written."""
    parser = Parser(prog="python -m docs.build", description="Make all generated documents from what is stored.")
    parser.add_argument("study", nargs="*", metavar="STUDY", help="studies (default: those that are shipped)")
    parser.add_argument("--pictures", nargs="+", metavar="NAME", help="draw small pictures of these figures instead")
    arguments = parser.parse_args()
    named = arguments.pictures or ()
    for study in [*map(find, arguments.study)] or shipped_studies():
        small = (pictures.renew(study, name) for name in versions(study, named) if name in named)
        for path in small if named else renew(study):
            print(path)


def renew(study: Study) -> list[Path]:
    """Renew the pages of a study in the outputs and in its folder, and return the paths of the latter."""
    study_judgements = study_claims.load_judgements(study)
    pages.renew_all(study, study_judgements, warn)
    return publish(study, study_judgements)


def publish(study: Study, judged: Judgements) -> list[Path]:
    """Write the table of judgements and the pages of a study into its folder, and the documents; return the paths.

    Results that are provisional or old are not published.
    """
    if not pages.is_final(judged):
        few = sum(claim.provisional for claim in judged.main)
        older = "verdicts are old" if judged.main else "no claims are judged"
        reason = f"{number_of(few, 'claim')} with too few runs" if few else older
        remedy = f"pomrl reproduce {study.word} computes them"
        warn(f"{study.word}: its own pages stay as they are, because {reason}; {remedy}")
        return []
    described = [judgement for variant in study.variants for judgement in judged.of(variant.name).values()]
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
    for source in sources():
        files.write(source.with_suffix(""), document(source).encode())
    return [*contents, *(source.with_suffix("") for source in sources())]


def sources() -> list[Path]:
    """Return the documents outside of studies that have places to look up."""
    return [path for pattern in ("*.md.in", "docs/*.md.in") for path in sorted(ROOT.glob(pattern))]


def document(source: Path) -> str:
    """Return what a document becomes with the published judgements."""
    paper = find("pomrl2023")
    results = pages.study_results(paper, judgements.read_published(paper))
    return lookups.fill(source.read_text("utf-8"), results, source.name, {"board": board})
