"""Pages of the site from code: commands, Python interfaces, gallery, glossary, conventions."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import chain
from pathlib import Path
from unittest.mock import patch

import griffe
from docs.build.home import home
from docs.build.paper import anchor
from docs.build.pictures import picture_texts
from mkdocs.exceptions import PluginError

from pomrl.commands import main
from pomrl.configuration.studies import Study, shipped_studies
from pomrl.drawing.figure import INTERVALS, Figure, figure_caption, figure_number, figure_title, figures_of, file_name
from pomrl.judging.answer import headline
from pomrl.judging.judgements import read_published
from pomrl.models.inputs import CONVENTIONS
from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl.results.tables import markdown
from pomrl_report.claim_tables import verdict_sign
from pomrl_report.markup import paragraphs

ROOT = Path(__file__).parents[2]

SOURCE = ROOT / "src"
"""The folder of the documented packages."""

PUBLIC_MODULES = ("", "components", "study", "figures", "bounds", "planning", "priors", "reports")
"""The modules with public names; the first one, empty, is `pomrl`."""

HEADING = "\n    options: {{heading: {0}, toc_label: {0}}}"
"""The options that show an object under its public name."""


def commands() -> str:
    """Return the page of all commands, with their summaries and their help."""
    sections = ["# All commands", "`pomrl COMMAND --help` prints these texts in a terminal."]
    for name in main.all_commands():
        what = main.summary(name)
        sections += [f"## pomrl {name}", f"{what[0].upper()}{what[1:]}.", f"```text\n{command_help(name)}\n```"]
    return "\n\n".join(sections)


def command_help(name: str) -> str:
    """Return the help of a command, without the path of this checkout."""
    out = io.StringIO()
    arguments = patch.object(sys, "argv", ["pomrl"])  # the command changes them
    width = patch.dict("os.environ", COLUMNS="90")
    with arguments, width, contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main.main([name, "--help"])
    return out.getvalue().strip().replace(f"{ROOT}/", "")


def reference(module_name: str) -> str:
    """Return the page of a module and its public names.

    Raises:
        PluginError: A public name has no docstring.
    """
    module = package()[module_name] if module_name else package()
    title = f"pomrl.{module_name}" if module_name else "import pomrl"
    public = [member for member in module.members.values() if not member.name.startswith("_")]
    targets = {item.name: item.target_path if item.is_alias else item.path for item in public}
    ours = [
        item for item in public if targets[item.name].startswith("pomrl.") and (item.is_alias or not item.is_module)
    ]
    if missing := [item.name for item in ours if not item.has_docstring]:
        raise PluginError(f"{title}: public names without a docstring: {', '.join(missing)}")
    names = sorted((item.name for item in ours), key=str.lower)
    blocks = (f"::: {targets[name]}{HEADING.format(name)}" for name in names)
    return "\n\n".join([f"# {title}", module.docstring.value, *blocks])


@cache
def package() -> griffe.Module:
    """Return the documentation of the package, without importing it."""
    return griffe.load("pomrl", search_paths=[SOURCE])


def gallery() -> str:
    """Return the page of all figures: captions, commands, and small pictures."""
    head = (
        "# Gallery\n\nThis page lists the figures of all studies. `pomrl reproduce STUDY` computes a study and draws "
        "its figures. The command below a figure draws only this one, from stored results. Figures without a picture "
        "must be computed first."
    )
    studies = sorted(shipped_studies(), key=lambda study: study.name != "pomrl2023")
    return "\n\n".join([head, *chain.from_iterable(map(figures_in, studies))])


def figures_in(study: Study) -> Iterator[str]:
    """Yield the paragraphs of a study in the gallery."""
    yield f"## {study.name}: {study.config.title}"
    report = report_path(study)
    if report:
        yield f"[The report of this study]({report}) has all claims, values, settings and digests."
    for figure in figures_of(study):
        number, title = figure_number(figure.docstring), figure_title(figure.docstring)
        yield f"### {f'Figure {number}: ' * bool(number)}{title} {{: #{study.name}-{figure.name} }}"
        yield from (f"![{title}]({path})\n\n{bands(path)}".rstrip() for path in pictures(figure))
        yield from map(str, paragraphs(figure_caption(figure.docstring)))
        values = [f"[values and settings]({report}#figure-{figure.name})"] if report else []
        yield " · ".join([*claim_links(study, figure), f"[code]({code_path(study, figure)})", *values])
        yield f"    pomrl reproduce {study.name} figures --only {figure.name}"


def code_path(study: Study, figure: Figure) -> str:
    """Return the path of a figure's module in the checkout."""
    inside = figure.module.removeprefix(f"{study.package}.").replace(".", "/")
    return f"{study.folder.relative_to(ROOT)}/{inside}.py"


def report_path(study: Study) -> str:
    """Return the path of a study's report in the checkout; empty if not computed."""
    path = f"outputs/studies/{study.name}/report/index.html"
    return path if (ROOT / path).is_file() else ""


def claim_links(study: Study, figure: Figure) -> Iterator[str]:
    """Yield links from a figure to its claims, with the signs of their verdicts."""
    judgements = read_published(study)
    variants = headline(study, judgements)
    for claim in judgements.first_under(variants):
        if figure.name in claim.figures:
            signs = "".join(verdict_sign(judgements, name, claim.id) for name in variants)
            yield f"[{claim.id}]({study.folder.relative_to(ROOT)}/claims.csv#{anchor(claim.id)}) {signs}"


def pictures(figure: Figure) -> list[str]:
    """Return the paths of the small pictures of a figure."""
    versions = (f"{figure.name}{end}" for end in (INTERVALS, ""))
    names = (f"outputs/readme/{file_name(version, figure.docstring)}.png" for version in versions)
    return [name for name in names if (ROOT / name).is_file()]


def bands(picture: str) -> str:
    """Return what the bands of a small picture show; empty without intervals."""
    path = Path(picture)
    if not path.stem.endswith(INTERVALS):
        return ""
    return f"*Bands: {CONFIDENCE_PERCENT} % intervals over {int(picture_texts(ROOT / path)['runs']):,} runs.*"


def glossary() -> str:
    """Return the page of the words in CONTRIBUTING.md."""
    _, _, words_section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Words\n")
    return f"# Glossary\n{words_section.partition(chr(10) + '## ')[0]}"


def conventions() -> str:
    """Return the page of accepted models."""
    table = markdown(["input", "interpretation"], [*CONVENTIONS.items()])
    return f"# How models are read\n\n{table}"


PAGES: Mapping[str, Callable[[], str]] = {
    "home.md": home,
    "gallery.md": gallery,
    "reference/commands.md": commands,
    "reference/conventions.md": conventions,
    "reference/glossary.md": glossary,
    **{f"reference/{module or 'pomrl'}.md": partial(reference, module) for module in PUBLIC_MODULES},
}
"""The functions to make pages, by path of the page."""
