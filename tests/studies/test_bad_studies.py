"""What is wrong with a study is said in one line, which names the file, or the folder, and the key."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs_build import documents
from tests.support.bad_studies import BAD, FAILING_VARIANT, ODD, SECOND
from tests.support.computed import call
from tests.support.study_folders import CLAIM, FIGURE, SMALL, forget, obeying_permissions, refused, write

from pomrl.commands import claims, figures, new, report, reproduce, run, studies
from pomrl.commands.arguments import replacing_variant
from pomrl.configuration.study import find
from pomrl.judging import judgements
from pomrl.judging.verdict import Verdict

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty folder as the current one, in which a folder `mine` is a study that nobody has imported yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POMRL_OUTPUTS", "outputs")
    monkeypatch.setattr(sys, "path", [*sys.path])
    forget("mine")
    yield tmp_path
    forget("mine")


@pytest.mark.parametrize("what", BAD)
def test_a_bad_study_is_one_line(what: str, here: Path) -> None:
    file, text, words = BAD[what]
    write(here / "mine", {**SMALL, file: text})
    line = refused(reproduce, "mine", "--runs", "2")
    assert line.startswith("mine")
    assert all(word in line for word in words), line
    assert len(line) < 500, line


def test_a_study_without_sweeps_claims_and_figures_is_one_line(here: Path) -> None:
    write(here / "mine", {"study.yaml": SMALL["study.yaml"]})
    assert "no sweeps" in refused(reproduce, "mine")


def test_a_variant_whose_function_fails_is_named_with_its_line(here: Path) -> None:
    write(here / "mine", study_yaml=ODD.format("odd"), variants_py=FAILING_VARIANT)
    assert "mine/variants.py:6: variant odd: ZeroDivisionError" in refused(reproduce, "mine")


FAMILY = """\
from pomrl.study import family, of_keys


@family(sweeps=["first"], budget=0)
def {name}():
    yield of_keys("wide", {{"sigma": {sigma}}})
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            FAMILY.format(name="a", sigma=0.02) * 2 + FAMILY.format(name="b", sigma=0.03),
            "two families have a variant wide",
        ),
        (FAMILY.format(name="a", sigma=0.02) + "    yield of_keys('wide', {})\n", "a: there are two variants wide"),
        (FAMILY.format(name="a", sigma="unknown"), "variants.py:4 with NameError"),
        ("", "there is no variant or family of variants a; there is default"),
    ],
)
def test_a_bad_family_is_one_line(text: str, words: str, here: Path) -> None:
    write(here / "mine", variants_py=text)
    for command in (claims, reproduce):
        line = refused(command, "mine", "--variants", "a")
        assert line.startswith("mine")
        assert words in line
        forget("mine")


def test_a_folder_without_a_description_is_no_study(here: Path) -> None:
    (here / "empty").mkdir()
    for command in (reproduce, claims, figures, report, documents):
        assert refused(command, "empty").startswith("empty: it has no study.yaml")
        assert refused(command, "nowhere").startswith("nowhere: there is no such study or folder")
    assert not (here / "outputs").exists()


def test_a_name_that_a_folder_cannot_have_is_refused(here: Path) -> None:
    write(here / "folder" / "pomrl")
    assert "the study pomrl is shipped" in refused(reproduce, "folder/pomrl")
    for name in ("my-study", "class"):
        write(here / name)
        assert refused(reproduce, name).startswith(f"{name}: the name of the folder has to be a name in Python")
        assert "a name in Python" in refused(new, f"other/{name}")
    assert refused(new, "other/yaml") == "other/yaml: another package is named yaml; give the folder another name"
    assert not (here / "other").exists()


def test_a_variant_may_ask_for_the_option_of_every_group(here: Path) -> None:
    of_estimator = """\
from pomrl.study import variant


@variant()
def odd(job):
    of_job = job.options["estimator"], job.options["planner"]
    return [*job.overrides, *(["loss=mean"] if of_job[0] == "ada_pomrl" else [])]
"""
    described = "title: A\nanalyses: [10]\nbudget: 0\nvariants: {default: {}, odd: odd}\n"
    write(here / "mine", study_yaml=described, variants_py=of_estimator)
    assert call(run, "-m", "experiment=mine/first")[0] == 0
    status, _, said = call(claims, "mine", "--variants", "odd")
    assert "Traceback" not in said
    assert status == 1  # nothing is computed under it
    assert "nothing is stored that its claims are about" in said


def test_what_replaces_an_option_does_not_take_the_place_of_a_variant_of_its_name(here: Path) -> None:
    described = "title: A\nanalyses: [10]\nbudget: 0\nvariants: {default: {}, pomrl: {loss: mean}}\n"
    study = find(str(write(here / "mine", study_yaml=described)))
    assert replacing_variant(study, None, "ada_pomrl=pomrl").name == "pomrl for ada_pomrl"
    assert replacing_variant(study, None, "ada_pomrl=oracle").name == "oracle"


def test_an_interrupt_is_one_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    write(here / "mine")
    monkeypatch.setattr(reproduce, "compute", interrupted)
    status, _, said = call(reproduce, "mine")
    assert status == 130
    assert "interrupted; finished blocks are stored" in said


def test_new_makes_no_study_where_something_is(here: Path) -> None:
    write(here / "mine")
    (here / "file").write_text("")
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert refused(new, "mine") == "mine: it exists already"
    assert refused(new, "file") == "file: it exists already"
    assert refused(new, "file/mine") == "file/mine: Not a directory"
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_a_folder_that_cannot_be_written_to_is_named(here: Path) -> None:
    (here / "fixed").mkdir(mode=0o555)
    with obeying_permissions():
        assert refused(new, "fixed/mine") == "fixed/mine: Permission denied"
    assert not list((here / "fixed").iterdir())


def test_outputs_that_cannot_be_written_to_are_named(here: Path) -> None:
    write(here / "kept")
    assert call(reproduce, "kept", "--runs", "2")[0] == 0
    report_of = here / "outputs" / "studies" / "kept" / "report"
    report_of.chmod(0o555)
    with obeying_permissions():
        line = refused(report, "kept")
    report_of.chmod(0o755)
    assert "outputs/studies/kept/report" in line
    assert "Permission denied" in line
    assert "POMRL_OUTPUTS" in line


def test_a_page_whose_code_fails_is_one_line(here: Path) -> None:
    write(
        here / "mine",
        {**SMALL, "pages/notes.py": "def parts(page):\n    return 1 / 0\n", "pages/notes.md": "# Notes\n"},
    )
    assert refused(documents, "mine").startswith("mine: mine/pages/notes.py:2: ZeroDivisionError")
    forget("mine")
    (here / "mine" / "pages" / "notes.md").unlink()
    assert refused(documents, "mine") == "mine: pages/notes.py makes parts of pages/notes.md, which is not there"
    (here / "mine" / "pages" / "notes.md").write_text("# Notes\n")
    forget("mine")
    (here / "mine" / "pages" / "notes.py").write_text("def parts(page):\n    return {'counts': 'none'}\n")
    line = refused(documents, "mine")
    assert line.startswith("mine: mine/pages/notes.py")
    assert "counts" in line


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("estimator=name", "estmator=name", "LookupError: the sweep has no setting estmator"),
        (".regret", ".task(9)", "LookupError: there is no task 9: tasks count from 1, and the experiment has 2"),
        ("    return [", "    return [] and [", "TypeError: a claim returns a list of parts"),
    ],
)
def test_a_claim_that_fails_is_named_before_anything_is_computed(here: Path, old: str, new: str, words: str) -> None:
    write(here / "mine", claims_py=SECOND.replace(old, new))
    line = refused(reproduce, "mine")
    assert line.startswith("mine: claim K1 (mine/claims.py:")
    assert words in line
    assert not (here / "outputs").exists()


def test_a_claim_that_compares_losses_with_themselves_is_judged(here: Path) -> None:
    write(here / "mine", claims_py=CLAIM.replace('"without_meta"', '"ada_pomrl"'))
    assert call(reproduce, "mine", "--runs", "10")[0] == 0
    (judgement,) = judgements.read(here / "outputs" / "studies" / "mine").main
    assert (judgement.verdict, judgement.decisive.found) == (Verdict.DOES_NOT_HOLD, "0.000 in all runs")


def test_a_figure_that_fails_is_named_and_the_others_are_drawn(here: Path) -> None:
    broken = '\n\n@figure("first")\ndef broken(sweeps):\n    """A broken one."""\n    return 1 / 0\n'
    write(here / "drawn", figures_py=FIGURE + broken)
    status, printed, said = call(reproduce, "drawn", "--runs", "2")
    assert status == 1, said
    (line,) = [line for line in said.splitlines() if "broken" in line]
    assert re.fullmatch(r"broken is not drawn: drawn/figures.py:\d+: ZeroDivisionError: division by zero", line)
    assert "outputs/studies/drawn/figures/curves.png" in printed.splitlines()
    assert printed.splitlines()[-1] == "outputs/studies/drawn/report/index.html"


def test_studies_are_listed_beside_one_that_is_bad(here: Path) -> None:
    write(here / "mine")
    write(here / "worse", study_yaml="title: [\n")
    status, printed, said = call(studies)
    assert status == 0
    assert "A small study" in printed
    assert said.startswith("worse/study.yaml: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("file", ["study.yaml", "sweeps/first.yaml", "claims.py", "variants.py"])
def test_a_file_that_cannot_be_read_is_one_line(file: str, here: Path) -> None:
    write(here / "mine", study_yaml=ODD.format("odd"), variants_py=FAILING_VARIANT)
    (here / "mine" / file).chmod(0)
    with obeying_permissions():
        line = refused(reproduce, "mine", "--runs", "2")
    assert file in line or f"mine.{file.removesuffix('.py')}" in line
    assert "ermission denied" in line


def test_a_folder_that_cannot_be_written_to_is_reproduced_and_a_page_that_cannot_be_read_is_one_line(
    here: Path,
) -> None:
    write(here / "fixed", {**SMALL, "pages/notes.md": "# Notes\n"})
    (here / "fixed").chmod(0o555)
    with obeying_permissions():
        status, _, said = call(reproduce, "fixed", "--runs", "2")
        assert status == 0, said
        (here / "fixed" / "pages" / "notes.md").chmod(0)
        assert "fixed/pages/notes.md: Permission denied" in refused(report, "fixed")
    (here / "fixed").chmod(0o755)
    forget("fixed")
