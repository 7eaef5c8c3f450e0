"""docs/paper-to-code.md: its links lead to the lines that they name, and what they name is executed."""

import csv
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from inspect import unwrap
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest
from docs.build import paper
from tests.support.settings import ROOT
from tests.support.shipped import SIMULATIONS
from tests.support.synthetic import make_sweep

from pomrl.commands.reproduce import study_sweeps
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.configuration.studies import find
from pomrl.drawing.figure import figures_of
from pomrl.judging.claim import claims_of
from pomrl.judging.study_claims import basis, unknown_losses
from pomrl.results.result import Result
from pomrl.running.plan import Chunk
from pomrl.running.work import Failure, Versions, simulate
from verdicts.parts import LOOKS

PAGE = paper.page()
PAPER = find("pomrl2023")
PLACES = paper.read_places()
ADDRESSES = sorted({address for row in PLACES for address in paper.split(row["library"])})
MARKERS = sorted({marker for row in PLACES for marker in paper.split(row["one_file"])})


def test_numbers_of_the_paper_have_rows() -> None:
    anchors = re.findall(r'<a id="([\w-]+)"></a>', PAGE)
    assert len(anchors) == len(set(anchors))
    assert [name for name in anchors if name.startswith("eq-")] == [f"eq-{number}" for number in range(1, 24)]
    theorems_and_algorithms = {"theorem-1", "theorem-2", "theorem-3", "prop-1", "alg-1", "alg-2"}
    figures = {f"figure-{name}" for name in ("1", "2", "3", "4", "5", "6", "f1", "f2", "f3", "f4", "f5")}
    claims = {claim.id.lower().replace(".", "-") for claim in claims_of(PAPER)}
    assert {name for name in anchors if not name.startswith("eq-")} == theorems_and_algorithms | figures | claims


def line_at(link: str) -> str:
    """The line that a link with a number of a line leads to."""
    match = re.fullmatch(r"\[[^]]* (\d+)\]\((.+)#L(\d+)\)", link)
    assert match
    assert match[1] == match[3]
    return (paper.PAGE.parent / match[2]).read_text().splitlines()[int(match[3]) - 1]


@pytest.mark.parametrize("address", ADDRESSES)
def test_library_links_lead_to_their_lines(address: str) -> None:
    name, _, content = address.partition(": ")
    last = name.rpartition(".")[2]
    link = paper.code_link(address)
    assert link in PAGE
    assert content in line_at(link) if content else re.match(rf" *(def |class )?{last}\b", line_at(link))


@pytest.mark.parametrize("marker", MARKERS)
def test_one_file_links_lead_to_their_lines(marker: str) -> None:
    name, _, content = marker.partition(": ")
    link = paper.one_file_link(marker)
    assert link in PAGE
    assert (content or f"def {name}(") in line_at(link)


def test_every_link_has_a_target() -> None:
    links = re.findall(r"\[[^]]* \d+\]\([^)]*\)", PAGE)
    assert links
    assert all(line_at(link).strip() for link in links)
    own = set(re.findall(r"\]\(#([\w-]+)\)", PAGE))
    headings = {heading.lower() for heading in re.findall(r"^## (\w+)$", PAGE, flags=re.MULTILINE)}
    assert own <= headings | set(re.findall(r'id="([\w-]+)"', PAGE))


@pytest.mark.parametrize(
    ("build", "address"),
    [
        (paper.code_link, "pomrl.science.algorithm.nothing"),
        (paper.code_link, "pomrl.science.nothing.pomrl"),
        (paper.code_link, "pomrl.science.algorithm.pomrl: nothing"),
        (paper.one_file_link, "learn: no such line"),
        (paper.section_link, "errata.md#E99"),
    ],
)
def test_what_is_not_there_ends_the_build(build: Any, address: str) -> None:
    with pytest.raises(LookupError, match=r"must (be|have|define)"):
        build(address)


def test_verdicts_are_the_published_ones() -> None:
    with (PAPER.folder / "claims.csv").open(newline="") as file:
        published = {(row["claim"], row["variant"]): row["verdict"] for row in csv.DictReader(file)}
    signs_by_claim = {id: "" for id, _ in published}
    for variant in ("printed", "repaired", "computed"):
        for (id, named), verdict in published.items():
            signs_by_claim[id] += LOOKS[verdict].sign if named == variant else ""  # pyright: ignore[reportArgumentType]
    for id, signs in signs_by_claim.items():
        assert re.search(rf"\*\*{re.escape(id)}\*\* .* \| {re.escape(signs)}( \(.*\))? \|$", PAGE, flags=re.MULTILINE)
    cited = re.findall(r"\[([AIQT][\d.]+)\]\(#[\w-]+\) ([^,; ]+)", PAGE)
    assert cited
    assert all(signs_by_claim[id] == signs for id, signs in cited)


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("the estimate (Eq. 4), solved", 'the estimate (<a href="p#eq-4">Eq. 4</a>), solved'),
        ("see Eq. (12).", 'see <a href="p#eq-12">Eq. (12)</a>.'),
        ("Algorithms 1 and 2; Alg. 2", '<a href="p#alg-1">Algorithms 1</a> and 2; <a href="p#alg-2">Alg. 2</a>'),
        ("Theorem 3 and Prop. 1", '<a href="p#theorem-3">Theorem 3</a> and <a href="p#prop-1">Prop. 1</a>'),
        ("Theorem 9 and Eq. 44", "Theorem 9 and Eq. 44"),
    ],
)
def test_numbers_of_the_paper_become_links(text: str, linked: str) -> None:
    assert paper.link_labels(text, "p") == linked


@contextmanager
def record_calls() -> Iterator[set[CodeType]]:
    """Yield the set of the functions that are executed."""
    codes: set[CodeType] = set()

    def record(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        yield codes
    finally:
        sys.setprofile(before)


def simulate_each_kind() -> None:
    """Simulate a run of two tasks of each combination of components in the sweeps of the paper."""
    experiments = [setting.experiment for name in study_sweeps(PAPER) for setting in PAPER.settings(name)]
    kinds = {frozenset(component_classes(scientific_settings(experiment))): experiment for experiment in experiments}
    assert len(kinds) > 5
    for experiment in kinds.values():
        chunk = Chunk(replace(experiment.problem, T=2), {"method": experiment.method}, range(1), range(1))
        assert not isinstance(simulate(chunk, Versions.current([]))[2]["method"], Failure)


def random_losses(rng: np.random.Generator, experiment: Experiment) -> Result:
    """Result in the shape of those of an experiment."""
    shape = unknown_losses(experiment)
    return Result.of_losses(rng.random(shape.loss.shape), shape.gammas)


def judge_each_claim() -> None:
    """Check each claim: exactly, or on random losses, or on its simulation with few sequences."""
    claims = claims_of(PAPER)
    claim_basis = basis(PAPER, claims, PAPER.variants[1])
    for claim in claims:
        if claim.simulation:
            few = {"sequences": 20} if "sequences" in claim.simulation.parameters else {}
            claim.simulation.function(**{**claim.simulation.arguments, **few})
        else:
            claim_basis.compare(claim, partial(random_losses, np.random.default_rng(0)))


def draw_bounds() -> None:
    """Draw the figure of the regret and its bounds, from random losses."""
    figure = next(figure for figure in figures_of(PAPER) if figure.name == "average_regret")
    figure.draw({name: make_sweep(name) for name in figure.sweeps})


def function_codes(address: str) -> set[CodeType]:
    """The functions of a name: itself, that of a property, or the methods of a class."""
    path, names = paper.split_name(address.partition(": ")[0])
    owner: Any = import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    for name in names:
        owner = vars(owner).get(name, owner)  # a field belongs to its class
    functions = vars(owner).values() if isinstance(owner, type) else [owner]
    plain = (
        unwrap(getattr(function, "fget", None) or getattr(function, "func", None) or function) for function in functions
    )
    return {
        function.__code__
        for function in plain
        if getattr(function, "__code__", None) and function.__code__.co_filename == str(path)
    }


def test_experiments_claims_or_figures_execute_every_address() -> None:
    registered = {unwrap(simulation.function).__code__ for simulation in SIMULATIONS.values()}
    with record_calls() as executed:
        simulate_each_kind()
        judge_each_claim()
        draw_bounds()
    idle = [address for address in ADDRESSES if not function_codes(address) & (executed | registered)]
    assert idle == []
