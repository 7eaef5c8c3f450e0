"""The page of a selection of stored experiments, without a study."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.support.browser import watched
from tests.support.computed import call, report
from tests.support.elements import assert_closed, page_curves

from pomrl import store
from pomrl.commands import run

pytestmark = pytest.mark.slow

SMALL = ("S=3", "T=2", "runs=3", "gamma_schedule.gammas=[0.5,0.99]")


@pytest.fixture(scope="module", autouse=True)
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outputs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        assert call(run, "-m", *SMALL, "estimator=pomrl,oracle", "sigma=0.01,0.02", "+tag=dev")[0] == 0
        many = ("estimator=pomrl,oracle", "m=2,3", "gamma_eval=0.99,0.995", "seed=1,2", "trials=1,2", "+tag=many")
        assert call(run, "-m", *SMALL[:2], "runs=1", "gamma_schedule.gammas=[0.5,0.9]", *many)[0] == 0
        yield folder


def page(*arguments: str) -> str:
    status, out, err = call("view --report", *arguments)
    assert (status, err) == (0, "")
    return Path(out.strip()).read_text()


def test_the_page_has_curves_settings_and_table() -> None:
    text = page("tag=dev")
    stored = store.find(tag="dev")
    assert text.count('src="losses.png"') == 1
    assert len(page_curves(text)["series"]) == len(stored) == 4
    assert all(f"<code>{experiment.signature}</code>" in text for experiment in stored)
    (oracle,) = store.find(tag="dev", sigma=0.01, estimator="oracle")  # in the first row
    loss = oracle.table().query("gamma == 0.99")["planning_loss"].mean()
    cells = re.findall(r"<td>([^<]*)</td>", text.partition('id="summaries"')[2].partition("</section>")[0])
    assert float(cells[cells.index("oracle") + 2].split()[0]) == pytest.approx(loss, abs=1e-3)
    assert "<dt>S</dt><dd>3</dd>" in text
    assert "Environment of 4 experiments" in text


def test_studies_without_claims_have_their_title(tmp_path: Path) -> None:
    sweeps = tmp_path / "plain" / "conf" / "experiment" / "plain"
    sweeps.mkdir(parents=True)
    (tmp_path / "plain" / "study.yaml").write_text("title: Plain tasks\n")
    overrides = "".join(f"{key}\n".replace("=", ": ") for key in SMALL[:3])
    axes = "hydra: {mode: MULTIRUN, sweeper: {params: {sigma: '0.01,0.02'}}}\n"
    (sweeps / "small.yaml").write_text(f"# @package _global_\n{overrides}{axes}")
    status, _, err = call(run, "-m", f"--config-dir={tmp_path / 'plain' / 'conf'}", "experiment=plain/small")
    assert status == 0, err
    status, out, _ = call(report, str(tmp_path / "plain"))
    assert status == 0
    text = Path(out.strip()).read_text()
    assert "<h1>Plain tasks</h1>" in text
    assert "<title>Plain tasks</title>" in text
    assert "2 stored experiments, 3 runs of each" in text


def test_the_page_fetches_nothing_and_draws_curves(browser: Browser, outputs: Path) -> None:
    text = page("tag=dev")
    assert_closed(text)
    assert page("tag=dev") == text
    with watched(browser) as visited:
        visited.goto((outputs / "reports" / "tag_dev" / "index.html").as_uri())
        visited.wait_for_selector("#explorer[data-ready]")
        assert visited.locator("#loss .mark-line path").count() == 2


def test_indistinguishable_experiments_have_a_note() -> None:
    text = page("tag=many")
    assert "Losses are not drawn: too many settings vary: " in text
    assert 'id="summaries"' in text
    assert "<img" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tag=dev", "pomrl"), "a filter must be KEY=VALUE in YAML, such as estimator=pomrl, got pomrl"),
        ((), "must have settings of stored experiments"),
        (("tag=nothing",), "tag=nothing: unknown tag; available: dev, many"),
    ],
)
def test_what_cannot_be_shown_is_one_line(outputs: Path, arguments: tuple[str, ...], message: str) -> None:
    before = sorted(outputs.rglob("*"))
    status, _, err = call("view --report", *arguments)
    assert (status > 0, err.count("\n")) == (True, 1)
    assert message in err
    assert sorted(outputs.rglob("*")) == before
