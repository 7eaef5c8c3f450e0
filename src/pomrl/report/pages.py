"""The pages of a study: documents in Markdown. Plain Python may make parts of them from what is stored.

`pages/NAME.md` is a document. If there is a module `pages/NAME.py`, its function `parts(page)` returns new parts for
the places `<!-- PART -->` to `<!-- end of PART -->` of the document; it may write tables and figures with `Page`. If
there is `pages/NAME.md.in`, the document is made of it, with what its places look up (`pomrl.report.lookups`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import pandas as pd

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import in_words, place_of
from pomrl.configuration.study import Study, find
from pomrl.drawing.figures_of_study import FOLDER, files_of
from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.series import Drawing
from pomrl.judging import judgements
from pomrl.judging.judgements import Judgements
from pomrl.report import lookups
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles, write_file, write_table


@dataclass(frozen=True)
class Page:
    """What the code of a page reads, and where it writes."""

    study: Study
    name: str

    @property
    def command(self) -> str:
        """The command that makes the page again."""
        return f"pomrl reproduce {self.study.word}"

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements of the study."""
        return judgements.read(self.study.outputs, list(self.study.described.variants))

    def points(self, figure: str) -> pd.DataFrame:
        """Return the table of the points of a figure of the study.

        Raises:
            StoreError: The figure is not drawn, or one of its files is damaged.
        """
        name = files_of(self.study, figure)
        drawn = DerivedFiles(self.study.outputs / FOLDER / f"{name}.json")
        return pd.read_csv(BytesIO(drawn.content(f"{name}.csv")))

    def write(self, name: str, table: pd.DataFrame) -> pd.DataFrame:
        """Write a table to the outputs of the study, NAME.csv; return it with the digits that the file has."""
        path = self.study.outputs / f"{name}.csv"
        write_table(table, path, self.command)
        return pd.read_csv(path)

    def save(self, name: str, drawing: Drawing, docstring: str) -> None:
        """Write a figure to the outputs of the study, as other figures are."""
        sidecar = Sidecar(name, command=self.command, docstring=docstring, variant=self.study.unchanged)
        save(drawing, self.study.outputs / FOLDER, name, sidecar)


def documents(study: Study) -> dict[str, str]:
    """Return the documents of a study by their names, as renewed in the outputs, or else as its folder has them.

    Raises:
        StoreError: One was renewed in the outputs, and is damaged there.
    """
    paths = sorted((study.folder / "pages").glob("*.md"))
    return {path.stem: path.read_text(encoding="utf-8") for path in paths} | read_documents(study)


def read_documents(study: Study) -> dict[str, str]:
    """Return the documents that were renewed in the outputs of a study, by their names."""
    sidecars = sorted((study.outputs / "pages").glob("*.json"))
    return {sidecar.stem: DerivedFiles(sidecar).content(f"{sidecar.stem}.md").decode() for sidecar in sidecars}


def fill(document: str, parts: Mapping[str, str]) -> str:
    """Return a document with new parts between its lines `<!-- NAME -->` and `<!-- end of NAME -->`.

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
    """Renew the documents of a study that have parts made by code; return a line for each whose results are missing.

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
    """Return the documents that are made of `pages/NAME.md.in`, by their names.

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
    """Return what the documents of a study look up: its judgements, and the published ones of other studies."""

    def read(name: str) -> tuple[Study, Judgements]:
        if name == study.name:
            return study, judged
        other = find(name)
        return other, judgements.read_published(other)

    return lookups.Results(study, read)


def write(study: Study, name: str, content: str) -> None:
    """Write a document to the outputs of a study."""
    write_file(study.outputs / "pages" / f"{name}.md", content.encode(), f"pomrl reproduce {study.word}")
