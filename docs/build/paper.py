"""Make docs/paper-to-code.md: the code and verdict of each equation.

The page also has algorithms, figures and claims. `src/pomrl_studies/pomrl2023/paper.csv` maps the paper to names in the
code; lines, headings and verdicts are looked up. The site shows the page with numbers of lines, and the file without.
"""

import ast
import csv
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pomrl.configuration.studies import find
from pomrl.drawing.figure import Figure, figure_number, figure_title, figures_of
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgements, read_published
from pomrl.judging.views import SELECTED, columns
from pomrl.results.tables import markdown
from verdicts.parts import LOOKS, Verdict

ROOT = Path(__file__).parents[2]
PAPER = find("pomrl2023")
PAGE = ROOT / "docs" / "paper-to-code.md"
ONE_FILE = ROOT / "examples" / "pomrl_in_one_file.py"

LABEL = re.compile(r"(Eq\.|Alg\.|Algorithms?|Theorem|Prop\.) (?:\((\d+)\)|(\d+))")
"""A number of the paper in a text, such as `Eq. 4`, `Eq. (4)` or `Algorithm 1`."""

HEAD = """# From the paper to the code

Find the code and the verdict of an equation here: {equations} [equations](#equations), {algorithms}
[algorithms](#algorithms), [other definitions](#others), {figures} [figures](#figures) and {claims} [claims](#claims).
The column *one file* has functions of [`pomrl_in_one_file.py`](../examples/pomrl_in_one_file.py), and *library* code
that experiments, claims or figures execute. On the site, links lead to lines.

Verdicts: {signs}. Three signs are the verdicts
on the paper as printed, as repaired, and as computed by the authors' notebook. Two signs are those as printed and as
repaired, of an experiment that the notebook does not have. A single sign is the verdict on the
printed text; signs in parentheses are the verdicts on its parts. Definitions and steps of proofs have no verdict. Steps
link to the corrected proof (theory) and to errors in the printed proof (E1, E2, ...).
"""

OF_FIGURES = """`pomrl reproduce pomrl2023 figures --only 4` draws Figure 4. The files
`authors_figure_*.py` in the same folder draw the figures from the computations of the authors' notebook.
`reading=printed`, `reading=repaired` and `reading=computed` set all keys of a
[reading](../src/pomrl_studies/pomrl2023/pages/readings.md). The variants of the study are these readings.
"""
"""The text above the table of figures."""


def page() -> str:
    """Return the page as Markdown."""
    judgements, rows, figures = read_published(PAPER), read_places(), printed_figures()
    by_kind = {kind: [row for row in rows if place_kind(row) == kind] for kind in ("Eq.", "Alg.", "")}
    equations, algorithms, other_statements = by_kind.values()
    head = HEAD.format(
        equations=len(equations),
        algorithms=len(algorithms),
        figures=len(figures),
        claims=len(judgements.main),
        signs=", ".join(f"{LOOKS[verdict].sign} {verdict}" for verdict in Verdict),
    )
    sections = {
        "Equations": place_table(equations, judgements),
        "Algorithms": place_table(algorithms, judgements),
        "Others": place_table(other_statements, judgements),
        "Figures": f"{OF_FIGURES}\n{figure_table(figures, judgements)}",
        "Claims": f"{SELECTED}\n\n{claim_table(rows, figures, judgements)}",
    }
    return "\n".join([head, *(f"## {title}\n\n{table}" for title, table in sections.items())])


def without_lines(page: str) -> str:
    """Return the page without numbers of lines, which change with the code."""
    return re.sub(r"\[([^]]*) \d+\]\(([^)#]*)#L\d+\)", r"[\1](\2)", page)


def document() -> str:
    """Return the page without numbers of lines, as in the file."""
    return without_lines(page())


def place_kind(row: dict[str, str]) -> str:
    """Return `Eq.`, `Alg.`, or an empty string for other places."""
    kind = row["place"].partition(" ")[0]
    return kind if kind in ("Eq.", "Alg.") else ""


def read_places() -> list[dict[str, str]]:
    """Return the rows of the table of places in the paper."""
    with (PAPER.folder / "paper.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def printed_figures() -> list[Figure]:
    """Return the figures of the paper, in its order."""
    ours = [figure for figure in figures_of(PAPER) if figure.module.rpartition(".")[2].startswith("figure_")]
    return [figure for figure in ours if figure_number(figure.docstring)]


def place_table(place_rows: Sequence[dict[str, str]], judgements: Judgements) -> str:
    """Return a table of places in the paper."""
    rows = [
        [
            place_cell(row),
            row["what"].replace("|", "\\|"),
            ", ".join(one_file_link(marker) for marker in split(row["one_file"])),
            ", ".join(code_link(name) for name in split(row["library"])),
            "; ".join(filter(None, [verdict_cell(row, judgements), ", ".join(map(section_link, split(row["pages"])))])),
        ]
        for row in place_rows
    ]
    return markdown(["paper", "description", "one file", "library", "verdict"], rows)


def figure_table(figures: Sequence[Figure], judgements: Judgements) -> str:
    """Return the table of figures, with their claims."""
    rows = [
        [
            f'<a id="figure-{figure_number(figure.docstring).lower()}"></a>Figure {figure_number(figure.docstring)}',
            figure_title(figure.docstring),
            ", ".join(one_file_link(marker) for marker in figure_markers(figure)),
            code_link(f"{figure.module}.{figure.name}"),
            ", ".join(experiment_link(sweep) for sweep in figure.sweeps),
            ", ".join(claim_link(claim.id, judgements) for claim in claims_of(PAPER) if figure.name in claim.figures),
        ]
        for figure in figures
    ]
    return markdown(["paper", "description", "one file", "library", "experiment", "verdict"], rows)


def claim_table(place_rows: Sequence[dict[str, str]], figures: Sequence[Figure], judgements: Judgements) -> str:
    """Return the table of claims, with their lines and checks."""
    statements = dict(
        zip((claim.id for claim in judgements.main), columns(judgements, judgements.variants)["claim"], strict=True)
    )
    rows = []
    for claim in claims_of(PAPER):
        markers = [
            marker for row in place_rows if claim.id in split(row["claims"]) for marker in split(row["one_file"])
        ]
        markers += [marker for figure in figures if figure.name in claim.figures for marker in figure_markers(figure)]
        path, names = split_name(f"{claim.check.__module__}.{claim.check.__name__}")
        rows.append(
            [
                f'<a id="{anchor(claim.id)}"></a>{statements[claim.id]}',
                ", ".join(map(one_file_link, dict.fromkeys(markers))),
                line_link(path, names, text=path.name),
                signs_and_topics(claim.id, judgements),
            ]
        )
    return markdown(["claim", "one file", "library", "verdict"], rows)


def split(cell: str) -> list[str]:
    """Return the entries of a cell of the table of places."""
    return [entry for entry in cell.split("; ") if entry]


def place_cell(row: dict[str, str]) -> str:
    """Return the numbers (link targets) and the section of a place."""
    labels = split(row["place"])
    anchors = "".join(f'<a id="{anchor(label)}"></a>' for label in labels)
    return f"{anchors}{', '.join(filter(None, [*labels, row['section']]))}"


def anchor(label: str) -> str:
    """Return the anchor of a number, such as `eq-4` for `Eq. 4`."""
    return label.lower().replace(". ", "-").replace(".", "-").replace(" ", "-")


@cache
def anchors_of_labels() -> dict[str, str]:
    """Return the anchor of each number of the paper."""
    return {label: anchor(label) for row in read_places() for label in split(row["place"])}


def link_labels(text: str, page: str) -> str:
    """Link numbers of the paper in a text to the page."""
    anchors = anchors_of_labels()

    def link(match: re.Match[str]) -> str:
        kind = "Alg." if match[1].startswith("Algorithm") else match[1]
        to = anchors.get(f"{kind} {match[2] or match[3]}")
        return f'<a href="{page}#{to}">{match[0]}</a>' if to else match[0]

    return LABEL.sub(link, text)


def verdict_cell(row: dict[str, str], judgements: Judgements) -> str:
    """Return the kind of a place, and its claims with verdicts."""
    claims = ", ".join(claim_link(id, judgements) for id in split(row["claims"]))
    return "; ".join(filter(None, [row["kind"], claims]))


def claim_link(id: str, judgements: Judgements) -> str:
    """Return a link to a claim, with the signs of its verdicts."""
    return f"[{id}](#{anchor(id)}) {claim_signs(id, judgements)}"


def claim_signs(id: str, judgements: Judgements) -> str:
    """Return the signs of the verdicts on a claim under the variants."""
    verdicts = (judgements.of(variant)[id].verdict for variant in judgements.variants if id in judgements.of(variant))
    return "".join(LOOKS[verdict].sign for verdict in verdicts if verdict)


def signs_and_topics(id: str, judgements: Judgements) -> str:
    """Return the signs of a claim and of its topics (first variant)."""
    topics = judgements.of(judgements.variants[0])[id].topics
    topic_signs = ", ".join(f"{topic} {LOOKS[verdict].sign}" for topic, verdict in topics.items())
    return claim_signs(id, judgements) + (f" ({topic_signs})" if len(topics) > 1 else "")


def figure_markers(figure: Figure) -> list[str]:
    """List the marker of a figure with data in `ONE_FILE`, if any."""
    marker = f'"{figure_number(figure.docstring)}": ['
    return [f"figures: {marker}"] if marker in ONE_FILE.read_text("utf-8") else []


def one_file_link(target: str) -> str:
    """Return a link to a line of `ONE_FILE`, given as `learn: # Eq. 4`."""
    name, _, content = target.partition(": ")
    return line_link(ONE_FILE, [name], content, name)


def code_link(target: str) -> str:
    """Return a link to a line of the package, given as `DOTTED.NAME: CONTENT`.

    Without content, the link leads to the definition.

    Raises:
        LookupError: No module defines the name, or its definition has no such line.
    """
    name, _, content = target.partition(": ")
    path, names = split_name(name)
    return line_link(path, names, content, ".".join(names))


def line_link(path: Path, names: Sequence[str], content: str = "", text: str = "") -> str:
    """Return a link to the first matching line in a definition."""
    line = find_line(path, names, content)
    return f"[{text} {line}]({relative(path)}#L{line})"


def split_name(name: str) -> tuple[Path, list[str]]:
    """Split a dotted name into a module's file and names inside.

    Raises:
        LookupError: There is no such module.
    """
    names_in_path = name.split(".")
    for length in range(len(names_in_path) - 1, 0, -1):
        path = ROOT.joinpath("src", *names_in_path[:length]).with_suffix(".py")
        if path.is_file():
            return path, names_in_path[length:]
    raise LookupError(f"{name} must be defined in a module")


def find_line(path: Path, names: Sequence[str], content: str) -> int:
    """Return the number of the first matching line in a definition.

    Raises:
        LookupError: The file does not define the name, or the definition has no such line.
    """
    node = member(path, names)
    lines = path.read_text("utf-8").splitlines()[node.lineno - 1 : node.end_lineno]
    for number, line in enumerate(lines, start=node.lineno):
        if content in line:
            return number
    raise LookupError(f"{path.name}: {'.'.join(names)} must have a line with {content!r}")


@cache
def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


def member(path: Path, names: Sequence[str]) -> ast.stmt:
    """Find the definition of a name in a file or class.

    Raises:
        LookupError: No statement defines the name.
    """
    body, node_of_name = parse_file(path).body, None
    for name in names:
        node_of_name = next((node for node in body if name in defined_names(node)), None)
        if node_of_name is None:
            raise LookupError(f"{path.name} must define {'.'.join(names)}")
        body = getattr(node_of_name, "body", [])
    assert node_of_name is not None
    return node_of_name


def defined_names(node: ast.stmt) -> list[str]:
    """Return the names defined by a statement."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def section_link(target: str) -> str:
    """Return a link to a section of a page, such as `theory.md#4`.

    Raises:
        LookupError: The page has no section of this number.
    """
    name, _, number = target.partition("#")
    path = PAPER.folder / "pages" / name
    heading = re.search(rf"^## ({re.escape(number)}\. .*)$", path.read_text("utf-8"), flags=re.MULTILINE)
    if not heading:
        raise LookupError(f"{name} must have a section {number}")
    slug = re.sub(r"[^\w -]", "", heading[1]).lower().replace(" ", "-")
    text = number if name == "errata.md" else f"{path.stem} §{number}"
    return f"[{text}]({relative(path)}#{slug})"


def experiment_link(sweep: str) -> str:
    """Return a link to the file of a sweep."""
    return f"[`{sweep}`]({relative(PAPER.folder / 'conf' / 'experiment' / 'pomrl2023' / f'{sweep}.yaml')})"


def relative(path: Path) -> str:
    """Return the relative path of a file for links of the page."""
    return f"../{path.relative_to(ROOT).as_posix()}"


def sources() -> set[str]:
    """Return the paths of code and settings with links from the page."""
    return set(re.findall(r"\]\(\.\./([^)#]+\.(?:py|yaml))[)#]", page()))
