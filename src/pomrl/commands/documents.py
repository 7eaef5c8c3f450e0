"""Make all generated documents: pomrl documents [STUDY ...].

The pages of studies are renewed from what is stored. They are written to the outputs, and, where the results are not
provisional, also to the folder of the study and to README.md of a checkout, which has the answer.
"""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import warn
from pomrl.configuration.sources import beside_the_package
from pomrl.configuration.study import Study, find, shipped
from pomrl.configuration.wording import number_of
from pomrl.judging import claims_of_variants, views
from pomrl.judging.judgements import Judgements
from pomrl.report import ReportError, pages
from pomrl.results.markdown import renewed
from pomrl.store import files
from pomrl.store.derived import DerivedFiles

CLAIMS = "claims"
"""The page of a study with the table of its claims."""

ANSWER = "the answer, made by pomrl documents"
"""The part of a README with the answer of a study."""


@one_line_errors(ReportError)
def main() -> None:
    """Run the command with the arguments of the process, and print the paths of the documents that were written."""
    parser = Parser(prog="pomrl documents", description="Make all generated documents from what is stored.")
    parser.add_argument(
        "study", nargs="*", metavar="STUDY", help="studies (default, in a checkout: those that are shipped)"
    )
    arguments = parser.parse_args()
    checkout = beside_the_package("docs").parent
    if not arguments.study and not ((checkout / "docs").is_dir() and Path.cwd().resolve().is_relative_to(checkout)):
        parser.error("name a study; only in a checkout of this project are all documents made without one")
    for study in map(find, arguments.study) if arguments.study else shipped():
        judged = claims_of_variants.stored(study)
        renew_outputs(study, judged)
        for path in renew_tracked(study, judged):
            print(path)


def renew_outputs(study: Study, judged: Judgements) -> None:
    """Write the pages of a study to its outputs, and a line for each whose results are not stored, or are old."""
    for line in pages.renew(study):
        warn(line)
    if judged.older:
        warn(f"{study.word}: {views.older_in_words(study, judged)}")
    if judged.main:
        families = {
            name: [each.name for each in family.variants if each.is_single] for name, family in study.families.items()
        }
        pages.write(study, CLAIMS, views.claims_page(study, judged, families))


def renew_tracked(study: Study, judged: Judgements) -> list[Path]:
    """Write the pages of a study into its folder, unless results are provisional or old; return the paths."""
    few = [each for each in judged.main if each.provisional or (each.verdict and each.is_decided_by_too_few)]
    if not judged.main or few or judged.older:
        older = "verdicts are old" if judged.main else "no claims are judged"
        reason = f"{number_of(len(few), 'claim')} with too few runs" if few else older
        remedy = f"pomrl reproduce {study.word} computes them"
        warn(f"{study.word}: its own pages stay as they are, because {reason}; {remedy}")
        return []
    written = []
    for name, path in pages.documents(study).items():
        if not path.is_relative_to(study.folder):
            target = study.folder / "pages" / f"{name}.md"
            target.parent.mkdir(exist_ok=True)
            files.write(target, pages.text(study, name).encode())
            written.append(target)
    for path in sorted((study.folder / "pages").glob("*.csv")):
        values = DerivedFiles((study.outputs / path.name).with_suffix(".json"))
        if values.is_made:
            files.write(path, values.content(path.name))
            written.append(path)
    readme = beside_the_package("docs").parent / "README.md"
    if readme.is_file() and f"<!-- {ANSWER} of {study.name} -->" in (text := readme.read_text(encoding="utf-8")):
        files.write(readme, renewed(text, {f"{ANSWER} of {study.name}": views.answer(study, judged)}).encode())
        written.append(readme)
    return written
