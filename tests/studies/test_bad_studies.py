"""What is wrong with a study is said in one line, which names the file, or the folder, and the key."""

import re
from pathlib import Path

import pytest
from docs.build import documents
from tests.support.computed import call, claims, figures, refused, report, studies
from tests.support.study_folders import CLAIM, FIGURE, SMALL, SWEEP, forget, write

from pomrl.commands import export, new, reproduce, run

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cwd")]

ODD = "title: A\nruns: 10\nvariants: {{default: {{}}, odd: {}}}\n"
"""A description with a variant."""

FIRST = SWEEP.format(seed=1)

BAD: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "malformed YAML": ("study.yaml", "title: [A\nruns: 3\n", ("line 2",)),
    "no mapping": ("study.yaml", "- title\n", ("keys and values",)),
    "unknown key": ("study.yaml", "title: A\nanalysis: [10]\n", ("analysis", "unknown key")),
    "link to a program": ("study.yaml", "title: A\nlinks: {paper: 'javascript:alert(1)'}\n", ("links", "https")),
    "wrong type": ("study.yaml", "title: A\nruns: much\n", ("runs", "'much'")),
    "headline of no variant": ("study.yaml", "title: A\nheadline: [other]\n", ("headline", "other")),
    "variant of an unknown key": ("study.yaml", ODD.format("{sgima: 0.1}"), ("variants.odd", "mine/first", "sgima")),
    "variant of a wrong value": ("study.yaml", ODD.format("{sigma: -1.0}"), ("variants.odd", "sigma=-1.0")),
    "variant of no setting": ("study.yaml", ODD.format("{sigma: {a: 1}}"), ("variants.odd: sigma", "the dict")),
    "variant of no function": ("study.yaml", ODD.format("even"), ("variants.odd", "@variant", "variants.py")),
    "variant that leaves its folder": (
        "study.yaml",
        ODD.replace("odd", "../odd").format("{}"),
        ("variants.../odd: the name of a variant must be printable", "got '../odd'"),
    ),
    "two claims of one id": ("claims.py", f"{CLAIM}\n\n{CLAIM.replace('helps', 'h')}", ("helps", "'K1'")),
    "claim about no sweep": ("claims.py", CLAIM.replace('"first"', '"last"'), ("claim K1", "last", "first")),
    "claim that names no sweep": ("claims.py", CLAIM.replace('"first", ', ""), ("@claim", "K1")),
    "claim without words": ("claims.py", re.sub(r'    """.*"""\n', "", CLAIM), ("meta_learning_helps", "docstring")),
    "syntax error": ("claims.py", "def claim(:\n", ("mine/claims.py:1", "invalid syntax")),
    "import error": ("claims.py", "\nfrom pomrl.study import clam\n", ("claims.py:2", "clam")),
    "figure about no sweep": ("figures.py", FIGURE.replace('"first"', '"last"'), ("curves", "last")),
    "figure of no value": ("figures.py", FIGURE.replace('"without_meta")', '"oracle")'), ("no estimator='oracle'",)),
    "figure of nothing": (
        "figures.py",
        FIGURE.replace("panels=GRID", ""),
        ("figures.py:6", "@figure needs panels=GRID, a PanelGrid", "GRID.draw(data)", "points=FUNCTION"),
    ),
    "figures of version 2.0.0": (
        "figures.py",
        FIGURE + "\n\nFIGURE = GRID\n",
        ("FIGURE is not read", "@figure(panels=GRID)"),
    ),
    "panel of no axis": ("figures.py", FIGURE.replace('"task"', '"tasks"'), ("figures.py:", "got 'tasks'")),
    "sweep of an unknown key": ("sweeps/first.yaml", FIRST.replace("runs:", "rnus: 3\nruns:"), ("first", "rnus")),
    "sweep of a wrong value": ("sweeps/first.yaml", FIRST.replace("T: 2", "T: two"), ("first", "T='two'")),
    "sweep of no package": ("sweeps/first.yaml", FIRST.partition("\n")[2], ("begin with the line '# @package _glob",)),
    "sweep of no option": ("sweeps/first.yaml", FIRST.replace("ada_", "adda_"), ("first", "adda_pomrl")),
}
"""What is wrong: the file that is changed, its content, and the words that the line of the error has to have."""


@pytest.mark.parametrize("what", BAD)
def test_a_bad_study_is_one_line(what: str, cwd: Path) -> None:
    file, text, phrases = BAD[what]
    write(cwd / "mine", {**SMALL, file: text})
    line = refused(reproduce, "mine", "--runs", "2")
    assert line.startswith("mine")
    assert all(phrase in line for phrase in phrases), line
    assert len(line) < 600, line


def test_empty_studies_are_one_line(cwd: Path) -> None:
    write(cwd / "mine", {"study.yaml": SMALL["study.yaml"]})
    assert "no sweeps" in refused(reproduce, "mine")


def test_failing_variants_are_named_with_their_line(cwd: Path) -> None:
    failing = "from pomrl.study import variant\n\n\n@variant()\ndef odd(job):\n    return [1 / 0]\n"
    write(cwd / "mine", study_yaml=ODD.format("odd"), variants_py=failing)
    assert "mine/variants.py:6: variant odd: ZeroDivisionError" in refused(reproduce, "mine")


FAMILY = """\
from pomrl.study import family, of_keys


@family(sweeps=["first"])
def {name}():
    yield of_keys("wide", {{"sigma": {sigma}}})
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            FAMILY.format(name="a", sigma=0.02) * 2 + FAMILY.format(name="b", sigma=0.03),
            "two families have the variant wide",
        ),
        (FAMILY.format(name="a", sigma=0.02) + "    yield of_keys('wide', {})\n", "a: two variants have the name wide"),
        (FAMILY.format(name="a", sigma="unknown"), "variants.py:6: NameError"),
        ("", "unknown variant or family a; available: default"),
    ],
)
def test_a_bad_family_is_one_line(text: str, message: str, cwd: Path) -> None:
    write(cwd / "mine", variants_py=text)
    for command in (claims, reproduce):
        line = refused(command, "mine", "--variants", "a")
        assert line.startswith("mine")
        assert message in line
        forget("mine")


def test_folders_without_description_are_no_study(cwd: Path) -> None:
    (cwd / "empty").mkdir()
    for command in (reproduce, claims, figures, report, documents):
        assert refused(command, "empty").startswith("empty: no study.yaml in this folder")
        assert refused(command, "nowhere").startswith("nowhere: unknown study or folder")
    assert not (cwd / "outputs").exists()


def test_similar_names_of_studies_get_hints(cwd: Path) -> None:
    write(cwd / "mine")
    for command, arguments in ((reproduce, ("mien",)), (export, ("s.zip", "mien"))):
        line = refused(command, *arguments)
        assert line.startswith("mien: unknown study or folder (did you mean mine?); available: amit2020, "), line
        assert ", mine; create" in line
    assert "did you mean experiment=mine/first?" in refused(run, "experiment=first")
    assert "did you mean experiment=beyond/streams?" in refused(run, "experiment=streams")


def test_impossible_names_of_folders_are_refused(cwd: Path) -> None:
    write(cwd / "folder" / "pomrl")
    assert "the name pomrl is reserved for a package" in refused(reproduce, "folder/pomrl")
    for name in ("my-study", "class"):
        write(cwd / name)
        assert refused(reproduce, name).startswith(f"{name}: the name of the folder must be a Python identifier")
        assert "a Python identifier" in refused(new, f"other/{name}")
    assert refused(new, "other/yaml") == "other/yaml: a package named yaml exists; give the folder another name"
    assert not (cwd / "other").exists()


def test_new_makes_no_study_where_something_is(cwd: Path) -> None:
    write(cwd / "mine")
    (cwd / "file").write_text("")
    before = {path: path.read_bytes() for path in cwd.rglob("*") if path.is_file()}
    assert refused(new, "mine") == "mine: exists already; choose another name, or remove it first"
    assert refused(new, "file") == "file: exists already; choose another name, or remove it first"
    assert refused(new, "file/mine") == "file/mine: Not a directory"
    assert {path: path.read_bytes() for path in cwd.rglob("*") if path.is_file()} == before


def test_failing_code_of_pages_is_one_line(cwd: Path) -> None:
    write(
        cwd / "mine",
        {**SMALL, "pages/notes.py": "def parts(page):\n    return 1 / 0\n", "pages/notes.md": "# Notes\n"},
    )
    assert refused(documents, "mine").startswith("mine: mine/pages/notes.py:2: ZeroDivisionError")
    forget("mine")
    (cwd / "mine" / "pages" / "notes.py").write_text("def parts(page):\n    return {'counts': 'none'}\n")
    assert "counts" in refused(documents, "mine")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("estimator=name", "estmator=name", "NotInSweepError: the sweep has no experiment with estmator"),
        (
            ".regret",
            ".regret.mean()",
            "TypeError: a comparison must have arrays over runs, got float64; leave out .mean()",
        ),
        (".regret", ".task(9)", "NotInSweepError: task must be 1 to 2, got 9"),
        ("    return [", "    return [] and [", "TypeError: a claim must return a list of parts"),
    ],
)
def test_failing_claims_are_named_before_computing(cwd: Path, old: str, new: str, message: str) -> None:
    write(cwd / "mine", claims_py=CLAIM.replace(old, new))
    line = refused(reproduce, "mine")
    assert line.startswith("mine: claim K1 (mine/claims.py:")
    assert message in line
    assert not (cwd / "outputs").exists()


def test_infinite_numbers_give_no_verdict(cwd: Path) -> None:
    write(cwd / "mine", claims_py=CLAIM.replace(".regret", ".regret * float('nan')"))
    status, _, err = call(reproduce, "mine")
    message = "ada less none, in pairs: its numbers must be finite, got NaN or infinity"
    assert (status, err.splitlines()[-1]) == (1, f"mine: claim K1 (mine/claims.py:4): {message}")
    assert not (cwd / "outputs" / "studies" / "mine" / "claims.csv").exists()


def test_failing_figures_leave_the_others_drawn(cwd: Path) -> None:
    broken = '\n\n@figure("first", points=GRID.points)\ndef broken(data):\n    """A broken one."""\n    return 1 / 0\n'
    write(cwd / "drawn", figures_py=FIGURE + broken)
    status, printed, err = call(reproduce, "drawn", "--runs", "2")
    assert status == 1, err
    (line,) = [line for line in err.splitlines() if "broken" in line]
    assert re.fullmatch(r"broken is not drawn: drawn/figures.py:\d+: ZeroDivisionError: division by zero", line)
    assert (cwd / "outputs/studies/drawn/figures/curves.png").is_file()
    assert printed.splitlines()[-3:] == [
        "report   outputs/studies/drawn/report/index.html",
        "claims   outputs/studies/drawn/claims.csv",
        "figures  outputs/studies/drawn/figures",
    ]


def test_bad_studies_hide_no_others(cwd: Path) -> None:
    write(cwd / "mine")
    write(cwd / "worse", study_yaml="title: [\n")
    status, printed, err = call(studies)
    assert status == 0
    assert "A small study" in printed
    assert err.startswith("worse/study.yaml: ")
    assert err.count("\n") == 1
