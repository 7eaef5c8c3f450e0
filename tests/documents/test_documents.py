"""Documents that say what the code says: they cannot go stale."""

import csv
import re
from functools import cache
from pathlib import Path

import pytest
from docs.build.documents import generated_documents
from pydantic import TypeAdapter
from tests.support.settings import OPTIONS, ROOT, STUDIES

from pomrl.base import DataPath
from pomrl.configuration.settings import DEFAULTS
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import StudyConfig, shipped_studies
from pomrl.configuration.sweeps import experiment
from pomrl.drawing.figure import figures_of, file_name
from pomrl.judging.claim import claims_of
from pomrl_report.docs import one_page

GENERATED = generated_documents()


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_documents_are_up_to_date(path: Path) -> None:
    assert path.read_text() == GENERATED[path](), "run python -m docs.build"


def reference_rows(group: str) -> list[tuple[str, str, set[str]]]:
    """The keys of a group in the reference, each with the cell of its default and the options that have it."""
    text = (ROOT / "docs" / "configuration.md").read_text().partition(f"\n## {group}\n")[2].partition("\n## ")[0]
    options = {path.stem for path in PUBLISHED.options(group)}
    owners, rows = options, []
    for line in re.findall(r"^\| `.*$", text, flags=re.MULTILINE):
        key, _, _, default, *cell = line.strip("| ").split(" | ") if line.count("|") == 5 else line[2:-2].split(" | ")
        named = {*re.findall(r"`(\w+)`", "".join(cell))}
        if cell != ['"']:
            owners = options - named if "all but" in "".join(cell) else named or options
        rows.append((key.strip("`"), default, owners))
    return rows


@pytest.mark.parametrize("option", OPTIONS)
def test_reference_lists_option_keys_with_their_defaults(option: str) -> None:
    group, _, name = option.partition("=")
    composed = experiment(PUBLISHED, [option])
    component = (vars(composed) | vars(composed.problem) | vars(composed.method))[group]
    rows = [(key, default) for key, default, owners in reference_rows(group) if name in owners]
    keys = TypeAdapter(type(component)).json_schema().get("properties", {})
    assert sorted(key for key, _ in rows) == sorted(keys)
    for key, default in rows:
        value = getattr(component, key)
        commonest, *exceptions = default.split("; ")
        mine = [
            exception.partition(": ")[0] for exception in exceptions if name in exception.partition(": ")[2].split(", ")
        ]
        if isinstance(value, bool | int | float | str | None) and not isinstance(value, DataPath):
            value_text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            assert [f"`{value_text}`"] == (mine or [commonest]), key


HELP = (ROOT / "conf" / "hydra" / "help" / "brief.yaml").read_text().partition("template: |")[2]
EXAMPLES = re.findall(r"^ +pomrl run(.*?)(?:   ?\w.*)?$", HELP, flags=re.MULTILINE)


def test_the_help_fits_a_terminal() -> None:
    lines = [line.removeprefix("  ") for line in HELP.splitlines()[1:]]
    assert len(lines) < 24  # with a line for the prompt
    assert max(map(len, lines)) <= 80


def test_the_help_names_every_group_and_key() -> None:
    keys = {*DEFAULTS} - {"hydra"}
    assert {key for key in keys | {"experiment", "batches", "reading"} if not re.search(rf"\b{key}\b", HELP)} == set()


DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "conf/*.md", "examples/**/*.md", "src/*/**/*.md", "packages/**/*.md")
    for path in ROOT.glob(pattern)
)
"""All documents, those of studies among them."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files_and_headings(document: str) -> None:
    path, text = ROOT / document, (ROOT / document).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (path.parent / target).exists(), target
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
        assert anchor in _anchors(path.parent / target if target else path), (target, anchor)


@cache
def _anchors(path: Path) -> set[str]:
    """The anchors of a file on GitHub: of headings and of HTML in a document, and of lines in code."""
    text = path.read_text()
    if path.suffix != ".md":
        return {f"L{number}" for number, _ in enumerate(text.splitlines(), start=1)}
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}
    return slugs | {*re.findall(r'<a id="([^"]+)"></a>', text)}


TOP = "src|conf|docs|docs.build|tests|benchmarks|examples|packages"
PATH = rf"(?<![\w./{{$-])((?:(?:{TOP})/[\w./-]+\.(?:md|py|yaml|ipynb|csv|c|js))|[A-Z]{{4,}}\.md)\b"
"""A file of the repository by its path, or a document at its top."""

WRITTEN = [
    *DOCUMENTS,
    *(
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "src").rglob("*.*")
        if path.suffix in (".py", ".yaml", ".js", ".csv")
    ),
    *(path.relative_to(ROOT).as_posix() for path in (ROOT / "conf").rglob("*.yaml")),
]


def test_every_file_that_is_named_exists() -> None:
    named = {(text, name) for text in WRITTEN for name in re.findall(PATH, (ROOT / text).read_text())}
    project_paths = {pair for pair in named if not re.search("skeleton|CHANGELOG|NAME", "".join(pair))}
    assert project_paths
    missing = [(text, name) for text, name in sorted(project_paths) if not (ROOT / name).exists()]
    assert [pair for pair in missing if not (ROOT / pair[0]).parent.joinpath(pair[1]).exists()] == []


def test_cited_ambiguities_and_errors_are_defined() -> None:
    pages = STUDIES / "pomrl2023" / "pages"
    defined = set(re.findall(r"^## (E\d+)\.", (pages / "errata.md").read_text(), flags=re.MULTILINE))
    with (pages / "ambiguities.csv").open(newline="") as file:
        defined |= {row["number"] for row in csv.DictReader(file)}
    cited = {
        (text, name) for text in WRITTEN for name in re.findall(r"\b[ER]\d{1,2}\b(?![\w-])", (ROOT / text).read_text())
    }
    assert [pair for pair in sorted(cited) if pair[1] not in defined] == []


def test_studies_document_lists_every_description_key() -> None:
    text = (ROOT / "docs" / "studies.md").read_text()
    table = text.partition("| key | meaning | default |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == [*StudyConfig.__annotations__]


def test_claims_and_figures_of_documents_exist() -> None:
    claims = {claim.id for study in shipped_studies() for claim in claims_of(study)}
    all_figures = [figure for study in shipped_studies() for figure in figures_of(study)]
    figures = {file_name(version, figure.docstring) for figure in all_figures for version in figure.versions}
    results = (STUDIES / "pomrl2023" / "pages" / "results.md").read_text()
    named = set(re.findall(r"\b(?:Q\d\.\d|[AIT]\.\d+|[HMNU]\d)\b", results))
    assert set() < named <= claims
    assert set(re.findall(r"outputs/readme/(\w+)\.png", results + (ROOT / "README.md").read_text())) <= figures


def test_one_page_sorts_documents_after_readme() -> None:
    listed = re.findall(r'<li><a href="#([\w-]+)">(.*?)</a></li>', one_page())
    titles = [title for _, title in listed]
    assert titles[:3] == ["POMRL, reproduced", "Start", "Running"]
    assert titles[3:] == sorted(titles[3:], key=str.casefold)
    assert {"results", "theory", "board"} <= {name for name, _ in listed}
