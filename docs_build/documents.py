"""Make the generated documents of this checkout: python -m docs_build [STUDY ...].

The pages of studies are renewed from what is stored. They are written to the outputs, and, where the results are not
provisional, also to the folder of the study and to README.md, which has the answer. With --pictures, the small pictures
of README.md and of the page of results are drawn instead, into outputs/readme. The reference of all keys is made by
python -m docs_build.configuration.
"""

from pathlib import Path

from docs_build import pictures
from pomrl.commands import reproduce
from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import warn
from pomrl.configuration.study import Study, find, shipped_studies
from pomrl.configuration.wording import number_of
from pomrl.drawing.figures_of_study import versions
from pomrl.judging import claims_of_variants
from pomrl.judging.judgements import Judgements
from pomrl.report import answer, pages
from pomrl.store import files
from pomrl.store.derived import DerivedFiles

ROOT = Path(__file__).parents[1]

ANSWER = "the answer, made by docs_build"
"""The part of a document with the answer of a study."""

DOCUMENTS = (ROOT / "README.md", ROOT / "docs/speed.md")
"""The documents with such parts."""


@one_line_errors()
def main() -> None:
    """Run with the arguments of the process, and print the paths of the documents that were written."""
    parser = Parser(prog="python -m docs_build", description="Make all generated documents from what is stored.")
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
    judged = claims_of_variants.load_judgements(study)
    reproduce.renew_pages(study, judged)
    return renew_tracked(study, judged)


def renew_tracked(study: Study, judged: Judgements) -> list[Path]:
    """Write the pages of a study into its folder, unless results are provisional or old; return the paths."""
    few = [claim for claim in judged.main if claim.provisional]
    if not judged.main or few or judged.older:
        older = "verdicts are old" if judged.main else "no claims are judged"
        reason = f"{number_of(len(few), 'claim')} with too few runs" if few else older
        remedy = f"pomrl reproduce {study.word} computes them"
        warn(f"{study.word}: its own pages stay as they are, because {reason}; {remedy}")
        return []
    written = []
    for name, text in pages.read_documents(study).items():
        target = study.folder / "pages" / f"{name}.md"
        files.write(target, text.encode())
        written.append(target)
    for path in sorted((study.folder / "pages").glob("*.csv")):
        values = DerivedFiles((study.outputs / path.name).with_suffix(".json"))
        if values.is_made:
            files.write(path, values.content(path.name))
            written.append(path)
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        if f"<!-- {ANSWER} of {study.name} -->" in text:
            parts = {f"{ANSWER} of {study.name}": answer.text(study, judged)}
            files.write(document, pages.fill(text, parts).encode())
            written.append(document)
    return written
