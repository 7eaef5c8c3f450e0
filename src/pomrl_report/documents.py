"""Renew the Markdown documents of a study from stored results.

`parts(page)` of `pages/NAME.py` returns texts for `pages/NAME.md` by the name of their PART, between `<!-- PART -->`
and `<!-- end of PART -->`. `pages/NAME.md.in` is a source with calls (`pomrl_report.lookups`).
"""

import re
from collections.abc import Callable, Mapping

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import format_error, place_of
from pomrl.configuration.studies import Study, find
from pomrl.judging import views
from pomrl.judging.judgements import Judgements, read_published
from pomrl.pages import Page
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles, write_file
from pomrl_report import lookups
from pomrl_report.claim_tables import claims_page

CLAIMS = "claims"
"""The document with the table of all claims."""


def renew_all(study: Study, judgements: Judgements, warn: Callable[[str], object]) -> None:
    """Write the documents of a study to its outputs.

    Documents with calls need final results. `warn` is called with a line for each problem.
    """
    problems = renew(study)
    for line in [] if study.families else problems:  # families of variants are computed only on request
        warn(line)
    if is_final(judgements):
        for name, text in look_up(study, judgements).items():
            write(study, name, text)
    if judgements.older:
        warn(f"{study.argument}: {views.describe_older(study, judgements)}")
    if judgements.main:
        write(study, CLAIMS, claims_page(study, judgements))


def is_final(judgements: Judgements) -> bool:
    """Return whether claims are judged on all runs by the present code."""
    return (
        bool(judgements.main)
        and not judgements.older
        and not any(judgement.provisional for judgement in judgements.main)
    )


def documents(study: Study) -> dict[str, str]:
    """Return all documents by name, renewed ones from the outputs."""
    paths = sorted((study.folder / "pages").glob("*.md"))
    return {path.stem: path.read_text(encoding="utf-8") for path in paths} | read_documents(study)


def read_documents(study: Study) -> dict[str, str]:
    """Return the renewed documents by name."""
    sidecars = sorted((study.outputs / "pages").glob("*.json"))
    return {sidecar.stem: DerivedFiles(sidecar).content(f"{sidecar.stem}.md").decode() for sidecar in sidecars}


def fill(document: str, contents: Mapping[str, str]) -> str:
    """Replace parts between their comments; LookupError without these."""
    for name, content in contents.items():
        pattern = re.compile(rf"(?<=<!-- {re.escape(name)} -->\n).*?(?=<!-- end of {re.escape(name)} -->)", re.DOTALL)
        if not pattern.search(document):
            raise LookupError(f"the document must have the lines <!-- {name} --> and <!-- end of {name} -->")
        document = pattern.sub(lambda _, text=content: f"\n{text.rstrip()}\n\n", document)
    return document


def renew(study: Study) -> list[str]:
    """Renew documents with parts; return a line for each without results.

    Raises:
        ConfigError: The code of a page raises an error.
    """
    problems = []
    for module in study.modules("pages"):
        name = module.__name__.rpartition(".")[2]
        document = study.folder / "pages" / f"{name}.md"
        if not document.is_file():
            raise ConfigError(f"{study.argument}: pages/{name}.md is missing; create it, or remove pages/{name}.py")
        try:
            contents = module.parts(Page(study, name))
            content = fill(document.read_text(encoding="utf-8"), contents)
        except StoreError as error:
            remedy = f"run `pomrl reproduce {study.argument} --variants all`"
            problems.append(f"pages/{name}.md is not renewed: {error}; {remedy}")
            continue
        except (OSError, ConfigError):
            raise
        except Exception as error:  # user-defined code may raise anything
            where = place_of(error, str(module.__file__))
            raise ConfigError(f"{study.argument}: {where}: {format_error(error)}") from error
        write(study, name, content)
    return problems


def look_up(study: Study, judgements: Judgements) -> dict[str, str]:
    """Fill the documents `pages/NAME.md.in`, and return them by name.

    Raises:
        ConfigError: A call is wrong, or a verdict differs.
    """
    paths = sorted((study.folder / "pages").glob(f"*.md{lookups.SUFFIX}"))
    results = study_results(study, judgements)
    return {
        path.name.removesuffix(f".md{lookups.SUFFIX}"): lookups.fill(
            path.read_text(encoding="utf-8"), results, f"{study.argument}: pages/{path.name}"
        )
        for path in paths
    }


def study_results(study: Study, judgements: Judgements) -> lookups.Results:
    """Return a study's judgements, and published ones of other studies."""

    def find_results(name: str) -> tuple[Study, Judgements]:
        if name == study.name:
            return study, judgements
        other = find(name)
        return other, read_published(other)

    return lookups.Results(study, find_results)


def write(study: Study, name: str, content: str) -> None:
    """Write a document to a study's outputs."""
    write_file(study.outputs / "pages" / f"{name}.md", content.encode(), f"pomrl reproduce {study.argument}")
