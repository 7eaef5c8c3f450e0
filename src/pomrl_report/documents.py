"""The documents of a study in Markdown, renewed from what is stored.

`parts(page)` of `pages/NAME.py` returns new parts of `pages/NAME.md`, between `<!-- PART -->` and
`<!-- end of PART -->`. `pages/NAME.md.in` is a source with places to look up (`pomrl_report.lookups`).
"""

import re
from collections.abc import Callable, Mapping

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import in_words, place_of
from pomrl.configuration.study import Study, find
from pomrl.judging import judgements, views
from pomrl.judging.judgements import Judgements
from pomrl.pages import Page
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles, write_file
from pomrl_report import lookups
from pomrl_report.answer import claims_page

CLAIMS = "claims"
"""The document with the table of all claims."""


def renew_all(study: Study, judged: Judgements, warn: Callable[[str], object]) -> None:
    """Write the documents of a study to its outputs.

    Documents without stored results, or with provisional numbers, stay as in the study's folder. `warn` is called with
    a
    line for what is missing or old.
    """
    lacking = renew(study)
    for line in [] if study.families else lacking:  # under which such results are computed
        warn(line)
    if is_final(judged):
        for name, text in look_up(study, judged).items():
            write(study, name, text)
    if judged.older:
        warn(f"{study.word}: {views.older_in_words(study, judged)}")
    if judged.main:
        write(study, CLAIMS, claims_page(study, judged))


def is_final(judged: Judgements) -> bool:
    """Return whether claims are judged, on all runs, by the present code."""
    return bool(judged.main) and not judged.older and not any(judgement.provisional for judgement in judged.main)


def documents(study: Study) -> dict[str, str]:
    """Return a study's documents by name, renewed ones from its outputs."""
    paths = sorted((study.folder / "pages").glob("*.md"))
    return {path.stem: path.read_text(encoding="utf-8") for path in paths} | read_documents(study)


def read_documents(study: Study) -> dict[str, str]:
    """Return the renewed documents by name."""
    sidecars = sorted((study.outputs / "pages").glob("*.json"))
    return {sidecar.stem: DerivedFiles(sidecar).content(f"{sidecar.stem}.md").decode() for sidecar in sidecars}


def fill(document: str, parts: Mapping[str, str]) -> str:
    """Replace parts of a document between `<!-- NAME -->` and `<!-- end of NAME -->`.

    Raises:
        LookupError: The document has no place for a part.
    """
    for name, part in parts.items():
        place = re.compile(rf"(?<=<!-- {re.escape(name)} -->\n).*?(?=<!-- end of {re.escape(name)} -->)", re.DOTALL)
        if not place.search(document):
            raise LookupError(f"the document has no lines <!-- {name} --> and <!-- end of {name} -->")
        document = place.sub(lambda _, part=part: f"\n{part.rstrip()}\n\n", document)
    return document


def renew(study: Study) -> list[str]:
    """Renew documents with parts; return a line for each without results.

    Raises:
        ConfigError: The code of a page raises an error.
    """
    lacking = []
    for module in study.modules("pages"):
        name = module.__name__.rpartition(".")[2]
        document = study.folder / "pages" / f"{name}.md"
        if not document.is_file():
            raise ConfigError(f"{study.word}: pages/{name}.py makes parts of pages/{name}.md, which is not there")
        try:
            parts = module.parts(Page(study, name))
            content = fill(document.read_text(encoding="utf-8"), parts)
        except StoreError as error:
            remedy = f"pomrl reproduce {study.word} --variants all computes what it reads"
            lacking.append(f"pages/{name}.md is not renewed: {error}; {remedy}")
            continue
        except (OSError, ConfigError):
            raise
        except Exception as error:  # whatever code of somebody's own raises
            where = place_of(error, str(module.__file__))
            raise ConfigError(f"{study.word}: {where}: {in_words(error)}") from error
        write(study, name, content)
    return lacking


def look_up(study: Study, judged: Judgements) -> dict[str, str]:
    """Return the documents from `pages/NAME.md.in` by name.

    Raises:
        ConfigError: A place has no meaning, or a sentence needs another verdict.
    """
    paths = sorted((study.folder / "pages").glob(f"*.md{lookups.SUFFIX}"))
    results = results_of(study, judged)
    return {
        path.name.removesuffix(f".md{lookups.SUFFIX}"): lookups.fill(
            path.read_text(encoding="utf-8"), results, f"{study.word}: pages/{path.name}"
        )
        for path in paths
    }


def results_of(study: Study, judged: Judgements) -> lookups.Results:
    """Return judgements to look up, and published ones of other studies."""

    def read(name: str) -> tuple[Study, Judgements]:
        if name == study.name:
            return study, judged
        other = find(name)
        return other, judgements.read_published(other)

    return lookups.Results(study, read)


def write(study: Study, name: str, content: str) -> None:
    """Write a document to the outputs of a study."""
    write_file(study.outputs / "pages" / f"{name}.md", content.encode(), f"pomrl reproduce {study.word}")
