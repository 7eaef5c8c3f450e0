"""Classes that a cell of a notebook defines: they are run, in other processes too, and stored under their source."""

import linecache
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter

import pomrl
from pomrl.configuration.composed import ConfigError
from pomrl.store import StoreError
from pomrl.store.notebook_classes import class_digest

HEAD = "import math\nfrom math import exp\nfrom pomrl.components import Batch, Memory, ModelEstimator, Models, Truth\n"
DATA = "import numpy as np\nRATES = {'first': [np.array([1.0, 3.0])]}\n"
HELPER = "def weight(m):\n    return RATES['first'][0][1] / (m + math.sqrt(exp(2.0)))\n"
MINE = """class Mine(ModelEstimator):
    c: float = 1.0

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        w = weight(self.c) if memory.tasks else 0.0
        return w * memory.P_o_hat + (1.0 - w) * batch.P_bar
"""
CELLS = (HEAD, DATA, HELPER, MINE)
SMALL: dict[str, Any] = {"T": 2, "S": 4, "runs": 3}

Cell = Callable[[str], None]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return the module of a session without a file, in an empty folder."""
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(linecache, "cache", {})
    monkeypatch.chdir(tmp_path)
    return main


@pytest.fixture
def cell(session: ModuleType) -> Cell:
    """Run a cell as IPython does, which gives its text to `linecache`."""

    def run(text: str) -> None:
        name = f"<cell {len(linecache.cache)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), vars(session))

    return run


@pytest.fixture
def digest(session: ModuleType, cell: Cell) -> Callable[[], str]:
    """Run the cells of `Mine`, and return a function for the digest of its present definition."""
    for text in CELLS:
        cell(text)
    return lambda: class_digest(session.Mine)


def test_a_class_runs_in_other_processes(session: ModuleType, digest) -> None:
    serial = pomrl.run(estimator=session.Mine(), **SMALL)
    parallel = pomrl.run(estimator=session.Mine(), **SMALL, force=True, execution__workers=2)
    pd.testing.assert_frame_equal(serial, parallel)
    name = f"__main__.Mine@{digest()[:8]}"
    assert pomrl.find(estimator=name).index.tolist() == [serial.attrs["signature"]]
    pictures, sizes = DisplayFormatter().format(pomrl.plot(where={"estimator": name}))
    assert pictures["image/png"].startswith(b"\x89PNG")
    assert sizes["image/png"]["width"] > 200


def test_instances_are_swept_in_the_given_order(session: ModuleType, digest) -> None:
    instances = [session.Mine(c=0.5), session.Mine(c=2.0)]
    axes: dict[str, Any] = {"estimator": ["pomrl", *instances], "sigma": [0.01, 0.02], **SMALL}
    table = pomrl.sweep(**axes)
    columns = ["estimator", "estimator.c", "sigma"]
    rows = [(name, c, sigma) for name, c in (("pomrl", None), ("Mine", 0.5), ("Mine", 2.0)) for sigma in (0.01, 0.02)]
    assert [tuple(row) for row in table[columns].drop_duplicates().to_numpy()] == rows
    assert [tuple(job.varied.values()) for job in pomrl.jobs(**axes)] == rows
    single = pomrl.run(estimator=instances[1], sigma=0.02, **SMALL)
    assert single.attrs["signature"] == table.attrs["signatures"][-1]
    assert single.attrs["settings"]["estimator"] == f"__main__.Mine@{digest()[:8]}"
    last = table.iloc[-len(single) :].drop(columns=columns).reset_index(drop=True)
    pd.testing.assert_frame_equal(last, single)
    pd.testing.assert_frame_equal(pomrl.load(estimator=instances[1], sigma=0.02, **SMALL), single)


@pytest.mark.parametrize("with_second", [False, True])
def test_stored_instances_are_compared_by_class_name(with_second: bool, session: ModuleType, digest) -> None:
    instances = [session.Mine(c=0.5), *[session.Mine(c=2.0)] * with_second]
    settings: dict[str, Any] = {"estimator": [*instances, "pomrl"], **SMALL}
    pomrl.sweep(**settings)
    table = pomrl.table(**settings, against="estimator=pomrl")
    assert table["estimator"].tolist() == ["Mine"] * len(instances) + ["pomrl"]
    assert ("estimator.c" in table) == with_second
    assert pomrl.plot(**settings).axes


def test_classes_of_one_name_are_told_apart(session: ModuleType, digest, cell: Cell) -> None:
    cell(FACTORY)
    instances = [session.make(w)() for w in (0.1, 0.9)]
    names = [
        f"{type(instance).__module__}.{type(instance).__qualname__}@{class_digest(type(instance))[:8]}"
        for instance in instances
    ]
    table = pomrl.sweep(estimator=instances, **SMALL)
    assert table["estimator"].unique().tolist() == names
    assert pomrl.table(estimator=instances, **SMALL)["estimator"].tolist() == sorted(names)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            {"estimator__prior": "known"},
            r"^estimator\.prior must not be set besides an instance of Mine; write Mine\(prior=",
        ),
        ({"tag": "mine"}, "^tag must be in where, if a component is an instance$"),
        ({"sigma": 0.02}, r'no stored runs for estimator="Mine\(c=1\.0\)" sigma=0\.02'),
    ],
)
def test_missing_results_of_instances_are_one_line(
    settings: dict[str, Any], line: str, session: ModuleType, digest
) -> None:
    with pytest.raises((ConfigError, StoreError), match=line):
        pomrl.table(estimator=session.Mine(), **settings)


@pytest.mark.parametrize(
    "edit",
    [
        MINE.replace("c: float = 1.0", "c: float = 2.0"),
        HELPER.replace("m + ", "2 * m + "),
        DATA.replace("3.0", "2.0"),
        DATA.replace("'first': ", "'second': None, 'first': "),
        "from numpy import exp2 as exp\n",
    ],
)
def test_edits_change_the_digest_and_undoing_restores(edit: str, digest: Callable[[], str], cell: Cell) -> None:
    before = digest()
    cell(edit)
    assert digest() != before
    for text in CELLS:
        cell(text)
    assert digest() == before


def test_comments_and_own_names_change_no_digest(digest: Callable[[], str], cell: Cell) -> None:
    before = digest()
    cell("w = 3\nmemory = object()\nother = lambda: 3\n")
    cell("# A comment.\n" + MINE.replace("    c: float", '    """My estimator."""\n\n    c: float'))
    assert digest() == before


def test_digests_of_older_classes_are_kept(session: ModuleType, digest: Callable[[], str], cell: Cell) -> None:
    older, before = session.Mine, digest()
    cell("class Other(Mine):\n    def twice(self):\n        return 2 * self.c\n")
    other_digest = class_digest(session.Other)
    cell(MINE.replace("1.0 - w", "1.0 - 0.5 * w"))
    assert class_digest(older) == before != digest()
    mixed = class_digest(session.Other)  # of the older class, whose name another has by now
    cell("class Other(Mine):\n    def twice(self):\n        return 2 * self.c\n")
    assert len({other_digest, mixed, class_digest(session.Other)}) == 3


def test_helpers_below_decorators_count(digest: Callable[[], str], cell: Cell) -> None:
    digests = [digest()]
    for helper in (HELPER, HELPER.replace("m + ", "2 * m + ")):
        cell(f"from functools import cache\n@cache\n{helper}")
        digests.append(digest())
    assert len({*digests}) == 3


FACTORY = """def make(w):
    class Mine(ModelEstimator):
        def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
            return w * memory.P_o_hat + (1.0 - w) * batch.P_bar
    return Mine
"""

ONE, TWO = (textwrap.indent(MINE.replace("1.0", number), "    ") for number in ("1.0", "2.0"))
BRANCHES = f"if RATES:\n{ONE}else:\n{TWO}"


def test_variables_of_a_function_around_it_count(session: ModuleType, digest: Callable[[], str], cell: Cell) -> None:
    cell(FACTORY)
    digests = [class_digest(session.make(w)) for w in (0.1, 0.9, 0.1)]
    assert digests[0] == digests[2] != digests[1]


def test_the_executed_definition_counts(digest: Callable[[], str], cell: Cell) -> None:
    cell(BRANCHES)
    first = digest()
    cell(BRANCHES.replace("if RATES", "if not RATES"))
    assert digest() != first


@pytest.mark.parametrize(
    "text",
    ["Mine.c2 = 3.0\n", "Mine._c2 = 3.0\n", "Mine.twice = lambda self: 2 * self.c\n"],
)
def test_what_is_set_later_counts(text: str, digest: Callable[[], str], cell: Cell) -> None:
    before = digest()
    cell(text)
    assert digest() != before


TWO_VALUES = "def one(m):\n    return 1\ndef two(m):\n    return 2\n"
USING = (
    HEAD
    + """class Mine(ModelEstimator):
    def estimate(self, memory: Memory, batch: Batch, truth: Truth, default=rate) -> Models:
        return first(1) + second(1) + third(1) + functions[0](1) + default
"""
)


@pytest.mark.parametrize("edit", ["third = one", "functions = [two]", "rate = 2\n" + USING + "rate = 1"])
def test_rebound_functions_and_defaults_are_told_apart(edit: str, session: ModuleType, cell: Cell) -> None:
    cell(TWO_VALUES + "first, second, third, functions, rate = one, two, two, [one], 1\n")
    cell(USING)
    before = class_digest(session.Mine)
    cell(edit)
    assert class_digest(session.Mine) != before


DECORATED = """from functools import partialmethod, wraps
def scaled(factor):
    def decorate(function):
        @wraps(function)
        def scaled_function(m):
            return factor * function(m)
        return scaled_function
    return decorate
def plain(m):
    return 1
weight = scaled(1)(plain)
weight.shift = 1
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("weight = scaled(1)(plain)", "weight = scaled(2)(plain)"),
        ("weight.shift = 1", "weight.shift = 2"),
        ("Mine.half = partialmethod(weight, m=1)", "Mine.half = partialmethod(weight, m=2)"),
    ],
)
def test_values_within_functions_change_the_digest(
    first: str, second: str, digest: Callable[[], str], cell: Cell
) -> None:
    cell(DECORATED)
    cell(first)
    before = digest()
    cell(second)
    assert digest() != before
    cell(first)
    assert digest() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RATES = [1, 2].copy\n", "RATES must be data .* got builtin_function_or_method"),
        ("from functools import partial\nRATES = partial(max, 1)\n", "RATES must be data .* got partial"),
        ("RATES = object()\n", "RATES must be data \\(numbers, text, numeric arrays, containers\\), got object"),
        ("class Mine(Mine):\n    c: float = 2.0\n", "Mine: source not found; give the class a method"),
        ("exec('def weight(m): return 0.5')\n", "weight: source not found; define it in a notebook cell"),
    ],
)
def test_what_no_digest_covers_is_refused(text: str, message: str, session: ModuleType, digest, cell: Cell) -> None:
    cell(text)
    with pytest.raises(ConfigError, match=message):
        pomrl.run(estimator=session.Mine(), **SMALL)
    assert not Path("outputs").exists()
