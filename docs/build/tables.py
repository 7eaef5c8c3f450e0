"""Tables of studies as pages of the site: `claims.csv`, `ledger.yaml` and `pages/*.csv`.

A link to a table leads to its rows on GitHub, and to its page on the site.
"""

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from docs.build.paper import ROOT, anchor
from mkdocs.structure.files import File, InclusionLevel

from pomrl.configuration.studies import Study, shipped_studies
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import read_published
from pomrl.results.tables import markdown, markdown_text
from pomrl_report.claim_tables import claims_page
from pomrl_report.lookups import typographic
from pomrl_studies.pomrl2023.choices import Difference, differences


class TableFile(File):
    """A page with a table of a study."""

    def __init__(self, *arguments: str, **options: str | bool) -> None:
        super().__init__(*arguments, **options, inclusion=InclusionLevel.NOT_IN_NAV)  # pyright: ignore[reportArgumentType]

    def is_documentation_page(self) -> bool:
        """Return True: pages get the theme, and links to them are checked."""
        return True

    @property
    def content_string(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The Markdown of the page."""
        path = Path(self.abs_src_path or "")
        (study,) = (study for study in shipped_studies() if study.folder in path.parents)
        return page(study, path)


def page(study: Study, path: Path) -> str:
    """Return the page of a table as Markdown."""
    if path.name == "claims.csv":
        return with_links(typographic(claims_page(study, read_published(study))), study)
    if path.name == "ledger.yaml":
        return differences_page()
    head, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    return f"# {study.name}: {path.stem.replace('_', ' ')}\n\n{table(head, rows)}"


def with_links(page: str, study: Study) -> str:
    """Return the page of claims with an anchor and links at each row of its first table.

    Links lead to the function of a claim, and to its figures.
    """
    claims = {claim.id: claim for claim in claims_of(study)}
    to_root = "../" * len(study.folder.relative_to(ROOT).parts)

    def linked(row: re.Match[str]) -> str:
        claim = claims[row[1]]
        code = claim.check.__code__
        file = Path(code.co_filename).relative_to(ROOT).as_posix()
        links = [f"[code]({to_root}{file}#L{code.co_firstlineno})"]
        links += [f"[figure]({to_root}gallery.md#{study.name}-{name})" for name in claim.figures]
        return f'| <a id="{anchor(claim.id)}"></a>**{claim.id}** ({", ".join(links)})'

    return re.sub(r"^\| \*\*([\w.]+)\*\*", linked, page, flags=re.M)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of plain text as Markdown."""
    return markdown(head, [[*map(markdown_text, row)] for row in rows])


def differences_page() -> str:
    """Return the page of differences between the paper and its authors' notebook."""
    with_key = [difference for difference in differences() if difference.choice]
    without_key = [difference for difference in differences() if not difference.choice]
    return "\n".join(
        [
            "# The paper's text and its authors' notebook: all differences\n",
            "A key of this project sets each of these. Together they are `reading=computed`.\n",
            _differences_table(with_key, "key", _overrides),
            "The others have no key, for the reason in the last column.\n",
            _differences_table(without_key, "why it has no key", lambda difference: difference.why),
        ]
    )


def _differences_table(rows: Sequence[Difference], head: str, last: Callable[[Difference], str]) -> str:
    cells = [
        [
            row.name + (f" ({row.number})" if row.number else ""),
            *(row.where, row.text or "says nothing of it", row.notebook, row.kind, last(row)),
        ]
        for row in rows
    ]
    return table(["difference", "section", "the text", "the notebook", "kind", head], cells)


def _overrides(difference: Difference) -> str:
    """Return the overrides of a difference, without the values of long lists."""
    overrides = difference.choice.overrides if difference.choice else ()
    short = (override if len(override) < 60 else f"{override.partition('=')[0]}=[...]" for override in overrides)
    return ", ".join(f"`{override}`" for override in short)
