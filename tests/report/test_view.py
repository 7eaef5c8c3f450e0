"""The command `pomrl view`: a page of what is stored, which follows a sweep until ^C."""

import base64
import gzip
import json
import re
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser
from scipy import stats
from tests.support.browser import watched
from tests.support.computed import call, view
from tests.support.sample_experiment import published

from pomrl import store
from pomrl.outputs import outputs

pytestmark = pytest.mark.usefixtures("empty_outputs")

HOSTILE = "<img src=x onerror=alert(1)>"


def data(page: Path) -> dict[str, Any]:
    (packed,) = re.findall(r'id="data"[^>]*>([^<]*)<', page.read_text())
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_view_has_means_and_intervals(browser: Browser) -> None:
    assert call(view, "--once")[::2] == (1, f"{store.root()}: no stored experiments\n")
    first, other = published(0.01, 1), published(0.02, 5)
    store.label(other, HOSTILE)
    status, out, _ = call(view, "--once")
    page = Path(out.strip())
    assert status == 0
    losses, loss = data(page)["losses"], other.mean_losses(5)[0]
    np.testing.assert_allclose(losses[other.signature]["mean"], loss.mean(0), atol=1e-6)
    np.testing.assert_allclose(losses[other.signature]["half"], stats.t.ppf(0.975, 4) * stats.sem(loss), atol=1e-6)
    assert losses[first.signature]["half"] == []
    with watched(browser) as visit:
        visit.goto(page.as_uri())
        rows = visit.locator("#experiments tbody tr")
        assert (rows.count(), HOSTILE in (visit.text_content("#experiments") or "")) == (2, True)
        visit.click("#sort-sigma")
        visit.click("#sort-sigma")
        assert other.signature in (rows.first.text_content() or "")
        for condition, count in {"sigma<0.02": 1, "Sigma<=0.02": 2, "sigma>0.01 runs>=5": 1}.items():
            visit.fill("#words", condition)
            assert visit.text_content("#count") == f"{count} of 2 experiments."
        visit.fill("#words", "runs<5 sigma=0.01")
        visit.click("#experiments input")
        visit.select_option("#group", "sigma")
        visit.reload()  # what was chosen stays
        assert [rows.count(), visit.locator("#losses .mark-line path").count()] == [2, 1]  # with a line of the group
        assert (rows.first.text_content() or "").startswith("sigma = 0.01: 1, mean loss ")
        assert visit.text_content("#count") == "1 of 2 experiments."


def test_the_view_follows_the_store_until_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    published(0.01, 2)
    page, states, opened = outputs() / "view" / "index.html", list[tuple[int, bool]](), list[str]()

    def sleep(_: float) -> None:
        states.append((len(data(page)["losses"]), 'data-live="1"' in page.read_text()))
        if len(states) == 3:
            raise KeyboardInterrupt
        published(0.01 + 0.01 * len(states), 2)

    monkeypatch.setattr("pomrl_report.view.time.sleep", sleep)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert call(view)[0] == 0
    assert states == [(1, True), (2, True), (3, True)]
    assert opened == [page.absolute().as_uri()]
    assert 'data-live="0"' in page.read_text()
