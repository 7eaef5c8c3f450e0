"""`pomrl reproduce` computes every sweep of a study once, and then its claims, figures, pages and report."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.computed import call, refused
from tests.support.study_folders import CLAIM, SMALL, write

from pomrl.commands import computing, reproduce, reproduce_stages
from pomrl.commands.reproduce_stages import StageRequest
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.studies import find
from pomrl.running.plan import PlannedExperiment
from pomrl.running.work import Failure


def test_sweeps_have_their_own_or_requested_runs(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiments: list[Experiment] = []
    monkeypatch.setattr(computing, "compute", lambda jobs: experiments.extend(job.experiment for job in jobs) or {})
    theirs = CLAIM[CLAIM.index("@claim") :].replace('"first", figures=("curves",)', '"pomrl2023/illustration"')
    theirs = theirs.replace("K1", "K2").replace("meta_learning_helps", "of_theirs")
    write(cwd / "mine", claims_py=f"{CLAIM}\n\n{theirs}")
    borrowed = find("pomrl2023").settings("illustration")
    requested_runs = borrowed[0].experiment.request.runs
    for runs, expected in ((None, [10, 10, *[requested_runs] * len(borrowed)]), (3, [3] * (2 + len(borrowed)))):
        experiments.clear()
        reproduce.compute_sweeps(find("mine"), runs)
        assert [experiment.request.runs for experiment in experiments] == expected
        assert [experiment.problem.seed for experiment in experiments][:2] == [1, 1]


def test_sweeps_without_claims_have_a_page(cwd: Path) -> None:
    write(cwd / "mine", {name: SMALL[name] for name in ("study.yaml", "sweeps/first.yaml")})
    status, out, err = call(reproduce, "mine", "--runs", "3")
    assert status == 0, err
    assert out.split()[-2:] == ["report", "outputs/studies/mine/report/index.html"]
    assert "ada_pomrl" in (cwd / out.split()[-1]).read_text()
    assert "pomrl reproduce" not in err
    assert [line.split()[0] for line in err.splitlines()[-3:]] == ["sweeps", "pages", "report"]


WITH_VARIANTS: Mapping[str, str] = {
    **{name: SMALL[name] for name in ("sweeps/first.yaml", "figures.py")},
    "study.yaml": "title: Sweeps alone\nvariants: {default: {}, mean: {loss: mean}, long: {T: 4}}\n",
}
"""A study without claims."""


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """The loss, T and runs of each experiment to compute; nothing is computed."""
    settings: list[tuple[str, int, int]] = []

    def record(jobs: Sequence[PlannedExperiment]) -> dict[str, Failure]:
        problems = [(job.experiment.problem, job.experiment.request.runs) for job in jobs]
        settings.extend((problem.loss, problem.T, runs) for problem, runs in problems)
        return {}

    monkeypatch.setattr(computing, "compute", record)
    return settings


DEFAULT, MEAN, LONG = ("max", 2), ("mean", 2), ("max", 4)


@pytest.mark.parametrize(
    ("arguments", "expected", "named"),
    [
        (("sweeps",), [DEFAULT], None),
        (("variants",), [DEFAULT, MEAN, LONG], "default, mean, long"),
        (("variants", "--variants", "long"), [LONG], "long"),
        (("sweeps", "--variants", "mean,long"), [MEAN, LONG], "mean, long"),
        (("sweeps", "--variants", "all"), [DEFAULT, MEAN, LONG], "default, mean, long"),
    ],
)
def test_variants_of_sweeps_are_computed_on_request(arguments, expected, named, cwd, computed) -> None:
    write(cwd / "mine", WITH_VARIANTS)
    status, _, err = call(reproduce, "mine", *arguments, "--runs", "3")
    assert (status, computed) == (0, [(*setting, 3) for setting in expected for _ in range(2)])
    assert (f"mine: sweeps computed under {named}; to draw figures: " in err) == bool(named)


def test_defaults_are_computed_before_requested_variants(cwd: Path, computed) -> None:
    write(cwd / "mine", {name: text for name, text in WITH_VARIANTS.items() if name != "figures.py"})
    request = StageRequest(find("mine"), runs=3, variants="mean")
    for stage in ("sweeps", "variants"):
        reproduce.prepare(request)[stage]()
    assert computed == [(*setting, 3) for setting in (DEFAULT, MEAN) for _ in range(2)]
    assert "variants" not in reproduce.prepare(StageRequest(find("mine"), runs=3))


def test_families_without_claims_have_their_sweeps(cwd: Path, computed) -> None:
    family = """\
from pomrl.study import family, of_keys


@family(sweeps={"first": {"estimator": "oracle"}})
def lengths():
    for T in (5, 6):
        yield of_keys(f"T_{T}", {"T": T})
"""
    write(cwd / "mine", {**WITH_VARIANTS, "variants.py": family})
    assert call(reproduce, "mine", "variants", "--variants", "lengths")[0] == 0
    assert [T for _, T, _ in computed] == [5, 6]


def test_bad_variants_are_refused_before_computing(cwd: Path, computed) -> None:
    write(cwd / "mine", WITH_VARIANTS, study_yaml="title: T\nvariants: {default: {}, wrong: {TT: 4}}\n")
    assert "mine: unknown variant or family nope" in refused(reproduce, "mine", "--variants", "nope")
    assert "mine/study.yaml: variants.wrong: " in refused(reproduce, "mine", "--variants", "all")
    assert computed == []


def test_missing_variants_name_their_command(cwd: Path) -> None:
    write(cwd / "mine", WITH_VARIANTS)
    assert call(reproduce, "mine", "sweeps")[0] == 0
    drawing = ("mine", "figures", "--variants", "mean", "--only", "curves_intervals")
    status, _, err = call(reproduce, *drawing)
    assert (status, err.count("pomrl reproduce mine --variants mean")) == (1, 2)
    assert call(reproduce, "mine", "variants", "--variants", "mean")[0] == 0
    status, out, err = call(reproduce, *drawing)
    assert (status, out.split()[0]) == (0, "outputs/studies/mine/figures/mean/curves_intervals.pdf"), err


@pytest.mark.parametrize("fails", [False, True])
def test_a_failed_stage_ends_with_status_1(fails: bool, cwd: Path, monkeypatch):
    done: list[int] = []
    stages = {"sweeps": lambda: fails, "figures": lambda: done.append(1)}
    monkeypatch.setattr(reproduce, "prepare", lambda *_, **__: stages)
    status, _, err = call(reproduce, "pomrl2023")
    assert (status, done, err.splitlines()[:2]) == (fails, [1], ["== sweeps", "== figures"])


def test_zero_runs_are_one_line():
    assert "--runs must be between 1 and 100,000,000, got 0" in refused(reproduce, "pomrl", "--runs", "0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine", "figure"), "figure: unknown stage (did you mean figures?); available: sweeps, claims, variants, "
         "figures, pages, report, article"),
        (("mine", "figures", "curves"), "; select a figure by --only curves"),
        (("mine", "--only", "curves"), "--only must be used with the stage figures, as in pomrl reproduce STUDY "
         "figures --only NAME"),
        (("mine", "claims"), "mine: no stored runs for its claims; pomrl reproduce mine computes them"),
        (("mine", "figures"), "mine: no stored runs for its figures; pomrl reproduce mine computes them"),
        (("mine", "article"), "mine: article/article.typ is missing"),
        ((), "no study given; pomrl reproduce --list lists studies"),
    ],
)  # fmt: skip
def test_impossible_stages_are_one_line(arguments, message: str, cwd: Path) -> None:
    write(cwd / "mine")
    assert message in refused(reproduce, *arguments)
    assert not (cwd / "outputs").exists()


def test_named_stages_run_in_their_order(cwd: Path) -> None:
    write(cwd / "mine")
    assert call(reproduce, "mine", "sweeps", "--runs", "3")[0] == 0
    status, out, err = call(reproduce, "mine", "report", "figures", "claims", "--only", "curves")
    assert status == 0, err
    assert "== " not in err
    paths = [line for line in out.splitlines() if line.startswith("outputs/")]
    assert paths[-1] == "outputs/studies/mine/report/index.html"
    assert paths[0] == "outputs/studies/mine/figures/curves.pdf"
    assert out.index("K1") < out.index(paths[0])
    assert "K1" in (cwd / paths[-1]).read_text()
    assert not (cwd / "outputs/studies/mine/pages").exists()


def test_package_stages_follow_those_of_the_engine(monkeypatch: pytest.MonkeyPatch, cwd: Path) -> None:
    requests: list[StageRequest] = []

    def make_stage(request: StageRequest) -> Callable[[], None]:
        requests.append(request)
        return lambda: print("further")

    packages = {**reproduce_stages.package_stages(), "further": make_stage, "nothing": lambda request: None}
    monkeypatch.setattr(reproduce, "package_stages", lambda: packages)
    request = StageRequest(find(write(cwd / "mine").name), runs=2)
    assert [*reproduce.prepare(request)] == ["sweeps", "claims", "figures", "pages", "report", "further"]
    assert requests == [request]
    status, out, _ = call(reproduce, "mine", "further")
    assert (status, out, requests[-1].is_named) == (0, "further\n", True)
